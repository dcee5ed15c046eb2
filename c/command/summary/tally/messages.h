/* messages.h - what a process sent and received, point to point, and the requests of calls that only begin. What does not fit in
 * memory is spilled. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_MESSAGES_H
#define DFTRACER_MESSAGES_H

#include "arrivals.h"

#define NO_TAG (-1) /* of a receive with MPI_ANY_TAG */

/* One message, as one side saw it. */
typedef struct mpi_message {
  uint32_t comm;
  int32_t peer; /* rank in MPI_COMM_WORLD */
  int32_t tag;
  int64_t start;
  int64_t wait_start,
    wait_end; /* as in an arrival; of a send, the call that began it. In a call that receives as well, a send
                                   is not known to wait */
} mpi_message;

/* A call that only begins, and the wait that completes it. */
typedef struct message_request {
  uint64_t id; /* of the event */
  arrival_key key;
  uint32_t is_receive; /* else it is a collective */
  int32_t tag;
  arrival call; /* its wait is not known yet; of a receive, `root` is the peer */
} message_request;
typedef struct request_wait {
  uint64_t id; /* of the event that began */
  int64_t start, end;
} request_wait;

/* What went to a rank, or came from it one-sided. */
typedef struct peer_stats {
  uint64_t calls, bytes;
} peer_stats;

typedef struct messages {
  record_pile sends, receives; /* messages, in the order of starts */
  record_pile requests, waits; /* by id; until the trace is read */
  record_pile probes;          /* in the order of starts; the same */
  numbering peer_numbers;      /* of ranks: rank << 1 | whether it came from there, 0 */
  peer_stats *peers;           /* by number */
  uint32_t peer_capacity;
  uint64_t unknown_sources; /* receives from MPI_ANY_SOURCE whose sender is not known */
  uint64_t unknown_waits;   /* requests that no recorded wait names */
  peer_stats started;       /* by MPI_Start: nothing tells the peers */
} messages;

/* These return 0 when there is no memory, or no room for the spill. */
int messages_add_send(messages *all, const mpi_message *send);
int messages_add_receive(messages *all, const mpi_message *receive);
int messages_add_probe(messages *all, const mpi_message *probe); /* of a message that is received next */
int messages_add_request(messages *all, const message_request *request);
int messages_add_wait(messages *all, const request_wait *wait);
int messages_add_peer(messages *all, int64_t rank, int is_from, uint64_t calls, uint64_t bytes);
int messages_move(messages *into, messages *from); /* `from` is empty then */
/* Everything was read: requests find their waits, and become arrivals and receives; these find the probes before them. */
int messages_join(messages *all, arrivals *meetings);
int messages_sort(messages *all);
void messages_free(messages *all);

static inline int messages_are_empty(const messages *all) {
  return record_pile_is_empty(&all->sends) && record_pile_is_empty(&all->receives) &&
         record_pile_is_empty(&all->requests) && record_pile_is_empty(&all->waits) &&
         record_pile_is_empty(&all->probes) && !all->peer_numbers.count && !all->unknown_sources &&
         !all->unknown_waits && !all->started.calls;
}

#endif
