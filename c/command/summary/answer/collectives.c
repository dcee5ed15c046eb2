/* collectives.c - how long ranks waited for each other, and who made them wait.
 * SPDX-License-Identifier: MIT */
#include "collectives.h"

#include <stdlib.h>
#include <string.h>

#include "deliveries.h"
#include "meetingwaits.h"

/* ---- Names ---------------------------------------------------------------------------------------------------------- */

/* The calls of one process. */
typedef struct caller {
  const comm_call *call;
  uint32_t process;
} caller;

static int by_name(const void *a, const void *b) {
  const caller *one = a, *two = b;
  if (one->call->name != two->call->name) return one->call->name < two->call->name ? -1 : 1;
  if (one->call->kind != two->call->kind) return one->call->kind < two->call->kind ? -1 : 1;
  return (one->process > two->process) - (one->process < two->process);
}

/* Everyone who called anything. The caller frees it. NULL: no memory. */
static caller *find_callers(const summary_state *state, uint32_t *count) {
  caller *callers;
  uint32_t all = 0;
  for (uint32_t i = 1; i <= state->process_count; i++) all += state->processes[i].counts.comm.count;
  callers = calloc((size_t)all + 1, sizeof *callers);
  *count = 0;
  for (uint32_t i = 1; callers && i <= state->process_count; i++) {
    const comm_counts *own = &state->processes[i].counts.comm;
    for (uint32_t j = 0; j < own->count; j++) callers[(*count)++] = (caller){&own->calls[j], i};
  }
  if (callers) qsort(callers, *count, sizeof *callers, by_name);
  return callers;
}

static const char *why_never(uint32_t kind) {
  if (kind == MPI_PARTLY) return "a rank waits for some of the others";
  if (mpi_is_point_to_point((uint8_t)kind)) return "point to point";
  return kind == MPI_NONE || mpi_is_collective((uint8_t)kind) ? "not matched" : "not a collective";
}

static int add_caller(collective *sum, const comm_call *own) {
  sum->processes++;
  sum->is_begun = own->is_begun;
  sum->calls += own->calls;
  sum->time_ns += own->time_ns;
  sum->bytes += own->bytes;
  sum->on_files += own->collective;
  if (own->calls < sum->least) sum->least = own->calls;
  if (own->calls > sum->most) sum->most = own->calls;
  return histogram_merge(&sum->sizes, &own->sizes);
}

/* 0: no memory. */
static int list_names(collective_list *list, const summary_state *state) {
  uint32_t count, next;
  caller *callers = find_callers(state, &count);
  uint32_t *seen = calloc((size_t)list->clocks.count + 1, sizeof *seen); /* by host: the last name it was seen with */
  int is_good = callers && seen;
  list->calls = calloc((size_t)count + 1, sizeof *list->calls);
  is_good = is_good && list->calls;
  for (uint32_t first = 0; is_good && first < count; first = next) {
    const comm_call *own = callers[first].call;
    collective *sum = &list->calls[list->count++];
    *sum = (collective){.name = own->name, .kind = own->kind, .least = UINT64_MAX, .last_rank = NO_NUMBER};
    sum->unknown = why_never(own->kind);
    if (mpi_is_collective((uint8_t)own->kind))
      sum->fence = mpi_call_classify(state_text_of(state, own->name), (dft_text){"MPI", 3}).fence;
    for (next = first; next < count; next++) {
      uint32_t *last = &seen[list->clocks.of_process[callers[next].process]];
      if (callers[next].call->name != own->name || callers[next].call->kind != own->kind) break;
      sum->hosts += *last != list->count;
      *last = list->count;
      is_good &= add_caller(sum, callers[next].call);
    }
  }
  free(callers);
  free(seen);
  return is_good;
}

/* The number of a name that meets others. */
static uint32_t call_of(const collective_list *list, uint32_t name, int is_mpi) {
  uint32_t low = 0, high = list->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (list->calls[middle].name < name) low = middle + 1;
    else high = middle;
  }
  while (low < list->count && list->calls[low].name == name) {
    const uint32_t kind = list->calls[low].kind;
    if (is_mpi ? mpi_is_collective((uint8_t)kind) : kind == MPI_NONE) return low;
    low++;
  }
  return NO_CALL;
}

static int by_name_and_kind(const void *a, const void *b) {
  const collective *one = a, *two = b;
  if (one->name != two->name) return one->name < two->name ? -1 : 1;
  return (one->kind > two->kind) - (one->kind < two->kind);
}

