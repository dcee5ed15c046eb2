/* messages.c - what a process sent and received, point to point.
 * SPDX-License-Identifier: MIT */
#include "messages.h"

#include <stdlib.h>

static int by_time(const void *a, const void *b) {
  const mpi_message *one = a, *two = b;
  if (one->start != two->start) return one->start < two->start ? -1 : 1;
  if (one->comm != two->comm) return one->comm < two->comm ? -1 : 1;
  if (one->peer != two->peer) return one->peer < two->peer ? -1 : 1;
  if (one->tag != two->tag) return one->tag < two->tag ? -1 : 1;
  if (one->wait_end != two->wait_end) return one->wait_end < two->wait_end ? -1 : 1;
  return (one->wait_start > two->wait_start) - (one->wait_start < two->wait_start);
}

/* An id is there once, but a damaged trace may have it twice. */
static int by_request(const void *a, const void *b) {
  const message_request *one = a, *two = b;
  if (one->id != two->id) return one->id < two->id ? -1 : 1;
  return (one->call.start > two->call.start) - (one->call.start < two->call.start);
}

static int by_wait(const void *a, const void *b) {
  const request_wait *one = a, *two = b;
  if (one->id != two->id) return one->id < two->id ? -1 : 1;
  if (one->start != two->start) return one->start < two->start ? -1 : 1;
  return (one->end > two->end) - (one->end < two->end);
}

static int add(record_pile *pile, record_compare *compare, size_t record_bytes, const void *record) {
  pile->record_bytes = record_bytes;
  pile->compare = compare;
  return record_pile_add(pile, record);
}

int messages_add_send(messages *all, const mpi_message *send) {
  return add(&all->sends, by_time, sizeof *send, send);
}

int messages_add_receive(messages *all, const mpi_message *receive) {
  return add(&all->receives, by_time, sizeof *receive, receive);
}

int messages_add_probe(messages *all, const mpi_message *probe) {
  return add(&all->probes, by_time, sizeof *probe, probe);
}

int messages_add_request(messages *all, const message_request *request) {
  return add(&all->requests, by_request, sizeof *request, request);
}

int messages_add_wait(messages *all, const request_wait *wait) {
  return add(&all->waits, by_wait, sizeof *wait, wait);
}

int messages_add_peer(messages *all, int64_t rank, int is_from, uint64_t calls, uint64_t bytes) {
  int is_new;
  uint32_t number;
  all->peer_numbers.limit = UINT32_MAX - 1;
  number = numbering_of(&all->peer_numbers, (uint64_t)rank << 1 | (is_from != 0), 0, &is_new);
  if (!number) return 0;
  if (number >= all->peer_capacity) {
    uint32_t capacity = all->peer_capacity ? all->peer_capacity * 2 : 8;
    peer_stats *peers = realloc(all->peers, capacity * sizeof *peers);
    if (!peers) return 0;
    all->peers = peers;
    all->peer_capacity = capacity;
  }
  if (is_new) all->peers[number] = (peer_stats){0};
  all->peers[number].calls += calls;
  all->peers[number].bytes += bytes;
  return 1;
}

int messages_move(messages *into, messages *from) {
  int is_good = record_pile_move(&into->sends, &from->sends) && record_pile_move(&into->receives, &from->receives) &&
                record_pile_move(&into->requests, &from->requests) && record_pile_move(&into->waits, &from->waits) &&
                record_pile_move(&into->probes, &from->probes);
  for (uint32_t i = 1; is_good && i <= from->peer_numbers.count; i++) {
    const uint64_t key = from->peer_numbers.keys[i].a;
    is_good = messages_add_peer(into, (int64_t)(key >> 1), key & 1, from->peers[i].calls, from->peers[i].bytes);
  }
  into->unknown_sources += from->unknown_sources;
  into->unknown_waits += from->unknown_waits;
  into->started.calls += from->started.calls;
  into->started.bytes += from->started.bytes;
  messages_free(from);
  return is_good;
}

static int place_request(messages *all, arrivals *meetings, const message_request *request) {
  const arrival *call = &request->call;
  arrival_list *list;
  all->unknown_waits += call->wait_end < call->wait_start;
  if (request->is_receive)
    return messages_add_receive(
      all, &(mpi_message){request->key.comm, call->root, request->tag, call->start, call->wait_start, call->wait_end});
  list = arrivals_list(meetings, request->key);
  return list && arrival_list_add(list, call);
}

