/* ruletable.c - what is worth telling about a job.
 *
 * To add a rule: a row here, a trace that fires it and one that just does not in tests/verdict. Thresholds of I/O are those of
 * Drishti where it has one (docs/summary.md); but a rule speaks only if at least 1 % of the job is at stake.
 * SPDX-License-Identifier: MIT */
#include "ruletable.h"

#include <string.h>

#define MIB 1048576.0
#define SECOND 1e9

const finding_rule rules[] = {
  {"small-reads",
   "small reads",
   {{M_small_reads, '>', 1000}, {M_small_read_share, '>', 0.10}},
   M_small_read_stake,
   "{small_reads} of {reads} reads ({small_read_share}) move data, but less than 1 MiB: {small_read_bytes} on average",
   "Read more at once: larger buffers, whole records or files, collective MPI-IO, or a format with larger chunks."},
  {"small-writes",
   "small writes",
   {{M_small_writes, '>', 1000}, {M_small_write_share, '>', 0.10}},
   M_small_write_stake,
   "{small_writes} of {writes} writes ({small_write_share}) move data, but less than 1 MiB: {small_write_bytes} on "
   "average",
   "Collect data and write it at once: a larger buffer (setvbuf), collective MPI-IO, or one writer per node."},
  {"random-reads",
   "random reads",
   {{M_random_reads, '>', 1000}, {M_random_read_share, '>', 0.20}},
   M_random_read_stake,
   "{random_reads} reads ({random_read_share}) do not begin where the last one of their thread ended",
   "Sort requests by offset, read a larger block and pick from it, or store what is read together side by side."},
  {"random-writes",
   "random writes",
   {{M_random_writes, '>', 1000}, {M_random_write_share, '>', 0.20}},
   M_random_write_stake,
   "{random_writes} writes ({random_write_share}) do not begin where the last one of their thread ended",
   "Write in the order of offsets, or collect the data first."},
  {"unaligned-reads",
   "unaligned reads",
   {{M_unaligned_reads, '>', 1000}, {M_unaligned_read_share, '>', 0.10}},
   M_unaligned_read_stake,
   "up to {unaligned_reads} reads ({unaligned_read_share}) do not begin at a multiple of 4 KiB, nor where the last one "
   "ended",
   "Align records with blocks of the file system, for example by H5Pset_alignment."},
  {"unaligned-writes",
   "unaligned writes",
   {{M_unaligned_writes, '>', 1000}, {M_unaligned_write_share, '>', 0.10}},
   M_unaligned_write_stake,
   "up to {unaligned_writes} writes ({unaligned_write_share}) do not begin at a multiple of 4 KiB, nor where the last "
   "one ended",
   "Align records with blocks and stripes of the file system, for example by H5Pset_alignment and lfs setstripe."},
  {"redundant-reads",
   "the same data is read again",
   {{M_redundant_read_share, '>', 0.10}, {M_redundant_read_bytes, '>', MIB}},
   M_redundant_read_stake,
   "{redundant_read_bytes} ({redundant_read_share} of what was read) had been read by the same thread before",
   "Keep in memory what is needed again, or copy it to a local disk once."},
  {"redundant-writes",
   "the same data is written again",
   {{M_redundant_write_share, '>', 0.10}, {M_redundant_write_bytes, '>', MIB}},
   M_redundant_write_stake,
   "{redundant_write_bytes} ({redundant_write_share} of what was written) replaced what the same thread had written "
   "before",
   "Write only the final state, or only what changed."},
  {"metadata",
   "a storm of metadata calls",
   {{M_metadata_calls, '>', 1000}},
   M_metadata_stake,
   "{metadata_calls} calls such as {metadata_call}() move no data[; most of their time goes to {metadata_files} files "
   "below {metadata_folder}]",
   "Open files once, pack small files into larger ones, list folders once, and avoid stat() of every file.[ "
   "{module_share} of their time goes to modules of Python: import less, or from a local disk or a container image.]"},
  {"mpi-io",
   "MPI-IO calls that move no data",
   {{M_mpiio_share, '>', 0.05}},
   M_mpiio_stake,
   "{mpiio_calls} calls of MPI-IO such as {mpiio_call}() take {mpiio_share} of the time and move no data",
   "Open a file once, on all ranks, and keep it open; closing it also writes what is buffered."},
  {"sync",
   "waiting until data is written",
   {{M_sync_share, '>', 0.05}},
   M_sync_stake,
   "{syncs} calls such as {sync_call}() wait until data is written[; most of their time goes to {sync_files} files "
   "below {sync_folder}]",
   "Synchronise less often, at checkpoints only, or in the background. Closing a file also writes what is buffered."},
  {"open-churn",
   "files are opened again and again",
   {{M_opens, '>', 1000}, {M_opens_per_file, '>', 10}},
   M_churn_stake,
   "{opens} opens of {opened_files} files: a process opens a file {opens_per_file} times on average",
   "Keep files open while they are needed."},
  {"small-files",
   "many small files",
   {{M_read_files, '>', 1000}, {M_read_file_bytes, '<', MIB}},
   M_small_file_stake,
   "{read_files} files were read, {read_file_bytes} of each on average",
   "Pack samples into larger files (HDF5, tar, WebDataset, Parquet)."},
  {"stdio",
   "STDIO for large data",
   {{M_stdio_share, '>', 0.10}, {M_stdio_bytes, '>', 64 * MIB}},
   M_stdio_stake,
   "{stdio_bytes} ({stdio_share} of all bytes) go through fread(), fwrite() and their like, which copy them once more",
   "Use read() and write(), MPI-IO or HDF5 for large data, or a larger buffer (setvbuf)."},
  {"failed-calls",
   "I/O calls that fail",
   {{M_failed_calls, '>', 1000}, {M_failed_share, '>', 0.10}},
   M_failed_stake,
   "{failed_calls} I/O calls ({failed_share}) failed",
   "Look at the table of failed calls: search paths and missing files cost as much as files that exist."},
  {"shared-file",
   "processes compete for one file",
   {{M_shared_writers, '>', 2}, {M_shared_slowdown, '>', 2}},
   M_shared_stake,
   "{shared_writers} processes write {shared_file}; a byte takes {shared_slowdown} times as long as in files of one "
   "writer",
   "Write with collective MPI-IO, align each process to stripes of its own, or write one file per process or node."},
  {"imbalance",
   "ranks wait for the last one",
   {{M_ranks, '>', 2}, {M_imbalance_share, '>', 0.05}},
   M_imbalance_stake,
   "ranks spend {imbalance_share} of their time waiting for others",
   "See Communication by rank: give those that the others wait for less work, or find out why they are slower."},
  {"late-senders",
   "messages are sent late",
   {{M_ranks, '>', 2}, {M_late_message_share, '>', 0.05}},
   M_late_message_stake,
   "ranks spend {late_message_share} of their time waiting for messages that are not sent yet",
   "Send as soon as the data is there, and compute what needs no message first (MPI_Isend, MPI_Irecv, MPI_Waitall); "
   "or give the ranks that send late less work: see late sender in Communication by rank."},
  {"early-end",
   "ranks are done before the others",
   {{M_ranks, '>', 2}, {M_early_end_share, '>', 0.05}},
   M_early_end_stake,
   "for {early_end_share} of the job, a rank has ended or waits in MPI_Finalize while others still work",
   "Let all ranks take part in what the last ones do: write in parallel or in the background, or share the work anew."},
  {"straggler",
   "a region takes longer on one rank",
   {{M_ranks, '>', 2}, {M_straggler_imbalance, '>', 0.15}},
   M_straggler_stake,
   "'{straggler_region}' takes {straggler_time} on rank {straggler}; the mean of all ranks is {straggler_mean}",
   "Distribute the work of that region more evenly."},
  {"communication",
   "communication",
   {{M_communication_share, '>', 0.10}},
   M_communication_stake,
   "ranks spend {communication_share} of their time in communication, without the waits for others that are known",
   "Send fewer and larger messages, or overlap them with compute; in a training, accumulate gradients over more "
   "batches."},
  {"transfer",
   "copies to the device",
   {{M_transfer_share, '>', 0.05}},
   M_transfer_stake,
   "copies to and from the device take {transfer_share} of the time, while nothing computes",
   "Use pinned memory and non_blocking=True, and copy the next batch while this one is computed."},
  {"start-up",
   "start-up",
   {{M_startup_share, '>', 0.10}, {M_startup_stake, '>', SECOND}, {M_startup_outside, '<', 0.80}},
   M_startup_stake,
   "{startup_share} of the job passes before the main loop begins; {startup_cause}",
   "Load and set up in parallel, cache what is the same in every run, or run longer per start."},
  {"start-up-outside",
   "start-up outside of regions and calls",
   {{M_startup_share, '>', 0.10}, {M_startup_stake, '>', SECOND}, {M_startup_outside, '>', 0.80}},
   M_startup_stake,
   "{startup_share} of the job passes before the main loop begins; {startup_cause}",
   "Nothing that was recorded says what it is: imports, reading that was not traced, or other work. Annotate it, and "
   "trace with --io if you did not."},
  {"tear-down",
   "tear-down",
   {{M_teardown_share, '>', 0.10}, {M_teardown_stake, '>', SECOND}, {M_teardown_idle, '<', 0.80}},
   M_teardown_stake,
   "{teardown_share} of the job passes after the main loop has ended; {teardown_cause}",
   "Do it[, which is '{teardown_region}',] in parallel, in the background, or while the loop still runs[: the others "
   "wait for rank {teardown_rank}]."},
  {"tear-down-mpi",
   "tear-down in MPI_Finalize",
   {{M_teardown_share, '>', 0.10}, {M_teardown_stake, '>', SECOND}, {M_teardown_final, '>', 0.80}},
   M_teardown_stake,
   "{teardown_share} of the job passes after the main loop has ended; {teardown_cause}",
   "Look at how MPI ends: connections between many ranks, windows and files that are still open, or tools that write "
   "their "
   "results there."},
  {"tear-down-outside",
   "tear-down outside of regions and calls",
   {{M_teardown_share, '>', 0.10}, {M_teardown_stake, '>', SECOND}, {M_teardown_outside, '>', 0.80}},
   M_teardown_stake,
   "{teardown_share} of the job passes after the main loop has ended; {teardown_cause}",
   "Nothing that was recorded says what it is: the end of an interpreter with large libraries, destructors, writing "
   "that was not traced, or other work. Annotate it, and trace with --io if you did not."},
  {"step-jitter",
   "some steps take much longer than others",
   {{M_steps, '>', 20}, {M_step_jitter, '>', 1.5}, {M_step_spread, '<', 1.25}},
   M_jitter_stake,
   "a step takes {step_median} in the median, but {step_p95} at the 95th percentile",
   "See the table of the slowest steps, which names what took longer in each."},
  {"cold-epoch",
   "the first epoch is slower",
   {{M_epochs, '>', 2}, {M_cold_ratio, '>', 1.2}},
   M_cold_stake,
   "without checkpoints, the first epoch takes {first_epoch}, a later one of as many steps {other_epochs}; often data "
   "is not in a cache yet, or functions are compiled",
   "Stage the data to a local disk before the job, and keep workers (persistent_workers=True) and compiled functions."},
  {"checkpoint-stall",
   "training stops for checkpoints",
   {{M_checkpoint_share, '>', 0.05}},
   M_checkpoint_stake,
   "saving and loading take {checkpoint_share} of the training loop, while nothing computes; a trainer does it "
   "{checkpoints} times",
   "Save less often, save asynchronously (copy to memory, write in the background), or shard over ranks."},
  {"no-workers",
   "nobody loads ahead",
   {{M_waiting_share, '>', 0.05}, {M_workers, '<', 1}},
   M_waiting_stake,
   "the trainer waits for data for {waiting_share} of its loop, and no process is known that loads ahead",
   "Load in worker processes (num_workers), so that loading overlaps with compute."},
  {"empty-workers",
   "workers get no data",
   {{M_waiting_share, '>', 0.05}, {M_empty_workers, '>', 1}},
   M_waiting_stake,
   "workers of a trainer ({empty_workers} at once) find no data, the others ({workers}) load everything, and the "
   "trainer waits for data for {waiting_share} of its loop",
   "Give each worker its part of the IterableDataset (get_worker_info()): more workers than parts do not help."},
  {"worker-start",
   "loader workers start again and again, or slowly",
   {{M_waiting_share, '>', 0.05}, {M_workers, '>', 1}, {M_worker_start_share, '>', 0.50}},
   M_worker_start_stake,
   "{worker_start_share} of the waiting for data is the start and the end of loader workers",
   "Keep workers from epoch to epoch (persistent_workers=True), use fewer of them, or fork them from a server that has "
   "imported the modules (multiprocessing_context='forkserver')."},
  {"unequal-workers",
   "one worker has much more to do than the others",
   {{M_waiting_share, '>', 0.05},
    {M_busiest_share, '>', 0.80},
    {M_worker_spread, '>', 0.50},
    {M_worker_start_share, '<', 0.50}},
   M_waiting_stake,
   "the worker {busiest_worker} is busy {busiest_share} of the time, the others {other_busy}, and the trainer waits "
   "for data for {waiting_share} of its loop",
   "Find out why its samples take longer (larger, slower storage), mix them (shuffle), or give workers of an "
   "IterableDataset equal parts: more workers do not help."},
  {"few-workers",
   "too few loader workers",
   {{M_waiting_share, '>', 0.05},
    {M_workers, '>', 1},
    {M_worker_busy, '>', 0.90},
    {M_empty_workers, '<', 1},
    {M_worker_start_share, '<', 0.50}},
   M_waiting_stake,
   "the workers of a trainer ({workers} at once) are busy {worker_busy} of the time[ on {waiting_trainers}], "
   "and it waits for data for {waiting_share} of its loop",
   "Raise num_workers[: {workers_wanted} would suffice], if the node has idle cores or workers mostly wait in I/O "
   "calls.[ But more workers alone will not do, because {workers_excess} would be needed: make the loading of a "
   "sample cheaper (prepare it once and store it, or on the device).]"},
  {"idle-workers",
   "workers are idle while the trainer waits",
   {{M_waiting_share, '>', 0.05},
    {M_workers, '>', 1},
    {M_worker_busy, '<', 0.50},
    {M_worker_start_share, '<', 0.50},
    {M_worker_spread, '<', 0.50}},
   M_waiting_stake,
   "the workers of a trainer ({workers} at once) are busy only {worker_busy} of the time[ on "
   "{waiting_trainers}], and yet it waits for data for {waiting_share} of its loop",
   "Raise prefetch_factor, keep workers (persistent_workers=True), or look for one slow worker that the others wait "
   "for."},
};
const int rule_count = sizeof rules / sizeof rules[0];

