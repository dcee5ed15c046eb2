/* transcript.c - writes what the workers counted into a state.
 * SPDX-License-Identifier: MIT */
#include "transcript.h"

#include <dftracer/spool.h>
#include <stdlib.h>
#include <string.h>

#include "command/summary/answer/training.h"
#include "command/trace/standin.h"

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

/* Where everything goes: numbers of the reader and the analysis, and what they are in the state of their part. */
typedef struct transcript {
  analysis *shared;
  state_parts *parts;
  uint32_t *state_of_part; /* by number of a part: which state it is */
  uint32_t *sources;       /* by number of a source: its number in its state */
  uint32_t *processes;     /* the same of processes */
} transcript;

static summary_state *state_of(const transcript *to, uint32_t source) {
  return &to->parts->states[to->state_of_part[trace_parts_of(&to->shared->parts, source)]];
}

/* The user's own rows, as texts. */
static void write_classes(summary_state *state, const vocabulary *own) {
  state_question *question = &state->question;
  char text[1024];
  question->classes = calloc((size_t)own->count + 1, sizeof *question->classes);
  state->is_good &= question->classes != NULL;
  for (uint32_t i = 0; question->classes && i < own->count; i++) {
    vocabulary_row_text(&own->rows[i], text, sizeof text);
    question->classes[question->class_count++] = state_text(state, (dft_text){text, strlen(text)});
  }
}

static void write_question(summary_state *state, const analysis *shared) {
  const summary_question *asked = shared->question;
  state_question *question = &state->question;
  *question = (state_question){.by = (uint32_t)asked->by,
                               .has_from = asked->has_from != 0,
                               .has_to = asked->has_to != 0,
                               .from_ns = asked->has_from ? asked->from_ns : 0,
                               .to_ns = asked->has_to ? asked->to_ns : 0};
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
  if (asked->classes) write_classes(state, asked->classes);
}

/* The path as it was given. */
static dft_text path_of(const dft_source *source) {
  const char *name = standin_name(source->path);
  return (dft_text){name, strlen(name)};
}

/* A state for each part. 0: no memory. */
static int write_parts(transcript *to) {
  const trace_parts *parts = &to->shared->parts;
  for (uint32_t i = 0; i < parts->count; i++) {
    const trace_part *part = &parts->parts[i];
    summary_state *state;
    if (part->into != i) continue;
    to->state_of_part[i] = to->parts->count;
    state = state_parts_add(to->parts);
    if (!state) return 0;
    write_question(state, to->shared);
    if (part->run) state->run = state_text(state, (dft_text){part->run, strlen(part->run)});
    state->life_first = part->first;
    state->life_last = part->last;
    state->events = part->counts.events;
    state->has_fractions = part->counts.fractions != 0;
    state->counters = part->counts.counters;
    state->metadata = part->counts.metadata;
    state->others = part->counts.others;
    state->lost_fetches = part->counts.lost_fetches;
    state->dropped = part->counts.dropped;
    state->recovered = part->counts.recovered;
    state->left = part->counts.left;
    state->first = part->counts.first;
    state->last = part->counts.last;
  }
  return 1;
}

static void write_sources(transcript *to) {
  dft_reader *reader = to->shared->reader;
  for (uint32_t i = 0; i < dft_reader_source_count(reader); i++) {
    const trace_life *life = &to->shared->parts.sources[i].life;
    dft_source source = {.struct_size = sizeof source};
    summary_state *state = state_of(to, i);
    state_source *entry = state_add_source(state);
    if (!entry) return;
    to->sources[i] = state->source_count - 1;
    dft_reader_source(reader, i, &source);
    entry->bytes = source.bytes;
    entry->unit_ns = source.unit_ns;
    entry->first = INT64_MAX;
    entry->last = INT64_MIN;
    entry->begin = life->start < INT64_MAX ? life->start : life->first;
    entry->path = state_text(state, path_of(&source));
    state->all_problems += source.problems;
    state->running += source.kind == DFT_SOURCE_SPOOL && dft_spool_is_alive(source.path) == 1;
    if (to->shared->origins && state_has_life(state)) state->question.origin = to->shared->origins[i];
  }
}

/* Whether the file has lines, but none of them is an event. */
static int is_refusal(const dft_problem *problem, const dft_source *source) {
  return problem->kind == DFT_PROBLEM_LINE && source->is_done && !source->rows;
}