static int join_waits(messages *all, arrivals *meetings) {
  run_merge requests, waits;
  const message_request *request;
  const request_wait *wait;
  int is_good = 1;
  record_pile_read(&all->requests, &requests);
  record_pile_read(&all->waits, &waits);
  wait = run_merge_next(&waits);
  while (is_good && (request = run_merge_next(&requests)) != NULL) {
    message_request whole = *request;
    while (wait && wait->id < whole.id) wait = run_merge_next(&waits);
    whole.call.wait_start = whole.call.start;
    whole.call.wait_end = whole.call.start - 1;
    if (wait && wait->id == whole.id) {
      whole.call.wait_start = wait->start;
      whole.call.wait_end = wait->end;
    }
    is_good = place_request(all, meetings, &whole);
  }
  is_good = is_good && requests.is_good && waits.is_good;
  run_merge_free(&requests);
  run_merge_free(&waits);
  record_pile_free(&all->requests);
  record_pile_free(&all->waits);
  return is_good;
}

/* The last probe of each place, until its message is received. */
typedef struct probe_list {
  numbering numbers; /* of (peer << 32 | tag, communicator) */
  mpi_message *last; /* by number; it ends before it starts, if its message was received */
  uint32_t capacity;
} probe_list;

/* NULL: there was none, or no memory: then *is_good is cleared. */
static mpi_message *place_of(probe_list *list, const mpi_message *one, int is_probe, int *is_good) {
  const uint64_t place = (uint64_t)(uint32_t)one->peer << 32 | (uint32_t)one->tag;
  int is_new;
  uint32_t number;
  if (!is_probe) {
    number = numbering_find(&list->numbers, place, one->comm);
    return number ? &list->last[number] : NULL;
  }
  number = numbering_of(&list->numbers, place, one->comm, &is_new);
  if (number >= list->capacity) {
    const uint32_t capacity = list->capacity ? list->capacity * 2 : 16;
    mpi_message *last = number ? realloc(list->last, capacity * sizeof *last) : NULL;
    *is_good = last != NULL;
    if (!last) return NULL;
    list->last = last;
    list->capacity = capacity;
  }
  return &list->last[number];
}

/* What was probed has come when the probe ends: a receive after it waited there. */
static int join_probes(messages *all) {
  probe_list list = {.numbers.limit = UINT32_MAX - 1};
  record_pile joined = {0};
  run_merge receives, probes;
  const mpi_message *receive, *probe;
  int is_good = 1;
  record_pile_read(&all->receives, &receives);
  record_pile_read(&all->probes, &probes);
  probe = run_merge_next(&probes);
  while (is_good && (receive = run_merge_next(&receives)) != NULL) {
    mpi_message own = *receive, *last;
    for (; is_good && probe && probe->start <= own.start; probe = run_merge_next(&probes)) {
      last = place_of(&list, probe, 1, &is_good);
      if (last) *last = *probe;
    }
    last = place_of(&list, &own, 0, &is_good);
    if (last && last->wait_end >= last->wait_start) {
      own.wait_start = last->wait_start;
      own.wait_end = last->wait_end;
      last->wait_end = last->wait_start - 1;
    }
    is_good = is_good && add(&joined, by_time, sizeof own, &own);
  }
  is_good = is_good && receives.is_good && probes.is_good;
  run_merge_free(&receives);
  run_merge_free(&probes);
  record_pile_free(&all->receives);
  record_pile_free(&all->probes);
  numbering_free(&list.numbers);
  free(list.last);
  all->receives = joined;
  return is_good;
}

int messages_join(messages *all, arrivals *meetings) {
  return join_waits(all, meetings) && (record_pile_is_empty(&all->probes) || join_probes(all));
}

/* One entry that moves. */
typedef struct peer_entry {
  uint64_t key;
  peer_stats stats;
} peer_entry;

static int by_rank(const void *a, const void *b) {
  const peer_entry *one = a, *two = b;
  return (one->key > two->key) - (one->key < two->key);
}

int messages_sort(messages *all) {
  const uint32_t count = all->peer_numbers.count;
  peer_entry *order = malloc((count + 1) * sizeof *order);
  int is_good = order != NULL;
  for (uint32_t i = 0; is_good && i < count; i++)
    order[i] = (peer_entry){all->peer_numbers.keys[i + 1].a, all->peers[i + 1]};
  if (is_good) qsort(order, count, sizeof *order, by_rank);
  if (is_good) numbering_free(&all->peer_numbers);
  for (uint32_t i = 0; is_good && i < count; i++)
    is_good = messages_add_peer(all, (int64_t)(order[i].key >> 1), order[i].key & 1, order[i].stats.calls,
                                order[i].stats.bytes);
  free(order);
  return is_good;
}

void messages_free(messages *all) {
  record_pile_free(&all->sends);
  record_pile_free(&all->receives);
  record_pile_free(&all->requests);
  record_pile_free(&all->waits);
  record_pile_free(&all->probes);
  numbering_free(&all->peer_numbers);
  free(all->peers);
  *all = (messages){0};
}
