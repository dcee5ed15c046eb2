/* verdict_words.c - the sentences of a verdict.
 * SPDX-License-Identifier: MIT */
#include "verdict_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cause_words.h"
#include "command/cli/printable.h"
#include "command/cli/terminal.h"
#include "command/summary/answer/processlabel.h"
#include "verdict_advice.h"

typedef struct class_words {
  const char *title, *doing; /* "41 % of the training loop ... waits for data" */
  const char *short_name;
  const char *bound; /* "... the loop would take 55 min at best" */
} class_words;

static const class_words words[BOUND_CLASSES] = {
  [BOUND_INPUT] = {"INPUT-BOUND", "waits for data", "waiting for data", "With perfect prefetching"},
  [BOUND_COMPUTE] = {"COMPUTE-BOUND", "is compute", "compute", "If nothing else took time"},
  [BOUND_COMM] = {"COMMUNICATION-BOUND", "is communication", "communication", "If compute hid all of it"},
  [BOUND_CHECKPOINT] = {"CHECKPOINT-BOUND", "is spent on checkpoints", "checkpoints",
                        "With checkpoints in the background"},
  [BOUND_IO] = {"I/O-BOUND", "is spent on I/O", "I/O", "Without this I/O"},
  [BOUND_IMBALANCE] = {"IMBALANCE", "is waiting for other ranks", "imbalance", "With perfect balance"},
  [BOUND_START] = {"START-UP", "passes before the main loop begins", "start-up", "Without it"},
};

/* Times of one line in one form: 38 min of 1 h 33 min. */
static const char *time_text(char out[FORMAT_BYTES], double ns) {
  return ns > 0 ? format_duration(out, ns / 1e9) : "0";
}

static int is_of_loop(const job_verdict *verdict, const job_costs *costs) {
  return costs->is_training && verdict->class != BOUND_START;
}

/* The times of a job are means of its ranks, which may be shorter than the job. */
static const char *each_text(const job_verdict *verdict, const job_costs *costs) {
  if (costs->count < 2 || is_of_loop(verdict, costs)) return "";
  return costs->lives.is_known ? " in all" : " per rank";
}

/* What the shares are of. */
static void say_base(FILE *out, const job_verdict *verdict, const job_costs *costs) {
  char text[FORMAT_BYTES];
  if (costs->lives.is_known) fprintf(out, "the time of %s processes", format_count(text, costs->count));
  else
    fprintf(out, "%s",
            !is_of_loop(verdict, costs) ? "the job"
            : costs->is_inference       ? "the inference"
                                        : "the training loop");
}

/* ---- The first line ------------------------------------------------------------------------------------------------- */

/* The costs of the base; the start-up of a training is not in its loop. */
static void say_shares(FILE *out, const job_costs *costs, const char *before, enum verdict_class but) {
  char final[MEASURE_TEXT_BYTES];
  const struct {
    const char *name;
    double ns;
  } others[] = {{"copies to and from the device", costs->ns[COST_TRANSFER]},
                {"compiling", costs->ns[COST_COMPILE]},
                {final, costs->ns[COST_FINAL]},
                {"outside of regions and calls", costs->ns[COST_OTHER]}};
  const double compute = verdict_share(costs, BOUND_COMPUTE);
  int count = 0;
  short_text(final, printable_n(costs->final_name.text, costs->final_name.len));
  if (but != BOUND_COMPUTE && compute >= SHARE_MENTIONED)
    fprintf(out, "%scompute %.0f %%", count++ ? ", " : before, 100 * compute);
  for (int class = BOUND_INPUT; class < BOUND_CLASSES; class ++) {
    const double share = verdict_share(costs, (enum verdict_class) class);
    if (class == BOUND_INPUT && costs->is_training && !costs->is_input_known) continue;
    if (class == BOUND_COMPUTE || class == (int)but || share < SHARE_MENTIONED ||
        (class == BOUND_START && costs->is_training))
      continue;
    fprintf(out, "%s%s %.0f %%", count++ ? ", " : before, words[class].short_name, 100 * share);
  }
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    if (others[i].ns < SHARE_MENTIONED * costs->base_ns) continue;
    fprintf(out, "%s%s %.0f %%", count++ ? ", " : before, others[i].name, 100 * others[i].ns / costs->base_ns);
  }
  if (!count) fprintf(out, "%s cost reaches %.0f %%", but == BOUND_NONE ? ": no" : "No other", 100 * SHARE_MENTIONED);
}

