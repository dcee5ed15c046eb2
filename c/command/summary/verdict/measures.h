/* measures.h - every number and name that the rules look at: one list. What the traces do not tell is unknown, and a rule that
 * needs it is silent.
 *
 * Stakes are times: how much sooner the job could have ended at best, mean of its ranks. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_MEASURES_H
#define DFTRACER_MEASURES_H

#include <stddef.h>

enum measure_unit { UNIT_COUNT, UNIT_RANK, UNIT_SHARE, UNIT_RATIO, UNIT_TIME, UNIT_BYTES, UNIT_TEXT };

/* name, unit, what it is */
#define MEASURES(X)                                                                                                    \
  X(reads, COUNT, "calls that read")                                                                                   \
  X(read_stake, TIME, "reading that ranks wait for")                                                                   \
  X(small_reads, COUNT, "reads of less than 1 MiB")                                                                    \
  X(small_read_share, SHARE, "of the reads")                                                                           \
  X(small_read_bytes, BYTES, "mean size of a small read")                                                              \
  X(small_read_stake, TIME, "the part of the reading that small reads are")                                            \
  X(random_reads, COUNT, "reads that do not begin where the last one ended")                                           \
  X(random_read_share, SHARE, "of the reads whose place is known")                                                     \
  X(random_read_stake, TIME, "of the reading: random reads, but at most the small ones")                               \
  X(unaligned_reads, COUNT, "reads that begin neither at a multiple of 4 KiB nor where the last one ended, at most")   \
  X(unaligned_read_share, SHARE, "of the reads whose place is known")                                                  \
  X(unaligned_read_stake, TIME, "of the reading: unaligned reads, but at most the small ones")                         \
  X(redundant_read_bytes, BYTES, "bytes that the same thread had read before")                                         \
  X(redundant_read_share, SHARE, "of the bytes read")                                                                  \
  X(redundant_read_stake, TIME, "the part of the reading that this took")                                              \
  X(writes, COUNT, "calls that write")                                                                                 \
  X(write_stake, TIME, "writing that ranks wait for")                                                                  \
  X(small_writes, COUNT, "writes of less than 1 MiB")                                                                  \
  X(small_write_share, SHARE, "of the writes")                                                                         \
  X(small_write_bytes, BYTES, "mean size of a small write")                                                            \
  X(small_write_stake, TIME, "the part of the writing that small writes are")                                          \
  X(random_writes, COUNT, "writes that do not begin where the last one ended")                                         \
  X(random_write_share, SHARE, "of the writes whose place is known")                                                   \
  X(random_write_stake, TIME, "of the writing: random writes, but at most the small ones")                             \
  X(unaligned_writes, COUNT, "writes that begin neither at a multiple of 4 KiB nor where the last one ended, at most") \
  X(unaligned_write_share, SHARE, "of the writes whose place is known")                                                \
  X(unaligned_write_stake, TIME, "of the writing: unaligned writes, but at most the small ones")                       \
  X(redundant_write_bytes, BYTES, "bytes that the same thread had written before")                                     \
  X(redundant_write_share, SHARE, "of the bytes written")                                                              \
  X(redundant_write_stake, TIME, "the part of the writing that this took, without checkpoints")                        \
  X(syncs, COUNT, "calls that wait until data is written: fsync, closing a file that was written")                     \
  X(sync_share, SHARE, "of a rank's time: in such calls")                                                              \
  X(sync_stake, TIME, "the same as a time")                                                                            \
  X(sync_call, TEXT, "the one that takes most time")                                                                   \
  X(sync_files, COUNT, "files that they concern")                                                                      \
  X(sync_folder, TEXT, "the folder where 80 % of their time goes")                                                     \
  X(mpiio_calls, COUNT, "calls of MPI-IO that move no data")                                                           \
  X(mpiio_share, SHARE, "of a rank's time: in such calls")                                                             \
  X(mpiio_stake, TIME, "the same as a time")                                                                           \
  X(mpiio_call, TEXT, "the one that takes most time")                                                                  \
  X(metadata_calls, COUNT, "other I/O calls that move no data, but those of MPI for itself")                           \
  X(metadata_stake, TIME, "such calls that ranks wait for")                                                            \
  X(metadata_call, TEXT, "the one that takes most time")                                                               \
  X(metadata_files, COUNT, "files that they concern")                                                                  \
  X(metadata_folder, TEXT, "the folder where 80 % of their time goes")                                                 \
  X(module_share, SHARE, "of their time: modules of Python, if it is most of it")                                      \
  X(opens, COUNT, "calls that open a file, at least: those of files with failed calls may have failed")                \
  X(opened_files, COUNT, "files that were opened")                                                                     \
  X(opens_per_file, RATIO, "how often a file was opened, mean")                                                        \
  X(churn_stake, TIME, "opening and closing again what had been open before")                                          \
  X(read_files, COUNT, "files that were read, but modules of Python")                                                  \
  X(read_file_bytes, BYTES, "read from a file, mean")                                                                  \
  X(small_file_stake, TIME, "reading and opening those of less than 1 MiB that ranks wait for")                        \
  X(stdio_bytes, BYTES, "moved by STDIO calls")                                                                        \
  X(stdio_share, SHARE, "of all bytes")                                                                                \
  X(stdio_stake, TIME, "STDIO calls that ranks wait for")                                                              \
  X(failed_calls, COUNT, "I/O calls that failed")                                                                      \
  X(failed_share, SHARE, "of all I/O calls")                                                                           \
  X(failed_stake, TIME, "the time they took")                                                                          \
  X(shared_file, TEXT, "the file with most time in writes by several processes")                                       \
  X(shared_writers, COUNT, "processes that write it")                                                                  \
  X(shared_slowdown, RATIO, "time for a byte there, compared with files of one writer")                                \
  X(shared_stake, TIME, "what its writes took longer")                                                                 \
  X(unnamed_share, SHARE, "of the compute: regions whose names mean nothing to dftracer")                              \
  X(unnamed_region, TEXT, "the one of them that takes most time")                                                      \
  X(ranks, COUNT, "ranks that are compared")                                                                           \
  X(imbalance_share, SHARE, "of a rank's time: waiting for others, in any of these ways")                              \
  X(imbalance_stake, TIME, "the same as a time")                                                                       \
  X(late_message_share, SHARE, "of a rank's time: in receives, until the message is sent")                             \
  X(late_message_stake, TIME, "the same as a time")                                                                    \
  X(early_end_share, SHARE, "of a rank's time: it is done, and others still work")                                     \
  X(early_end_stake, TIME, "the same as a time")                                                                       \
  X(last_rank, RANK, "the rank that the others waited for most")                                                       \
  X(last_share, SHARE, "of that waiting")                                                                              \
  X(straggler, RANK, "the rank whose region took longest, of the region that loses most time")                         \
  X(straggler_region, TEXT, "that region")                                                                             \
  X(straggler_time, TIME, "its time on that rank")                                                                     \
  X(straggler_mean, TIME, "its time on a rank, mean")                                                                  \
  X(straggler_imbalance, SHARE, "(largest - mean) / largest")                                                          \
  X(straggler_stake, TIME, "largest - mean")                                                                           \
  X(communication_share, SHARE, "of a rank's time: communication without waiting for ranks")                           \
  X(communication_stake, TIME, "the same as a time")                                                                   \
  X(transfer_share, SHARE, "of a rank's time: copies to and from a device")                                            \
  X(transfer_stake, TIME, "the same as a time")                                                                        \
  X(startup_share, SHARE, "of the job: before its loop begins")                                                        \
  X(startup_stake, TIME, "the same as a time")                                                                         \
  X(startup_cause, TEXT, "what explains 80 % of it")                                                                   \
  X(startup_outside, SHARE, "of it: in no region and no call, if nothing else explains it")                            \
  X(teardown_share, SHARE, "of the job: after its loop")                                                               \
  X(teardown_stake, TIME, "the same as a time")                                                                        \
  X(teardown_cause, TEXT, "what explains 80 % of it")                                                                  \
  X(teardown_outside, SHARE, "of it: in no region and no call, if nothing else explains it")                           \
  X(teardown_final, SHARE, "of it: in MPI_Finalize, without waiting for other ranks")                                  \
  X(teardown_idle, SHARE, "of it: in MPI_Finalize, or in no region and no call")                                       \
  X(teardown_region, TEXT, "the region that explains it")                                                              \
  X(teardown_rank, RANK, "the rank that does it, and the others wait")                                                 \
  X(steps, COUNT, "steps of a trainer")                                                                                \
  X(step_median, TIME, "of a step")                                                                                    \
  X(step_p95, TIME, "of a step")                                                                                       \
  X(step_jitter, RATIO, "step_p95 / step_median")                                                                      \
  X(step_spread, RATIO, "75th percentile of steps / step_median")                                                      \
  X(jitter_stake, TIME, "what steps took longer than the median")                                                      \
  X(epochs, COUNT, "epochs of the training")                                                                           \
  X(first_epoch, TIME, "the first epoch, without checkpoints")                                                         \
  X(other_epochs, TIME, "a later epoch, mean")                                                                         \
  X(cold_ratio, RATIO, "first_epoch / other_epochs")                                                                   \
  X(cold_stake, TIME, "first_epoch - other_epochs")                                                                    \
  X(checkpoints, COUNT, "events of checkpoints, of a trainer")                                                         \
  X(checkpoint_share, SHARE, "of the training loop: saving, loading, and waiting for who saves")                       \
  X(checkpoint_stake, TIME, "the same as a time")                                                                      \
  X(waiting_share, SHARE, "of the training loop: waiting for data")                                                    \
  X(waiting_stake, TIME, "the same as a time")                                                                         \
  X(worker_start_share, SHARE, "of the waiting for data: loaders and workers begin or end")                            \
  X(worker_start_stake, TIME, "the same as a time")                                                                    \
  X(waiting_trainers, TEXT, "whose workers are meant: others wait less than half as long as the one that waits most")  \
  X(workers, COUNT, "processes that load for a trainer in its loop, at once")                                          \
  X(empty_workers, COUNT, "further ones, which find no data at all")                                                   \
  X(worker_busy, SHARE, "of the workers' time in the training loop: they load")                                        \
  X(busiest_worker, TEXT, "the worker that loads for the largest share of its time")                                   \
  X(busiest_share, SHARE, "of its time: it loads")                                                                     \
  X(worker_spread, SHARE, "busiest_share - other_busy")                                                                \
  X(other_busy, SHARE, "of the time of the other workers: they load")                                                  \
  X(worker_presence, SHARE, "of the training loop: so long is a worker there, mean")                                   \
  X(workers_enough, COUNT, "workers that could load everything while the trainer computes")                            \
  X(workers_wanted, COUNT, "the same, if there are fewer, but not far fewer")                                          \
  X(workers_excess, COUNT, "the same, if it is more than 8 times as many, or more than 64")

