/* mpifacts.c - what the series of MPI calls say about clocks.
 * SPDX-License-Identifier: MIT */
#include "mpifacts.h"

#include <stdlib.h>

/* Does the series begin with the process's first call, and is nothing missing in it? */
static int is_complete(const series_source *source) {
  return source->has_init && !source->has_gaps;
}

uint32_t mpi_facts_first_host(const mpi_series *all) {
  uint32_t host = 0;
  for (uint32_t i = 0; i < all->source_count; i++) {
    const series_source *source = &all->sources[i];
    if (!source->has_calls) continue;
    if (source->rank == 0) return source->host;
    if (!host) host = source->host;
  }
  return host;
}

/* ---- Messages ------------------------------------------------------------------------------------------------------- */

typedef struct rank_map {
  numbering numbers; /* of run and rank */
  uint32_t *sources; /* by number, + 1; 0: two processes have this rank, as in spawned jobs */
} rank_map;

static int map_ranks(rank_map *map, const mpi_series *all) {
  *map = (rank_map){.numbers.limit = UINT32_MAX - 1, .sources = calloc((size_t)all->source_count + 2, 4)};
  for (uint32_t i = 0; map->sources && i < all->source_count; i++) {
    const series_source *source = &all->sources[i];
    int is_new;
    uint32_t number;
    if (!source->has_calls || source->rank < 0) continue;
    number = numbering_of(&map->numbers, source->run, (uint32_t)source->rank, &is_new);
    if (!number) return 0;
    map->sources[number] = is_new ? i + 1 : 0;
  }
  return map->sources != NULL;
}

static const series_source *source_of(const rank_map *map, const mpi_series *all, uint32_t run, uint32_t rank,
                                      uint32_t *index) {
  uint32_t number = numbering_find(&map->numbers, run, rank);
  if (!number || !map->sources[number]) return NULL;
  *index = map->sources[number] - 1;
  return &all->sources[*index];
}

/* The n-th receive belongs to the n-th send, or to a later one if receives are missing: it is not before the n-th send in
 * any case. So the sends have to be complete, and the receives need not be. */
static int add_messages(clock_bounds *clocks, const mpi_series *all, const rank_map *map, uint32_t number) {
  const series_key key = mpi_series_key(all, number);
  const call_series *sends = &all->list[number], *receives;
  const series_source *sender = &all->sources[key.source], *receiver, *own;
  uint32_t receiver_index, own_index, found;
  if (sends->is_bad || sender->has_cancelled || sender->rank < 0) return 1;
  own = source_of(map, all, sender->run, (uint32_t)sender->rank, &own_index);
  receiver = source_of(map, all, sender->run, key.peer, &receiver_index);
  if (own != sender || !receiver || receiver->has_cancelled || receiver->host == sender->host) return 1;
  found = mpi_series_find(all, (series_key){receiver_index, key.comm, SERIES_RECEIVE, (uint32_t)sender->rank, key.tag});
  receives = &all->list[found];
  if (!found || receives->is_bad || (!is_complete(sender) && sends->count != receives->count)) return 1;
  for (uint32_t i = 0; i < sends->kept_count && i < receives->kept_count; i++) {
    if (receives->kept[i].end == MOMENT_UNKNOWN) continue;
    if (!clock_bounds_message(clocks, sender->host, receiver->host, sends->kept[i].start, receives->kept[i].end))
      return 0;
  }
  return 1;
}

/* ---- Collectives ---------------------------------------------------------------------------------------------------- */

/* The members of one communicator of one run: their series are a list. */
typedef struct comm_group {
  uint32_t size, members, first; /* number of a series; 0: none */
  uint64_t least, most;          /* calls of a member */
  uint32_t longest;              /* kept moments */
  int is_bad, has_gaps;
} comm_group;

typedef struct comm_groups {
  numbering numbers;   /* of run and communicator */
  comm_group *list;    /* by number */
  uint32_t *next;      /* by number of a series: the next member's */
  clock_visit *visits; /* of the collective in hand */
  uint32_t *places;    /* by number of a host: the place of its visit, + 1 */
} comm_groups;