static void say_worst(FILE *out, const job_verdict *verdict) {
  if (!verdict->is_worst_told) return;
  if (verdict->second_rank != NO_NUMBER) {
    fprintf(out, "; rank %" PRId64 " causes %.0f %% of it, rank %" PRId64 " %.0f %%", verdict->worst_rank,
            100 * verdict->worst_share, verdict->second_rank, 100 * verdict->second_share);
    return;
  }
  if (verdict->class == BOUND_IMBALANCE && verdict->worst_share < SHARE_MOST) {
    fprintf(out, "; no single rank causes most of it");
    return;
  }
  fprintf(out, "; rank %" PRId64, verdict->worst_rank);
  if (verdict->class != BOUND_IMBALANCE) fprintf(out, " is worst with %.0f %%", 100 * verdict->worst_share);
  else if (verdict->worst_share >= SHARE_ALL) fprintf(out, " causes all of it");
  else fprintf(out, " causes %.0f %% of it", 100 * verdict->worst_share);
}

/* What most of the imbalance is; WAITS: several things. */
static enum rank_wait main_wait(const job_costs *costs) {
  for (int i = 0; i < WAITS; i++) {
    if (costs->waits[i] >= SHARE_CAUSE * costs->ns[COST_IMBALANCE]) return (enum rank_wait)i;
  }
  return WAITS;
}

static const char *doing_text(const job_verdict *verdict, const job_costs *costs) {
  static const char *const waits[WAITS + 1] = {[WAIT_COLLECTIVE] = "is waiting for the last rank in collectives",
                                               [WAIT_MESSAGE] = "is waiting for messages that are sent late",
                                               [WAIT_END] = "is waiting for the last rank to finish"};
  const enum rank_wait wait = main_wait(costs);
  return verdict->class == BOUND_IMBALANCE && wait != WAITS ? waits[wait] : words[verdict->class].doing;
}

/* "imbalance and I/O take about the same share of"; 0: none of them could be the verdict. */
static int say_tied(FILE *out, const job_verdict *verdict) {
  int all = 0, count = 0;
  for (int class = 0; class < BOUND_CLASSES; class ++) all += verdict->is_tied[class];
  for (int class = 0; class < BOUND_CLASSES; class ++) {
    if (!verdict->is_tied[class]) continue;
    fprintf(out, "%s%s", !count ? "" : count + 1 < all ? ", " : " and ", words[class].short_name);
    count++;
  }
  if (count) fprintf(out, " take about the same share of ");
  return count;
}

static void say_none(FILE *out, const job_verdict *verdict, const job_costs *costs) {
  char whole[FORMAT_BYTES];
  fprintf(out, "NONE DOMINANT: ");
  if (!say_tied(out, verdict)) fprintf(out, "no cost stands out in ");
  say_base(out, verdict, costs);
  fprintf(out, " (%s%s)", time_text(whole, verdict->of_ns), each_text(verdict, costs));
  say_shares(out, costs, ": ", BOUND_NONE);
  fprintf(out, ".");
}

static void say_first(FILE *out, const job_verdict *verdict, const job_costs *costs) {
  char time[FORMAT_BYTES], whole[FORMAT_BYTES];
  if (!verdict->is_sure) fprintf(out, "PROBABLY ");
  if (verdict->class == BOUND_NONE) {
    say_none(out, verdict, costs);
    return;
  }
  fprintf(out, "%s", words[verdict->class].title);
  if (verdict->io_kind) fprintf(out, " (%s)", verdict->io_kind);
  fprintf(out, ": %.0f %% of ", 100 * verdict->share);
  say_base(out, verdict, costs);
  fprintf(out, " (%s of %s%s) ", time_text(time, verdict->ns), time_text(whole, verdict->of_ns),
          each_text(verdict, costs));
  if (verdict->is_guess) fprintf(out, "may be waiting for rank %" PRId64, verdict->worst_rank);
  else fprintf(out, "%s", doing_text(verdict, costs));
  say_worst(out, verdict);
  fprintf(out, ".");
}

/* ---- Evidence ------------------------------------------------------------------------------------------------------- */

