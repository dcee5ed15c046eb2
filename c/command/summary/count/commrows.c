/* commrows.c - counts an event of communication.
 * SPDX-License-Identifier: MIT */
#include "commrows.h"

#include "factrows.h"

/* The arguments of one event. Ranks, tags and bytes are negative if they are not given. */
typedef struct comm_arguments {
  int64_t bytes, peer, source, root, tag, source_tag;
  int64_t comm, comm_size, remote_size;
  int64_t collective;
  uint64_t starts[COMM_STARTS];
  uint32_t start_count;
} comm_arguments;

static void find_arguments(comm_arguments *found, const comm_keys *keys, const dft_rows *rows, uint32_t row) {
  found->bytes = found->peer = found->source = found->root = -1;
  found->tag = found->source_tag = NO_TAG;
  for (uint32_t i = rows->arg_first[row]; i < rows->arg_first[row + 1]; i++) {
    const dft_cell *cell = &rows->args[i];
    if (cell->key == keys->bytes) found->bytes = cell_integer(cell, -1);
    else if (cell->key == keys->peer) found->peer = cell_integer(cell, -1);
    else if (cell->key == keys->source) found->source = cell_integer(cell, -1);
    else if (cell->key == keys->root) found->root = cell_integer(cell, -1);
    else if (cell->key == keys->tag) found->tag = cell_integer(cell, NO_TAG);
    else if (cell->key == keys->source_tag) found->source_tag = cell_integer(cell, NO_TAG);
    else if (cell->key == keys->comm) found->comm = cell_integer(cell, 0);
    else if (cell->key == keys->comm_size) found->comm_size = cell_integer(cell, 0);
    else if (cell->key == keys->remote_size) found->remote_size = cell_integer(cell, 0);
    else if (cell->key == keys->collective) found->collective = cell_integer(cell, 0);
    else {
      for (uint32_t j = 0; j < COMM_STARTS; j++) {
        if (cell->key != keys->starts[j] || found->start_count == COMM_STARTS) continue;
        found->starts[found->start_count++] = (uint64_t)cell_integer(cell, 0);
      }
    }
  }
}

static int32_t rank_of(int64_t number) {
  return number < 0 || number > INT32_MAX ? -1 : (int32_t)number;
}

/* What happens to one event. */
typedef struct comm_event {
  comm_counts *counts;
  const moment *moment;
  uint64_t id;
  mpi_call call;
  comm_arguments arguments;
  arrival_key key;
} comm_event;

static int add_arrival(const comm_event *event) {
  const arrival arrived = {.start = event->moment->start,
                           .wait_start = event->moment->start,
                           .wait_end = event->moment->end,
                           .root = rank_of(event->arguments.root),
                           .has_data = event->arguments.bytes > 0};
  arrival_list *list;
  if (event->call.is_begun)
    return messages_add_request(&event->counts->mail,
                                &(message_request){.id = event->id, .key = event->key, .call = arrived});
  list = arrivals_list(&event->counts->meetings, event->key);
  return list && arrival_list_add(list, &arrived);
}

static int add_send(const comm_event *event) {
  const comm_arguments *given = &event->arguments;
  const int64_t start = event->moment->start, end = event->call.kind == MPI_EXCHANGE ? start - 1 : event->moment->end;
  const mpi_message sent = {event->key.comm, rank_of(given->peer), rank_of(given->tag), start, start, end};
  if (sent.peer < 0) return 1; /* MPI_PROC_NULL, or not in MPI_COMM_WORLD */
  return messages_add_send(&event->counts->mail, &sent) &&
         messages_add_peer(&event->counts->mail, sent.peer, 0, 1, given->bytes > 0 ? (uint64_t)given->bytes : 0);
}

