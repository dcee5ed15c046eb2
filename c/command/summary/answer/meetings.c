/* meetings.c - which calls of MPI collectives belong together.
 * SPDX-License-Identifier: MIT */
#include "meetings.h"

#include <stdlib.h>
#include <string.h>

/* A list of a process, to be sorted. */
typedef struct sort_list {
  uint32_t is_mpi, comm, comm_size;
  int64_t rank;
  meeting_list list;
} sort_list;

static int by_communicator(const void *a, const void *b) {
  const sort_list *one = a, *two = b;
  if (one->is_mpi != two->is_mpi) return one->is_mpi < two->is_mpi ? -1 : 1;
  if (one->comm != two->comm) return one->comm < two->comm ? -1 : 1;
  if (one->comm_size != two->comm_size) return one->comm_size < two->comm_size ? -1 : 1;
  if (one->rank != two->rank) return one->rank < two->rank ? -1 : 1;
  if (one->list.process != two->list.process) return one->list.process < two->list.process ? -1 : 1;
  return (one->list.list > two->list.list) - (one->list.list < two->list.list);
}

/* The lists of all communicators. The caller frees it. NULL: no memory. */
static sort_list *find_lists(summary_state *state, uint32_t *count) {
  sort_list *found;
  uint32_t all = 0;
  for (uint32_t i = 1; i <= state->process_count; i++) all += state->processes[i].counts.comm.meetings.count;
  found = calloc((size_t)all + 1, sizeof *found);
  *count = 0;
  for (uint32_t i = 1; found && i <= state->process_count; i++) {
    state_process *process = &state->processes[i];
    for (uint32_t j = 0; j < process->counts.comm.meetings.count; j++) {
      arrival_list *list = &process->counts.comm.meetings.lists[j];
      const arrival_key *key = &list->key;
      found[(*count)++] = (sort_list){
        key->is_mpi, key->is_mpi ? key->comm : key->name, key->comm_size, process->rank, {i, list}};
    }
  }
  if (found) qsort(found, *count, sizeof *found, by_communicator);
  return found;
}

/* The number after the last list of the same process. */
static uint32_t end_of_process(const meetings *all, uint32_t first, uint32_t end) {
  uint32_t next = first + 1;
  while (next < end && all->lists[next].process == all->lists[first].process) next++;
  return next;
}

/* Whether some ranks made one call more, and it can only be their last one. */
static int has_one_more(const summary_state *state, const communicator *of) {
  return of->most - of->least == 1 && !state->question.has_from && !state->dropped;
}

static int is_point_to_point(const char *name) {
  static const char *const names[] = {"send", "receive", "recv", "isend", "irecv"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (strcmp(name, names[i]) == 0) return 1;
  }
  return 0;
}

static const char *why_unknown(const summary_state *state, const communicator *of) {
  if (!of->is_mpi && is_point_to_point(state_text_of(state, of->id).text)) return "point to point";
  if (!of->is_mpi && of->members == 1) return "only one process called it";
  if (of->unknown) return of->unknown;
  if (of->is_mpi && !of->size) return "the trace has no communicators";
  if (of->is_mpi && of->size == COMM_OF_TWO_GROUPS) return "a rank waits for another group";
  if (of->is_mpi && of->members < of->size) return "some ranks have no such call in the traces";
  if (of->is_mpi && of->members > of->size) return "two communicators have the same id";
  return of->most == of->least || has_one_more(state, of) ? NULL : "the ranks made different numbers of calls";
}

static void examine(meetings *all, communicator *of) {
  const uint32_t end = of->first + of->count;
  const summary_state *state = all->state;
  int64_t last_rank = NO_NUMBER;
  uint32_t next;
  of->least = UINT64_MAX;
  for (uint32_t i = of->first; i < end; i = next) {
    const int64_t rank = state->processes[all->lists[i].process].rank;
    uint64_t calls = 0;
    next = end_of_process(all, i, end);
    for (uint32_t j = i; j < next; j++) calls += all->lists[j].list->count;
    if (calls < of->least) of->least = calls;
    if (calls > of->most) of->most = calls;
    if (!of->unknown && rank == NO_NUMBER) of->unknown = "a process has no rank";
    if (!of->unknown && of->members && rank == last_rank) of->unknown = "two processes have the same rank";
    last_rank = rank;
    of->members++;
  }
  of->unknown = why_unknown(state, of);
}

