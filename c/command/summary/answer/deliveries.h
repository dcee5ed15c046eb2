/* deliveries.h - which message was sent by whom: between two ranks, on one communicator and with one tag, the n-th that was sent is
 * the n-th that was received. If their numbers differ, nothing is known of them. A receive whose tag is not known belongs to
 * the only tag that was sent between the two, or to none.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_DELIVERIES_H
#define DFTRACER_DELIVERIES_H

#include "command/summary/state/summarystate.h"

/* One message. */
typedef struct delivery {
  uint32_t sender, receiver;    /* processes */
  int64_t send_start, send_end; /* of the call; end < start: what it waited for is not known */
  int64_t receive_start;        /* of the call that began it */
  int64_t wait_start, wait_end; /* of the receiver; end < start: not known */
} delivery;

typedef struct deliveries {
  record_pile sends, receives;
  numbering ranks;     /* of ranks */
  uint32_t *processes; /* by number in ranks; 0: several */
  numbering pairs;     /* of receiver << 32 | sender, communicator */
  int64_t *tags;       /* by number in pairs: of what was sent; MANY_TAGS: several */
  numbering places;    /* of receiver << 32 | sender, communicator << 32 | tag */
  uint64_t *surplus;   /* by number in places: more sends than receives; as if it were signed */
  uint32_t pair_capacity, place_capacity;
  uint64_t received;        /* messages that the traces have a receive of */
  uint64_t unmatched;       /* of these, those whose sender has no trace, or whose tag is not known */
  uint64_t unknown_waits;   /* and those of which it is not known where the receiver waited */
  uint64_t unknown_sources; /* receives from MPI_ANY_SOURCE whose sender is not known */
} deliveries;

/* Of a sorted state. 0: no memory, or no room for the spill. */
int deliveries_init(deliveries *all, summary_state *state);
void deliveries_free(deliveries *all);

typedef int delivery_call(void *context, const delivery *mail); /* 0: no memory */
/* Calls for each message whose two sides are known. 0: no memory, or the spill cannot be read. */
int deliveries_read(deliveries *all, delivery_call *call, void *context);

#endif
