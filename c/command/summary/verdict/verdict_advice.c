/* verdict_advice.c - what to do about a verdict.
 * SPDX-License-Identifier: MIT */
#include "verdict_advice.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "command/summary/answer/runtimefiles.h"

#define ADVICE_LEAST 0.5         /* of the cost: a finding about less of it does not say what to do */
#define PREFETCH_LEAST (1.0 / 3) /* of the waiting: what workers that are always busy must be able to save */

/* ---- Input ---------------------------------------------------------------------------------------------------------- */

/* One worker is what the trainer waits for. */
static int is_unequal(const measure_list *measures) {
  const measure_value *busiest = &measures->values[M_busiest_share], *spread = &measures->values[M_worker_spread];
  return busiest->is_known && busiest->number >= 0.8 && spread->number >= 0.5;
}

/* There are as many workers as could load everything in time. */
static int is_enough(const measure_list *measures) {
  const measure_value *enough = &measures->values[M_workers_enough];
  return enough->is_known && enough->number <= measures->values[M_workers].number;
}

/* They load all the time, but they are not there all the time. */
static int is_absent(const measure_list *measures) {
  const measure_value *busy = &measures->values[M_worker_busy], *presence = &measures->values[M_worker_presence];
  return busy->is_known && busy->number >= 0.9 && presence->is_known && presence->number < 0.8;
}

/* "workers of rank 1 are busy only 60 % of the time" */
static void say_busy(FILE *out, const char *only, const measure_list *measures) {
  char text[MEASURE_TEXT_BYTES];
  fprintf(out, "workers");
  if (measures->values[M_waiting_trainers].is_known)
    fprintf(out, " of %s", measure_format(text, measures, M_waiting_trainers));
  fprintf(out, " are busy %s%s of the time", only, measure_format(text, measures, M_worker_busy));
}

/* Starting them in each epoch is much of the waiting. */
static int is_restarting(const measure_list *measures) {
  return measures->values[M_epochs].number >= 2 && measures->values[M_worker_start_share].number >= PREFETCH_LEAST;
}

/* Makes them load when they are idle. */
static void advise_prefetch(FILE *out, const measure_list *measures) {
  fprintf(out, "%sraise prefetch_factor",
          is_restarting(measures) ? "keep workers from epoch to epoch (persistent_workers=True), or " : "");
}

static void advise_idle_workers(FILE *out, const measure_list *measures) {
  advise_prefetch(out, measures);
  fprintf(out, "%s: ", measures->values[M_workers].number > 1 ? ", or look for one slow worker" : "");
  say_busy(out, "only ", measures);
}

/* They are idle for so much of the loop that the trainer would wait clearly less if they were not. */
static int is_idle(const measure_list *measures) {
  const measure_value *busy = &measures->values[M_worker_busy], *wait = &measures->values[M_waiting_share];
  return busy->is_known && busy->number < 0.9 && 1 - busy->number >= PREFETCH_LEAST * wait->number;
}

/* There are too few, whether or not they load all the time. */
static void advise_more_workers(FILE *out, const char *what, const measure_list *measures) {
  const int is_io = strcmp(what, "metadata") == 0 || strcmp(what, "read") == 0 || strcmp(what, "write") == 0;
  const int is_prepared = strcmp(what, "preparing") == 0;
  char text[MEASURE_TEXT_BYTES];
  if (measures->values[M_workers_excess].is_known) {
    fprintf(out, "make the %s of a sample cheaper", is_io ? "reading" : is_prepared ? "preparing" : "loading");
    if (is_prepared) fprintf(out, " (prepare it once and store it, or on the device)");
    if (strcmp(what, "loading") == 0) fprintf(out, " (trace with --io to see whether it reads or computes)");
    fprintf(out, ": more workers alone will not do, because ");
    fprintf(out, "%s would be needed", measure_format(text, measures, M_workers_excess));
    if (measures->values[M_waiting_trainers].is_known)
      fprintf(out, " on %s", measure_format(text, measures, M_waiting_trainers));
  } else if (is_idle(measures)) {
    advise_idle_workers(out, measures);
    if (measures->values[M_workers_wanted].is_known)
      fprintf(out, "; if they always were, %s would be needed", measure_format(text, measures, M_workers_wanted));
  } else {
    fprintf(out, "raise num_workers above %s", measure_format(text, measures, M_workers));
    fprintf(out, "%s: ", is_io ? "" : " if the node has idle cores");
    say_busy(out, "", measures);
  }
}