static void say_cause(FILE *out, const job_verdict *verdict, const job_costs *costs, const measure_list *measures) {
  const verdict_cause *cause = &verdict->cause;
  char one[MEASURE_TEXT_BYTES], two[MEASURE_TEXT_BYTES], name[MEASURE_TEXT_BYTES];
  if (costs->saving_rank != NO_NUMBER && verdict_share(costs, BOUND_CHECKPOINT) >= SHARE_MENTIONED)
    fprintf(out, "%.0f %% of %s is waiting in collectives for rank %" PRId64 ", which saves.\n",
            100 * costs->waited_for_saving / costs->ns[COST_CHECKPOINT],
            verdict->class == BOUND_CHECKPOINT ? "that" : "the checkpoints", costs->saving_rank);
  if (!cause->what) return;
  if (verdict->class == BOUND_IMBALANCE && strcmp(cause->what, "region") != 0) {
    cause_say_share(out, cause, "that");
    fprintf(out, " waiting is for rank %" PRId64 " while it is in", verdict->worst_rank);
    if (cause->call) fprintf(out, " '%s'.\n", short_text(name, cause->call));
    else fprintf(out, " no region and no call.\n");
    return;
  }
  if (verdict->class == BOUND_IMBALANCE) {
    fprintf(out, "Rank %" PRId64 " spends %s in '%s'; the mean of all ranks is %s.\n", verdict->worst_rank,
            measure_format(one, measures, M_straggler_time), cause->call ? short_text(name, cause->call) : "?",
            measure_format(two, measures, M_straggler_mean));
    return;
  }
  cause_say_share(out, cause, "that");
  if (strcmp(cause->what, "worker-start") == 0) {
    fprintf(out, " waiting is the start and the end of loaders and their workers.\n");
    return;
  }
  fprintf(out, verdict->class == BOUND_INPUT ? " waiting coincides with" : " is");
  cause_say(out, cause);
  fprintf(out, ".\n");
}

/* Nobody can do anything about it before it has a name. */
static void say_unknown(FILE *out, const summary_answer *answer, const job_costs *costs, const measure_list *measures) {
  char time[FORMAT_BYTES];
  if (!verdict_is_much_unknown(costs)) return;
  fprintf(out,
          "%.0f %% of the loop (%s) is in no recorded call, and in no region that computes, fetches, communicates or "
          "saves.\n",
          100 * costs->ns[COST_OTHER] / costs->base_ns, time_text(time, costs->ns[COST_OTHER]));
  if (verdict_loads_in_loop(answer, costs, measures))
    fprintf(out, "Samples are loaded there, and nothing computes meanwhile.\n");
}

static void say_bound(FILE *out, const job_verdict *verdict, const job_costs *costs) {
  char best[FORMAT_BYTES];
  if (verdict->class == BOUND_NONE || verdict->is_aside) return;
  if (verdict->class == BOUND_COMPUTE && verdict->share >= SHARE_ALL) return; /* nothing else takes time */
  if (costs->lives.is_known) return;                                          /* one after another, or at once? */
  fprintf(out, "%s, %s would take %s at best", words[verdict->class].bound,
          is_of_loop(verdict, costs) ? "the loop" : "the job", time_text(best, verdict->best_ns));
  if (verdict->class == BOUND_IMBALANCE && costs->doubtful_ns >= SHARE_MENTIONED * costs->base_ns)
    fprintf(out, ": %s may be waiting, too", costs->is_all_doubtful ? "communication" : "point-to-point calls");
  fprintf(out, ".\n");
}

static void say_rest(FILE *out, const job_verdict *verdict, const job_costs *costs) {
  const double start = verdict_share(costs, BOUND_START);
  char time[FORMAT_BYTES];
  if (verdict->class != BOUND_NONE) {
    say_shares(out, costs, verdict->class == BOUND_START ? "The job itself: " : "The rest: ", verdict->class);
    fprintf(out, ".\n");
  }
  if (is_of_loop(verdict, costs) && start >= SHARE_MENTIONED)
    fprintf(out, "Before the loop, start-up took %s, %.0f %% of the job.\n", time_text(time, costs->ns[COST_START]),
            100 * start);
  if (verdict->class != BOUND_IMBALANCE && verdict_share(costs, BOUND_IMBALANCE) >= SHARE_WARNING &&
      !verdict_sharing_saves(costs))
    fprintf(out, "Imbalance is no cost here: sharing the work evenly would save less than %.0f %%.\n",
            100 * SHARE_MENTIONED);
}

