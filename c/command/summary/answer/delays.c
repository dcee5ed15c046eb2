/* delays.c - what ranks did while others waited for them.
 * SPDX-License-Identifier: MIT */
#include "delays.h"

#include <stdlib.h>
#include <string.h>

#define SHARE_TOLD 0.005 /* what is less is shown as 0 % */
#define HELD_MOST 4096u  /* pursuits within one delay; what is before them is not known */

static int later_first(const void *a, const void *b) {
  const delay *one = a, *two = b;
  if (one->end != two->end) return one->end > two->end ? -1 : 1;
  if (one->start != two->start) return one->start > two->start ? -1 : 1;
  if (one->call != two->call) return one->call < two->call ? -1 : 1;
  return (one->waited_ns > two->waited_ns) - (one->waited_ns < two->waited_ns);
}

int delays_init(delays *all, uint32_t processes) {
  *all = (delays){.piles = calloc((size_t)processes + 1, sizeof *all->piles), .processes = processes};
  for (uint32_t i = 0; all->piles && i <= processes; i++)
    all->piles[i] = (record_pile){.record_bytes = sizeof(delay), .compare = later_first};
  return all->piles != NULL;
}

void delays_free(delays *all) {
  for (uint32_t i = 0; all->piles && i <= all->processes; i++) record_pile_free(&all->piles[i]);
  free(all->piles);
  *all = (delays){0};
}

int delays_add(delays *all, uint32_t process, const delay *one) {
  return !process || one->end <= one->start || record_pile_add(&all->piles[process], one);
}

/* ---- Sums ----------------------------------------------------------------------------------------------------------- */

/* What was waited while the late ones were in one event. Subjects: the calls, then the processes. */
typedef struct delay_sums {
  numbering numbers; /* of (subject << 32 | name, category) */
  double *explained; /* by number */
  uint32_t capacity;
  double *waited; /* by subject */
  uint32_t call_count;
} delay_sums;

static int add_explained(delay_sums *sums, uint32_t subject, const pursuit_name *name, double ns) {
  int is_new;
  const uint32_t number = numbering_of(&sums->numbers, (uint64_t)subject << 32 | name->name, name->cat, &is_new);
  if (!number) return 0;
  if (number >= sums->capacity) {
    const uint32_t capacity = sums->capacity ? sums->capacity * 2 : 64;
    double *explained = realloc(sums->explained, capacity * sizeof *explained);
    if (!explained) return 0;
    sums->explained = explained;
    sums->capacity = capacity;
  }
  sums->explained[number] = ns + (is_new ? 0 : sums->explained[number]);
  return 1;
}

static void choose(const delay_sums *sums, delay_cause *of_processes, delay_cause *of_calls) {
  for (uint32_t i = 1; i <= sums->numbers.count; i++) {
    const numbered *key = &sums->numbers.keys[i];
    const uint32_t subject = (uint32_t)(key->a >> 32), name = (uint32_t)key->a, cat = (uint32_t)key->b;
    const int is_call = subject < sums->call_count;
    delay_cause *best = is_call ? &of_calls[subject] : &of_processes[subject - sums->call_count];
    const double share = sums->explained[i] / sums->waited[subject];
    if (share < SHARE_TOLD || (best->is_known && share < best->share)) continue;
    if (best->is_known && share == best->share && (name > best->name || (name == best->name && cat > best->cat)))
      continue;
    *best = (delay_cause){1, name, cat, share < 1 ? share : 1};
  }
}

/* ---- One process ---------------------------------------------------------------------------------------------------- */

/* The pursuits that overlap the delay at hand, on the way back. */
typedef struct pursuit_reader {
  run_merge merge;
  const pursuit *next;
  pursuit *held;
  uint32_t count;
  const pursuits *all;
  double explained[PURSUIT_NAMES_MOST + 1]; /* of what others waited, by number of a name */
  const host_clocks *clocks;
  uint32_t process;
} pursuit_reader;

static const pursuit_name *name_of(const pursuit_reader *reader, uint32_t what) {
  static const pursuit_name outside = {0, 0};
  return what ? &reader->all->names[what - 1] : &outside;
}

