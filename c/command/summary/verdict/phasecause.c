/* phasecause.c - what takes the time before the loop, or after it.
 * SPDX-License-Identifier: MIT */
#include "phasecause.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cause_words.h"
#include "iocause.h"

/* A phase of all ranks. */
typedef struct phase_sums {
  const summary_answer *answer;
  const job_costs *costs;
  enum time_phase phase;
  double all_ns, class_ns[TIME_CLASSES];
  double final_ns;        /* after the loop, in MPI_Finalize, which does not wait */
  const rank_costs *last; /* the rank that the others wait for most; NULL: none */
  double waited_ns;       /* they wait for it, alone */
} phase_sums;

static const process_counts *counts_of(const phase_sums *of, const rank_costs *rank) {
  return &of->answer->state->processes[rank->process].counts;
}

static double caused_by(const phase_sums *of, const rank_costs *rank) {
  return of->phase == PHASE_START ? rank->start_caused_ns : rank->end_caused_ns;
}

static phase_sums sum_phase(const summary_answer *answer, const job_costs *costs, enum time_phase phase) {
  phase_sums sums = {.answer = answer, .costs = costs, .phase = phase};
  for (uint32_t i = 0; i < costs->count; i++) {
    const rank_costs *rank = &costs->ranks[i];
    sums.all_ns += phase == PHASE_START ? rank->ns[COST_START] : rank->end_ns;
    for (int class = 0; class < TIME_CLASSES; class ++)
      sums.class_ns[class] += (double)counts_of(&sums, rank)->split_ns[phase][class];
    if (phase == PHASE_END) sums.class_ns[TIME_OUTSIDE] -= rank->final_ns;
    if (phase == PHASE_END) sums.final_ns += rank->ns[COST_FINAL];
    if (caused_by(&sums, rank) <= sums.waited_ns || rank->rank == NO_NUMBER) continue;
    sums.waited_ns = caused_by(&sums, rank);
    sums.last = rank;
  }
  return sums;
}

/* Whether the ranks spend at least 80 % of the phase in this, or wait for the one that does: `own_ns` of it are that rank's. */
static int explain(verdict_cause *cause, const phase_sums *of, double ns, double own_ns) {
  const int is_awaited = of->last && of->costs->count > 1 &&
                         own_ns >= SHARE_CAUSE * of->waited_ns / (of->costs->count - 1);
  const int is_alone = ns < SHARE_CAUSE * of->all_ns;
  if (is_alone && is_awaited) ns += of->waited_ns;
  if (ns < SHARE_CAUSE * of->all_ns) return 0;
  if (is_alone && of->last) cause->rank = of->last->rank;
  cause->share = ns < of->all_ns ? ns / of->all_ns : 1;
  return 1;
}

static double own_of(const phase_sums *of, enum time_class class) {
  return of->last ? (double)counts_of(of, of->last)->split_ns[of->phase][class] : 0;
}

/* *is_found: it is these calls. 0: no memory. */
static int find_calls(verdict_cause *cause, const phase_sums *of, int *is_found) {
  const io_stats *io = &of->answer->io;
  const struct {
    enum time_class class;
    enum io_cost kind;
    uint64_t ns;
  } kinds[] = {{TIME_META, IO_COST_METADATA, io->other_ns - io->sync_ns},
               {TIME_SYNC, IO_COST_SYNC, io->sync_ns},
               {TIME_READ, IO_COST_READ, io->read.ns},
               {TIME_WRITE, IO_COST_WRITE, io->write.ns}};
  for (int i = 0; i < 4; i++) {
    const double ns = of->class_ns[kinds[i].class], calls_ns = (double)kinds[i].ns;
    if (calls_ns < SHARE_CAUSE * ns || !kinds[i].ns) continue; /* regions are what is of this kind: they have names */
    if (!explain(cause, of, ns, own_of(of, kinds[i].class))) continue;
    *is_found = 1;
    return io_cause_name(cause, kinds[i].kind, ns < calls_ns ? ns / calls_ns : 1, of->answer);
  }
  return 1;
}

static const phase_region *region_of(const phase_sums *of, const rank_costs *rank) {
  const process_counts *counts = counts_of(of, rank);
  return of->phase == PHASE_START ? &counts->start_region : &counts->end_region;
}

static int is_same(const phase_region *one, const phase_region *two) {
  return one->ns && one->name == two->name && one->cat == two->cat;
}