/* What a training spends besides its loop. */
static void say_besides(FILE *out, const summary_answer *answer, const job_costs *costs) {
  double evaluation = 0, pauses = (double)answer->training.pause_ns;
  char time[FORMAT_BYTES];
  for (uint32_t i = 0; i < answer->trainers.count; i++) evaluation += (double)answer->trainers.lines[i].evaluation_ns;
  if (answer->trainers.count) evaluation /= answer->trainers.count;
  if (answer->trainers.count) pauses /= answer->trainers.count;
  if (costs->is_training && evaluation >= SHARE_MENTIONED * costs->job_ns)
    fprintf(out, "Evaluations took another %s, %.0f %% of the job; they are not part of the loop here.\n",
            time_text(time, evaluation), 100 * evaluation / costs->job_ns);
  if (costs->is_training && pauses >= SHARE_MENTIONED * costs->job_ns)
    fprintf(out,
            "Pauses of the training took another %s, %.0f %% of the job: epochs in which nothing of it was recorded "
            "any more.\n",
            time_text(time, pauses), 100 * pauses / costs->job_ns);
}

static void say_doubts(FILE *out, const job_verdict *verdict, const summary_answer *answer, const job_costs *costs,
                       const measure_list *measures) {
  char call[MEASURE_TEXT_BYTES], region[MEASURE_TEXT_BYTES], one[MEASURE_TEXT_BYTES], two[MEASURE_TEXT_BYTES];
  const uint64_t count = costs->is_training ? verdict_steps(answer) : answer->state->events;
  if (answer->state->dropped) fprintf(out, "Events were dropped while tracing, so shares may be wrong: see Notes.\n");
  if (answer->state->question.has_from || answer->state->question.has_to)
    fprintf(out, "Only a part of the time was asked for%s.\n",
            answer->state->question.has_from ? ": events that began before it are missing" : "");
  if (costs->is_training && answer->training.is_sequence)
    fprintf(out,
            "%" PRIu64
            " trainings of this run came one after the other: times are their means. Give each a folder of its "
            "own, or start each by dftracer run, to tell them apart.\n",
            answer->training.processes);
  if (costs->others)
    fprintf(out, "%" PRIu32 " rank%s not train: this is only about those that do.\n", costs->others,
            costs->others == 1 ? " does" : "s do");
  if (costs->beside)
    fprintf(out, "%" PRIu32 " process%s no rank: this is only about the ranks.\n", costs->beside,
            costs->beside == 1 ? " has" : "es have");
  if (answer->facts.missing_ranks)
    fprintf(out, "%" PRIu64 " rank%s no trace: the others may have waited for %s.\n", answer->facts.missing_ranks,
            answer->facts.missing_ranks == 1 ? " has" : "s have", answer->facts.missing_ranks == 1 ? "it" : "them");
  if (count < STEPS_SURE)
    fprintf(out, "Only %" PRIu64 " %s%s: %s.\n", count, costs->is_training ? "step" : "event", plural(count),
            costs->is_training ? "trace at least 20 to be sure" : "few to judge a program by");
  if (verdict->class == BOUND_COMPUTE && costs->hidden_ns >= SHARE_WARNING * costs->base_ns)
    fprintf(out,
            "For up to %.0f %% of the job, other threads are in I/O calls: if a region only waits for them, give it "
            "the class "
            "frame (--classes).\n",
            100 * costs->hidden_ns / costs->base_ns);
  if (verdict->is_aside)
    fprintf(out,
            "For %.0f %% of the time, only other threads than the main one %s. What the main thread does meanwhile is "
            "not known: if it computes, this costs nothing; if it waits for them, it does.\n",
            100 * verdict->aside_ns / costs->base_ns,
            verdict->class == BOUND_IO           ? "are in I/O calls"
            : verdict->class == BOUND_CHECKPOINT ? "save"
                                                 : "communicate");
  if (costs->is_training && !costs->is_input_known)
    fprintf(out, "How long the training waits for data is unknown: its fetches were not recorded.\n");
  if (verdict->idle_rank != NO_NUMBER)
    fprintf(out,
            "Much of the I/O may be waiting: all ranks call %s together, and before it rank %" PRId64
            " is in no region and no call for longer than the others.\n",
            short_text(call, verdict->cause.call), verdict->idle_rank);
  else if (verdict->is_joint)
    fprintf(
      out,
      "Much of the I/O may be waiting: all ranks call %s together, and '%s' takes %s on rank %.0f; the mean of all "
      "ranks is %s.\n",
      short_text(call, verdict->cause.call), measure_format(region, measures, M_straggler_region),
      measure_format(one, measures, M_straggler_time), measures->values[M_straggler].number,
      measure_format(two, measures, M_straggler_mean));
  if (verdict->class == BOUND_COMM && verdict_clocks_differ(costs))
    fprintf(out,
            "Up to %.0f %% of the communication may be waiting for other ranks: the clocks of the nodes do not agree "
            "well enough to "
            "tell.\n",
            100 * costs->unsure_ns / costs->ns[COST_COMM]);
  if (verdict->class == BOUND_COMM && costs->is_imbalance_known && verdict_receivers_are_late(costs))
    fprintf(out,
            "Up to %.0f %% of the communication may be waiting for other ranks: it is in sends that last until the "
            "receiver is there.\n",
            100 * costs->in_sends_ns / costs->ns[COST_COMM]);
  if (!costs->is_imbalance_known && costs->ns[COST_COMM] >= SHARE_MENTIONED * costs->base_ns)
    fprintf(out, "How much of the communication is waiting for other ranks is unknown: see Communication.\n");
}

