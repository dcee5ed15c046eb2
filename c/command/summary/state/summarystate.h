/* summarystate.h - everything the summary knows of a set of traces. It can be saved (state_file.h) and merged (state_merge.h):
 * whatever the order of merging, state_sort.h makes the same state of it. Traces of different runs are in different states
 * until it is known which run is asked for (stateparts.h).
 *
 * Names, files, hosts and commands are texts of the pool; all but names are identified by their hashes. Numbers of processes begin
 * with 1, because they are keys of groups. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SUMMARYSTATE_H
#define DFTRACER_SUMMARYSTATE_H

#include "command/summary/tally/processcounts.h"
#include "command/summary/tally/processfacts.h"
#include "command/summary/tally/tally.h"
#include "question.h"
#include "textpool.h"

/* The part of the question that decides what is counted. States can be merged only if it is equal. */
typedef struct state_question {
  uint32_t by; /* question_by */
  uint32_t has_from, has_to;
  int64_t from_ns, to_ns, origin; /* origin: what they count from; 0 if there are none */
  uint32_t *names, *cats;         /* patterns: texts, in order */
  uint32_t name_count, cat_count;
  uint32_t *classes; /* rows of --classes: texts, in order */
  uint32_t class_count;
} state_question;

/* One trace. */
typedef struct state_source {
  uint32_t path;
  uint64_t bytes;
  uint64_t unit_ns; /* of its times */
  uint64_t events;
  int64_t first, last; /* of all its threads */
  int64_t begin;       /* its event `start`, else its first event: what --from and --to may count from */
} state_source;

typedef struct state_problem {
  uint32_t path;       /* or whatever is known of its place */
  uint32_t has_source; /* the path is that of a trace */
  uint32_t is_refusal; /* the file is not a trace at all */
  uint32_t kind;       /* dft_problem_kind */
  uint32_t error;      /* errno */
  uint64_t byte, line;
  uint64_t beyond; /* how many more of the same trace are counted, but not listed; at its first problem */
} state_problem;

/* What a hash stands for. */
typedef struct state_name {
  uint32_t hash, name; /* name 0: not known */
} state_name;

typedef struct state_process {
  uint32_t source;
  uint32_t host, command; /* hashes */
  uint64_t pid, ppid;
  int64_t rank;
  uint32_t threads;
  uint32_t is_orphan; /* --by step: it worked for a trainer that is not in this state, so its steps are not known */
  process_facts facts;
  process_counts counts;
} state_process;

typedef struct state_thread {
  uint32_t process;
  uint64_t tid;
  int64_t first, last;
  uint64_t io_ns, process_ns, region_ns; /* self times: of I/O, of calls on processes, of all else */
} state_thread;

/* Entries of lists that are found by a key have the numbers of a numbering: 1, 2, 3 ... */
typedef struct summary_state {
  text_pool texts;
  state_question question;
  int64_t life_first, life_last; /* of all events, also of those that were not asked for; first > last: none */
  state_source *sources;
  uint32_t source_count, source_capacity;
  state_problem *problems; /* of each trace, at most as many as the reader keeps */
  uint32_t problem_count, problem_capacity;
  uint64_t all_problems;
  numbering host_numbers; /* of hashes */
  state_name *hosts;
  uint32_t host_capacity;
  numbering command_numbers; /* of hashes */
  state_name *commands;
  uint32_t command_capacity;
  state_process *processes; /* number 0 is not used */
  uint32_t process_count, process_capacity;
  state_thread *threads;
  uint32_t thread_count, thread_capacity;
  numbering file_numbers; /* of hashes */
  state_name *files;
  io_stats **file_io; /* by number of the file; NULL: no calls */
  uint32_t file_capacity, file_io_capacity;
  numbering group_numbers; /* of what the question's --by says: state_group_key */
  group_stats *groups;
  uint32_t group_capacity;
  numbering call_numbers; /* of calls: name, category */
  call_stats *calls;
  uint32_t call_capacity;
  numbering failure_numbers; /* of calls that failed: name << 32 | hash of the file, errno */
  uint64_t *failures;        /* how many */
  uint32_t failure_capacity;
  spanset reads, writes;   /* the time in which any process transferred */
  numbering epoch_numbers; /* of epochs */
  epoch_stats *epochs;
  uint32_t epoch_capacity;
  uint64_t events, counters, metadata, others;
  uint64_t lost_fetches;       /* notes in the traces that fetches are missing */
  uint64_t has_fractions;      /* not 0: some durations are not whole microseconds */
  uint64_t dropped, recovered; /* events that were dropped; traces that were recovered */
  uint64_t left, running;      /* spools of processes that died, not recovered yet; of those that still run */
  int64_t first, last;         /* the first start and the last end; first > last: no event */
  uint32_t run;                /* the id of the run; 0: the traces have none */
  int is_good;                 /* 0: no memory, or no room for the spill; the state is incomplete */
} summary_state;

void state_init(summary_state *state);
void state_free(summary_state *state);

/* Each of these clears is_good and returns what is harmless when there is no memory. New entries are zero. Pointers are valid
 * until the next entry of their kind. */

uint32_t state_text(summary_state *state, dft_text text);
state_source *state_add_source(summary_state *state); /* its number is source_count - 1 */
state_problem *state_add_problem(summary_state *state);
state_process *state_add_process(summary_state *state);                     /* its number is process_count */
void state_process_rename(state_process *process, const uint32_t *numbers); /* texts get other numbers */
state_thread *state_add_thread(summary_state *state);
/* The entry of a hash. If both names are known and differ, the one that comes first in the order of bytes is kept. */
uint32_t state_host(summary_state *state, uint32_t hash, uint32_t name);
uint32_t state_command(summary_state *state, uint32_t hash, uint32_t name);
uint32_t state_file(summary_state *state, uint32_t hash, uint32_t name);
/* A group's key: texts of name and category; hash of a file; number of a process; that and the tid; epoch and step; rank. */
group_stats *state_group(summary_state *state, uint64_t a, uint64_t b);
call_stats *state_call(summary_state *state, uint32_t name, uint32_t cat);
uint64_t *state_failure(summary_state *state, uint32_t name, uint32_t file, uint64_t error);
epoch_stats *state_epoch(summary_state *state, int64_t epoch);
/* Drops epochs of which only times are known: no trainer has an event of a training in them. */
void state_drop_silent_epochs(summary_state *state);

static inline const io_stats *state_file_io(const summary_state *state, uint32_t file) {
  return state->file_io[file] ? state->file_io[file] : &io_stats_none;
}
static inline dft_text state_text_of(const summary_state *state, uint32_t number) {
  return text_pool_get(&state->texts, number);
}

#endif
