/* placing.c - counts what belongs to which epoch and step.
 * SPDX-License-Identifier: MIT */
#include "placing.h"

#include "command/summary/tally/looplimits.h"

/* Evaluations, in the order of time. */
typedef struct evaluation_line {
  span_stream stream;
  time_span now;
  int is_left;
} evaluation_line;

typedef struct place_context {
  analysis *shared;
  tally *counts;
  batch_piles *batches;
  process_frame *frame;
  int is_trainer, is_worker, has_epochs;
  int has_steps, has_updates;     /* what its steps are: events of kind step, of optimizers, or else fetches */
  int has_fetches, has_work;      /* it is known when it computes */
  int64_t last_epoch;             /* that has an event */
  int64_t fetch_end, compute_end; /* of what was counted so far */
  evaluation_line evaluations;
  process_counts *process;
  loop_limits limits;
  event_place epoch;  /* whose end is not known yet; its end is INT64_MIN: there is none */
  event_place update; /* the step that updates of optimizers make; its end is INT64_MIN: there is none */
} place_context;

/* ---- Epochs ------------------------------------------------------------------------------------------------------ */

/* The part of the event's time that no event of its kind before it covers: so the epochs add up to the time of all. */
static uint64_t new_time(const event_place *place, int64_t *counted_end) {
  int64_t start = place->start > *counted_end ? place->start : *counted_end;
  if (place->end <= start) return 0;
  *counted_end = place->end;
  return (uint64_t)(place->end - start);
}

static void account_epoch(place_context *given, const event_place *place, int is_batch) {
  const int is_compute = place->kind == AI_COMPUTE, is_fetch = place->kind == AI_FETCH || place->kind == AI_START;
  epoch_stats *stats;
  if (place->epoch == NO_NUMBER && !is_compute && !is_fetch) return;
  stats = tally_epoch(given->counts, place->epoch);
  if (!stats) return;
  stats->computes += is_compute;
  stats->fetches += place->kind == AI_FETCH;
  stats->batches += (uint64_t)is_batch;
  stats->samples += is_batch ? place->samples : 0;
  stats->sampled += is_batch && place->samples;
  if (is_compute) stats->compute_ns += new_time(place, &given->compute_end);
  if (is_fetch) stats->fetch_ns += new_time(place, &given->fetch_end);
  if (given->has_epochs && place->epoch != NO_NUMBER && place->epoch <= given->last_epoch && place->kind != AI_EPOCH)
    return; /* the epoch's event has its time */
  if (place->start < stats->first) stats->first = place->start;
  if (place->kind != AI_EPOCH && place->end > stats->last) stats->last = place->end;
}

/* Everything until the epoch's end has come. Unless epochs are nested, its end may be a pause. */
static void end_epoch(place_context *given, int64_t now) {
  event_place *epoch = &given->epoch;
  epoch_stats *stats = epoch->end == INT64_MIN ? NULL : tally_epoch(given->counts, epoch->epoch);
  if (!stats) return;
  if (epoch->end <= now && given->has_work && loop_limits_is_pause(&given->limits, epoch->end))
    epoch->end = given->limits.end;
  if (epoch->end > stats->last) stats->last = epoch->end;
  epoch->end = INT64_MIN;
}

/* Whether it is part of an evaluation; events come in the order of their starts. */
static int is_evaluated(evaluation_line *line, const event_place *place) {
  while (line->is_left && line->now.end < place->start) line->is_left = span_stream_next(&line->stream, &line->now);
  return line->is_left && line->now.start <= place->start && place->end <= line->now.end;
}

/* ---- Steps ----------------------------------------------------------------------------------------------------------- */

static void end_update(place_context *given) {
  event_place *step = &given->update;
  if (step->end != INT64_MIN) given->counts->is_good &= process_frame_add_step(given->frame, step);
  step->end = INT64_MIN;
}

/* Several optimizers may update one after the other: without a batch in between, and with the same number, that is one step. If
 * no batches are known, every update is a step. */
static void account_update(place_context *given, const event_place *place) {
  event_place *step = &given->update;
  const int is_same = step->end != INT64_MIN && given->has_fetches && step->epoch == place->epoch &&
                      step->has_step == place->has_step && (!place->has_step || step->step == place->step);
  if (!is_same) {
    end_update(given);
    *step = *place;
  } else if (place->end > step->end) {
    step->end = place->end;
  }
}

static void account_step(place_context *given, const event_place *place) {
  if (given->has_steps || !given->has_updates) {
    if (place->kind == (given->has_steps ? AI_STEP : AI_FETCH))
      given->counts->is_good &= process_frame_add_step(given->frame, place);
  } else if (place->is_update) {
    account_update(given, place);
  } else if (place->kind == AI_FETCH) {
    end_update(given);
  }
}

