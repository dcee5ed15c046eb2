/* job.h - everything the summary knows of a set of traces.
 *
 * Workers read rows, each with a cursor of its own, and count what does not depend on order (worker.c). What does, self
 * times and sequences of I/O, goes through one lane a source, in the order of the file (lane.c). At the end the workers'
 * counts are added up (job.c). Numbers of sites, groups, threads and processes are the job's, given under its lock.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_JOB_H
#define DFTRACER_JOB_H

#include <dftracer/reader.h>
#include <pthread.h>
#include <stdatomic.h>

#include "command/cli/progress.h"
#include "command/trace/coverage.h"
#include "command/trace/numbering.h"
#include "histogram.h"
#include "meaning.h"
#include "overlap.h"

#define SITES_MAX 65535u
#define GROUPS_MAX 65535u
#define GROUPS_BYTES (48u << 20) /* of their histograms; there are no new groups then */
#define FILES_MAX 65535u
#define THREADS_MAX 1048575u
#define EPOCHS_MAX 4095u
#define BLOCK 1024u /* entries of tables whose entries never move */
#define NO_GROUP UINT32_MAX
#define NO_NUMBER INT64_MIN /* an epoch or step that is not given */

enum job_by { BY_NAME, BY_FILE, BY_PROCESS, BY_THREAD, BY_STEP };

/* What is asked for. */
typedef struct job_question {
  int by;                 /* job_by */
  int64_t from_ns, to_ns; /* events that start in this time; since the first event */
  int has_from, has_to;
  const char *const *names; /* patterns; events that match one of each list are counted */
  int name_count;
  const char *const *cats;
  int cat_count;
  int threads;
} job_question;

typedef struct group_stats {
  uint64_t total_ns, self_ns;
  histogram durations;
} group_stats;

typedef struct io_stats {
  uint64_t reads, writes, others; /* calls; others: metadata */
  uint64_t read_bytes, write_bytes;
  uint64_t read_ns, write_ns, other_ns;
  uint64_t sequential,
    random; /* transfers that begin where the one before on this thread and file ended, and those that do not */
  uint64_t failed;
  histogram sizes; /* of transfers, in bytes */
} io_stats;

typedef struct process {
  uint32_t source;
  uint64_t pid, ppid; /* ppid 0: not known */
  uint32_t host;
  int64_t rank; /* NO_NUMBER: not known */
  uint32_t threads;
  uint64_t events;
  io_stats io;
  uint64_t ai_count[AI_KINDS], ai_ns[AI_KINDS];
  uint64_t updates;
  work compute, fetch, data; /* in the end data of a trainer's workers is part of its own */
} process;

/* Where the last transfer of a thread on a file ended, and where the next one begins without an offset. */
typedef struct position {
  uint32_t file;
  int64_t last_end, next;
} position;

/* Without a step so far. */
typedef struct loose_event {
  int64_t start;
  uint64_t time_ns, self_ns;
} loose_event;

typedef struct thread {
  uint32_t process;
  uint64_t tid;
  coverage time;
  uint64_t io_ns, region_ns;
  position *positions;
  uint32_t position_count; /* a power of two */
  loose_event *loose;      /* in the order of their ends */
  uint32_t loose_count, loose_room;
  int64_t given_up; /* the latest start of those that no step can have any more */
  int has_given_up;
  uint64_t overrun; /* steps that would have had such ones */
} thread;

typedef struct epoch_stats {
  uint64_t fetches, computes, fetch_ns, compute_ns;
  int64_t first, last;
} epoch_stats;

typedef struct parcel parcel;
typedef struct lane {
  pthread_mutex_t lock;
  pthread_cond_t moved;
  uint64_t next_unit;
  int is_busy;
  parcel *waiting;
  uint32_t waiting_count;
  uint32_t *threads;
  uint32_t thread_count, thread_capacity;
} lane;

typedef struct job job;

typedef struct worker {
  job *of;
  pthread_t thread;
  dft_cursor *cursor;
  numbered_cache sites, groups, threads;
  group_stats *groups_seen; /* by number */
  uint32_t group_capacity;
  io_stats *files;
  uint32_t file_capacity;
  numbering epochs;
  epoch_stats *epoch_list; /* by number */
  uint32_t epoch_capacity;
  moment *moments;
  uint32_t moment_capacity;
  uint64_t events, counters, metadata, others, dropped, recovered;
  int64_t first, last;
  int is_good; /* 0: no memory */
} worker;

struct job {
  dft_reader *reader;
  const job_question *question;
  progress *progress;
  pthread_mutex_t lock;
  numbering site_numbers, group_numbers, thread_numbers, process_numbers;
  site *sites[SITES_MAX / BLOCK + 1];
  thread *threads[THREADS_MAX / BLOCK + 1];
  process *processes[THREADS_MAX / BLOCK + 1];
  lane *lanes;    /* by source */
  int64_t origin; /* what from_ns and to_ns count from */
  uint32_t key_ret, key_offset, key_second_file, key_epoch, key_step, key_num_dropped, key_recovered, key_ppid,
    key_name, key_value;
  uint32_t no_step; /* the group of events that belong to none */
  _Atomic uint64_t loose_all;
  worker *workers;
  int worker_count;

  /* The result, when job_run is done: all workers together. */
  worker all;
  uint64_t grain; /* durations are multiples of it */
  uint64_t io_ns, region_ns, thread_ns, late, merged, overrun;
  int64_t first, last;
};

/* 0: no memory. */
int job_run(job *of, dft_reader *reader, const job_question *question);
void job_free(job *of);

static inline site *job_site(job *of, uint32_t number) {
  return &of->sites[number / BLOCK][number % BLOCK];
}
static inline thread *job_thread(job *of, uint32_t number) {
  return &of->threads[number / BLOCK][number % BLOCK];
}
static inline process *job_process(job *of, uint32_t number) {
  return &of->processes[number / BLOCK][number % BLOCK];
}

/* A sum that stays at the top when there is no more room. */
static inline void job_add(uint64_t *sum, uint64_t value) {
  if (__builtin_add_overflow(*sum, value, sum)) *sum = UINT64_MAX;
}

/* ---- worker.c ---- */
void worker_rows(worker *of, const dft_rows *rows);
group_stats *worker_group(worker *of, uint32_t number); /* NULL: no memory */
io_stats *worker_file(worker *of, uint32_t file);
epoch_stats *worker_epoch(worker *of, int64_t epoch);
uint32_t job_thread_number(job *of, uint32_t source, uint64_t pid, uint64_t tid, uint32_t host);

/* ---- training.c ---- */
int training_join(job *of); /* 0: no memory */

/* ---- lane.c ---- */
/* Brings events of a unit onto the source's lane: accounts for them now, or leaves them for their turn. */
void lane_bring(worker *from, const dft_rows *rows, uint32_t count);
void lane_flush(worker *by, lane *of);

/* ---- steps.c ---- */
/* Counts an event in its step, or the events that wait for this one. */
void step_account(worker *by, thread *on, const site *what, const moment *event, int64_t self);
/* What still waits belongs to no step. */
void step_flush(worker *by, thread *on);

/* ---- iostat.c ---- */
/* Counts a call, without its place in the sequence; a copy is a read, and a write. */
int io_count(io_stats *into, enum io_kind kind, const moment *event);
/* Whether the transfer begins where the last one ended: 1 yes, 0 no, -1 no transfer, or the first one. */
int io_sequence(thread *of, const site *what, const moment *event);
int io_merge(io_stats *into, const io_stats *from);

#endif
