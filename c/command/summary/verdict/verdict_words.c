/* verdict_words.c - the sentences of a verdict.
 * SPDX-License-Identifier: MIT */
#include "verdict_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/cli/terminal.h"

typedef struct class_words {
  const char *title, *doing; /* "41 % of the training loop ... waits for data" */
  const char *short_name;
  const char *bound; /* "... the loop would take 55 min at best" */
  const char *advice;
} class_words;

static const class_words words[BOUND_CLASSES] = {
  [BOUND_INPUT] = {"INPUT-BOUND", "waits for data", "waiting for data", "With perfect prefetching",
                   "load ahead: more workers, a larger prefetch_factor, larger files, faster storage"},
  [BOUND_COMPUTE] = {"COMPUTE-BOUND", "computes", "compute", "If nothing else took time",
                     "make the compute itself faster; I/O and communication are not what limits this job"},
  [BOUND_COMM] =
    {"COMMUNICATION-BOUND", "is communication", "communication", "If compute hid all of it",
     "send fewer and larger messages, overlap them with compute, or accumulate gradients over more batches"},
  [BOUND_CHECKPOINT] = {"CHECKPOINT-BOUND", "is spent on checkpoints", "checkpoints",
                        "With checkpoints in the background",
                        "save less often, save asynchronously, or let each rank save a part"},
  [BOUND_IO] = {"I/O-BOUND", "is spent in I/O calls", "I/O", "Without the time in these calls",
                "see the findings below"},
  [BOUND_IMBALANCE] = {"IMBALANCE", "waits in collectives for the last rank", "imbalance", "With perfect balance",
                       "distribute the work more evenly"},
  [BOUND_START] = {"START-UP", "passes before its loop begins", "start-up", "Without it",
                   "load and set up in parallel, or cache what is the same in every run"},
};

/* Times of one line in one form: 38 min of 1 h 33 min. */
static const char *time_text(char out[FORMAT_BYTES], double ns) {
  return ns > 0 ? format_duration(out, ns / 1e9) : "0";
}

static const char *base_text(const job_verdict *verdict, const job_costs *costs) {
  if (verdict->class == BOUND_START || !costs->is_training) return costs->count > 1 ? "the ranks' time" : "the job";
  return "the training loop";
}

/* ---- The first line ------------------------------------------------------------------------------------------------- */

static void say_shares(FILE *out, const job_costs *costs, enum verdict_class but) {
  int count = 0;
  for (int class = BOUND_INPUT; class < BOUND_CLASSES; class ++) {
    const double share = verdict_share(costs, (enum verdict_class) class);
    if (class == (int)but || share < SHARE_MENTIONED) continue;
    fprintf(out, "%s%s %.0f %%", count++ ? ", " : "", words[class].short_name, 100 * share);
  }
  if (costs->ns[COST_OTHER] >= SHARE_MENTIONED * costs->base_ns)
    fprintf(out, "%sother %.0f %%", count++ ? ", " : "", 100 * costs->ns[COST_OTHER] / costs->base_ns);
  if (!count) fprintf(out, "no cost reaches %.0f %%", 100 * SHARE_MENTIONED);
}

static void say_first(FILE *out, const job_verdict *verdict, const job_costs *costs) {
  char time[FORMAT_BYTES], whole[FORMAT_BYTES];
  if (verdict->class == BOUND_NONE) {
    fprintf(out, "NONE DOMINANT: of %s (%s), ", base_text(verdict, costs), time_text(whole, verdict->of_ns));
    say_shares(out, costs, BOUND_NONE);
    fprintf(out, ".");
    return;
  }
  fprintf(out, "%s%s", verdict->is_sure ? "" : "PROBABLY ", words[verdict->class].title);
  if (verdict->io_kind) fprintf(out, " (%s)", verdict->io_kind);
  fprintf(out, ": %.0f %% of %s (%s of %s) %s", 100 * verdict->share, base_text(verdict, costs),
          time_text(time, verdict->ns), time_text(whole, verdict->of_ns), words[verdict->class].doing);
  if (verdict->is_worst_told && verdict->class == BOUND_IMBALANCE)
    fprintf(out, "; it is rank %" PRId64 " for %.0f %% of that", verdict->worst_rank, 100 * verdict->worst_share);
  else if (verdict->is_worst_told)
    fprintf(out, "; rank %" PRId64 " is worst with %.0f %%", verdict->worst_rank, 100 * verdict->worst_share);
  fprintf(out, ".");
}

/* ---- Evidence ------------------------------------------------------------------------------------------------------- */

static void say_files(FILE *out, const verdict_cause *cause) {
  char text[FORMAT_BYTES];
  if (cause->call) fprintf(out, " %s()", cause->call);
  if (cause->files) fprintf(out, " of %s file%s", format_count(text, cause->files), plural(cause->files));
  if (cause->files && cause->file_bytes > 0) fprintf(out, " of %s", format_bytes(text, cause->file_bytes));
  if (cause->folder) fprintf(out, " below %s", cause->folder);
}