/* The region that takes longest on any rank, on all ranks. */
static int find_region(verdict_cause *cause, const phase_sums *of, int *is_found) {
  const phase_region *most = region_of(of, &of->costs->ranks[0]);
  const phase_region *last = of->last ? region_of(of, of->last) : NULL;
  double ns = 0;
  for (uint32_t i = 1; i < of->costs->count; i++) {
    const phase_region *next = region_of(of, &of->costs->ranks[i]);
    if (next->ns > most->ns) most = next;
  }
  for (uint32_t i = 0; i < of->costs->count; i++) {
    const phase_region *next = region_of(of, &of->costs->ranks[i]);
    if (is_same(next, most)) ns += (double)next->ns;
  }
  if (!most->ns || !explain(cause, of, ns, last && is_same(last, most) ? (double)last->ns : 0)) return 1;
  *is_found = 1;
  cause->what = "region";
  cause->call = shown_name(state_text_of(of->answer->state, most->name));
  return cause->call != NULL;
}

static int find_final(verdict_cause *cause, const phase_sums *of, int *is_found) {
  if (of->final_ns < SHARE_CAUSE * of->all_ns) return 1;
  *is_found = 1;
  cause->what = "region";
  cause->share = of->final_ns / of->all_ns;
  cause->call = shown_name(of->costs->final_name);
  return cause->call != NULL;
}

/* All of it is of one class, which has no name. */
static void find_class(verdict_cause *cause, const phase_sums *of) {
  static const enum time_class classes[] = {TIME_CHECKPOINT, TIME_COMM, TIME_OUTSIDE};
  for (int i = 0; i < 3; i++) {
    if (of->class_ns[classes[i]] < SHARE_CAUSE * of->all_ns) continue;
    cause->what = time_class_word(classes[i]);
    cause->share = of->class_ns[classes[i]] / of->all_ns;
  }
}

static int find(verdict_cause *cause, const phase_sums *sums) {
  int is_found = 0;
  cause->rank = NO_NUMBER;
  if (sums->all_ns <= 0) return 1;
  if (!find_calls(cause, sums, &is_found)) return 0;
  if (!is_found && !find_region(cause, sums, &is_found)) return 0;
  if (!is_found && !find_final(cause, sums, &is_found)) return 0;
  if (!is_found) find_class(cause, sums);
  return 1;
}

int phase_cause_find(verdict_cause *cause, const summary_answer *answer, const job_costs *costs,
                     enum time_phase phase) {
  const phase_sums sums = sum_phase(answer, costs, phase);
  return find(cause, &sums);
}

static void measure_parts(measure_list *list, const verdict_cause *cause, const phase_sums *sums) {
  const enum measure unknown = sums->phase == PHASE_START ? M_startup_outside : M_teardown_outside;
  const char *what = cause->what ? cause->what : "outside";
  const double outside = strcmp(what, "outside") == 0 ? sums->class_ns[TIME_OUTSIDE] : 0;
  measure_set_ratio(list, unknown, outside, sums->all_ns);
  if (sums->phase == PHASE_START) return;
  measure_set_ratio(list, M_teardown_final, sums->final_ns, sums->all_ns);
  measure_set_ratio(list, M_teardown_idle, outside + sums->final_ns, sums->all_ns);
  if (strcmp(what, "region") == 0) measure_set_text(list, M_teardown_region, cause->call, strlen(cause->call));
  if (cause->rank != NO_NUMBER) measure_set(list, M_teardown_rank, (double)cause->rank);
}

int phase_cause_measure(measure_list *list, const summary_answer *answer, const job_costs *costs,
                        enum time_phase phase) {
  const enum measure measure = phase == PHASE_START ? M_startup_cause : M_teardown_cause;
  const phase_sums sums = sum_phase(answer, costs, phase);
  verdict_cause cause = {0};
  char *text = NULL;
  size_t size = 0;
  int is_good = find(&cause, &sums);
  FILE *out = is_good ? open_memstream(&text, &size) : NULL;
  if (out && cause.what) {
    cause_say_share(out, &cause, "it");
    fprintf(out, " is");
    cause_say(out, &cause);
  } else if (out) {
    fprintf(out, "no single thing explains it");
  }
  is_good = out && fclose(out) == 0 && text;
  if (is_good) text[0] = (char)tolower((unsigned char)text[0]); /* within a sentence */
  if (is_good) measure_set_text(list, measure, text, size);
  if (is_good) measure_parts(list, &cause, &sums);
  free(text);
  verdict_cause_free(&cause);
  return is_good;
}