/* The ways of waiting, if none is most of it. */
static void say_waits(FILE *out, const job_verdict *verdict, const job_costs *costs) {
  static const char *const waits[WAITS] = {
    [WAIT_COLLECTIVE] = "in collectives", [WAIT_MESSAGE] = "for late messages", [WAIT_END] = "of ranks that are done"};
  int count = 0;
  if (verdict->class != BOUND_IMBALANCE || main_wait(costs) != WAITS) return;
  for (int i = 0; i < WAITS; i++) {
    const double share = costs->waits[i] / verdict->ns;
    if (share >= SHARE_MENTIONED)
      fprintf(out, "%s %.0f %% is %s", count++ ? "," : "Of that waiting,", 100 * share, waits[i]);
  }
  if (count) fprintf(out, ".\n");
}

/* Processes without ranks are no job of equal parts. */
static void say_lives(FILE *out, const summary_answer *answer, const job_costs *costs) {
  const process_lives *lives = &costs->lives;
  char one[FORMAT_BYTES], two[FORMAT_BYTES], command[MEASURE_TEXT_BYTES];
  if (verdict_lives_differ(costs)) {
    const dft_text whole = process_command(answer->state, lives->longest);
    const dft_text name = {whole.text, strcspn(whole.text, ";")};
    fprintf(out, "Process %" PRIu64, answer->state->processes[lives->longest].pid);
    if (name.len) fprintf(out, " (%s)", short_text(command, printable_n(name.text, name.len)));
    fprintf(out, " lasts %s, the others %s on average.\n", time_text(one, lives->longest_ns),
            time_text(two, lives->others_ns));
  }
  if (verdict_has_gaps(costs, answer))
    fprintf(out, "For %s of the %s from the first event to the last, none of these processes runs.\n",
            time_text(one, (double)answer->job_ns - lives->covered_ns), time_text(two, (double)answer->job_ns));
}

/* What counts as compute only because nobody knows its name. */
static void say_unnamed(FILE *out, const job_verdict *verdict, const job_costs *costs, const measure_list *measures) {
  const measure_value *share = &measures->values[M_unnamed_share];
  char name[MEASURE_TEXT_BYTES];
  if (verdict->is_guess)
    fprintf(out,
            "No communication was recorded, so it is not known whether the others wait for it: trace MPI (--io), or "
            "name the regions that communicate (--classes).\n");
  if (costs->is_training || verdict->class != BOUND_COMPUTE || !share->is_known || share->number < SHARE_UNKNOWN)
    return;
  fprintf(out,
          "Regions whose names mean nothing to dftracer count as compute, most of all '%s': if one of them is "
          "communication or I/O, say so with --classes.\n",
          measure_format(name, measures, M_unnamed_region));
}

static void say_evidence(FILE *out, const job_verdict *verdict, const summary_answer *answer, const job_costs *costs,
                         const measure_list *measures) {
  say_waits(out, verdict, costs);
  say_cause(out, verdict, costs, measures); /* "that" is what the first line says */
  say_unknown(out, answer, costs, measures);
  say_bound(out, verdict, costs);
  say_rest(out, verdict, costs);
  say_besides(out, answer, costs);
  say_lives(out, answer, costs);
  say_unnamed(out, verdict, costs, measures);
  say_doubts(out, verdict, answer, costs, measures);
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
    if (i == 2) verdict_advise(out, verdict, answer, costs, measures, found);
    is_good &= fclose(out) == 0 && *texts[i];
  }
  return is_good;
}
