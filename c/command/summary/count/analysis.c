/* analysis.c - what all workers share while traces are read.
 * SPDX-License-Identifier: MIT */
#include "analysis.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "command/symbol/demangle.h"

static uint32_t key(dft_reader *reader, const char *name) {
  return dft_reader_number(reader, DFT_KEYS, name, strlen(name));
}

static comm_keys look_up_comm_keys(dft_reader *reader) {
  static const char *const starts[COMM_STARTS] = {"start_1", "start_2", "start_3", "start_4",
                                                  "start_5", "start_6", "start_7", "start_8"};
  comm_keys keys = {
    .bytes = key(reader, "bytes"),
    .peer = key(reader, "peer"),
    .source = key(reader, "source"),
    .root = key(reader, "root"),
    .tag = key(reader, "tag"),
    .source_tag = key(reader, "source_tag"),
    .comm = key(reader, "comm"),
    .comm_size = key(reader, "comm_size"),
    .remote_size = key(reader, "remote_size"),
    .collective = key(reader, "collective"),
  };
  for (uint32_t i = 0; i < COMM_STARTS; i++) keys.starts[i] = key(reader, starts[i]);
  return keys;
}

static argument_keys look_up_keys(dft_reader *reader) {
  return (argument_keys){
    .ret = key(reader, "ret"),
    .error = key(reader, "errno"),
    .offset = key(reader, "offset"),
    .whence = key(reader, "whence"),
    .length = key(reader, "length"),
    .flags = key(reader, "flags"),
    .mode = key(reader, "mode"),
    .worker = key(reader, "worker"),
    .worker_pid = key(reader, "worker_pid"),
    .batch = key(reader, "batch"),
    .second_file = key(reader, "path2_hash"),
    .epoch = key(reader, "epoch"),
    .step = key(reader, "step"),
    .samples = key(reader, "samples"),
    .num_dropped = key(reader, "num_dropped"),
    .recovered = key(reader, "recovered"),
    .ppid = key(reader, "ppid"),
    .name = key(reader, "name"),
    .value = key(reader, "value"),
    .command = key(reader, "cmd_hash"),
    .executable = key(reader, "exec_hash"),
    .run = key(reader, "run"),
    .world_size = key(reader, "world_size"),
    .finish_ns = key(reader, "finish_ns"),
    .process_age_ns = key(reader, "process_age_ns"),
    .drain_cpu_ns = key(reader, "drain_cpu_ns"),
    .assist_ns = key(reader, "assist_ns"),
    .unmatched_ends = key(reader, "unmatched_ends"),
    .unmatched_sites = key(reader, "unmatched_sites"),
    .open_regions = key(reader, "open_regions"),
    .open_sites = key(reader, "open_sites"),
    .comm = look_up_comm_keys(reader),
  };
}

int analysis_init(analysis *shared, dft_reader *reader, const summary_question *question, const int64_t *origins) {
  pthread_mutex_init(&shared->lock, NULL);
  shared->reader = reader;
  shared->question = question;
  shared->origins = origins;
  shared->keys = look_up_keys(reader);
  shared->class_numbers.limit = CLASSES_MAX;
  shared->group_numbers.limit = shared->host_numbers.limit = UINT32_MAX - 1;
  shared->thread_numbers.limit = shared->process_numbers.limit = THREADS_MAX;
  shared->classes[0] = calloc(BLOCK, sizeof *shared->classes[0]); /* number 0: no room */
  shared->sources = calloc(dft_reader_source_count(reader) + 1, sizeof *shared->sources);
  return trace_parts_init(&shared->parts, dft_reader_source_count(reader)) && shared->classes[0] && shared->sources;
}