enum measure {
#define MEASURE_ID(name, unit, what) M_##name,
  MEASURES(MEASURE_ID)
#undef MEASURE_ID
    MEASURE_COUNT
};

#define MEASURE_TEXT_BYTES 512

typedef struct measure_value {
  int is_known;
  double number; /* nanoseconds, bytes, or as it is */
  char *text;    /* of UNIT_TEXT; allocated; printable */
} measure_value;

typedef struct measure_list {
  measure_value values[MEASURE_COUNT];
} measure_list;

/* How the measures are called. */
typedef struct measure_kind {
  const char *name, *what;
  enum measure_unit unit;
} measure_kind;
extern const measure_kind measure_kinds[MEASURE_COUNT];

/* Without memory, a text stays unknown. */
void measure_set(measure_list *list, enum measure measure, double number);
void measure_set_text(measure_list *list, enum measure measure, const char *text, size_t len);
/* part / whole, if there is a whole. */
void measure_set_ratio(measure_list *list, enum measure measure, double part, double whole);
void measures_free(measure_list *list);
/* A text for a sentence: of a long one, the end, which says more of a path than its beginning. Returns `out`. */
const char *short_text(char out[MEASURE_TEXT_BYTES], const char *text);
/* The value as people read it, printable; "unknown" if it is. Returns `out`. */
const char *measure_format(char out[MEASURE_TEXT_BYTES], const measure_list *list, enum measure measure);

#endif
