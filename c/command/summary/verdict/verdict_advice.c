/* verdict_advice.c - what to do about a verdict.
 * SPDX-License-Identifier: MIT */
#include "verdict_advice.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

/* ---- Input ---------------------------------------------------------------------------------------------------------- */

static void advise_input(FILE *out, const job_verdict *verdict, const summary_answer *answer,
                         const measure_list *measures) {
  const measure_value *workers = &measures->values[M_workers], *busy = &measures->values[M_worker_busy];
  const char *what = verdict->cause.what ? verdict->cause.what : "";
  char text[MEASURE_TEXT_BYTES];
  if (strcmp(what, "metadata") == 0) fprintf(out, "pack samples into larger files, or ");
  else if (strcmp(what, "read") == 0) fprintf(out, "stage the data to faster storage, or ");
  if (answer->training.data_ns && (!workers->is_known || workers->number < 1)) {
    fprintf(out, "load further ahead, with more threads or worker processes (num_workers)");
  } else if (!workers->is_known || workers->number < 1) {
    fprintf(out, "load in worker processes (num_workers), so that loading overlaps with compute");
  } else if (busy->is_known && busy->number < 0.5) {
    fprintf(out, "raise prefetch_factor, or look for one slow worker: workers are busy only %s of the time",
            measure_format(text, measures, M_worker_busy));
  } else {
    fprintf(out, "raise num_workers above %s", measure_format(text, measures, M_workers));
    fprintf(out, ": workers are busy %s of the time", measure_format(text, measures, M_worker_busy));
  }
}

/* ---- Imbalance ------------------------------------------------------------------------------------------------------ */

static const rank_costs *find_rank(const job_costs *costs, int64_t rank) {
  for (uint32_t i = 0; i < costs->count; i++) {
    if (costs->ranks[i].rank == rank) return &costs->ranks[i];
  }
  return NULL;
}

/* What the rank that others wait for does longer than they do, if that explains the waiting; else COSTS. */
static enum cost late_by(const job_verdict *verdict, const job_costs *costs) {
  static const enum cost candidates[] = {COST_COMPUTE, COST_INPUT, COST_CHECKPOINT, COST_READ,
                                         COST_WRITE,   COST_SYNC,  COST_META};
  const rank_costs *late = verdict->worst_rank == NO_NUMBER ? NULL : find_rank(costs, verdict->worst_rank);
  for (size_t i = 0; late && i < sizeof candidates / sizeof candidates[0]; i++) {
    const enum cost cost = candidates[i];
    if (late->ns[cost] - costs->ns[cost] >= SHARE_CAUSE * verdict->ns) return cost;
  }
  return COSTS;
}

static void advise_balance(FILE *out, const job_verdict *verdict, const job_costs *costs) {
  const int64_t rank = verdict->worst_rank;
  switch (late_by(verdict, costs)) {
    case COST_COMPUTE: fprintf(out, "give rank %" PRId64 " less work: it computes longer than the others", rank); break;
    case COST_INPUT:
      fprintf(out,
              "find out why rank %" PRId64 " waits longer for its data: slower storage, larger samples, fewer cores",
              rank);
      break;
    case COST_CHECKPOINT:
      fprintf(out,
              "let every rank save a part, or save in the background: the others wait while rank %" PRId64 " saves",
              rank);
      break;
    case COST_READ:
    case COST_WRITE:
    case COST_SYNC:
    case COST_META:
      fprintf(out, "spread the I/O of rank %" PRId64 " over the ranks: the others wait while it reads and writes",
              rank);
      break;
    default:
      if (costs->waits[WAIT_MESSAGE] >= SHARE_CAUSE * verdict->ns)
        fprintf(out, "send earlier, and compute what needs no message before you wait for it");
      else if (costs->waits[WAIT_END] >= SHARE_CAUSE * verdict->ns && rank != NO_NUMBER)
        fprintf(out, "let the other ranks take part in what rank %" PRId64 " does last", rank);
      else fprintf(out, "distribute the work more evenly");
  }
}

/* ---- Start-up ------------------------------------------------------------------------------------------------------- */

/* Where programs and modules of Python are. */
static int is_software(const char *folder) {
  static const char *const parts[] = {"site-packages/", "dist-packages/", "/lib/python"};
  for (size_t i = 0; folder && i < sizeof parts / sizeof parts[0]; i++) {
    if (strstr(folder, parts[i])) return 1;
  }
  return 0;
}

