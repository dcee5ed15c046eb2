/* measuring_io.c - takes the measures of a job's I/O.
 * SPDX-License-Identifier: MIT */
#include "measuring_io.h"

#include <string.h>

#include "command/summary/answer/runtimefiles.h"
#include "costcount.h"
#include "ruletable.h"

#define SMALL_FILE 1048576.0 /* as the rule small-files has it */
#define MODULES_LEAST 0.5    /* of the time of metadata calls: less is not told */
#define SIZE_LEAST 0.5       /* of writes to other files: smaller ones are not compared with them */

/* The time that ranks lose in calls of each kind, mean; metadata also in regions. */
typedef struct exposed_times {
  double ns[IO_COSTS];
  double saving; /* of the writes: inside of checkpoints */
} exposed_times;

static exposed_times exposed_of(const summary_state *state, const job_costs *costs) {
  exposed_times exposed = {.saving = 0};
  for (uint32_t i = 0; i < costs->count; i++) {
    const rank_costs *rank = &costs->ranks[i];
    const double written = (double)state->processes[rank->process].counts.io.write.ns - rank->call_ns[IO_COST_WRITE];
    const double saving = rank->ns[COST_CHECKPOINT];
    for (int kind = 0; kind < IO_COSTS; kind++) {
      exposed.ns[kind] += (rank->call_ns[kind] + rank->waited_with[kind]) / costs->divisor;
    }
    if (written > 0) exposed.saving += (written < saving ? written : saving) / costs->divisor;
  }
  exposed.ns[IO_COST_WRITE] += exposed.saving;
  return exposed;
}

/* ---- Reads and writes ----------------------------------------------------------------------------------------------- */

/* The same measures for both directions. */
typedef struct side_measures {
  enum measure calls, stake, small, small_share, small_bytes, small_stake, random, random_share, random_stake,
    unaligned, unaligned_share, unaligned_stake, again, again_share, again_stake;
} side_measures;

#define SIDE(verb)                                                                                               \
  {                                                                                                              \
    M_##verb##s, M_##verb##_stake, M_small_##verb##s, M_small_##verb##_share, M_small_##verb##_bytes,            \
      M_small_##verb##_stake, M_random_##verb##s, M_random_##verb##_share, M_random_##verb##_stake,              \
      M_unaligned_##verb##s, M_unaligned_##verb##_share, M_unaligned_##verb##_stake, M_redundant_##verb##_bytes, \
      M_redundant_##verb##_share, M_redundant_##verb##_stake                                                     \
  }
static const side_measures of_reads = SIDE(read), of_writes = SIDE(write);

static uint64_t least(uint64_t one, uint64_t two) {
  return one < two ? one : two;
}

/* A checkpoint that replaces the one before does what it is for: `saving` is no writing again. Where a transfer begins matters if
 * it is small; a large one takes long anyway. One that is unaligned but follows the last one is cached anyway: how many are both
 * unaligned and random is not known, so this is an upper limit. */
static void take_side(measure_list *list, const side_measures *names, const io_side *side, double exposed,
                      double saving) {
  const double ns = (double)side->ns;
  const uint64_t unaligned = least(side->unaligned, side->random);
  measure_set(list, names->calls, (double)side->count);
  measure_set(list, names->stake, exposed);
  measure_set(list, names->small, (double)side->small);
  measure_set_ratio(list, names->small_share, (double)side->small, (double)side->count);
  measure_set_ratio(list, names->small_bytes, (double)side->small_bytes, (double)side->small);
  measure_set_ratio(list, names->small_stake, exposed * (double)side->small_ns, ns);
  measure_set(list, names->random, (double)side->random);
  measure_set_ratio(list, names->random_share, (double)side->random, (double)side->placed);
  measure_set_ratio(list, names->random_stake, exposed * (double)least(side->random_ns, side->small_ns), ns);
  measure_set(list, names->unaligned, (double)unaligned);
  measure_set_ratio(list, names->unaligned_share, (double)unaligned, (double)side->placed);
  measure_set_ratio(list, names->unaligned_stake,
                    exposed * (double)least(least(side->unaligned_ns, side->random_ns), side->small_ns), ns);
  measure_set(list, names->again, (double)side->again_bytes);
  measure_set_ratio(list, names->again_share, (double)side->again_bytes, (double)side->bytes);
  measure_set_ratio(list, names->again_stake, (exposed - saving) * (double)side->again_bytes, (double)side->bytes);
}

/* ---- Files ---------------------------------------------------------------------------------------------------------- */

/* Sums over files. */
typedef struct file_sums {
  uint64_t opened, opened_uses, opens, read, read_bytes, small_ns;
  double alone_ns, alone_bytes, alone_writes; /* of files that one process writes */
  uint32_t shared;                            /* the file with most time in writes of several; 0: none */
} file_sums;