static void say_cause(FILE *out, const job_verdict *verdict, const measure_list *measures) {
  const verdict_cause *cause = &verdict->cause;
  char one[MEASURE_TEXT_BYTES], two[MEASURE_TEXT_BYTES];
  if (!cause->what) return;
  if (verdict->class == BOUND_IMBALANCE) {
    fprintf(out, "Rank %" PRId64 " spends %s in '%s'; a rank spends %s on average.\n", verdict->worst_rank,
            measure_format(one, measures, M_straggler_time), cause->call ? cause->call : "?",
            measure_format(two, measures, M_straggler_mean));
    return;
  }
  fprintf(out, "%s%.0f %% of that %s", cause->is_about ? "About " : "", 100 * cause->share,
          verdict->class == BOUND_INPUT ? "waiting coincides with" : "is");
  if (strcmp(cause->what, "preparing") == 0) fprintf(out, " workers that prepare samples, outside of I/O calls");
  else if (strcmp(cause->what, "idle") == 0) fprintf(out, " no loading at all: nothing prepares the next batch");
  else if (cause->call || cause->files) say_files(out, cause);
  else fprintf(out, " %s", cause->what);
  fprintf(out, ".\n");
}

static void say_bound(FILE *out, const job_verdict *verdict, const job_costs *costs) {
  char best[FORMAT_BYTES];
  if (verdict->class == BOUND_NONE) return;
  fprintf(out, "%s, %s would take %s at best.\n", words[verdict->class].bound,
          costs->is_training && verdict->class != BOUND_START ? "the loop" : "the job",
          time_text(best, verdict->best_ns));
}

static void say_doubts(FILE *out, const summary_answer *answer, const job_costs *costs) {
  const uint64_t count = costs->is_training ? answer->training.steps_least : answer->state->events;
  if (answer->state->dropped)
    fprintf(out, "Events were dropped while tracing, so that shares may be wrong: see Notes.\n");
  if (count < STEPS_SURE)
    fprintf(out, "Only %" PRIu64 " %s%s: trace at least %u to be sure.\n", count, costs->is_training ? "step" : "event",
            plural(count), STEPS_SURE);
  if (costs->is_training && !costs->is_input_known)
    fprintf(out, "How long the training waits for data is unknown: its fetches were not recorded.\n");
  if (!costs->is_imbalance_known && costs->ns[COST_COMM] >= SHARE_MENTIONED * costs->base_ns)
    fprintf(out, "How much of the communication is waiting for other ranks is unknown: see Communication.\n");
}

static void say_evidence(FILE *out, const job_verdict *verdict, const summary_answer *answer, const job_costs *costs,
                         const measure_list *measures) {
  say_cause(out, verdict, measures);
  say_bound(out, verdict, costs);
  if (verdict->class != BOUND_NONE) {
    fprintf(out, "Besides: ");
    say_shares(out, costs, verdict->class);
    fprintf(out, ".\n");
  }
  say_doubts(out, answer, costs);
}

/* ---- Advice --------------------------------------------------------------------------------------------------------- */

static void say_input_advice(FILE *out, const job_verdict *verdict, const summary_answer *answer,
                             const measure_list *measures) {
  const measure_value *workers = &measures->values[M_workers], *busy = &measures->values[M_worker_busy];
  const char *what = verdict->cause.what ? verdict->cause.what : "";
  char text[MEASURE_TEXT_BYTES];
  if (strcmp(what, "metadata") == 0) fprintf(out, "pack samples into larger files, or ");
  else if (strcmp(what, "read") == 0) fprintf(out, "stage the data to faster storage, read larger pieces, or ");
  if (answer->training.data_ns && (!workers->is_known || workers->number < 1)) {
    fprintf(out, "load further ahead, or with more threads or worker processes (num_workers)");
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

/* The advice of the finding with the most time at stake that is about the same. */
static const char *advice_of(const finding_list *found, const char *const ids[]) {
  for (int i = 0; i < found->count; i++) {
    for (int j = 0; ids[j]; j++) {
      if (strcmp(found->list[i].rule->id, ids[j]) == 0) return found->list[i].advice;
    }
  }
  return NULL;
}

static void say_next(FILE *out, const job_verdict *verdict, const summary_answer *answer, const measure_list *measures,
                     const finding_list *found) {
  static const char *const of_io[] = {"metadata",
                                      "small-reads",
                                      "random-reads",
                                      "small-writes",
                                      "random-writes",
                                      "unaligned-reads",
                                      "unaligned-writes",
                                      "redundant-reads",
                                      "shared-file",
                                      "stdio",
                                      "open-churn",
                                      "small-files",
                                      NULL};
  const char *advice = verdict->class == BOUND_IO ? advice_of(found, of_io) : NULL;
  if (verdict->class == BOUND_INPUT) say_input_advice(out, verdict, answer, measures);
  else if (advice) fprintf(out, "%s", advice);
  else if (verdict->class == BOUND_IO && strcmp(verdict->io_kind, "write") == 0)
    fprintf(out, "the writes are large and in order: write less, write in the background, or use faster storage");
  else if (verdict->class == BOUND_IO && strcmp(verdict->io_kind, "read") == 0)
    fprintf(out, "the reads are large and in order: read less, read ahead, or use faster storage");
  else if (verdict->class != BOUND_NONE) fprintf(out, "%s", words[verdict->class].advice);
}

/* ---- All ------------------------------------------------------------------------------------------------------------ */

int verdict_say(job_verdict *verdict, const summary_answer *answer, const job_costs *costs,
                const measure_list *measures, const finding_list *found) {
  char **const texts[] = {&verdict->text, &verdict->evidence, &verdict->next};
  int is_good = 1;
  for (int i = 0; i < 3; i++) {
    size_t size;
    FILE *out = open_memstream(texts[i], &size);
    if (!out) return 0;
    if (i == 0) say_first(out, verdict, costs);
    if (i == 1) say_evidence(out, verdict, answer, costs, measures);
    if (i == 2) say_next(out, verdict, answer, measures, found);
    is_good &= fclose(out) == 0;
  }
  return is_good;
}