static void advise_start(FILE *out, const verdict_cause *cause) {
  const char *what = cause->what ? cause->what : "", *call = cause->call ? cause->call : "";
  const int is_region = strcmp(what, "region") == 0;
  if (is_software(cause->folder))
    fprintf(out, "import from a local disk or a container image: modules are many small files");
  else if (strcmp(what, "metadata") == 0)
    fprintf(out, "open and look up fewer files: pack them, or let one rank list them and tell the others");
  else if (strcmp(what, "read") == 0 && cause->rank != NO_NUMBER)
    fprintf(out, "let every rank read its part: the others wait while rank %" PRId64 " reads", cause->rank);
  else if (strcmp(what, "read") == 0)
    fprintf(out, "read with fewer and larger calls, in parallel, or from a local copy");
  else if (strcmp(what, "write") == 0) fprintf(out, "write less before the loop, or in the background");
  else if (is_region && strncmp(call, "MPI_Init", 8) == 0)
    fprintf(out, "look at how MPI starts: the launcher, the network, and libraries on a shared file system");
  else if (is_region && cause->rank != NO_NUMBER)
    fprintf(out,
            "let every rank do a part of '%s', or cache its result: the others wait while rank %" PRId64 " does it",
            call, cause->rank);
  else if (is_region) fprintf(out, "do '%s' in parallel, or cache its result if it is the same in every run", call);
  else if (strcmp(what, "outside") == 0)
    fprintf(out, "annotate what the program does before its loop, or record its I/O: nothing is known of this time");
  else fprintf(out, "load and set up in parallel, or cache what is the same in every run");
}

/* ---- I/O ------------------------------------------------------------------------------------------------------------ */

/* The advice of the finding with the most time at stake that is about the same. */
static const char *advice_of(const finding_list *found, const char *const ids[]) {
  for (int i = 0; i < found->count; i++) {
    for (int j = 0; ids[j]; j++) {
      if (strcmp(found->list[i].rule->id, ids[j]) == 0) return found->list[i].advice;
    }
  }
  return NULL;
}

/* Within a sentence, without its full stop. */
static void quote_advice(FILE *out, const char *advice) {
  const size_t len = strlen(advice);
  const int is_word = len > 1 && islower((unsigned char)advice[1]); /* and no abbreviation */
  fputc(is_word ? tolower((unsigned char)advice[0]) : advice[0], out);
  fwrite(advice + 1, 1, len - 1 - (advice[len - 1] == '.'), out);
}

/* Most of the time, what is buffered is written when the file is closed. */
static int is_closing(const verdict_cause *cause) {
  return cause->call && strstr(cause->call, "close") && strcmp(cause->what, "sync") == 0;
}

static void advise_io(FILE *out, const job_verdict *verdict, const finding_list *found) {
  static const char *const ids[] = {"metadata",
                                    "small-reads",
                                    "random-reads",
                                    "small-writes",
                                    "random-writes",
                                    "unaligned-reads",
                                    "unaligned-writes",
                                    "redundant-reads",
                                    "redundant-writes",
                                    "shared-file",
                                    "stdio",
                                    "open-churn",
                                    "small-files",
                                    NULL};
  const char *advice = advice_of(found, ids);
  if (verdict->is_aside)
    fprintf(out, "annotate what the main thread does: then it is known whether it waits for this I/O");
  else if (advice) quote_advice(out, advice);
  else if (strcmp(verdict->io_kind, "write") == 0 || is_closing(&verdict->cause))
    fprintf(out, "write fewer bytes, write in the background, or use faster storage");
  else if (strcmp(verdict->io_kind, "sync") == 0 && !is_closing(&verdict->cause))
    fprintf(out, "synchronise less often, at checkpoints only, or in the background");
  else if (strcmp(verdict->io_kind, "read") == 0) fprintf(out, "read fewer bytes, read ahead, or use faster storage");
  else fprintf(out, "do the I/O in the background, so that it overlaps with compute, or use faster storage");
}

/* ---- All ------------------------------------------------------------------------------------------------------------ */

void verdict_advise(FILE *out, const job_verdict *verdict, const summary_answer *answer, const job_costs *costs,
                    const measure_list *measures, const finding_list *found) {
  switch (verdict->class) {
    case BOUND_INPUT: advise_input(out, verdict, answer, measures); break;
    case BOUND_COMPUTE:
      if (verdict->is_sure || costs->hidden_ns < SHARE_WARNING * costs->base_ns)
        fprintf(out, "make the compute itself faster; I/O and communication are not what limits this %s",
                costs->is_training ? "loop" : "job");
      else fprintf(out, "find out whether the regions compute, or wait for the threads that do I/O");
      break;
    case BOUND_COMM:
      fprintf(out, "send fewer and larger messages, overlap them with compute, or %s",
              costs->is_training ? "accumulate gradients over more batches" : "use fewer ranks");
      break;
    case BOUND_CHECKPOINT: fprintf(out, "save less often, save in the background, or let each rank save a part"); break;
    case BOUND_IO: advise_io(out, verdict, found); break;
    case BOUND_IMBALANCE: advise_balance(out, verdict, costs); break;
    case BOUND_START: advise_start(out, &verdict->cause); break;
    default: break;
  }
}