/* A module of Python is no file of data: it is read once, by an import. */
static file_sums sum_files(const summary_state *state, int are_modules_told) {
  file_sums sums = {0};
  for (uint32_t i = 1; i <= state->file_numbers.count; i++) {
    const io_stats *io = state->file_io[i];
    if (!io || !state->files[i].hash) continue;
    if (io->opens > io->failed) { /* what failed may have been other calls: as many as surely were opened */
      sums.opened++;
      sums.opened_uses += io->uses;
      sums.opens += io->opens - io->failed;
    }
    if (io->read.bytes && !(are_modules_told && is_module_file(answer_file(state, i)))) {
      sums.read++;
      sums.read_bytes += io->read.bytes;
      if ((double)io->read.bytes < SMALL_FILE) sums.small_ns += io->read.ns + io->other_ns - io->sync_ns;
    }
    if (io->write_uses == 1) {
      sums.alone_ns += (double)io->write.ns;
      sums.alone_bytes += (double)io->write.bytes;
      sums.alone_writes += (double)io->write.count;
    } else if (io->write_uses > 1 && (!sums.shared || io->write.ns > state->file_io[sums.shared]->write.ns)) {
      sums.shared = i;
    }
  }
  return sums;
}

/* Whether writes of the shared file are slower is known only if there are other files to compare with, and if its writes are not
 * much smaller: a byte of a small write takes longer anyway. */
static void take_shared(measure_list *list, const summary_answer *answer, const file_sums *sums, double exposed) {
  const io_stats *io = sums->shared ? answer->state->file_io[sums->shared] : NULL;
  dft_text name;
  double slowdown, all_ns = (double)answer->io.write.ns;
  if (!io || !io->write.bytes || sums->alone_bytes <= 0 || sums->alone_ns <= 0) return;
  if ((double)io->write.bytes / (double)io->write.count < SIZE_LEAST * sums->alone_bytes / sums->alone_writes) return;
  slowdown = ((double)io->write.ns / (double)io->write.bytes) / (sums->alone_ns / sums->alone_bytes);
  name = answer_file(answer->state, sums->shared);
  measure_set_text(list, M_shared_file, name.text, name.len);
  measure_set(list, M_shared_writers, (double)io->write_uses);
  measure_set(list, M_shared_slowdown, slowdown);
  if (slowdown > 1) measure_set(list, M_shared_stake, exposed * (double)io->write.ns / all_ns * (1 - 1 / slowdown));
}

static void take_files(measure_list *list, const summary_answer *answer, const job_costs *costs,
                       const exposed_times *exposed) {
  const io_stats *io = &answer->io;
  const double reading = exposed->ns[IO_COST_METADATA] + exposed->ns[IO_COST_READ];
  const file_sums sums = sum_files(answer->state, reading >= STAKE_LEAST * costs->job_ns); /* else nobody asks */
  const double again = sums.opens > sums.opened_uses ? 1 - (double)sums.opened_uses / (double)sums.opens : 0;
  measure_set(list, M_opens, (double)sums.opens);
  measure_set(list, M_opened_files, (double)sums.opened);
  measure_set_ratio(list, M_opens_per_file, (double)sums.opens, (double)sums.opened_uses);
  measure_set_ratio(list, M_churn_stake,
                    (exposed->ns[IO_COST_METADATA] + exposed->ns[IO_COST_SYNC]) * (double)(io->open_ns + io->close_ns) *
                      again,
                    (double)io->other_ns);
  measure_set(list, M_read_files, (double)sums.read);
  measure_set_ratio(list, M_read_file_bytes, (double)sums.read_bytes, (double)sums.read);
  measure_set_ratio(list, M_small_file_stake, reading * (double)sums.small_ns,
                    (double)(io->read.ns + io->other_ns - io->sync_ns));
  take_shared(list, answer, &sums, exposed->ns[IO_COST_WRITE]);
}

/* ---- Calls that move no data ---------------------------------------------------------------------------------------- */

static void take_place(measure_list *list, const summary_answer *answer, enum io_cost kind, enum measure name,
                       enum measure files, enum measure place) {
  const io_folder *folder = &answer->folders[kind];
  double share;
  const dft_text call = costs_call(answer, kind, &share);
  if (call.len) measure_set_text(list, name, call.text, call.len);
  if (!folder->files) return; /* the trace does not name them */
  measure_set(list, files, (double)folder->files);
  measure_set_text(list, place, folder->path.len ? folder->path.text : "/",
                   folder->path.len ? folder->path.len - 1 : 1); /* without its last slash */
}

/* What moves no data: calls on files of MPI itself and on modules, and regions, which are calls of MPI-IO. */
typedef struct other_sums {
  double runtime_calls, runtime_files, runtime_ns, module_ns, region_calls, region_ns;
} other_sums;

