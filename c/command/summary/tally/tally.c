/* tally.c - counts that can be merged.
 * SPDX-License-Identifier: MIT */
#include "tally.h"

#include <stdlib.h>
#include <string.h>

void tally_init(tally *counts) {
  *counts = (tally){.first = INT64_MAX, .last = INT64_MIN, .is_good = 1};
  counts->comm_numbers.limit = counts->group_numbers.limit = counts->file_numbers.limit =
    counts->failure_numbers.limit = counts->epoch_numbers.limit = UINT32_MAX - 1;
}

void tally_free(tally *counts) {
  for (uint32_t i = 0; i < counts->group_capacity; i++) histogram_free(&counts->groups[i].durations);
  for (uint32_t i = 0; i < counts->file_capacity; i++) io_stats_free(counts->files[i]);
  for (uint32_t i = 0; i < counts->comm_capacity; i++) comm_counts_free(&counts->comms[i]);
  free(counts->comms);
  free(counts->groups);
  free((void *)counts->files);
  free(counts->calls);
  free(counts->failures);
  free(counts->epochs);
  numbering_free(&counts->comm_numbers);
  numbering_free(&counts->group_numbers);
  numbering_free(&counts->file_numbers);
  numbering_free(&counts->failure_numbers);
  numbering_free(&counts->epoch_numbers);
}

/* ---- Entries by number ---------------------------------------------------------------------------------------------- */

/* The list with room for this number; new entries are zero. NULL: the number is 0, or no memory; the list is as it was. */
static void *with_room(void *list, uint32_t *capacity, uint32_t number, size_t entry_bytes) {
  uint32_t wanted = *capacity ? *capacity : 8;
  char *more;
  if (!number) return NULL;
  if (number < *capacity) return list;
  while (wanted <= number) wanted *= 2;
  more = realloc(list, wanted * entry_bytes);
  if (!more) return NULL;
  memset(more + *capacity * entry_bytes, 0, (wanted - *capacity) * entry_bytes);
  *capacity = wanted;
  return more;
}

/* Each returns NULL, and clears is_good, when there is no memory. */

static group_stats *group_at(tally *counts, uint32_t group) {
  int is_new;
  uint32_t number = numbering_of(&counts->group_numbers, group, 0, &is_new);
  group_stats *groups = with_room(counts->groups, &counts->group_capacity, number, sizeof *groups);
  if (groups) counts->groups = groups;
  else counts->is_good = 0;
  return groups ? &groups[number] : NULL;
}

static io_stats **file_at(tally *counts, uint32_t file, uint32_t process) {
  int is_new;
  uint32_t number = numbering_of(&counts->file_numbers, file, process, &is_new);
  io_stats **files = with_room((void *)counts->files, &counts->file_capacity, number, sizeof(io_stats *));
  if (files) counts->files = files;
  else counts->is_good = 0;
  return files ? &files[number] : NULL;
}

io_stats *tally_file(tally *counts, uint32_t file, uint32_t process) {
  io_stats **slot = file_at(counts, file, process);
  if (!slot) return NULL;
  if (!*slot) *slot = calloc(1, sizeof(io_stats));
  counts->is_good &= *slot != NULL;
  return *slot;
}

static call_stats *call_at(tally *counts, uint32_t call) {
  call_stats *calls = with_room(counts->calls, &counts->call_capacity, call, sizeof *calls);
  if (calls) counts->calls = calls;
  else counts->is_good = 0;
  return calls ? &calls[call] : NULL;
}

static uint64_t *failure_at(tally *counts, uint64_t a, uint64_t b) {
  int is_new;
  uint32_t number = numbering_of(&counts->failure_numbers, a, b, &is_new);
  uint64_t *failures = with_room(counts->failures, &counts->failure_capacity, number, sizeof *failures);
  if (failures) counts->failures = failures;
  else counts->is_good = 0;
  return failures ? &failures[number] : NULL;
}

comm_counts *tally_comm(tally *counts, uint32_t process) {
  const uint32_t last = counts->last_comm;
  uint32_t number;
  int is_new;
  comm_counts *comms;
  if (last && counts->comm_numbers.keys[last].a == process) return &counts->comms[last];
  number = numbering_of(&counts->comm_numbers, process, 0, &is_new);
  comms = with_room(counts->comms, &counts->comm_capacity, number, sizeof *comms);
  if (comms) counts->comms = comms;
  else counts->is_good = 0;
  counts->last_comm = comms ? number : 0;
  return comms ? &comms[number] : NULL;
}

epoch_stats *tally_epoch(tally *counts, int64_t epoch) {
  int is_new;
  uint32_t number = numbering_of(&counts->epoch_numbers, (uint64_t)epoch, 0, &is_new);
  epoch_stats *epochs = with_room(counts->epochs, &counts->epoch_capacity, number, sizeof *epochs);
  if (!epochs) {
    counts->is_good = 0;
    return NULL;
  }
  counts->epochs = epochs;
  if (is_new) epochs[number] = (epoch_stats){.first = INT64_MAX, .last = INT64_MIN};
  return &epochs[number];
}

/* ---- Adding --------------------------------------------------------------------------------------------------------- */

void tally_add_duration(tally *counts, uint32_t group, uint64_t time_ns) {
  group_stats *stats = group_at(counts, group);
  if (!stats) return;
  add_saturating(&stats->total_ns, time_ns);
  counts->fractions |= time_ns % 1000;
  counts->is_good &= histogram_add(&stats->durations, time_ns);
}