static void advise_input(FILE *out, const job_verdict *verdict, const summary_answer *answer,
                         const measure_list *measures) {
  const measure_value *workers = &measures->values[M_workers], *busy = &measures->values[M_worker_busy];
  const measure_value *empty = &measures->values[M_empty_workers];
  const char *what = verdict->cause.what ? verdict->cause.what : "";
  char text[MEASURE_TEXT_BYTES];
  if (strcmp(what, "worker-start") == 0) {
    fprintf(out, "keep workers from epoch to epoch (persistent_workers=True), use fewer of them, or start them faster "
                 "(multiprocessing_context='forkserver')");
    return;
  }
  if (strcmp(what, "metadata") == 0) fprintf(out, "pack samples into larger files, or ");
  else if (strcmp(what, "read") == 0) fprintf(out, "stage the data to faster storage, or ");
  if (answer->training.data_ns && (!workers->is_known || workers->number < 1)) {
    fprintf(out, "load further ahead, with more threads or worker processes (num_workers)");
  } else if (!workers->is_known || workers->number < 1) {
    fprintf(out, "load in worker processes (num_workers), so that loading overlaps with compute");
  } else if (empty->is_known && empty->number >= 1) {
    fprintf(out, "give each worker its part of the data: %s more find none",
            measure_format(text, measures, M_empty_workers));
  } else if (is_unequal(measures)) {
    fprintf(out, "find out why the worker %s has more to do than the others: it is busy ",
            measure_format(text, measures, M_busiest_worker));
    fprintf(out, "%s of the time", measure_format(text, measures, M_busiest_share));
    fprintf(out, ", they %s", measure_format(text, measures, M_other_busy));
  } else if (is_absent(measures)) {
    fprintf(out, "keep workers for the whole loop (persistent_workers=True), or find out why one begins late or ends "
                 "early: they are there ");
    fprintf(out, "for only %s of it", measure_format(text, measures, M_worker_presence));
  } else if (busy->is_known && busy->number >= 0.5 && busy->number < 0.9 && is_enough(measures)) {
    advise_prefetch(out, measures);
    fprintf(out, ": %s in parallel would suffice, but ", measure_format(text, measures, M_workers_enough));
    say_busy(out, "only ", measures);
  } else if (busy->is_known && busy->number < 0.5) {
    advise_idle_workers(out, measures);
  } else {
    advise_more_workers(out, what, measures);
  }
}

/* ---- Imbalance ------------------------------------------------------------------------------------------------------ */

static const rank_costs *find_rank(const job_costs *costs, int64_t rank) {
  for (uint32_t i = 0; i < costs->count; i++) {
    if (costs->ranks[i].rank == rank) return &costs->ranks[i];
  }
  return NULL;
}

/* How much longer the rank that others wait for evaluates: that is not in its loop, but their waiting for it is. */
static double late_in_evaluation(const job_verdict *verdict, const summary_answer *answer, const job_costs *costs) {
  const rank_costs *late = verdict->worst_rank == NO_NUMBER ? NULL : find_rank(costs, verdict->worst_rank);
  double own = 0, mean = 0;
  for (uint32_t i = 0; i < answer->trainers.count; i++) {
    const double ns = (double)answer->trainers.lines[i].evaluation_ns;
    mean += ns / answer->trainers.count;
    if (late && answer->trainers.lines[i].process == late->process) own = ns;
  }
  return own > mean ? own - mean : 0;
}

