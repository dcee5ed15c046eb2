/* endcauses.c - for whom ranks wait that are done.
 * SPDX-License-Identifier: MIT */
#include "endcauses.h"

#include <stdlib.h>

/* What a rank may be in: it begins and ends by turns. */
enum rank_state { RANK_LIVES = 1, RANK_COMMUNICATES = 2, RANK_WAITS = 4 };

typedef struct rank_turn {
  int64_t time;
  uint32_t place;
  uint32_t state; /* that begins or ends */
  double part;    /* of RANK_WAITS: added to what waits */
} rank_turn;

static int by_time(const void *a, const void *b) {
  const rank_turn *one = a, *two = b;
  if (one->time != two->time) return one->time < two->time ? -1 : 1;
  if (one->place != two->place) return one->place < two->place ? -1 : 1;
  if (one->state != two->state) return one->state < two->state ? -1 : 1;
  return (one->part > two->part) - (one->part < two->part);
}

void end_causes_begin(end_causes *all, job_costs *costs, const summary_answer *answer) {
  *all = (end_causes){.costs = costs, .answer = answer, .first = INT64_MAX, .is_good = 1};
  all->turns = (record_pile){.record_bytes = sizeof(rank_turn), .compare = by_time};
}

static void add(end_causes *all, uint32_t place, enum rank_state state, int64_t start, int64_t end, double part) {
  const rank_turn begins = {start, place, state, part}, ends = {end, place, state, -part};
  if (end <= start) return;
  all->is_good = all->is_good && record_pile_add(&all->turns, &begins) && record_pile_add(&all->turns, &ends);
}

void end_causes_add_wait(end_causes *all, uint32_t place, int64_t start, int64_t until, double part) {
  if (part <= 0 || until <= start) return;
  if (start < all->first) all->first = start;
  add(all, place, RANK_WAITS, start, until, part);
}

void end_causes_add_life(end_causes *all, uint32_t place, int64_t first, int64_t last) {
  add(all, place, RANK_LIVES, first, last, 0);
}

/* While anybody waits. */
static void add_communication(end_causes *all, uint32_t place) {
  const uint32_t process = all->costs->ranks[place].process;
  const host_clocks *clocks = &all->answer->collectives.clocks;
  spanset *busy = &all->answer->state->processes[process].counts.comm.busy;
  span_stream stream;
  time_span span;
  all->is_good &= span_stream_open(&stream, &busy, 1);
  while (all->is_good && span_stream_next(&stream, &span)) {
    const int64_t end = host_clocks_time(clocks, process, span.end);
    if (end > all->first) add(all, place, RANK_COMMUNICATES, host_clocks_time(clocks, process, span.start), end, 0);
  }
  all->is_good &= stream.merge.is_good;
  span_stream_close(&stream);
}

/* Goes through all turns. `states`: by place, all 0. */
static int blame(end_causes *all, uint8_t *states) {
  uint64_t working = 0, places = 0; /* how many ranks work, and the sum of their places */
  double waits = 0;                 /* how many, or parts of them */
  int64_t now = INT64_MIN;
  run_merge merge;
  const rank_turn *turn;
  int is_good;
  record_pile_read(&all->turns, &merge);
  while ((turn = run_merge_next(&merge)) != NULL) {
    const uint8_t before = states[turn->place], after = before ^ (uint8_t)turn->state;
    if (working == 1 && waits > 0 && turn->time > now) {
      rank_costs *cause = &all->costs->ranks[places];
      const double caused = waits * (double)(turn->time - now);
      cause->caused_ns += caused;
      cause->end_caused_ns += caused;
    }
    now = turn->time;
    waits += turn->part;
    states[turn->place] = after;
    if (before == RANK_LIVES) working--, places -= turn->place;
    if (after == RANK_LIVES) working++, places += turn->place;
  }
  is_good = merge.is_good;
  run_merge_free(&merge);
  return is_good;
}

int end_causes_end(end_causes *all) {
  uint8_t *states = calloc((size_t)all->costs->count + 1, sizeof *states);
  int is_good;
  for (uint32_t i = 0; all->first < INT64_MAX && i < all->costs->count; i++) add_communication(all, i);
  is_good = states && all->is_good && blame(all, states);
  record_pile_free(&all->turns);
  free(states);
  return is_good;
}