void analysis_free(analysis *shared) {
  for (uint32_t i = 1; i <= shared->process_numbers.count; i++) {
    analysis_forget_process(analysis_process(shared, i));
  }
  for (uint32_t i = 1; i <= shared->thread_numbers.count; i++) analysis_forget_thread(analysis_thread(shared, i));
  for (uint32_t i = 0; i <= THREADS_MAX / BLOCK; i++) {
    free(shared->threads[i]);
    free(shared->processes[i]);
  }
  for (uint32_t i = 0; i <= CLASSES_MAX / BLOCK; i++) free(shared->classes[i]);
  free(shared->sources);
  trace_parts_free(&shared->parts);
  numbering_free(&shared->class_numbers);
  numbering_free(&shared->group_numbers);
  numbering_free(&shared->thread_numbers);
  numbering_free(&shared->process_numbers);
  numbering_free(&shared->host_numbers);
  pthread_mutex_destroy(&shared->lock);
}

/* ---- Classes and groups --------------------------------------------------------------------------------------------- */

static int matches(const char *const *patterns, int count, const char *text) {
  for (int i = 0; i < count; i++) {
    if (fnmatch(patterns[i], text, 0) == 0) return 1;
  }
  return count == 0;
}

/* The name as it is in the trace, or as it is shown. */
static int matches_name(const char *const *patterns, int count, dft_text name) {
  char *plain = NULL;
  int result = matches(patterns, count, name.text);
  if (!result) plain = demangle(name, 0);
  if (plain) result = matches(patterns, count, plain);
  free(plain);
  return result;
}

static event_class classify(const analysis *shared, uint32_t name, uint32_t cat) {
  const summary_question *question = shared->question;
  dft_text name_text = dft_reader_text(shared->reader, DFT_NAMES, name);
  dft_text cat_text = dft_reader_text(shared->reader, DFT_CATS, cat);
  event_class result = {.name = name, .cat = cat};
  event_classify(&result, question->classes, name_text, cat_text);
  result.is_wanted = matches_name(question->names, question->name_count, name_text) &&
                     matches(question->cats, question->cat_count, cat_text.text);
  return result;
}

/* Whether there is a block for the next number. The caller holds the lock. */
static int has_room(void **blocks, const numbering *numbers, size_t entry_bytes) {
  void **block = &blocks[(numbers->count < numbers->limit ? numbers->count + 1 : numbers->limit) / BLOCK];
  if (!*block) *block = calloc(BLOCK, entry_bytes);
  return *block != NULL;
}

uint32_t analysis_number_class(analysis *shared, uint32_t name, uint32_t cat) {
  uint32_t number = 0;
  int is_new = 0;
  pthread_mutex_lock(&shared->lock);
  if (has_room((void **)shared->classes, &shared->class_numbers, sizeof *shared->classes[0]))
    number = numbering_of(&shared->class_numbers, name, cat, &is_new);
  shared->is_full |= shared->class_numbers.count == CLASSES_MAX;
  if (is_new) {
    event_class *class = analysis_class(shared, number);
    *class = classify(shared, name, cat);
    class->call = class->is_call ? ++shared->call_count : 0;
  }
  pthread_mutex_unlock(&shared->lock);
  return number;
}

uint32_t analysis_number_group(analysis *shared, uint64_t a, uint64_t b) {
  uint32_t number;
  int is_new;
  pthread_mutex_lock(&shared->lock);
  number = numbering_of(&shared->group_numbers, a, b, &is_new);
  pthread_mutex_unlock(&shared->lock);
  return number;
}

/* ---- Processes and threads ------------------------------------------------------------------------------------------ */

/* The caller holds the lock. */
static uint32_t number_process(analysis *shared, uint32_t source, uint64_t pid) {
  int is_new = 0;
  uint32_t number = 0;
  if (has_room((void **)shared->processes, &shared->process_numbers, sizeof *shared->processes[0]))
    number = numbering_of(&shared->process_numbers, source, pid, &is_new);
  shared->is_short |= !number;
  shared->is_full |= shared->process_numbers.count == THREADS_MAX;
  if (is_new) {
    traced_process *process = analysis_process(shared, number);
    process->source = source;
    process->pid = pid;
    process->rank = NO_NUMBER;
  }
  return number;
}

/* The caller holds the lock. */
static void append_thread(analysis *shared, traced_source *source, uint32_t number) {
  if (source->last_thread) analysis_thread(shared, source->last_thread)->next_of_source = number;
  else source->first_thread = number;
  source->last_thread = number;
  atomic_fetch_add(&source->thread_count, 1);
}

