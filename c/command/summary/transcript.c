/* transcript.c - writes what the workers counted into a state.
 * SPDX-License-Identifier: MIT */
#include "transcript.h"

#include <stdlib.h>
#include <string.h>

#include "training.h"

static uint32_t text_of(summary_state *state, dft_reader *reader, uint32_t dictionary, uint32_t number) {
  return state_text(state, dft_reader_text(reader, dictionary, number));
}

static uint32_t hash_of(summary_state *state, dft_reader *reader, uint32_t dictionary, uint32_t number) {
  return state_text(state, dft_reader_hash(reader, dictionary, number));
}

/* The reader gives the hash for a name that it does not know. */
static uint32_t name_of(summary_state *state, dft_reader *reader, uint32_t dictionary, uint32_t number) {
  dft_text name;
  dft_text hash = dft_reader_hash(reader, dictionary, number);
  return dft_reader_resolve(reader, hash.text, hash.len, &name) == DFT_OK ? state_text(state, name) : 0;
}

/* The state's number of a file of the reader. */
static uint32_t file_of(summary_state *state, dft_reader *reader, uint32_t file) {
  return state_file(state, hash_of(state, reader, DFT_FILES, file), name_of(state, reader, DFT_FILES, file));
}

static void write_question(summary_state *state, const analysis *shared) {
  const summary_question *asked = shared->question;
  state_question *question = &state->question;
  *question = (state_question){.by = (uint32_t)asked->by,
                               .has_from = asked->has_from != 0,
                               .has_to = asked->has_to != 0,
                               .from_ns = asked->has_from ? asked->from_ns : 0,
                               .to_ns = asked->has_to ? asked->to_ns : 0,
                               .origin = shared->origin};
  question->names = calloc((size_t)asked->name_count + 1, sizeof *question->names);
  question->cats = calloc((size_t)asked->cat_count + 1, sizeof *question->cats);
  if (!question->names || !question->cats) {
    state->is_good = 0;
    return;
  }
  for (int i = 0; i < asked->name_count; i++)
    question->names[question->name_count++] = state_text(state, (dft_text){asked->names[i], strlen(asked->names[i])});
  for (int i = 0; i < asked->cat_count; i++)
    question->cats[question->cat_count++] = state_text(state, (dft_text){asked->cats[i], strlen(asked->cats[i])});
}

static void write_sources(summary_state *state, dft_reader *reader) {
  for (uint32_t i = 0; i < dft_reader_source_count(reader); i++) {
    dft_source source = {.struct_size = sizeof source};
    state_source *entry = state_add_source(state);
    if (!entry) return;
    dft_reader_source(reader, i, &source);
    entry->bytes = source.bytes;
    entry->unit_ns = source.unit_ns;
    entry->first = INT64_MAX;
    entry->last = INT64_MIN;
    entry->path = state_text(state, (dft_text){source.path, strlen(source.path)});
  }
}

/* Whether the file has lines, but none of them is an event. */
static int is_refusal(const dft_problem *problem, const dft_source *source) {
  return problem->kind == DFT_PROBLEM_LINE && source->is_done && !source->rows;
}

#define PROBLEMS_KEPT 1000u /* of a trace, by the reader */

static void write_problems(summary_state *state, dft_reader *reader) {
  dft_problem problem = {.struct_size = sizeof problem};
  uint32_t before = DFT_ALL;
  state->all_problems = dft_reader_problem_count(reader, 0);
  for (uint32_t i = 0; dft_reader_problem(reader, i, &problem) == DFT_OK; i++) {
    dft_source source = {.struct_size = sizeof source, .path = problem.detail};
    state_problem *entry = state_add_problem(state);
    if (!entry) return;
    entry->has_source = problem.source != DFT_ALL && dft_reader_source(reader, problem.source, &source) == DFT_OK;
    entry->is_refusal = entry->has_source && is_refusal(&problem, &source);
    entry->path = state_text(state, (dft_text){source.path, strlen(source.path)});
    entry->kind = problem.kind;
    entry->error = (uint32_t)problem.error;
    entry->byte = problem.byte;
    entry->line = problem.line;
    if (entry->has_source && problem.source != before && source.problems > PROBLEMS_KEPT)
      entry->beyond = source.problems - PROBLEMS_KEPT;
    before = problem.source;
  }
}

static void write_hosts(summary_state *state, dft_reader *reader) {
  for (uint32_t i = 1; i < dft_reader_text_count(reader, DFT_HOSTS); i++)
    state_host(state, hash_of(state, reader, DFT_HOSTS, i), name_of(state, reader, DFT_HOSTS, i));
}

static void write_processes(summary_state *state, analysis *shared) {
  for (uint32_t i = 1; i <= shared->process_numbers.count; i++) {
    traced_process *from = analysis_process(shared, i);
    state_process *process = state_add_process(state);
    if (!process) return;
    *process = (state_process){.source = from->source,
                               .pid = from->pid,
                               .ppid = from->ppid,
                               .rank = from->rank,
                               .threads = from->threads,
                               .counts = from->counts};
    from->counts = (process_counts){0}; /* moved */
    if (!spanset_move(&state->reads, &process->counts.reads) || !spanset_move(&state->writes, &process->counts.writes))
      state->is_good = 0;
    process->host = hash_of(state, shared->reader, DFT_HOSTS, from->host);
    state->sources[from->source].events += process->counts.events;
  }
}