static int add_receive(const comm_event *event) {
  const comm_arguments *given = &event->arguments;
  const int is_exchange = event->call.kind == MPI_EXCHANGE;
  const int64_t start = event->moment->start;
  const int32_t peer = rank_of(is_exchange ? given->source : given->peer);
  const int32_t tag = rank_of(is_exchange ? given->source_tag : given->tag);
  messages *mail = &event->counts->mail;
  if (peer < 0) {
    mail->unknown_sources += !is_exchange && given->bytes > 0; /* from MPI_PROC_NULL there are no bytes */
    return 1;
  }
  if (!event->call.is_begun) {
    const mpi_message received = {event->key.comm, peer, tag, start, start, event->moment->end};
    return event->call.is_probe ? messages_add_probe(mail, &received) : messages_add_receive(mail, &received);
  }
  return messages_add_request(
    mail, &(message_request){
            .id = event->id, .key = event->key, .is_receive = 1, .tag = tag, .call = {.start = start, .root = peer}});
}

static int add_waits(const comm_event *event) {
  int is_good = 1;
  for (uint32_t i = 0; i < event->arguments.start_count && is_good; i++)
    is_good = messages_add_wait(&event->counts->mail,
                                &(request_wait){event->arguments.starts[i], event->moment->start, event->moment->end});
  return is_good;
}

static int add_one_sided(const comm_event *event) {
  const comm_arguments *given = &event->arguments;
  if (rank_of(given->peer) < 0) return 1;
  return messages_add_peer(&event->counts->mail, given->peer, event->call.kind == MPI_GET, 1,
                           given->bytes > 0 ? (uint64_t)given->bytes : 0);
}

static int add_event(const comm_event *event) {
  const int64_t start = event->moment->start, end = event->moment->end;
  if (event->call.is_prepared || start <= -ARRIVAL_TIME_MOST || end >= ARRIVAL_TIME_MOST || start > end) return 1;
  switch (event->call.kind) {
    case MPI_SEND: return add_send(event);
    case MPI_RECEIVE: return add_receive(event);
    case MPI_EXCHANGE: return add_send(event) && add_receive(event);
    case MPI_PUT:
    case MPI_GET: return add_one_sided(event);
    case MPI_COMPLETE: return add_waits(event);
    case MPI_START:
      event->counts->mail.started.calls++;
      if (event->arguments.bytes > 0) event->counts->mail.started.bytes += (uint64_t)event->arguments.bytes;
      return 1;
    case MPI_OTHER:
    case MPI_FILE: return 1;
    default: return add_arrival(event);
  }
}

static int count_call(const comm_event *event) {
  const comm_arguments *given = &event->arguments;
  comm_call *call = comm_counts_call(event->counts, event->key.name, event->call.kind);
  if (!call) return 0;
  call->is_begun = event->call.is_begun;
  call->calls++;
  call->time_ns += (uint64_t)(event->moment->end - event->moment->start);
  call->collective += given->collective != 0;
  if (event->call.kind == MPI_NONE || given->bytes < 0) return 1;
  call->bytes += (uint64_t)given->bytes;
  return histogram_add(&call->sizes, (uint64_t)given->bytes);
}

void comm_rows_add(const analysis *shared, tally *counts, const dft_rows *rows, uint32_t row, const moment *event) {
  const event_class *class = analysis_class(shared, event->class_number);
  comm_event own = {.counts = tally_comm(counts, analysis_thread(shared, event->thread)->process),
                    .moment = event,
                    .id = rows->id[row],
                    .call = class->mpi};
  if (!own.counts) return;
  find_arguments(&own.arguments, &shared->keys.comm, rows, row);
  own.key = (arrival_key){.name = class->name, .is_mpi = class->mpi.kind != MPI_NONE};
  if (own.key.is_mpi) {
    own.key.comm = (uint32_t)own.arguments.comm;
    own.key.comm_size = (uint32_t)rank_of(own.arguments.comm_size);
    if (own.arguments.comm_size <= 0) own.key.comm_size = 0;
    if (own.arguments.remote_size > 0) own.key.comm_size = COMM_OF_TWO_GROUPS;
  }
  counts->is_good &= count_call(&own) && add_event(&own);
  if (class->mpi.kind != MPI_FILE) counts->is_good &= spanset_add(&own.counts->busy, event->start, event->end);
}