const finding_rule *rule_find(const char *id) {
  for (int i = 0; i < rule_count; i++) {
    if (strcmp(rules[i].id, id) == 0) return &rules[i];
  }
  return NULL;
}

int rule_is_of_outside(const finding_rule *rule) {
  for (int i = 0; i < CONDITIONS_MAX && rule->conditions[i].sign; i++) {
    const rule_condition *next = &rule->conditions[i];
    if (next->sign == '>' && (next->measure == M_startup_outside || next->measure == M_teardown_outside)) return 1;
  }
  return 0;
}

int rule_condition_holds(const rule_condition *condition, const measure_list *measures) {
  const measure_value *value = &measures->values[condition->measure];
  if (!value->is_known) return 0;
  return condition->sign == '>' ? value->number >= condition->limit : value->number < condition->limit;
}

int rule_condition_is_enough(const rule_condition *condition, const measure_list *measures, double stake_share) {
  const measure_value *value = &measures->values[condition->measure];
  if (rule_condition_holds(condition, measures)) return 1;
  return value->is_known && measure_kinds[condition->measure].unit == UNIT_COUNT && condition->sign == '>' &&
         condition->limit >= COUNT_MANY && stake_share >= STAKE_CRITICAL &&
         value->number >= COUNT_ENOUGH * condition->limit;
}

const char *rule_condition_limit(char out[MEASURE_TEXT_BYTES], const rule_condition *condition) {
  measure_list list = {0};
  measure_set(&list, condition->measure, condition->limit);
  return measure_format(out, &list, condition->measure);
}
