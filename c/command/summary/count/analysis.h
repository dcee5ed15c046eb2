/* analysis.h - what all workers share while traces are read: the question, the classes of events, and the processes and
 * threads found so far.
 *
 * What happens to a row: worker.c reads it, classifies it and counts what does not depend on order. What does (self times,
 * sequences of I/O, steps) goes through the source's queue (unitqueue.c) and is counted in the order of the file by
 * account.c. collect.c runs the workers; traceparts.c adds up what they counted, by run; answer.c puts the result into lists
 * for printing.
 *
 * Classes, groups, threads and processes have small numbers, which are given under the lock. An entry never moves.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_ANALYSIS_H
#define DFTRACER_ANALYSIS_H

#include <dftracer/reader.h>
#include <pthread.h>
#include <stdatomic.h>

#include "command/summary/state/question.h"
#include "command/summary/tally/batchpiles.h"
#include "command/summary/tally/processcounts.h"
#include "command/summary/tally/processfacts.h"
#include "command/summary/tally/processframe.h"
#include "command/summary/tally/stepfinder.h"
#include "command/summary/tally/workline.h"
#include "command/trace/coverage.h"
#include "traceparts.h"

#define CLASSES_MAX 1048575u
#define THREADS_MAX 1048575u
#define HASH_MOST 32u /* characters of a hash of a command */
#define BLOCK 1024u   /* entries that are allocated together */

/* A pid in one source. Counts are written by account.c, which handles one unit of a source at a time. */
typedef struct traced_process {
  uint32_t source;
  char command[HASH_MOST + 1]; /* the hash of its command line, or of its executable; empty: not known */
  uint64_t pid, ppid;          /* ppid 0: not known */
  uint32_t host;
  int64_t rank; /* NO_NUMBER: not known */
  uint32_t threads;
  process_facts facts;
  process_counts counts;
  step_finder times;     /* until the source has no more events */
  process_frame frame;   /* the same */
  uint32_t first_thread; /* when the source has no more events */
  batch_piles batches;
} traced_process;

/* A tid of a process. */
typedef struct traced_thread {
  uint32_t process;
  uint32_t next_of_source;  /* the next thread found in the same source; 0: none */
  uint32_t next_of_process; /* the same, when the source has no more events */
  uint64_t tid;
  coverage time;
  uint64_t io_ns, process_ns, region_ns; /* self times: of I/O, of calls on processes, of all else */
  file_positions positions;
  work_line work;       /* until the source has no more events */
  pursuit_line pursuit; /* the same */
} traced_thread;

/* One source: its threads are a list in the order in which they were found. */
typedef struct traced_source {
  uint32_t first_thread, last_thread;
  _Atomic uint32_t thread_count;
  tally *counts;     /* what account.c counted so far; NULL: nothing, or it was merged */
  int is_disordered; /* what was counted is wrong and was discarded: the events have to be sorted */
} traced_source;

#define COMM_STARTS 8 /* requests that an event names */

/* Numbers of the arguments of communication, in the reader's dictionary of keys. */
typedef struct comm_keys {
  uint32_t bytes, peer, source, root, tag, source_tag, comm, comm_size, remote_size, collective, starts[COMM_STARTS];
} comm_keys;

/* Numbers of the arguments that matter. */
typedef struct argument_keys {
  uint32_t ret, error, offset, whence, length, flags, mode, worker, worker_pid, batch, second_file, epoch, step,
    samples, name, value;
  uint32_t num_dropped, recovered, ppid, run, world_size, command,
    executable; /* of start and end, also the following */
  uint32_t finish_ns, process_age_ns, drain_cpu_ns, assist_ns, unmatched_ends, unmatched_sites, open_regions,
    open_sites;
  comm_keys comm;
} argument_keys;

typedef struct analysis {
  dft_reader *reader;
  const summary_question *question;
  argument_keys keys;
  const int64_t *origins; /* by source: what question.from_ns and to_ns count from; NULL: the question has none */
  pthread_mutex_t lock;   /* for all numbers, and for the fields of a process that its metadata sets */
  numbering class_numbers, group_numbers, thread_numbers, process_numbers;
  numbering host_numbers; /* of pairs source, host */
  uint32_t call_count;    /* classes that are calls */
  event_class *classes[CLASSES_MAX / BLOCK + 1];
  traced_thread *threads[THREADS_MAX / BLOCK + 1];
  traced_process *processes[THREADS_MAX / BLOCK + 1];
  traced_source *sources;
  trace_parts parts;
  int is_full;  /* there are more classes or threads than their limits */
  int is_short; /* no memory for a process or a host */
} analysis;

/* 0: no memory */
int analysis_init(analysis *shared, dft_reader *reader, const summary_question *question, const int64_t *origins);
void analysis_free(analysis *shared);

/* The numbers of things, from 1 on; 0: no memory, or there are too many, and is_full is set. From any thread. */
uint32_t analysis_number_class(analysis *shared, uint32_t name, uint32_t cat);
/* A group is whatever the question's --by says; `a` and `b` identify it. */
uint32_t analysis_number_group(analysis *shared, uint64_t a, uint64_t b);
uint32_t analysis_number_thread(analysis *shared, uint32_t source, uint64_t pid, uint64_t tid, uint32_t host);
/* Forgets what account.c counted. */
void analysis_forget_thread(traced_thread *thread);
void analysis_forget_process(traced_process *process);
void analysis_add_host(analysis *shared, uint32_t source, uint32_t host);
void analysis_set_rank(analysis *shared, uint32_t source, uint64_t pid, int64_t rank);
/* The hash of the command line. */
void analysis_set_command(analysis *shared, uint32_t source, uint64_t pid, dft_text hash);
/* Adds what an event start or end says; ppid 0: nothing. */
void analysis_add_facts(analysis *shared, uint32_t source, uint64_t pid, uint64_t ppid, process_facts *facts);

static inline event_class *analysis_class(const analysis *shared, uint32_t number) {
  return &shared->classes[number / BLOCK][number % BLOCK];
}
static inline traced_thread *analysis_thread(const analysis *shared, uint32_t number) {
  return &shared->threads[number / BLOCK][number % BLOCK];
}
static inline traced_process *analysis_process(const analysis *shared, uint32_t number) {
  return &shared->processes[number / BLOCK][number % BLOCK];
}

#endif