static other_sums sum_others(measure_list *list, const summary_answer *answer, const job_costs *costs) {
  const summary_state *state = answer->state;
  other_sums sums = {0};
  double most = 0;
  for (uint32_t i = 1; i <= state->file_numbers.count; i++) {
    const io_stats *io = state->file_io[i];
    if (!io || io->others == io->syncs) continue;
    if (!is_runtime_file(answer_file(state, i))) {
      if (is_module_file(answer_file(state, i))) sums.module_ns += (double)(io->other_ns - io->sync_ns);
      continue;
    }
    sums.runtime_calls += (double)(io->others - io->syncs);
    sums.runtime_ns += (double)(io->other_ns - io->sync_ns);
    sums.runtime_files += io->other_ns != io->sync_ns; /* as io_folder counts them */
  }
  for (uint32_t i = 0; i < costs->count; i++) {
    const region_stats *regions = &state->processes[costs->ranks[i].process].counts.regions;
    for (uint32_t j = 0; j < regions->count; j++) {
      const region_total *region = &regions->list[j];
      const dft_text name = state_text_of(state, region->name);
      if (region->activity != ACTIVITY_METADATA) continue;
      sums.region_calls += (double)region->count;
      sums.region_ns += (double)region->total_ns;
      if ((double)region->total_ns <= most) continue;
      most = (double)region->total_ns;
      measure_set_text(list, M_mpiio_call, name.text, name.len);
    }
  }
  return sums;
}

static void take_metadata(measure_list *list, const summary_answer *answer, const job_costs *costs, double exposed) {
  const double calls = (double)(answer->io.others - answer->io.syncs);
  const double ns = (double)(answer->io.other_ns - answer->io.sync_ns);
  other_sums sums = {0};
  if (exposed >= STAKE_LEAST * costs->job_ns) sums = sum_others(list, answer, costs); /* else nobody asks */
  take_place(list, answer, IO_COST_METADATA, M_metadata_call, M_metadata_files, M_metadata_folder);
  if (list->values[M_metadata_files].is_known && !answer->folders[IO_COST_METADATA].path.len)
    measure_set(list, M_metadata_files, list->values[M_metadata_files].number - sums.runtime_files);
  measure_set(list, M_metadata_calls, calls - sums.runtime_calls);
  if (sums.module_ns >= MODULES_LEAST * (ns - sums.runtime_ns))
    measure_set_ratio(list, M_module_share, sums.module_ns, ns - sums.runtime_ns);
  measure_set_ratio(list, M_metadata_stake, exposed * (ns - sums.runtime_ns), ns + sums.region_ns);
  measure_set(list, M_mpiio_calls, sums.region_calls);
  measure_set_ratio(list, M_mpiio_stake, exposed * sums.region_ns, ns + sums.region_ns);
  measure_set_ratio(list, M_mpiio_share, list->values[M_mpiio_stake].number, costs->job_ns);
}

static void take_syncs(measure_list *list, const summary_answer *answer, const job_costs *costs,
                       const exposed_times *exposed) {
  measure_set(list, M_syncs, (double)answer->io.syncs);
  measure_set_ratio(list, M_sync_share, exposed->ns[IO_COST_SYNC], costs->job_ns);
  measure_set(list, M_sync_stake, exposed->ns[IO_COST_SYNC]);
  take_place(list, answer, IO_COST_SYNC, M_sync_call, M_sync_files, M_sync_folder);
}

void measures_take_io(measure_list *list, const summary_answer *answer, const job_costs *costs) {
  const exposed_times exposed = exposed_of(answer->state, costs);
  const io_stats *io = &answer->io;
  const double all = exposed.ns[IO_COST_READ] + exposed.ns[IO_COST_WRITE] + exposed.ns[IO_COST_SYNC] +
                     exposed.ns[IO_COST_METADATA];
  const double stdio_bytes = (double)(io->read.stdio_bytes + io->write.stdio_bytes);
  double stdio_stake = 0;
  take_metadata(list, answer, costs, exposed.ns[IO_COST_METADATA]);
  if (!io_stats_calls(io)) return;
  take_side(list, &of_reads, &io->read, exposed.ns[IO_COST_READ], 0);
  take_side(list, &of_writes, &io->write, exposed.ns[IO_COST_WRITE], exposed.saving);
  take_files(list, answer, costs, &exposed);
  measure_set(list, M_stdio_bytes, stdio_bytes);
  measure_set_ratio(list, M_stdio_share, stdio_bytes, (double)(io->read.bytes + io->write.bytes));
  if (io->read.ns) stdio_stake += exposed.ns[IO_COST_READ] * (double)io->read.stdio_ns / (double)io->read.ns;
  if (io->write.ns) stdio_stake += exposed.ns[IO_COST_WRITE] * (double)io->write.stdio_ns / (double)io->write.ns;
  measure_set(list, M_stdio_stake, stdio_stake);
  measure_set(list, M_failed_calls, (double)io->failed);
  measure_set_ratio(list, M_failed_share, (double)io->failed, (double)io_stats_calls(io));
  measure_set_ratio(list, M_failed_stake, all * (double)io->failed_ns, (double)io_stats_ns(io));
  take_syncs(list, answer, costs, &exposed);
}