/* What the rank that others wait for does longer than they do, if that explains the waiting in the loop; else COSTS. */
static enum cost late_by(const job_verdict *verdict, const summary_answer *answer, const job_costs *costs) {
  static const enum cost candidates[] = {COST_COMPUTE, COST_INPUT, COST_CHECKPOINT, COST_READ,
                                         COST_WRITE,   COST_SYNC,  COST_META,       COST_OTHER};
  const rank_costs *late = verdict->worst_rank == NO_NUMBER ? NULL : find_rank(costs, verdict->worst_rank);
  const double ns = verdict->ns - late_in_evaluation(verdict, answer, costs);
  if (ns < SHARE_MOST * verdict->ns) return COSTS;
  for (size_t i = 0; late && i < sizeof candidates / sizeof candidates[0]; i++) {
    const enum cost cost = candidates[i];
    if (late->ns[cost] - costs->ns[cost] >= SHARE_CAUSE * ns) return cost;
  }
  return COSTS;
}

/* A region takes so much longer on one rank that it explains the cost, and no other rank does. */
static int is_straggling(const job_verdict *verdict, const measure_list *measures) {
  const measure_value *lost = &measures->values[M_straggler_stake], *rank = &measures->values[M_straggler];
  return lost->is_known && lost->number >= SHARE_CAUSE * verdict->ns &&
         (verdict->class != BOUND_IMBALANCE || verdict->worst_share < SHARE_CAUSE ||
          (double)verdict->worst_rank == rank->number);
}

static void advise_straggler(FILE *out, const measure_list *measures) {
  char text[MEASURE_TEXT_BYTES];
  fprintf(out, "find out why '%s' takes longer ", measure_format(text, measures, M_straggler_region));
  fprintf(out, "on rank %s: the others probably wait for it", measure_format(text, measures, M_straggler));
}

/* The others wait while the rank evaluates. */
static int is_evaluating(const job_verdict *verdict, const summary_answer *answer, const job_costs *costs) {
  return late_in_evaluation(verdict, answer, costs) >= SHARE_CAUSE * verdict->ns;
}

/* In all, each rank has about as much to do as the others; but in each step, another one is late. */
static int is_late_in_turn(const job_verdict *verdict, const job_costs *costs) {
  double most = 0, sum = 0;
  for (uint32_t i = 0; i < costs->count; i++) {
    const double work = costs->ranks[i].base_ns - costs->ranks[i].ns[COST_IMBALANCE];
    if (work > most) most = work;
    sum += work;
  }
  return verdict->worst_share < SHARE_MOST && most - sum / costs->count < (1 - SHARE_CAUSE) * verdict->ns;
}

static void advise_balance(FILE *out, const job_verdict *verdict, const job_costs *costs, const summary_answer *answer,
                           const measure_list *measures) {
  const int64_t rank = verdict->worst_rank;
  if (verdict->is_guess) {
    advise_straggler(out, measures);
    return;
  }
  if (is_evaluating(verdict, answer, costs)) {
    fprintf(out, "let every rank evaluate a part: the others wait while rank %" PRId64 " evaluates", rank);
    return;
  }
  switch (late_by(verdict, answer, costs)) {
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
      if (is_straggling(verdict, measures)) advise_straggler(out, measures);
      else if (late_by(verdict, answer, costs) == COST_OTHER ||
               (verdict->cause.what && strcmp(verdict->cause.what, "outside") == 0))
        fprintf(out, "annotate what rank %" PRId64 " does while the others wait for it, and give it less of that",
                rank);
      else if (costs->waits[WAIT_MESSAGE] >= SHARE_CAUSE * verdict->ns)
        fprintf(out, "send earlier, and compute what needs no message before you wait for it");
      else if (costs->waits[WAIT_END] >= SHARE_CAUSE * verdict->ns && verdict->worst_share >= SHARE_MOST)
        fprintf(out, "let the other ranks take part in what rank %" PRId64 " does last", rank);
      else if (is_late_in_turn(verdict, costs))
        fprintf(out,
                "find out what makes ranks late in turn: noise on the nodes, work that moves, or ranks that wait for "
                "each other; in all, each has about as much to do");
      else fprintf(out, "distribute the work more evenly");
  }
}