const collective *collective_list_call(const collective_list *list, uint32_t name, uint32_t kind) {
  const collective key = {.name = name, .kind = kind};
  return list->count ? bsearch(&key, list->calls, list->count, sizeof key, by_name_and_kind) : NULL;
}

/* ---- Ranks ---------------------------------------------------------------------------------------------------------- */

static int by_rank(const void *a, const void *b) {
  const comm_rank *one = a, *two = b;
  if (one->rank != two->rank) return one->rank < two->rank ? -1 : 1;
  return (one->process > two->process) - (one->process < two->process);
}

const comm_rank *collective_list_rank(const collective_list *list, int64_t rank, uint32_t process) {
  const comm_rank key = {.rank = rank, .process = process};
  return list->rank_count ? bsearch(&key, list->ranks, list->rank_count, sizeof key, by_rank) : NULL;
}

static int add_rank(collective_list *list, state_process *process, uint32_t number) {
  comm_counts *comm = &process->counts.comm;
  comm_rank *rank = &list->ranks[list->rank_count++];
  spanset *busy = &comm->busy;
  span_lengths lengths;
  *rank = (comm_rank){.process = number, .rank = process->rank, .top = NO_CALL};
  for (uint32_t i = 0; i < comm->count; i++) {
    const comm_call *call = &comm->calls[i];
    if (call->kind == MPI_FILE) continue;
    rank->calls += call->calls;
    if (call->kind == MPI_NONE) continue;
    rank->mpi_ns += call->time_ns;
    if (rank->top != NO_CALL && call->time_ns <= rank->top_ns) continue;
    rank->top = call->name;
    rank->top_ns = call->time_ns;
  }
  if (!spanset_measure(&busy, 1, &busy, 0, &lengths)) return 0;
  rank->comm_ns = lengths.one;
  list->comm_ns += lengths.one;
  return 1;
}

/* 0: no memory, or the spill cannot be read. */
static int list_ranks(collective_list *list, summary_state *state) {
  int is_good;
  list->ranks = calloc((size_t)state->process_count + 1, sizeof *list->ranks);
  is_good = list->ranks != NULL;
  for (uint32_t i = 1; is_good && i <= state->process_count; i++) {
    if (state->processes[i].counts.comm.count) is_good = add_rank(list, &state->processes[i], i);
  }
  if (is_good) qsort(list->ranks, list->rank_count, sizeof *list->ranks, by_rank);
  return is_good;
}

/* ---- Comparing ------------------------------------------------------------------------------------------------------ */

typedef struct comparison {
  collective_list *list;
  const summary_state *state;
  waiting waits;
  delays late;
  clock_visit *visits;  /* of the hosts of a meeting */
  uint32_t *places;     /* by host: where it may be in them */
  uint32_t *came_last;  /* by name, then by process */
  wait_sums *sums;      /* by process */
  uint64_t *call_waits; /* by name */
  uint32_t is_mpi;
  int is_good;
} comparison;

/* Whether nobody left before the last one had come. */
static int is_fence(uint8_t fence, const meeting_member *members, uint32_t count) {
  if (fence == FENCE_NEVER) return 0;
  for (uint32_t i = 0; i < count; i++) {
    if (members[i].call.wait_end < members[i].call.wait_start) return 0;
    if (fence == FENCE_WITH_DATA && !members[i].call.has_data) return 0;
  }
  return 1;
}

/* Takes what a meeting says of the clocks. On one host there is only one: then it says whether the calls belong together. */
static const char *check_meeting(void *context, uint32_t name, const meeting_member *members, uint32_t count) {
  comparison *of = context;
  const host_clocks *clocks = &of->list->clocks;
  const uint32_t number = call_of(of->list, name, 1);
  uint32_t visited = 0;
  if (count < 2 || number == NO_CALL || !is_fence(of->list->calls[number].fence, members, count)) return NULL;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t host = clocks->of_process[members[i].process];
    const arrival *call = &members[i].call;
    const int64_t end = call->wait_end + clocks->slack_ns;
    uint32_t at = of->places[host];
    if (at >= visited || of->visits[at].host != host) {
      of->places[host] = at = visited++;
      of->visits[at] = (clock_visit){host, call->start, end};
    }
    if (call->start > of->visits[at].last_start) of->visits[at].last_start = call->start;
    if (end < of->visits[at].first_end) of->visits[at].first_end = end;
  }
  for (uint32_t i = 0; i < visited; i++) {
    if (of->visits[i].first_end < of->visits[i].last_start)
      return "some calls are missing: ranks left before others came";
  }
  of->is_good &= clock_bounds_collective(&of->list->clocks.facts, of->visits, visited);
  return NULL;
}

