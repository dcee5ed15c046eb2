/* meetingwaits.c - who waits for whom in a meeting.
 * SPDX-License-Identifier: MIT */
#include "meetingwaits.h"

static int64_t start_of(const meeting_waits *to, const meeting_member *member) {
  return host_clocks_time(to->clocks, member->process, member->call.start);
}

/* Whether others can wait for this member. */
static int is_awaited(uint32_t kind, const meeting_member *member) {
  const int is_root = member->rank == member->call.root;
  return kind == MPI_FROM_ROOT ? is_root : kind == MPI_TO_ROOT ? !is_root : 1;
}

/* The last of those that others wait for. *is_alone: surely no other one came as late. NULL: there is none. */
static const meeting_member *find_last(const meeting_waits *to, uint32_t kind, const meeting_member *members,
                                       uint32_t count, int *is_alone) {
  const meeting_member *last = NULL;
  int64_t start = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (!is_awaited(kind, &members[i]) || (last && start_of(to, &members[i]) <= start)) continue;
    last = &members[i];
    start = start_of(to, last);
  }
  *is_alone = last != NULL;
  for (uint32_t i = 0; last && i < count; i++) {
    int64_t bound;
    if (&members[i] == last || !is_awaited(kind, &members[i])) continue;
    bound = host_clocks_bound(to->clocks, last->process, members[i].process);
    if (start_of(to, &members[i]) >= start - bound) *is_alone = 0;
  }
  return last;
}

meeting_outcome meeting_waits_add(meeting_waits *to, uint32_t call, uint32_t kind, const meeting_member *members,
                                  uint32_t count, int *is_good) {
  meeting_outcome outcome = {0};
  int is_alone, has_waiter = kind == MPI_ALL || kind == MPI_NONE;
  const meeting_member *last = find_last(to, kind, members, count, &is_alone);
  delay late = {.start = INT64_MAX, .end = INT64_MIN, .call = call};
  int64_t came;
  if (!last || count < 2) return outcome;
  came = start_of(to, last);
  for (uint32_t i = 0; i < count; i++) {
    const arrival *own = &members[i].call;
    const uint32_t process = members[i].process;
    wait_span span = {.start = host_clocks_time(to->clocks, process, own->wait_start),
                      .until = host_clocks_time(to->clocks, process, own->wait_end),
                      .call = call,
                      .cause = is_alone ? last->process : 0};
    if (&members[i] == last || (kind == MPI_TO_ROOT && is_awaited(kind, &members[i]))) continue;
    if (span.until > came) span.until = came;
    if (span.until <= span.start) continue;
    span.is_unsure = span.until - span.start < host_clocks_bound(to->clocks, last->process, process);
    has_waiter = 1;
    outcome.waited_ns += (uint64_t)(span.until - span.start);
    *is_good &= waiting_add(to->waits, process, &span);
    if (span.is_unsure) continue;
    if (span.start < late.start) late.start = span.start;
    if (span.until > late.end) late.end = span.until;
    late.waited_ns += (uint64_t)(span.until - span.start);
  }
  if (is_alone && has_waiter) outcome.last = last->process;
  if (late.waited_ns) *is_good &= delays_add(to->late, is_alone ? last->process : 0, &late);
  return outcome;
}