#define PROBLEMS_KEPT 1000u /* of a trace, by the reader */

/* The state of what belongs to no run: problems of files that are no traces. NULL: no memory. */
static summary_state *state_of_none(transcript *to) {
  summary_state *state;
  for (uint32_t i = 0; i < to->parts->count; i++) {
    if (!to->parts->states[i].run && !state_has_life(&to->parts->states[i])) return &to->parts->states[i];
  }
  state = state_parts_add(to->parts);
  if (state) write_question(state, to->shared);
  return state;
}

static void write_problems(transcript *to) {
  dft_reader *reader = to->shared->reader;
  dft_problem problem = {.struct_size = sizeof problem};
  uint32_t before = DFT_ALL;
  for (uint32_t i = 0; dft_reader_problem(reader, i, &problem) == DFT_OK; i++) {
    dft_source source = {.struct_size = sizeof source, .path = problem.detail};
    const int has_source = problem.source != DFT_ALL && dft_reader_source(reader, problem.source, &source) == DFT_OK;
    summary_state *state = has_source ? state_of(to, problem.source) : state_of_none(to);
    state_problem *entry = state ? state_add_problem(state) : NULL;
    if (!entry) return;
    state->all_problems += !has_source;
    entry->has_source = (uint32_t)has_source;
    entry->is_refusal = has_source && is_refusal(&problem, &source);
    entry->path = state_text(state, path_of(&source));
    entry->kind = problem.kind;
    entry->error = (uint32_t)problem.error;
    entry->byte = problem.byte;
    entry->line = problem.line;
    if (has_source && problem.source != before && source.problems > PROBLEMS_KEPT)
      entry->beyond = source.problems - PROBLEMS_KEPT;
    before = problem.source;
  }
}

static void write_hosts(transcript *to) {
  const numbering *numbers = &to->shared->host_numbers;
  dft_reader *reader = to->shared->reader;
  for (uint32_t i = 1; i <= numbers->count; i++) {
    summary_state *state = state_of(to, (uint32_t)numbers->keys[i].a);
    uint32_t host = (uint32_t)numbers->keys[i].b;
    state_host(state, hash_of(state, reader, DFT_HOSTS, host), name_of(state, reader, DFT_HOSTS, host));
  }
}

/* The text of a command's hash, whose meaning becomes part of the state. */
static uint32_t command_of(summary_state *state, dft_reader *reader, const char *hash) {
  uint32_t own = state_text(state, (dft_text){hash, strlen(hash)});
  dft_text meaning;
  uint32_t name = dft_reader_resolve(reader, hash, strlen(hash), &meaning) == DFT_OK ? state_text(state, meaning) : 0;
  if (own) state_command(state, own, name);
  return own;
}

static void rename_phase(summary_state *state, const analysis *shared, phase_region *region) {
  const event_class *class = analysis_class(shared, region->name);
  if (!region->ns) return;
  region->name = text_of(state, shared->reader, DFT_NAMES, class->name);
  region->cat = text_of(state, shared->reader, DFT_CATS, class->cat);
}

/* Numbers of the reader become those of the state. */
static void rename_facts(summary_state *state, const analysis *shared, state_process *process) {
  uint32_t *const texts[] = {PROCESS_FACTS_TEXTS(&process->facts)};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    *texts[i] = text_of(state, shared->reader, DFT_NAMES, *texts[i]);
  region_stats_settle(&process->counts.regions);
  for (uint32_t i = 0; i < process->counts.regions.count; i++) {
    region_total *region = &process->counts.regions.list[i];
    const event_class *class = analysis_class(shared, region->name);
    region->name = text_of(state, shared->reader, DFT_NAMES, class->name);
    region->cat = text_of(state, shared->reader, DFT_CATS, class->cat);
    region->activity = class->activity;
  }
  rename_phase(state, shared, &process->counts.start_region);
  rename_phase(state, shared, &process->counts.end_region);
  for (uint32_t i = 0; i < process->counts.pursuits.count; i++) {
    pursuit_name *name = &process->counts.pursuits.names[i];
    const event_class *class = analysis_class(shared, name->name);
    *name = (pursuit_name){text_of(state, shared->reader, DFT_NAMES, class->name),
                           text_of(state, shared->reader, DFT_CATS, class->cat)};
  }
}