static const char *count_meeting(void *context, uint32_t name, const meeting_member *members, uint32_t count) {
  comparison *of = context;
  const uint32_t number = call_of(of->list, name, (int)of->is_mpi);
  collective *call = &of->list->calls[number];
  meeting_waits to = {&of->list->clocks, &of->waits, &of->late};
  meeting_outcome outcome;
  if (number == NO_CALL || call->kind == MPI_PARTLY) return NULL;
  outcome = meeting_waits_add(&to, number, call->kind, members, count, &of->is_good);
  call->meetings++;
  if (!of->is_mpi) call->waited_ns += outcome.waited_ns;
  if (outcome.last) of->came_last[(size_t)number * (of->state->process_count + 1u) + outcome.last]++;
  return NULL;
}

static int check_delivery(void *context, const delivery *mail) {
  comparison *of = context;
  if (mail->wait_end < mail->wait_start) return 1;
  return host_clocks_add(&of->list->clocks, mail->sender, mail->send_start, mail->receiver, mail->wait_end);
}

/* A send that ends before the receive begins does not wait for it. */
static void count_send(comparison *of, const delivery *mail) {
  const host_clocks *clocks = &of->list->clocks;
  const int64_t sent = host_clocks_time(clocks, mail->sender, mail->send_start);
  const int64_t came = host_clocks_time(clocks, mail->receiver, mail->receive_start);
  if (host_clocks_time(clocks, mail->sender, mail->send_end) <= came) return;
  if (came - sent <= host_clocks_bound(clocks, mail->sender, mail->receiver)) return;
  of->sums[mail->sender].in_sends_ns += (uint64_t)(came - sent);
}

static int count_delivery(void *context, const delivery *mail) {
  comparison *of = context;
  const host_clocks *clocks = &of->list->clocks;
  wait_span span = {.start = host_clocks_time(clocks, mail->receiver, mail->wait_start),
                    .until = host_clocks_time(clocks, mail->receiver, mail->wait_end),
                    .call = NO_CALL,
                    .cause = mail->sender};
  const int64_t sent = host_clocks_time(clocks, mail->sender, mail->send_start);
  of->list->matched++;
  count_send(of, mail);
  if (span.until > sent) span.until = sent;
  span.is_unsure = span.until - span.start < host_clocks_bound(clocks, mail->sender, mail->receiver);
  if (!span.is_unsure && span.until > span.start) {
    const delay late = {span.start, span.until, (uint64_t)(span.until - span.start), NO_CALL};
    if (!delays_add(&of->late, mail->sender, &late)) return 0;
  }
  return waiting_add(&of->waits, mail->receiver, &span);
}

/* What is not known of a communicator is not known of its calls, unless others of that name could be compared. */
static void note_unknown(comparison *of, const meetings *all, const communicator *one) {
  for (uint32_t i = one->first; i < one->first + one->count; i++) {
    const arrival_key *key = &all->lists[i].list->key;
    const uint32_t number = call_of(of->list, key->name, (int)key->is_mpi);
    if (number == NO_CALL || of->list->calls[number].kind == MPI_PARTLY) continue;
    of->list->calls[number].unknown = one->unknown;
  }
}

static int compare_meetings(comparison *of, meetings *all, int is_check) {
  int is_good = 1;
  for (uint32_t i = 0; is_good && i < all->count; i++) {
    communicator *one = &all->communicators[i];
    of->is_mpi = one->is_mpi;
    if (is_check && !one->is_mpi) continue;
    is_good = meetings_read(all, one, is_check ? check_meeting : count_meeting, of) && of->is_good;
    if (!is_check && one->unknown) note_unknown(of, all, one);
  }
  return is_good;
}

static int compare(comparison *of, summary_state *state) {
  meetings all = {0};
  deliveries mail = {0};
  int is_good = meetings_init(&all, state) && deliveries_init(&mail, state);
  const int has_mail = !state->question.has_from; /* else the first ones are missing */
  is_good = is_good && compare_meetings(of, &all, 1);
  is_good = is_good && (!has_mail || of->list->clocks.count < 2 || deliveries_read(&mail, check_delivery, of));
  is_good = is_good && host_clocks_solve(&of->list->clocks);
  is_good = is_good && compare_meetings(of, &all, 0);
  is_good = is_good && (!has_mail || deliveries_read(&mail, count_delivery, of));
  of->list->received = mail.received;
  of->list->unknown_sources = mail.unknown_sources;
  of->list->unknown_waits = mail.unknown_waits;
  meetings_free(&all);
  deliveries_free(&mail);
  return is_good;
}

/* ---- Results -------------------------------------------------------------------------------------------------------- */

