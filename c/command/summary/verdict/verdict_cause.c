/* verdict_cause.c - why a cost is there.
 * SPDX-License-Identifier: MIT */
#include "verdict_cause.h"

#include <stdlib.h>
#include <string.h>

#include "cause_words.h"
#include "command/cli/printable.h"
#include "phasecause.h"

#define ALL_OF_IT 0.995

/* Of all time of a kind, a call or a folder has this share, and a phase has this part. Whether at least 80 % of that part
 * are the call's, even if all the rest of the time is. */
static int explains(double share, double part) {
  return share - (1 - part) >= SHARE_CAUSE * part;
}

static int name_call(verdict_cause *cause, enum io_cost kind, double part, const summary_state *state) {
  double share;
  const dft_text call = costs_call(state, kind, &share);
  if (!explains(share, part)) return 1; /* several calls of this kind */
  cause->call = call.len ? strdup(printable_n(call.text, call.len)) : NULL;
  return !call.len || cause->call;
}

static int name_files(verdict_cause *cause, enum io_cost kind, double part, const summary_answer *answer) {
  const io_folder *folder = &answer->folders[kind];
  if (!folder->files || !folder->all_ns) return 1;
  if (part < 1 && !explains((double)folder->cost_ns / (double)folder->all_ns, part)) return 1;
  if (part >= ALL_OF_IT) { /* else some of them are only used later */
    cause->files = folder->files;
    cause->file_bytes = (double)(kind == IO_COST_WRITE ? folder->write_bytes : folder->read_bytes) /
                        (double)folder->files;
  }
  if (folder->file) {
    const dft_text name = answer_file(answer->state, folder->file);
    cause->file = strdup(printable_n(name.text, name.len));
    if (!cause->file) return 0;
  }
  if (!folder->path.len) return 1;
  cause->folder = strdup(printable_n(folder->path.text, folder->path.len));
  return cause->folder != NULL;
}

int verdict_cause_io(verdict_cause *cause, enum io_cost kind, double part, const summary_answer *answer) {
  static const char *const whats[IO_COSTS] = {
    [IO_COST_READ] = "read", [IO_COST_WRITE] = "write", [IO_COST_METADATA] = "metadata"};
  cause->what = whats[kind];
  return name_call(cause, kind, part, answer->state) && name_files(cause, kind, part, answer);
}

static int name_io(verdict_cause *cause, enum io_cost kind, double share, const summary_answer *answer) {
  cause->share = share;
  return verdict_cause_io(cause, kind, 1, answer);
}

/* What coincides with the waiting for data. */
static int explain_input(verdict_cause *cause, const summary_answer *answer, const job_costs *costs) {
  double waited = 0, with[IO_COSTS] = {0}, loading = 0, in_calls = 0;
  int most = 0;
  for (uint32_t i = 0; i < costs->count; i++) {
    const rank_costs *rank = &costs->ranks[i];
    waited += rank->waited_ns;
    loading += rank->waited_loading;
    in_calls += rank->waited_in_calls;
    for (int kind = 0; kind < IO_COSTS; kind++) with[kind] += rank->waited_with[kind];
  }
  for (int kind = 1; kind < IO_COSTS; kind++) {
    if (with[kind] > with[most]) most = kind;
  }
  if (waited <= 0) return 1;
  cause->is_about = costs->is_coarse;
  if (with[most] >= SHARE_CAUSE * waited) return name_io(cause, (enum io_cost)most, with[most] / waited, answer);
  if (loading - in_calls >= SHARE_CAUSE * waited) {
    cause->what = "preparing";
    cause->share = (loading - in_calls) / waited;
  }
  return 1;
}

static int explain_io(verdict_cause *cause, const summary_answer *answer, const job_costs *costs) {
  static const struct {
    enum cost cost;
    enum io_cost kind;
  } kinds[] = {{COST_READ, IO_COST_READ}, {COST_WRITE, IO_COST_WRITE}, {COST_META, IO_COST_METADATA}};
  for (int i = 0; i < 3; i++) {
    const double all = costs->ns[COST_READ] + costs->ns[COST_WRITE] + costs->ns[COST_META];
    const double share = costs->ns[kinds[i].cost] / all;
    if (share >= SHARE_CAUSE) return name_io(cause, kinds[i].kind, share, answer);
  }
  return 1;
}

/* What the rank did while the others waited for it. It says nothing of those that had ended. */
static int explain_delays(verdict_cause *cause, const job_verdict *verdict, const summary_answer *answer,
                          const job_costs *costs) {
  const collective_list *list = &answer->collectives;
  const double late_part = verdict->ns > 0 ? 1 - costs->waits[WAIT_END] / verdict->ns : 0;
  for (uint32_t i = 0; i < list->rank_count; i++) {
    const delay_cause *before = &list->ranks[i].before;
    const double share = before->share * verdict->worst_share;
    dft_text name;
    if (list->ranks[i].rank != verdict->worst_rank || !before->is_known) continue;
    if (late_part < SHARE_CAUSE || share < SHARE_CAUSE) return 1;
    name = state_text_of(answer->state, before->name);
    cause->what = before->name ? "before" : "outside";
    cause->share = share;
    cause->call = before->name ? shown_name(name) : NULL;
    return !before->name || cause->call;
  }
  return 1;
}

/* The region that takes longer on the rank that the others wait for. */
static int explain_imbalance(verdict_cause *cause, const job_verdict *verdict, const measure_list *measures) {
  const measure_value *region = &measures->values[M_straggler_region];
  const double lost = measures->values[M_straggler_stake].number;
  if (!region->is_known || (int64_t)measures->values[M_straggler].number != verdict->worst_rank) return 1;
  if (lost < SHARE_CAUSE * verdict->ns) return 1;
  cause->what = "region";
  cause->share = lost < verdict->ns ? lost / verdict->ns : 1;
  cause->call = strdup(region->text);
  return cause->call != NULL;
}

int verdict_find_cause(job_verdict *verdict, const summary_answer *answer, const job_costs *costs,
                       const measure_list *measures) {
  switch (verdict->class) {
    case BOUND_INPUT: return explain_input(&verdict->cause, answer, costs);
    case BOUND_IO: return explain_io(&verdict->cause, answer, costs);
    case BOUND_IMBALANCE:
      if (!explain_delays(&verdict->cause, verdict, answer, costs)) return 0;
      return verdict->cause.call || explain_imbalance(&verdict->cause, verdict, measures);
    case BOUND_START: return phase_cause_find(&verdict->cause, answer, costs, PHASE_START);
    default: return 1;
  }
}
