/* deliveries.c - which message was sent by whom.
 * SPDX-License-Identifier: MIT */
#include "deliveries.h"

#include <stdlib.h>
#include <string.h>

#define MANY_TAGS INT64_MAX

/* One side of a message. */
typedef struct mail {
  uint64_t pair, place; /* as in `places` */
  int64_t start, wait_start, wait_end;
} mail;

static int by_place(const void *a, const void *b) {
  const mail *one = a, *two = b;
  if (one->pair != two->pair) return one->pair < two->pair ? -1 : 1;
  if (one->place != two->place) return one->place < two->place ? -1 : 1;
  if (one->start != two->start) return one->start < two->start ? -1 : 1;
  if (one->wait_end != two->wait_end) return one->wait_end < two->wait_end ? -1 : 1;
  return (one->wait_start > two->wait_start) - (one->wait_start < two->wait_start);
}

/* Room for a number in a list of 8 bytes each. 0: no memory. */
static int reserve(void **list, uint32_t *capacity, uint32_t number) {
  uint32_t wanted = *capacity ? *capacity : 64;
  uint64_t *more;
  if (!number) return 0;
  if (number < *capacity) return 1;
  while (wanted <= number) wanted *= 2;
  more = realloc(*list, wanted * sizeof(uint64_t));
  if (!more) return 0;
  memset(more + *capacity, 0, (wanted - *capacity) * sizeof(uint64_t));
  *list = more;
  *capacity = wanted;
  return 1;
}

static uint32_t process_of(const deliveries *all, int64_t rank) {
  uint32_t number = numbering_find(&all->ranks, (uint64_t)rank, 0);
  return number ? all->processes[number] : 0;
}

/* ---- Both sides ----------------------------------------------------------------------------------------------------- */

/* What is known of the place of a message. NULL: no memory. */
static uint64_t *surplus_of(deliveries *all, const mail *side) {
  int is_new;
  uint32_t number = numbering_of(&all->places, side->pair, side->place, &is_new);
  return reserve((void **)&all->surplus, &all->place_capacity, number) ? &all->surplus[number] : NULL;
}

static int64_t *tag_of(deliveries *all, uint64_t pair, uint32_t comm, int *is_new) {
  uint32_t number = numbering_of(&all->pairs, pair, comm, is_new);
  return reserve((void **)&all->tags, &all->pair_capacity, number) ? &all->tags[number] : NULL;
}

static mail side_of(const mpi_message *own, uint64_t receiver, uint64_t sender, int32_t tag) {
  return (mail){receiver << 32 | sender, (uint64_t)own->comm << 32 | (uint32_t)tag, own->start, own->wait_start,
                own->wait_end};
}

static int add_send(deliveries *all, uint32_t process, const mpi_message *own) {
  const uint32_t receiver = process_of(all, own->peer);
  const mail side = side_of(own, receiver, process, own->tag);
  uint64_t *surplus;
  int64_t *tag;
  int is_new;
  if (!receiver) return 1;
  surplus = surplus_of(all, &side);
  tag = tag_of(all, side.pair, own->comm, &is_new);
  if (!surplus || !tag) return 0;
  ++*surplus;
  *tag = is_new || *tag == own->tag ? own->tag : MANY_TAGS;
  return record_pile_add(&all->sends, &side);
}

static int add_receive(deliveries *all, uint32_t process, const mpi_message *own) {
  const uint32_t sender = process_of(all, own->peer);
  mail side = side_of(own, process, sender, own->tag);
  uint64_t *surplus;
  all->received++;
  if (sender && own->tag == NO_TAG) {
    uint32_t number = numbering_find(&all->pairs, side.pair, own->comm);
    if (number && all->tags[number] != MANY_TAGS) side = side_of(own, process, sender, (int32_t)all->tags[number]);
  }
  if (!sender || (uint32_t)side.place == (uint32_t)NO_TAG) {
    all->unmatched++;
    return 1;
  }
  surplus = surplus_of(all, &side);
  if (!surplus) return 0;
  --*surplus;
  all->unknown_waits += own->wait_end < own->wait_start;
  return record_pile_add(&all->receives, &side);
}