static void take_next(pursuit_reader *reader) {
  pursuit own = *reader->next;
  own.start = host_clocks_time(reader->clocks, reader->process, own.start);
  own.end = host_clocks_time(reader->clocks, reader->process, own.end);
  reader->held[reader->count++] = own;
  reader->next = run_merge_next(&reader->merge);
}

static void hold(pursuit_reader *reader, const delay *of) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < reader->count; i++) {
    if (reader->held[i].start < of->end) reader->held[kept++] = reader->held[i];
  }
  reader->count = kept;
  while (reader->next && reader->count < HELD_MOST) {
    if (host_clocks_time(reader->clocks, reader->process, reader->next->end) <= of->start) break;
    take_next(reader);
    if (reader->held[reader->count - 1].start >= of->end) reader->count--;
  }
}

/* Of a pursuit that comes again and again, as much is in the delay as of its whole time. */
static int add_delay(delay_sums *sums, pursuit_reader *reader, const delay *of) {
  const double weight = (double)of->waited_ns / (double)(of->end - of->start);
  for (uint32_t i = 0; i < reader->count; i++) {
    const pursuit *done = &reader->held[i];
    const int64_t start = done->start > of->start ? done->start : of->start;
    const int64_t end = done->end < of->end ? done->end : of->end;
    const double length = (double)(done->end - done->start);
    double ns;
    if (end <= start) continue;
    ns = weight * (double)(end - start) * (double)done->ns / length;
    reader->explained[done->what] += ns;
    if (of->call != NO_CALL && !add_explained(sums, of->call, name_of(reader, done->what), ns)) return 0;
  }
  return 1;
}

/* Reads both on the way back. */
static int read_delays(delay_sums *sums, pursuit_reader *reader, record_pile *pile) {
  run_merge merge;
  const delay *of;
  int is_good = 1;
  record_pile_read(pile, &merge);
  while (is_good && (of = run_merge_next(&merge)) != NULL) {
    sums->waited[sums->call_count + reader->process] += (double)of->waited_ns;
    if (of->call != NO_CALL) sums->waited[of->call] += (double)of->waited_ns;
    hold(reader, of);
    is_good = add_delay(sums, reader, of);
  }
  is_good = is_good && merge.is_good;
  run_merge_free(&merge);
  return is_good;
}

static int explain_process(delay_sums *sums, pursuit_reader *reader, record_pile *pile, record_pile *times) {
  int is_good;
  if (record_pile_is_empty(pile)) return 1;
  reader->count = 0;
  memset(reader->explained, 0, sizeof reader->explained);
  record_pile_read(times, &reader->merge);
  reader->next = run_merge_next(&reader->merge);
  is_good = read_delays(sums, reader, pile) && reader->merge.is_good;
  run_merge_free(&reader->merge);
  for (uint32_t what = 0; is_good && what <= reader->all->count; what++) {
    if (reader->explained[what] > 0)
      is_good = add_explained(sums, sums->call_count + reader->process, name_of(reader, what), reader->explained[what]);
  }
  return is_good;
}

int delays_explain(delays *all, summary_state *state, const host_clocks *clocks, delay_cause *of_processes,
                   delay_cause *of_calls, uint32_t call_count) {
  delay_sums sums = {.numbers.limit = UINT32_MAX - 1,
                     .call_count = call_count,
                     .waited = calloc((size_t)call_count + all->processes + 1, sizeof *sums.waited)};
  pursuit_reader reader = {.clocks = clocks, .held = malloc(HELD_MOST * sizeof *reader.held)};
  int is_good = sums.waited && reader.held;
  for (uint32_t i = 1; is_good && i <= all->processes; i++) {
    pursuits *own = &state->processes[i].counts.pursuits;
    reader.process = i;
    reader.all = own;
    is_good = explain_process(&sums, &reader, &all->piles[i], &own->times);
  }
  if (is_good) choose(&sums, of_processes, of_calls);
  numbering_free(&sums.numbers);
  free(sums.explained);
  free(sums.waited);
  free(reader.held);
  return is_good;
}