static void write_threads(summary_state *state, const analysis *shared) {
  for (uint32_t i = 1; i <= shared->thread_numbers.count; i++) {
    const traced_thread *from = analysis_thread(shared, i);
    state_source *source = &state->sources[state->processes[from->process].source];
    state_thread *thread = state_add_thread(state);
    if (!thread) return;
    *thread = (state_thread){.process = from->process,
                             .tid = from->tid,
                             .first = from->time.first,
                             .last = from->time.last,
                             .io_ns = from->io_ns,
                             .region_ns = from->region_ns};
    if (thread->first < source->first) source->first = thread->first;
    if (thread->last > source->last) source->last = thread->last;
  }
}

/* ---- Workers and their trainers -------------------------------------------------------------------------------------- */

static void count_part(void *context, const batch_part *part) {
  summary_state *state = context;
  group_stats *group = state_group(state, (uint64_t)part->epoch, (uint64_t)part->step);
  if (group) state->is_good &= group_stats_add(group, part->time_ns, part->self_ns);
}

/* Counts what workers did in the steps that used it. The state has the processes with the same numbers. */
static void join_batches(summary_state *state, analysis *shared) {
  uint32_t *trainers = training_trainers(state);
  state->is_good &= trainers != NULL;
  for (uint32_t i = 1; trainers && i <= state->process_count; i++) {
    batch_piles *trainer = trainers[i] ? &analysis_process(shared, trainers[i])->batches : NULL;
    batch_piles *worker = &analysis_process(shared, i)->batches;
    state->is_good &= batch_piles_join(worker, trainer, count_part, state);
  }
  free(trainers);
}

/* ---- Tables ---------------------------------------------------------------------------------------------------------- */

/* The other way round than group_of in worker.c. */
static numbered key_of(summary_state *state, const analysis *shared, uint32_t group) {
  numbered key = {0, 0};
  if (shared->question->by != BY_NAME) key = shared->group_numbers.keys[group];
  switch (shared->question->by) {
    case BY_FILE: {
      uint32_t file = file_of(state, shared->reader, (uint32_t)key.a);
      return (numbered){file ? state->files[file].hash : 0, 0};
    }
    case BY_PROCESS: return (numbered){numbering_find(&shared->process_numbers, key.a, key.b), 0};
    case BY_THREAD: {
      const traced_thread *thread = analysis_thread(shared, (uint32_t)key.a);
      return (numbered){thread->process, thread->tid};
    }
    case BY_STEP: return key;
    default: {
      const event_class *class = analysis_class(shared, group);
      return (numbered){text_of(state, shared->reader, DFT_NAMES, class->name),
                        text_of(state, shared->reader, DFT_CATS, class->cat)};
    }
  }
}

static void write_tables(summary_state *state, analysis *shared, tally *counts) {
  for (uint32_t i = 1; i <= counts->group_numbers.count; i++) {
    numbered key = key_of(state, shared, (uint32_t)counts->group_numbers.keys[i].a);
    group_stats *group = state_group(state, key.a, key.b);
    if (!group) return;
    state->is_good &= group_stats_merge(group, &counts->groups[i]);
  }
  for (uint32_t i = 1; i <= counts->file_numbers.count; i++) {
    uint32_t file = file_of(state, shared->reader, (uint32_t)counts->file_numbers.keys[i].a);
    if (!file) return;
    state->is_good &= io_stats_merge(&state->file_io[file], &counts->files[i]);
    histogram_free(&counts->files[i].sizes);
  }
  for (uint32_t i = 1; i <= counts->failure_numbers.count; i++) {
    const numbered key = counts->failure_numbers.keys[i];
    const event_class *class = analysis_class(shared, (uint32_t)(key.a >> 32));
    uint32_t file = file_of(state, shared->reader, (uint32_t)key.a);
    uint32_t name = text_of(state, shared->reader, DFT_NAMES, class->name);
    uint64_t *failures = file ? state_failure(state, name, state->files[file].hash, key.b) : NULL;
    if (!failures) return;
    *failures += counts->failures[i];
  }
  for (uint32_t i = 1; i <= counts->epoch_numbers.count; i++) {
    epoch_stats *epoch = state_epoch(state, (int64_t)counts->epoch_numbers.keys[i].a);
    if (!epoch) return;
    epoch_stats_merge(epoch, &counts->epochs[i]);
  }
}

void transcript_write(summary_state *state, analysis *shared, tally *counts) {
  write_question(state, shared);
  write_sources(state, shared->reader);
  write_problems(state, shared->reader);
  write_hosts(state, shared->reader);
  if (state->is_good) write_processes(state, shared);
  if (state->is_good) write_threads(state, shared);
  if (state->is_good) write_tables(state, shared, counts);
  if (state->is_good && shared->question->by == BY_STEP) join_batches(state, shared);
  state->events = counts->events;
  state->has_fractions = counts->fractions != 0;
  state->counters = counts->counters;
  state->metadata = counts->metadata;
  state->others = counts->others;
  state->lost_fetches = counts->lost_fetches;
  state->dropped = counts->dropped;
  state->recovered = counts->recovered;
  state->first = counts->first;
  state->last = counts->last;
}