static void write_processes(transcript *to) {
  analysis *shared = to->shared;
  for (uint32_t i = 1; i <= shared->process_numbers.count; i++) {
    traced_process *from = analysis_process(shared, i);
    summary_state *state = state_of(to, from->source);
    state_process *process = state_add_process(state);
    if (!process) return;
    to->processes[i] = state->process_count;
    *process = (state_process){.source = to->sources[from->source],
                               .pid = from->pid,
                               .ppid = from->ppid,
                               .rank = from->rank,
                               .threads = from->threads,
                               .facts = from->facts,
                               .counts = from->counts};
    from->counts = (process_counts){0}; /* moved */
    if (!spanset_move(&state->reads, &process->counts.reads) || !spanset_move(&state->writes, &process->counts.writes))
      state->is_good = 0;
    rename_facts(state, shared, process);
    process->command = command_of(state, shared->reader, from->command);
    process->host = hash_of(state, shared->reader, DFT_HOSTS, from->host);
    state->sources[process->source].events += process->counts.events;
  }
}

static void write_threads(transcript *to) {
  for (uint32_t i = 1; i <= to->shared->thread_numbers.count; i++) {
    const traced_thread *from = analysis_thread(to->shared, i);
    const uint32_t number = analysis_process(to->shared, from->process)->source;
    summary_state *state = state_of(to, number);
    state_source *source = &state->sources[to->sources[number]];
    state_thread *thread = state_add_thread(state);
    if (!thread) return;
    *thread = (state_thread){.process = to->processes[from->process],
                             .tid = from->tid,
                             .first = from->time.first,
                             .last = from->time.last,
                             .io_ns = from->io_ns,
                             .process_ns = from->process_ns,
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

/* Counts what workers did in the steps that used it. */
static void join_batches(transcript *to) {
  const uint32_t count = to->shared->process_numbers.count;
  uint32_t *traced = calloc((size_t)count + 1, sizeof *traced); /* by number in the state */
  to->parts->is_good &= traced != NULL;
  for (uint32_t i = 0; traced && i < to->parts->count; i++) {
    summary_state *state = &to->parts->states[i];
    uint32_t *trainers = training_trainers(state);
    state->is_good &= trainers != NULL;
    for (uint32_t j = 1; j <= count; j++) {
      if (state_of(to, analysis_process(to->shared, j)->source) == state) traced[to->processes[j]] = j;
    }
    for (uint32_t j = 1; trainers && j <= state->process_count; j++) {
      batch_piles *trainer = trainers[j] ? &analysis_process(to->shared, traced[trainers[j]])->batches : NULL;
      batch_piles *worker = &analysis_process(to->shared, traced[j])->batches;
      state->processes[j].is_orphan = !trainer && !record_pile_is_empty(&worker->work);
      state->is_good &= batch_piles_join(worker, trainer, count_part, state);
    }
    free(trainers);
  }
  free(traced);
}

/* ---- Tables ---------------------------------------------------------------------------------------------------------- */

/* The other way round than group_of in worker.c. */
static numbered key_of(summary_state *state, const transcript *to, uint32_t group) {
  const analysis *shared = to->shared;
  numbered key = {0, 0};
  if (shared->question->by != BY_NAME) key = shared->group_numbers.keys[group];
  switch (shared->question->by) {
    case BY_FILE: {
      uint32_t file = file_of(state, shared->reader, (uint32_t)key.a);
      return (numbered){file ? state->files[file].hash : 0, 0};
    }
    case BY_PROCESS: return (numbered){to->processes[numbering_find(&shared->process_numbers, key.a, key.b)], 0};
    case BY_RANK: {
      const uint32_t process = numbering_find(&shared->process_numbers, key.a, key.b);
      return (numbered){(uint64_t)analysis_process(shared, process)->rank, 0};
    }
    case BY_THREAD: {
      const traced_thread *thread = analysis_thread(shared, (uint32_t)key.a);
      return (numbered){to->processes[thread->process], thread->tid};
    }
    case BY_STEP: return key;
    default: {
      const event_class *class = analysis_class(shared, group);
      return (numbered){text_of(state, shared->reader, DFT_NAMES, class->name),
                        text_of(state, shared->reader, DFT_CATS, class->cat)};
    }
  }
}

static void write_calls(summary_state *state, const analysis *shared, const tally *counts) {
  for (uint32_t i = 1; i < counts->call_capacity; i++) {
    const event_class *class = analysis_class(shared, counts->calls[i].class_number);
    call_stats *calls;
    if (!counts->calls[i].count) continue;
    calls = state_call(state, text_of(state, shared->reader, DFT_NAMES, class->name),
                       text_of(state, shared->reader, DFT_CATS, class->cat));
    if (calls) call_stats_merge(calls, &counts->calls[i]);
  }
}

/* How processes communicated: the reader's numbers of names become those of texts. */
static void write_comms(summary_state *state, const transcript *to, tally *counts) {
  const analysis *shared = to->shared;
  uint32_t *names, most = 0;
  if (!counts->comm_numbers.count) return;
  for (uint32_t i = 1; i <= shared->class_numbers.count; i++) {
    if (analysis_class(shared, i)->name > most) most = analysis_class(shared, i)->name;
  }
  names = calloc((size_t)most + 1, sizeof *names);
  state->is_good &= names != NULL;
  for (uint32_t i = 1; names && i <= shared->class_numbers.count; i++) {
    const event_class *class = analysis_class(shared, i);
    if (class->ai == AI_COMM || class->mpi.kind)
      names[class->name] = text_of(state, shared->reader, DFT_NAMES, class->name);
  }
  for (uint32_t i = 1; names && i <= counts->comm_numbers.count; i++) {
    comm_counts *comm = &state->processes[to->processes[counts->comm_numbers.keys[i].a]].counts.comm;
    *comm = counts->comms[i];
    counts->comms[i] = (comm_counts){0}; /* moved */
    state->is_good &= comm_counts_settle(comm);
    comm_counts_rename(comm, names);
  }
  free(names);
}

static void write_tables(summary_state *state, const transcript *to, tally *counts) {
  const analysis *shared = to->shared;
  for (uint32_t i = 1; i <= counts->group_numbers.count; i++) {
    numbered key = key_of(state, to, (uint32_t)counts->group_numbers.keys[i].a);
    group_stats *group = state_group(state, key.a, key.b);
    if (!group) return;
    state->is_good &= group_stats_merge(group, &counts->groups[i]);
  }
  for (uint32_t i = 1; i <= counts->file_numbers.count; i++) {
    uint32_t file = file_of(state, shared->reader, (uint32_t)counts->file_numbers.keys[i].a);
    if (!file) return;
    state->is_good &= io_stats_take(&state->file_io[file], counts->files[i]);
    counts->files[i] = NULL;
  }
  write_calls(state, shared, counts);
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

/* 0: no memory. */
static int write_everything(transcript *to) {
  const trace_parts *parts = &to->shared->parts;
  if (!to->state_of_part || !to->sources || !to->processes || !write_parts(to)) return 0;
  write_sources(to);
  write_problems(to);
  write_hosts(to);
  for (uint32_t i = 0; i < to->parts->count; i++) {
    if (!to->parts->states[i].is_good) return 0;
  }
  write_processes(to);
  write_threads(to);
  for (uint32_t i = 0; i < parts->count; i++) {
    summary_state *state = &to->parts->states[to->state_of_part[i]];
    if (parts->parts[i].into != i || !state->is_good) continue;
    write_tables(state, to, &parts->parts[i].counts);
    write_comms(state, to, &parts->parts[i].counts);
    tally_free(&parts->parts[i].counts); /* there may be many */
    tally_init(&parts->parts[i].counts);
  }
  if (to->shared->question->by == BY_STEP) join_batches(to);
  for (uint32_t i = 0; i < to->parts->count; i++) to->parts->is_good &= to->parts->states[i].is_good;
  return to->parts->is_good;
}

void transcript_write(state_parts *parts, analysis *shared) {
  transcript to = {.shared = shared,
                   .parts = parts,
                   .state_of_part = calloc((size_t)shared->parts.count + 1, sizeof *to.state_of_part),
                   .sources = calloc((size_t)dft_reader_source_count(shared->reader) + 1, sizeof *to.sources),
                   .processes = calloc((size_t)shared->process_numbers.count + 1, sizeof *to.processes)};
  if (!write_everything(&to)) parts->is_good = 0;
  free(to.state_of_part);
  free(to.sources);
  free(to.processes);
}