typedef int side_call(deliveries *all, uint32_t process, const mpi_message *own);

static int read_side(deliveries *all, summary_state *state, int are_sends, side_call *add) {
  int is_good = 1;
  for (uint32_t i = 1; is_good && i <= state->process_count; i++) {
    messages *own = &state->processes[i].counts.comm.mail;
    run_merge merge;
    const mpi_message *next;
    if (process_of(all, state->processes[i].rank) != i) continue;
    record_pile_read(are_sends ? &own->sends : &own->receives, &merge);
    while (is_good && (next = run_merge_next(&merge)) != NULL) is_good = add(all, i, next);
    is_good &= merge.is_good;
    run_merge_free(&merge);
  }
  return is_good;
}

static int number_ranks(deliveries *all, const summary_state *state) {
  all->processes = calloc((size_t)state->process_count + 1, sizeof *all->processes);
  if (!all->processes) return 0;
  for (uint32_t i = 1; i <= state->process_count; i++) {
    const state_process *process = &state->processes[i];
    uint32_t number;
    int is_new;
    if (process->rank == NO_NUMBER || messages_are_empty(&process->counts.comm.mail)) continue;
    number = numbering_of(&all->ranks, (uint64_t)process->rank, 0, &is_new);
    if (!number) return 0;
    all->processes[number] = is_new ? i : 0;
    all->unknown_sources += process->counts.comm.mail.unknown_sources;
  }
  return 1;
}

int deliveries_init(deliveries *all, summary_state *state) {
  *all = (deliveries){.sends = {.record_bytes = sizeof(mail), .compare = by_place},
                      .receives = {.record_bytes = sizeof(mail), .compare = by_place}};
  all->ranks.limit = all->pairs.limit = all->places.limit = UINT32_MAX - 1;
  return number_ranks(all, state) && read_side(all, state, 1, add_send) && read_side(all, state, 0, add_receive);
}

void deliveries_free(deliveries *all) {
  record_pile_free(&all->sends);
  record_pile_free(&all->receives);
  numbering_free(&all->ranks);
  numbering_free(&all->pairs);
  numbering_free(&all->places);
  free(all->processes);
  free(all->tags);
  free(all->surplus);
  *all = (deliveries){0};
}

/* ---- Pairs ---------------------------------------------------------------------------------------------------------- */

int deliveries_read(deliveries *all, delivery_call *call, void *context) {
  run_merge sends, receives;
  const mail *sent, *own;
  int is_good = 1;
  record_pile_read(&all->sends, &sends);
  record_pile_read(&all->receives, &receives);
  sent = run_merge_next(&sends);
  while (is_good && (own = run_merge_next(&receives)) != NULL) {
    const uint32_t number = numbering_find(&all->places, own->pair, own->place);
    if (all->surplus[number]) continue; /* another number was sent */
    while (sent && (sent->pair < own->pair || (sent->pair == own->pair && sent->place < own->place)))
      sent = run_merge_next(&sends);
    if (!sent || sent->pair != own->pair || sent->place != own->place) break; /* the spill cannot be read */
    is_good = call(context, &(delivery){.sender = (uint32_t)own->pair,
                                        .receiver = (uint32_t)(own->pair >> 32),
                                        .send_start = sent->start,
                                        .send_end = sent->wait_end,
                                        .receive_start = own->start,
                                        .wait_start = own->wait_start,
                                        .wait_end = own->wait_end});
    sent = run_merge_next(&sends);
  }
  is_good = is_good && sends.is_good && receives.is_good;
  run_merge_free(&sends);
  run_merge_free(&receives);
  return is_good;
}