/* A communicator with more members than its size is one between groups, or two jobs use the same number. */
static int add_member(comm_groups *groups, const mpi_series *all, uint32_t number) {
  const series_key key = mpi_series_key(all, number);
  const call_series *series = &all->list[number];
  const series_source *source = &all->sources[key.source];
  int is_new;
  uint32_t at = numbering_of(&groups->numbers, source->run, key.comm, &is_new);
  comm_group *group = &groups->list[at];
  if (!at) return 0;
  if (is_new) *group = (comm_group){.size = key.peer, .least = UINT64_MAX};
  if (series->is_bad || group->size != key.peer || ++group->members > group->size) group->is_bad = 1;
  if (!is_complete(source)) group->has_gaps = 1;
  if (series->count < group->least) group->least = series->count;
  if (series->count > group->most) group->most = series->count;
  if (series->kept_count > group->longest) group->longest = series->kept_count;
  groups->next[number] = group->first;
  group->first = number;
  return 1;
}

/* Are these calls the same collective, as far as one can see? */
static int is_same_everywhere(const comm_groups *groups, const mpi_series *all, const comm_group *group) {
  for (uint32_t at = group->first; at; at = groups->next[at]) {
    const call_series *one = &all->list[at], *first = &all->list[group->first];
    for (uint32_t i = 0; i < one->kept_count && i < first->kept_count; i++) {
      if (one->kept[i].name != first->kept[i].name) return 0;
    }
  }
  return 1;
}

static void widen(clock_visit *visit, const call_moment *moment) {
  if (moment->start > visit->last_start) visit->last_start = moment->start;
  if (moment->end < visit->first_end) visit->first_end = moment->end;
}

/* One collective: a visit for each host. */
static int add_collective(clock_bounds *clocks, comm_groups *groups, const mpi_series *all, const comm_group *group,
                          uint32_t place) {
  uint32_t count = 0;
  int is_sure = 1;
  for (uint32_t at = group->first; at; at = groups->next[at]) {
    const uint32_t host = all->sources[mpi_series_key(all, at).source].host;
    const call_series *series = &all->list[at];
    if (place >= series->kept_count) continue;
    if (!series->kept[place].is_sure) is_sure = 0;
    if (!groups->places[host]) {
      groups->visits[count] = (clock_visit){host, INT64_MIN, MOMENT_UNKNOWN};
      groups->places[host] = ++count;
    }
    widen(&groups->visits[groups->places[host] - 1], &series->kept[place]);
  }
  for (uint32_t i = 0; i < count; i++) groups->places[groups->visits[i].host] = 0;
  return !is_sure || clock_bounds_collective(clocks, groups->visits, count);
}

static int add_group(clock_bounds *clocks, comm_groups *groups, const mpi_series *all, const comm_group *group) {
  if (group->is_bad || (group->has_gaps && group->least != group->most)) return 1;
  if (!is_same_everywhere(groups, all, group)) return 1;
  for (uint32_t place = 0; place < group->longest; place++) {
    if (!add_collective(clocks, groups, all, group, place)) return 0;
  }
  return 1;
}

static int add_collectives(clock_bounds *clocks, const mpi_series *all) {
  const uint32_t count = all->numbers.count;
  comm_groups groups = {.numbers.limit = UINT32_MAX - 1,
                        .list = calloc((size_t)count + 1, sizeof *groups.list),
                        .next = calloc((size_t)count + 1, sizeof *groups.next),
                        .visits = calloc((size_t)all->source_count + 1, sizeof *groups.visits)};
  const uint32_t hosts = dft_reader_text_count(all->reader, DFT_HOSTS);
  int is_good;
  groups.places = calloc((size_t)hosts + 1, sizeof *groups.places);
  is_good = groups.list && groups.next && groups.visits && groups.places;
  for (uint32_t i = 1; is_good && i <= count; i++) {
    if (mpi_series_key(all, i).kind == SERIES_COLLECTIVE) is_good = add_member(&groups, all, i);
  }
  for (uint32_t i = 1; is_good && i <= groups.numbers.count; i++)
    is_good = add_group(clocks, &groups, all, &groups.list[i]);
  numbering_free(&groups.numbers);
  free(groups.list);
  free(groups.next);
  free(groups.visits);
  free(groups.places);
  return is_good;
}

int mpi_facts_add(clock_bounds *clocks, const mpi_series *all) {
  rank_map map;
  int is_good = map_ranks(&map, all) && add_collectives(clocks, all);
  for (uint32_t i = 1; is_good && i <= all->numbers.count; i++) {
    if (mpi_series_key(all, i).kind == SERIES_SEND) is_good = add_messages(clocks, all, &map, i);
  }
  numbering_free(&map.numbers);
  free(map.sources);
  return is_good;
}