void tally_add_self(tally *counts, uint32_t group, uint64_t self_ns) {
  group_stats *stats = group_at(counts, group);
  if (stats) stats->self_ns += self_ns;
}

void tally_add_call(tally *counts, const event_class *class, const moment *event) {
  call_stats *calls = call_at(counts, class->call);
  uint64_t *failures;
  if (!calls) return;
  calls->class_number = event->class_number;
  calls->count++;
  add_saturating(&calls->ns, (uint64_t)(event->end - event->start));
  if (!is_failure(event)) return;
  calls->failed++;
  add_saturating(&calls->failed_ns, (uint64_t)(event->end - event->start));
  failures = failure_at(counts, (uint64_t)event->class_number << 32 | event->file, event->error);
  if (failures) ++*failures;
}

void tally_add_time(tally *counts, int64_t start, int64_t end) {
  if (start < counts->first) counts->first = start;
  if (end > counts->last) counts->last = end;
}

/* ---- Merging -------------------------------------------------------------------------------------------------------- */

int group_stats_add(group_stats *group, uint64_t time_ns, uint64_t self_ns) {
  add_saturating(&group->total_ns, time_ns);
  group->self_ns += self_ns;
  return histogram_add(&group->durations, time_ns);
}

int group_stats_merge(group_stats *into, group_stats *from) {
  int is_good = histogram_merge(&into->durations, &from->durations);
  add_saturating(&into->total_ns, from->total_ns);
  into->self_ns += from->self_ns;
  histogram_free(&from->durations);
  return is_good;
}

void call_stats_merge(call_stats *into, const call_stats *from) {
  add_numbers(&into->count, &from->count, CALL_STATS_NUMBERS);
}

void epoch_stats_merge(epoch_stats *into, const epoch_stats *from) {
  into->fetches += from->fetches;
  into->computes += from->computes;
  into->fetch_ns += from->fetch_ns;
  into->compute_ns += from->compute_ns;
  into->steps += from->steps;
  into->batches += from->batches;
  into->samples += from->samples;
  into->sampled += from->sampled;
  for (int i = 0; i < TIME_CLASSES; i++) into->class_ns[i] += from->class_ns[i];
  into->evaluation_ns += from->evaluation_ns;
  if (from->first < into->first) into->first = from->first;
  if (from->last > into->last) into->last = from->last;
}

static void merge_groups(tally *into, tally *from) {
  for (uint32_t i = 1; i <= from->group_numbers.count; i++) {
    group_stats *group = &from->groups[i];
    group_stats *sum = group_at(into, (uint32_t)from->group_numbers.keys[i].a);
    if (!sum) return;
    into->is_good &= group_stats_merge(sum, group);
  }
}

/* Also of a source, whose processes become one. */
static void merge_files(tally *into, tally *from) {
  for (uint32_t i = 1; i <= from->file_numbers.count; i++) {
    io_stats **sum = file_at(into, (uint32_t)from->file_numbers.keys[i].a, 0);
    if (!sum) return;
    into->is_good &= io_stats_take(sum, from->files[i]);
    from->files[i] = NULL;
  }
}

static void merge_calls(tally *into, const tally *from) {
  for (uint32_t i = 1; i < from->call_capacity; i++) {
    call_stats *sum = from->calls[i].count ? call_at(into, i) : NULL;
    if (!sum) continue;
    sum->class_number = from->calls[i].class_number;
    call_stats_merge(sum, &from->calls[i]);
  }
}

static void merge_failures(tally *into, const tally *from) {
  for (uint32_t i = 1; i <= from->failure_numbers.count; i++) {
    uint64_t *sum = failure_at(into, from->failure_numbers.keys[i].a, from->failure_numbers.keys[i].b);
    if (!sum) return;
    *sum += from->failures[i];
  }
}

static void merge_epochs(tally *into, const tally *from) {
  for (uint32_t i = 1; i <= from->epoch_numbers.count; i++) {
    const epoch_stats *epoch = &from->epochs[i];
    epoch_stats *sum = tally_epoch(into, (int64_t)from->epoch_numbers.keys[i].a);
    if (!sum) return;
    epoch_stats_merge(sum, epoch);
  }
}

static void merge_comms(tally *into, tally *from) {
  for (uint32_t i = 1; i <= from->comm_numbers.count; i++) {
    comm_counts *sum = tally_comm(into, (uint32_t)from->comm_numbers.keys[i].a);
    if (!sum) return;
    into->is_good &= comm_counts_move(sum, &from->comms[i]);
  }
}

void tally_merge(tally *into, tally *from) {
  into->is_good &= from->is_good;
  if (!from->is_good) return; /* an entry may have a number, but no memory */
  into->fractions |= from->fractions;
  into->events += from->events;
  into->counters += from->counters;
  into->metadata += from->metadata;
  into->others += from->others;
  into->lost_fetches += from->lost_fetches;
  into->dropped += from->dropped;
  into->recovered += from->recovered;
  into->left += from->left;
  tally_add_time(into, from->first, from->last);
  merge_groups(into, from);
  merge_files(into, from);
  merge_calls(into, from);
  merge_failures(into, from);
  merge_epochs(into, from);
  merge_comms(into, from);
}