/* Of several costs that are about the same, imbalance may be what another one of them causes on one rank. */
static void advise_tied(FILE *out, const job_verdict *verdict, const summary_answer *answer, const job_costs *costs,
                        const measure_list *measures) {
  const measure_value *last = &measures->values[M_last_rank], *share = &measures->values[M_last_share];
  job_verdict balance = {.class = BOUND_IMBALANCE, .ns = costs->ns[COST_IMBALANCE]};
  if (!verdict->is_tied[BOUND_IMBALANCE] || !last->is_known || share->number < SHARE_CAUSE) return;
  balance.worst_rank = (int64_t)last->number;
  if (late_by(&balance, answer, costs) != COSTS) advise_balance(out, &balance, costs, answer, measures);
}

/* ---- Communication -------------------------------------------------------------------------------------------------- */

/* Messages are no advice as long as it may be waiting. */
static void advise_communication(FILE *out, const job_verdict *verdict, const summary_answer *answer,
                                 const job_costs *costs, const measure_list *measures) {
  if (answer->facts.missing_ranks) fprintf(out, "trace all ranks: then it is known who waits for whom");
  else if (costs->is_imbalance_known && !verdict_clocks_differ(costs) && !verdict_receivers_are_late(costs))
    fprintf(out, "send fewer and larger messages, overlap them with compute, or %s",
            costs->is_training ? "accumulate gradients over more batches" : "use fewer ranks");
  else if (is_straggling(verdict, measures)) advise_straggler(out, measures);
  else
    fprintf(out, "find out which ranks wait for others there, before you change messages: see Communication by rank");
}

/* ---- Start-up ------------------------------------------------------------------------------------------------------- */