uint32_t analysis_number_thread(analysis *shared, uint32_t source, uint64_t pid, uint64_t tid, uint32_t host) {
  uint32_t number = 0, owner;
  int is_new = 0;
  pthread_mutex_lock(&shared->lock);
  owner = number_process(shared, source, pid);
  if (owner && has_room((void **)shared->threads, &shared->thread_numbers, sizeof *shared->threads[0]))
    number = numbering_of(&shared->thread_numbers, owner, tid, &is_new);
  shared->is_full |= shared->thread_numbers.count == THREADS_MAX;
  if (is_new) {
    traced_thread *thread = analysis_thread(shared, number);
    thread->process = owner;
    thread->tid = tid;
    analysis_process(shared, owner)->threads++;
    append_thread(shared, &shared->sources[source], number);
  }
  if (host && owner) analysis_process(shared, owner)->host = host;
  pthread_mutex_unlock(&shared->lock);
  return number;
}

void analysis_forget_thread(traced_thread *thread) {
  coverage_free(&thread->time);
  thread->time = (coverage){0};
  file_positions_free(&thread->positions);
  work_line_free(&thread->work);
  pursuit_line_free(&thread->pursuit);
  thread->next_of_process = 0;
  thread->io_ns = thread->process_ns = thread->region_ns = 0;
}

void analysis_forget_process(traced_process *process) {
  process_counts_clear(&process->counts);
  step_finder_free(&process->times);
  batch_piles_free(&process->batches);
  process_frame_free(&process->frame);
  process->first_thread = 0;
}

void analysis_add_host(analysis *shared, uint32_t source, uint32_t host) {
  int is_new;
  pthread_mutex_lock(&shared->lock);
  shared->is_short |= !numbering_of(&shared->host_numbers, source, host, &is_new);
  pthread_mutex_unlock(&shared->lock);
}

void analysis_set_rank(analysis *shared, uint32_t source, uint64_t pid, int64_t rank) {
  uint32_t number;
  pthread_mutex_lock(&shared->lock);
  number = number_process(shared, source, pid);
  if (number) analysis_process(shared, number)->rank = rank;
  pthread_mutex_unlock(&shared->lock);
}

void analysis_set_command(analysis *shared, uint32_t source, uint64_t pid, dft_text hash) {
  uint32_t number;
  if (hash.len > HASH_MOST) return;
  pthread_mutex_lock(&shared->lock);
  number = number_process(shared, source, pid);
  if (number) {
    char *known = analysis_process(shared, number)->command;
    memcpy(known, hash.text, hash.len);
    known[hash.len] = '\0';
  }
  pthread_mutex_unlock(&shared->lock);
}

/* Of two texts, the first one in the order of bytes: threads come in any order. */
static void choose_text(const analysis *shared, uint32_t *text, uint32_t other) {
  if (!other || *text == other) return;
  if (!*text || strcmp(dft_reader_text(shared->reader, DFT_NAMES, other).text,
                       dft_reader_text(shared->reader, DFT_NAMES, *text).text) < 0)
    *text = other;
}

/* A trace may be read twice, so nothing is added up: of two numbers, the larger one counts. */
void analysis_add_facts(analysis *shared, uint32_t source, uint64_t pid, uint64_t ppid, process_facts *facts) {
  uint32_t number;
  pthread_mutex_lock(&shared->lock);
  number = number_process(shared, source, pid);
  if (number) {
    traced_process *process = analysis_process(shared, number);
    uint64_t *const numbers[] = {PROCESS_FACTS_NUMBERS(&process->facts)}, *const others[] = {
                                                                            PROCESS_FACTS_NUMBERS(facts)};
    uint32_t *const texts[] = {PROCESS_FACTS_TEXTS(&process->facts)}, *const other_texts[] = {
                                                                        PROCESS_FACTS_TEXTS(facts)};
    if (ppid) process->ppid = ppid;
    process->facts.has_cost |= facts->has_cost;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
      if (*others[i] > *numbers[i]) *numbers[i] = *others[i];
    }
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) choose_text(shared, texts[i], *other_texts[i]);
  }
  pthread_mutex_unlock(&shared->lock);
}