/* An event of a trainer, other than loading. */
static void account_trainer(place_context *given, const event_place *place, int64_t epoch_start, int is_batch,
                            int is_evaluated) {
  account_epoch(given, place, is_batch);
  if (place->kind == AI_EPOCH) {
    end_epoch(given, place->start);
    if (place->epoch != NO_NUMBER) given->epoch = *place;
  } else if (given->has_work) {
    given->counts->is_good &= loop_limits_add(&given->limits, place, epoch_start, is_evaluated,
                                              &given->process->pauses);
  }
}

/* ---- Places ---------------------------------------------------------------------------------------------------------- */

/* What a worker does belongs to the step that uses it, which its own arguments cannot tell: they are those of the fork. The
 * batch tells it, when all traces are read. */
static void account_place(void *context, const event_place *place, int64_t epoch_start) {
  place_context *given = context;
  const uint64_t nothing = (uint64_t)NO_NUMBER;
  const int is_of_training = place->kind && !is_evaluated(&given->evaluations, place);
  const int is_batch = place->kind == AI_FETCH && is_of_training;
  uint32_t group;
  given->process->batches += (uint64_t)is_batch;
  if (is_of_training) account_step(given, place);
  if (given->is_trainer && place->kind && place->kind != AI_DATA && place->kind != AI_EMPTY)
    account_trainer(given, place, epoch_start, is_batch, !is_of_training);
  if (given->is_trainer && place->kind == AI_FETCH && place->batch != NO_NUMBER)
    given->counts->is_good &= batch_piles_add_fetch(given->batches, place);
  if (!place->is_wanted) return;
  if (given->is_worker && place->batch != NO_NUMBER) {
    given->counts->is_good &= batch_piles_add_work(given->batches, place);
    return;
  }
  group = analysis_number_group(given->shared, given->is_worker ? nothing : (uint64_t)place->epoch,
                                given->is_worker ? nothing : (uint64_t)place->step);
  given->counts->is_good &= group != 0;
  tally_add_duration(given->counts, group, (uint64_t)(place->end - place->start));
  tally_add_self(given->counts, group, place->self_ns);
}

/* Nothing but evaluations: then they are the loop. It is inference, or the training of a model that stays in eval mode. */
static int find_inference(process_counts *counts) {
  spanset *works[] = {&counts->compute, &counts->fetch}, *evaluation = &counts->evaluation;
  span_lengths lengths = {0};
  if (spanset_is_empty(evaluation) || !process_is_trainer(counts)) return 1;
  if (!spanset_measure(works, 2, &evaluation, 1, &lengths)) return 0;
  if (lengths.common != lengths.one) return 1;
  counts->is_inference = !counts->updates;
  spanset_free(evaluation);
  return 1;
}

void place_events(analysis *shared, tally *counts, traced_process *process) {
  const int is_trainer = process_is_trainer(&process->counts);
  const int has_steps = process->counts.ai_count[AI_STEP] != 0, has_updates = process->counts.updates != 0;
  spanset *evaluation = &process->counts.evaluation;
  place_context context = {.shared = shared,
                           .counts = counts,
                           .batches = &process->batches,
                           .frame = &process->frame,
                           .has_steps = has_steps,
                           .has_updates = has_updates,
                           .is_trainer = is_trainer,
                           .is_worker = !is_trainer && process->counts.ai_count[AI_DATA],
                           .has_epochs = process->times.has_epochs,
                           .last_epoch = process->times.has_own_numbers ? process->times.last_number : INT64_MAX,
                           .has_fetches = process->counts.ai_count[AI_FETCH] != 0,
                           .process = &process->counts,
                           .has_work = process->counts.ai_count[AI_COMPUTE] || process->counts.ai_count[AI_STEP],
                           .fetch_end = INT64_MIN,
                           .compute_end = INT64_MIN,
                           .epoch = {.end = INT64_MIN},
                           .update = {.end = INT64_MIN}};
  evaluation_line *line = &context.evaluations;
  counts->is_good &= find_inference(&process->counts);
  if (!is_trainer && !has_steps && !has_updates && shared->question->by != BY_STEP)
    return; /* nobody asks for a place */
  loop_limits_begin(&context.limits);
  line->is_left = span_stream_open(&line->stream, &evaluation, 1) && span_stream_next(&line->stream, &line->now);
  counts->is_good &= step_finder_resolve(&process->times, account_place, &context) & line->stream.merge.is_good;
  span_stream_close(&line->stream);
  end_update(&context);
  end_epoch(&context, INT64_MAX);
  if (context.has_work && process_is_training(&process->counts))
    counts->is_good &= loop_limits_end(&context.limits, &process->counts.loop_last, &process->counts.pauses);
  counts->is_good &= spanset_settle(&process->counts.pauses);
}