static void advise_start(FILE *out, const verdict_cause *cause) {
  const char *what = cause->what ? cause->what : "", *call = cause->call ? cause->call : "";
  const int is_region = strcmp(what, "region") == 0;
  if (cause->folder && is_module_file((dft_text){cause->folder, strlen(cause->folder)}))
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

/* Findings about I/O, and the kinds of an I/O-bound job that they may explain. */
static const struct {
  const char *id, *kinds;
} io_findings[] = {
  {"metadata", "metadata"},         {"mpi-io", "metadata"},        {"open-churn", "metadata"},
  {"small-files", "metadata read"}, {"small-reads", "read"},       {"random-reads", "read"},
  {"unaligned-reads", "read"},      {"redundant-reads", "read"},   {"small-writes", "write"},
  {"random-writes", "write"},       {"unaligned-writes", "write"}, {"redundant-writes", "write"},
  {"shared-file", "write"},         {"stdio", "read write"},       {"sync", "sync"},
};

static int is_about(const finding *next, const char *kind) {
  for (size_t i = 0; i < sizeof io_findings / sizeof io_findings[0]; i++) {
    if (strcmp(io_findings[i].id, next->rule->id) != 0) continue;
    return strcmp(kind, "mixed") == 0 || strstr(io_findings[i].kinds, kind) != NULL;
  }
  return 0;
}

/* The advice of the finding with the most time at stake that is about the same, and most of the cost. Failed calls are some of
 * the others: they come first if they are nearly all. */
static const char *advice_of(const finding_list *found, const job_verdict *verdict) {
  for (int i = 0; i < found->count; i++) {
    const finding *next = &found->list[i];
    if (strcmp(next->rule->id, "failed-calls") == 0 && next->stake_ns >= SHARE_CAUSE * verdict->ns) return next->advice;
  }
  for (int i = 0; i < found->count; i++) {
    const finding *next = &found->list[i];
    if (is_about(next, verdict->io_kind) && next->stake_ns >= ADVICE_LEAST * verdict->ns) return next->advice;
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
  const char *advice = is_closing(&verdict->cause) ? NULL : advice_of(found, verdict);
  if (advice) quote_advice(out, advice);
  else if (strcmp(verdict->io_kind, "write") == 0 || is_closing(&verdict->cause))
    fprintf(out, "write fewer bytes, write in the background, or use faster storage");
  else if (strcmp(verdict->io_kind, "sync") == 0)
    fprintf(out, "synchronise less often, at checkpoints only, or in the background");
  else if (strcmp(verdict->io_kind, "read") == 0) fprintf(out, "read fewer bytes, read ahead, or use faster storage");
  else fprintf(out, "do the I/O in the background, so that it overlaps with compute, or use faster storage");
}

/* What was not recorded may still limit the job. */
static void advise_compute(FILE *out, const summary_answer *answer, const job_costs *costs) {
  const int has_io = io_stats_calls(&answer->io) || (costs->is_training && costs->is_input_known);
  const int has_communication = answer->collectives.count || costs->ns[COST_COMM] > 0;
  fprintf(out, "make the compute itself faster");
  if (!has_io) fprintf(out, " (I/O was not recorded: see dftracer run --io)");
  if (!has_io && !has_communication) return;
  fprintf(out, "; %s%s%s not what limits this %s", has_io ? "I/O" : "", has_io && has_communication ? " and " : "",
          !has_communication ? " is"
          : has_io           ? "communication are"
                             : "communication is",
          costs->is_training ? "loop" : "job");
}

/* ---- All ------------------------------------------------------------------------------------------------------------ */

void verdict_advise(FILE *out, const job_verdict *verdict, const summary_answer *answer, const job_costs *costs,
                    const measure_list *measures, const finding_list *found) {
  if (verdict->is_aside) {
    fprintf(out, "annotate what the main thread does: then it is known whether it waits for the other threads");
    return;
  }
  switch (verdict->class) {
    case BOUND_INPUT: advise_input(out, verdict, answer, measures); break;
    case BOUND_COMPUTE:
      if (verdict->is_sure || costs->hidden_ns < SHARE_WARNING * costs->base_ns) advise_compute(out, answer, costs);
      else fprintf(out, "find out whether the regions compute, or wait for the threads that do I/O");
      break;
    case BOUND_COMM: advise_communication(out, verdict, answer, costs, measures); break;
    case BOUND_CHECKPOINT:
      if (costs->saving_rank == NO_NUMBER)
        fprintf(out, "save less often, save in the background, or let each rank save a part");
      else
        fprintf(out,
                "let every rank save a part, or save in the background: the others wait while rank %" PRId64 " saves",
                costs->saving_rank);
      break;
    case BOUND_IO:
      if (verdict->idle_rank != NO_NUMBER)
        fprintf(out, "find out what rank %" PRId64 " does before: the others probably wait for it", verdict->idle_rank);
      else if (verdict->is_joint) advise_straggler(out, measures);
      else advise_io(out, verdict, found);
      break;
    case BOUND_IMBALANCE: advise_balance(out, verdict, costs, answer, measures); break;
    case BOUND_START: advise_start(out, &verdict->cause); break;
    default:
      if (costs->is_training && costs->ns[COST_COMPILE] >= SHARE_UNKNOWN * costs->base_ns)
        fprintf(out, "trace more steps: functions are compiled once, and this is what takes most of so short a run");
      else if (verdict_loads_in_loop(answer, costs, measures))
        fprintf(out, "load ahead, in a DataLoader with workers or a thread of your own, and annotate the fetch");
      else if (verdict_is_much_unknown(costs)) fprintf(out, "annotate what the loop does besides, and trace with --io");
      else advise_tied(out, verdict, answer, costs, measures);
      break;
  }
}
