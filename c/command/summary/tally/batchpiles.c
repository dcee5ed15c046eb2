/* batchpiles.c - what a worker did for a batch belongs to the step of the fetch that got the batch.
 * SPDX-License-Identifier: MIT */
#include "batchpiles.h"

/* Whose batch it is, and then when: less than 0: `one` is earlier. */
static int compare_batch(const batch_part *one, const batch_part *two) {
  if (one->worker != two->worker) return one->worker < two->worker ? -1 : 1;
  return (one->batch > two->batch) - (one->batch < two->batch);
}

static int by_batch(const void *a, const void *b) {
  const batch_part *one = a, *two = b;
  int order = compare_batch(one, two);
  if (order) return order;
  if (one->end != two->end) return one->end < two->end ? -1 : 1;
  if (one->epoch != two->epoch) return one->epoch < two->epoch ? -1 : 1;
  return (one->step > two->step) - (one->step < two->step);
}

static int add(record_pile *pile, const batch_part *part) {
  pile->record_bytes = sizeof *part;
  pile->compare = by_batch;
  return record_pile_add(pile, part);
}

int batch_piles_add_fetch(batch_piles *piles, const event_place *place) {
  batch_part part = {
    .worker = place->worker, .batch = place->batch, .end = place->end, .epoch = place->epoch, .step = place->step};
  return add(&piles->fetches, &part);
}

int batch_piles_add_work(batch_piles *piles, const event_place *place) {
  batch_part part = {.worker = place->worker,
                     .batch = place->batch,
                     .end = place->batch_end,
                     .epoch = NO_NUMBER,
                     .step = NO_NUMBER,
                     .time_ns = (uint64_t)(place->end - place->start),
                     .self_ns = place->self_ns};
  return add(&piles->work, &part);
}

int batch_piles_join(batch_piles *worker, batch_piles *trainer, batch_call *call, void *context) {
  record_pile none = {0};
  run_merge work, fetches;
  const batch_part *part, *fetch;
  int is_good;
  record_pile_read(&worker->work, &work);
  record_pile_read(trainer ? &trainer->fetches : &none, &fetches);
  fetch = run_merge_next(&fetches);
  while ((part = run_merge_next(&work)) != NULL) {
    batch_part found = *part;
    while (fetch && (compare_batch(fetch, part) < 0 || (compare_batch(fetch, part) == 0 && fetch->end < part->end)))
      fetch = run_merge_next(&fetches);
    if (fetch && compare_batch(fetch, part) == 0) {
      found.epoch = fetch->epoch;
      found.step = fetch->step;
    }
    call(context, &found);
  }
  is_good = work.is_good && fetches.is_good;
  run_merge_free(&work);
  run_merge_free(&fetches);
  return is_good;
}

void batch_piles_free(batch_piles *piles) {
  record_pile_free(&piles->fetches);
  record_pile_free(&piles->work);
}