static void finish_calls(comparison *of) {
  for (uint32_t i = 0; i < of->list->count; i++) {
    collective *call = &of->list->calls[i];
    const uint32_t *last = &of->came_last[(size_t)i * (of->state->process_count + 1u)];
    if (!call->meetings) continue;
    call->unknown = NULL;
    if (call->kind != MPI_NONE) call->waited_ns = of->call_waits[i];
    for (uint32_t j = 0; j < of->list->rank_count; j++) {
      comm_rank *rank = &of->list->ranks[j];
      rank->last_count += last[rank->process];
      if (last[rank->process] <= call->last_calls) continue;
      call->last_calls = last[rank->process];
      call->last_rank = rank->rank;
    }
  }
}

static void finish_ranks(comparison *of) {
  wait_sums *all = &of->list->waits;
  for (uint32_t i = 0; i < of->list->rank_count; i++) {
    comm_rank *rank = &of->list->ranks[i];
    rank->waits = of->sums[rank->process];
    all->waited_ns += rank->waits.waited_ns;
    all->caused_ns += rank->waits.caused_ns;
    all->late_ns += rank->waits.late_ns;
    all->late_caused_ns += rank->waits.late_caused_ns;
    all->loop_waited_ns += rank->waits.loop_waited_ns;
    all->loop_caused_ns += rank->waits.loop_caused_ns;
    all->unsure_ns += rank->waits.unsure_ns;
  }
}

/* 0: no memory, or the spill cannot be read. */
static int explain_delays(comparison *of, summary_state *state) {
  collective_list *list = of->list;
  delay_cause *causes = calloc((size_t)state->process_count + list->count + 1, sizeof *causes);
  delay_cause *of_calls = causes ? causes + state->process_count + 1 : NULL;
  const int is_good = causes && delays_explain(&of->late, state, &list->clocks, causes, of_calls, list->count);
  for (uint32_t i = 0; is_good && i < list->count; i++) list->calls[i].before = of_calls[i];
  for (uint32_t i = 0; is_good && i < list->rank_count; i++) list->ranks[i].before = causes[list->ranks[i].process];
  free(causes);
  return is_good;
}

static loop_time *loop_times(const host_clocks *clocks, const summary_state *state) {
  loop_time *times = calloc((size_t)state->process_count + 1, sizeof *times);
  for (uint32_t i = 1; times && i <= state->process_count; i++) {
    times[i].first = host_clocks_time(clocks, i, state->processes[i].counts.loop_first);
    times[i].last = host_clocks_time(clocks, i, state->processes[i].counts.loop_last);
  }
  return times;
}

/* Once the clocks are known. 0: no memory, or the spill cannot be read. */
static int sum_waits(comparison *of) {
  loop_time *loops = loop_times(&of->list->clocks, of->state);
  const int is_good = loops && waiting_sum(&of->waits, loops, of->sums, of->call_waits, of->list->count);
  free(loops);
  return is_good;
}

int collective_list_init(collective_list *list, summary_state *state) {
  comparison of = {.list = list, .state = state, .is_good = 1};
  int is_good;
  *list = (collective_list){0};
  is_good = host_clocks_init(&list->clocks, state) && list_names(list, state) && list_ranks(list, state);
  if (!is_good || !list->count) return is_good;
  of.visits = calloc((size_t)list->clocks.count + 1, sizeof *of.visits);
  of.places = calloc((size_t)list->clocks.count + 1, sizeof *of.places);
  of.came_last = calloc((size_t)list->count * (state->process_count + 1u), sizeof *of.came_last);
  of.sums = calloc((size_t)state->process_count + 1, sizeof *of.sums);
  of.call_waits = calloc((size_t)list->count + 1, sizeof *of.call_waits);
  is_good = of.visits && of.places && of.came_last && of.sums && of.call_waits &&
            waiting_init(&of.waits, state->process_count) && delays_init(&of.late, state->process_count);
  is_good = is_good && compare(&of, state) && sum_waits(&of) && explain_delays(&of, state);
  if (is_good) {
    finish_calls(&of);
    finish_ranks(&of);
  }
  waiting_free(&of.waits);
  delays_free(&of.late);
  free(of.visits);
  free(of.places);
  free(of.came_last);
  free(of.sums);
  free(of.call_waits);
  return is_good;
}

void collective_list_free(collective_list *list) {
  for (uint32_t i = 0; list->calls && i < list->count; i++) histogram_free(&list->calls[i].sizes);
  free(list->calls);
  free(list->ranks);
  host_clocks_free(&list->clocks);
  *list = (collective_list){0};
}