static int is_same(const sort_list *one, const sort_list *two) {
  return one->is_mpi == two->is_mpi && one->comm == two->comm && one->comm_size == two->comm_size;
}

int meetings_init(meetings *all, summary_state *state) {
  uint32_t count, next;
  sort_list *found = find_lists(state, &count);
  *all = (meetings){.state = state};
  all->lists = calloc((size_t)count + 1, sizeof *all->lists);
  all->communicators = calloc((size_t)count + 1, sizeof *all->communicators);
  if (!found || !all->lists || !all->communicators) {
    free(found);
    return 0;
  }
  for (uint32_t i = 0; i < count; i++) all->lists[i] = found[i].list;
  for (uint32_t i = 0; i < count; i = next) {
    communicator *of = &all->communicators[all->count++];
    for (next = i + 1; next < count && is_same(&found[i], &found[next]); next++) continue;
    *of = (communicator){
      .is_mpi = found[i].is_mpi, .id = found[i].comm, .size = found[i].comm_size, .first = i, .count = next - i};
    examine(all, of);
  }
  free(found);
  return 1;
}

void meetings_free(meetings *all) {
  free(all->communicators);
  free(all->lists);
  *all = (meetings){0};
}

/* ---- Reading -------------------------------------------------------------------------------------------------------- */

/* What is being read of one communicator: each list has a stream, each member some of these. */
typedef struct meeting_reader {
  run_merge *streams;
  const arrival **heads;
  uint32_t *ends; /* by member: the number after its last stream */
  meeting_member *members;
} meeting_reader;

/* Takes the member's next call, whichever of its streams has it. Returns its name; UINT32_MAX: there is none. */
static uint32_t take_call(const meetings *all, const communicator *of, meeting_reader *reader, uint32_t member) {
  uint32_t best = UINT32_MAX;
  for (uint32_t i = member ? reader->ends[member - 1] : 0; i < reader->ends[member]; i++) {
    if (reader->heads[i] && (best == UINT32_MAX || reader->heads[i]->start < reader->heads[best]->start)) best = i;
  }
  if (best == UINT32_MAX) return UINT32_MAX;
  reader->members[member].call = *reader->heads[best];
  reader->heads[best] = run_merge_next(&reader->streams[best]);
  return all->lists[of->first + best].list->key.name;
}

/* One meeting. Returns whether it goes on. */
static int read_meeting(const meetings *all, communicator *of, meeting_reader *reader, meeting_call *call,
                        void *context) {
  uint32_t name = take_call(all, of, reader, 0);
  for (uint32_t i = 1; i < of->members; i++) {
    if (take_call(all, of, reader, i) != name) of->unknown = "the ranks called different functions";
  }
  if (name == UINT32_MAX || of->unknown) return 0;
  of->unknown = call(context, name, reader->members, of->members);
  return !of->unknown;
}

static void start_reading(const meetings *all, const communicator *of, meeting_reader *reader) {
  uint32_t member = 0, next;
  for (uint32_t i = 0; i < of->count; i = next, member++) {
    const uint32_t process = all->lists[of->first + i].process;
    next = end_of_process(all, of->first + i, of->first + of->count) - of->first;
    reader->members[member] = (meeting_member){.process = process, .rank = all->state->processes[process].rank};
    reader->ends[member] = next;
  }
  for (uint32_t i = 0; i < of->count; i++) {
    record_pile_read(&all->lists[of->first + i].list->calls, &reader->streams[i]);
    reader->heads[i] = run_merge_next(&reader->streams[i]);
  }
}

int meetings_read(meetings *all, communicator *of, meeting_call *call, void *context) {
  meeting_reader reader = {.streams = calloc((size_t)of->count + 1, sizeof *reader.streams),
                           .heads = calloc((size_t)of->count + 1, sizeof(arrival *)),
                           .ends = calloc((size_t)of->members + 1, sizeof *reader.ends),
                           .members = calloc((size_t)of->members + 1, sizeof *reader.members)};
  int is_good = reader.streams && reader.heads && reader.ends && reader.members;
  if (is_good && !of->unknown) {
    start_reading(all, of, &reader);
    for (uint64_t i = 0; i < of->least && read_meeting(all, of, &reader, call, context); i++) continue;
    for (uint32_t i = 0; i < of->count; i++) {
      is_good &= reader.streams[i].is_good;
      run_merge_free(&reader.streams[i]);
    }
  }
  free(reader.streams);
  free(reader.heads);
  free(reader.ends);
  free(reader.members);
  return is_good;
}
