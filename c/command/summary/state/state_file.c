/* state_file.c - a state as a file: what is in it, in which order.
 * SPDX-License-Identifier: MIT */
#include "state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commcodec.h"
#include "statecodec.h"

#define UNIT_MOST_NS 1000000000u /* traces have times in seconds, or in smaller units */

/* A number of a text. */
static void code_text(state_codec *codec, const summary_state *state, uint32_t *text) {
  codec_uint32(codec, text, state->texts.count);
}

/* The length of a list. */
static uint32_t code_count(state_codec *codec, uint32_t count) {
  codec_uint32(codec, &count, UINT32_MAX - 1);
  return count;
}

/* A problem of memory is in the state, all others in the codec. */
static void check(state_codec *codec, const summary_state *state) {
  if (!state->is_good && !codec->problem) codec->problem = "out of memory";
}

/* Of something that was read: it must have the number that it had. Without memory it has none. */
static void check_number(state_codec *codec, const summary_state *state, int is_right) {
  check(codec, state);
  if (!is_right && !codec->problem) codec->problem = "the file is damaged";
}

static void code_texts(state_codec *codec, summary_state *state) {
  const uint32_t count = code_count(codec, state->texts.count);
  for (uint32_t i = 0; codec_has_more(codec, i, count); i++) {
    char *room = NULL;
    size_t len = 0;
    codec_text(codec, codec_is_reading(codec) ? (dft_text){"", 0} : state_text_of(state, i), &room, &len);
    if (codec_is_reading(codec) && room) /* texts are different, and the first one is empty */
      check_number(codec, state, state_text(state, (dft_text){room, len}) == i);
    free(room);
  }
}

static void code_patterns(state_codec *codec, summary_state *state, uint32_t **patterns, uint32_t *count) {
  *count = code_count(codec, *count);
  if (codec_is_reading(codec)) {
    if (*count > state->texts.count && !codec->problem) codec->problem = "the file is damaged";
    if (!codec->problem && *count) *patterns = calloc(*count, sizeof **patterns);
    if (codec->problem || (*count && !*patterns)) {
      state->is_good &= codec->problem != NULL;
      *count = 0;
    }
  }
  for (uint32_t i = 0; codec_has_more(codec, i, *count); i++) code_text(codec, state, &(*patterns)[i]);
}

static void code_question(state_codec *codec, summary_state *state) {
  state_question *question = &state->question;
  codec_uint32(codec, &question->by, BY_COUNT);
  codec_uint32(codec, &question->has_from, 2);
  codec_uint32(codec, &question->has_to, 2);
  codec_int(codec, &question->from_ns);
  codec_int(codec, &question->to_ns);
  codec_int(codec, &question->origin);
  code_patterns(codec, state, &question->names, &question->name_count);
  code_patterns(codec, state, &question->cats, &question->cat_count);
  code_patterns(codec, state, &question->classes, &question->class_count);
}

static void code_run(state_codec *codec, summary_state *state) {
  code_text(codec, state, &state->run);
  codec_int(codec, &state->life_first);
  codec_int(codec, &state->life_last);
}

static void code_totals(state_codec *codec, summary_state *state) {
  uint64_t *const numbers[] = {&state->events,       &state->counters,  &state->metadata,     &state->others,
                               &state->dropped,      &state->recovered, &state->all_problems, &state->has_fractions,
                               &state->lost_fetches, &state->left,      &state->running};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) codec_uint(codec, numbers[i]);
  codec_int(codec, &state->first);
  codec_int(codec, &state->last);
}

static void code_sources(state_codec *codec, summary_state *state) {
  const uint32_t count = code_count(codec, state->source_count);
  for (uint32_t i = 0; codec_has_more(codec, i, count); i++) {
    state_source *source = codec_is_reading(codec) ? state_add_source(state) : &state->sources[i];
    if (!source) return;
    code_text(codec, state, &source->path);
    codec_uint(codec, &source->bytes);
    codec_uint(codec, &source->unit_ns);
    check_number(codec, state, source->unit_ns <= UNIT_MOST_NS);
    codec_uint(codec, &source->events);
    codec_int(codec, &source->first);
    codec_int(codec, &source->last);
    codec_int(codec, &source->begin);
  }
}

static void code_problems(state_codec *codec, summary_state *state) {
  const uint32_t count = code_count(codec, state->problem_count);
  for (uint32_t i = 0; codec_has_more(codec, i, count); i++) {
    state_problem *problem = codec_is_reading(codec) ? state_add_problem(state) : &state->problems[i];
    if (!problem) return;
    code_text(codec, state, &problem->path);
    codec_uint32(codec, &problem->has_source, 2);
    codec_uint32(codec, &problem->is_refusal, 2);
    codec_uint32(codec, &problem->kind, UINT32_MAX);
    codec_uint32(codec, &problem->error, INT32_MAX);
    codec_uint(codec, &problem->byte);
    codec_uint(codec, &problem->line);
    codec_uint(codec, &problem->beyond);
  }
}

static void code_facts(state_codec *codec, const summary_state *state, process_facts *facts) {
  uint64_t *const numbers[] = {PROCESS_FACTS_NUMBERS(facts)};
  uint32_t *const texts[] = {PROCESS_FACTS_TEXTS(facts)};
  codec_uint32(codec, &facts->has_cost, 2);
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) codec_uint(codec, numbers[i]);
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) code_text(codec, state, texts[i]);
}

static void code_regions(state_codec *codec, const summary_state *state, region_stats *regions) {
  const uint32_t count = code_count(codec, regions->count);
  for (uint32_t i = 0; codec_has_more(codec, i, count); i++) {
    region_total entry = codec_is_reading(codec) ? (region_total){0} : regions->list[i];
    region_total *region;
    code_text(codec, state, &entry.name);
    code_text(codec, state, &entry.cat);
    codec_uint(codec, &entry.activity);
    codec_uint(codec, &entry.count);
    codec_uint(codec, &entry.total_ns);
    codec_uint(codec, &entry.self_ns);
    check_number(codec, state, entry.activity < ACTIVITIES);
    if (codec->problem || !codec_is_reading(codec)) continue;
    region = region_stats_append(regions, entry.name, entry.cat);
    if (region) *region = entry;
    else codec->problem = "out of memory";
  }
}

static void code_phase_region(state_codec *codec, const summary_state *state, phase_region *region) {
  code_text(codec, state, &region->name);
  code_text(codec, state, &region->cat);
  codec_uint(codec, &region->ns);
}

static void code_counts(state_codec *codec, const summary_state *state, process_counts *counts) {
  codec_uint(codec, &counts->events);
  codec_uint(codec, &counts->calls);
  codec_io(codec, &counts->io, state->first);
  code_regions(codec, state, &counts->regions);
  for (int i = 0; i < AI_KINDS; i++) {
    codec_uint(codec, &counts->ai_count[i]);
    codec_uint(codec, &counts->ai_ns[i]);
  }
  codec_uint(codec, &counts->updates);
  codec_uint(codec, &counts->is_inference);
  codec_uint(codec, &counts->batches);
  codec_spans(codec, &counts->compute);
  codec_spans(codec, &counts->fetch);
  codec_spans(codec, &counts->data);
  codec_spans(codec, &counts->evaluation);
  codec_spans(codec, &counts->starts);
  codec_spans(codec, &counts->pauses);
  codec_comm(codec, &counts->comm, state->texts.count);
  codec_uint(codec, &counts->loop_events);
  codec_int(codec, &counts->loop_first);
  codec_int(codec, &counts->loop_last);
  for (int i = 0; i < PHASES; i++) codec_sparse(codec, counts->split_ns[i], TIME_CLASSES);
  codec_sparse(codec, counts->aside_ns[0], ASIDES * PHASES);
  code_phase_region(codec, state, &counts->start_region);
  code_phase_region(codec, state, &counts->end_region);
  codec_uint(codec, &counts->finals);
  codec_int(codec, &counts->final_first);
  codec_int(codec, &counts->final_last);
  codec_steps(codec, &counts->steps);
  for (int i = 0; i < GRAIN_KINDS; i++) codec_grains(codec, &counts->grains[i]);
  codec_pursuits(codec, &counts->pursuits, state->texts.count);
}

static void code_processes(state_codec *codec, summary_state *state) {
  const uint32_t count = code_count(codec, state->process_count);
  for (uint32_t i = 0; codec_has_more(codec, i, count); i++) {
    state_process *process = codec_is_reading(codec) ? state_add_process(state) : &state->processes[i + 1];
    if (!process) return;
    codec_uint32(codec, &process->source, state->source_count);
    code_text(codec, state, &process->host);
    code_text(codec, state, &process->command);
    codec_uint(codec, &process->pid);
    codec_uint(codec, &process->ppid);
    codec_int(codec, &process->rank);
    codec_uint32(codec, &process->threads, UINT32_MAX);
    codec_uint32(codec, &process->is_orphan, 2);
    code_facts(codec, state, &process->facts);
    code_counts(codec, state, &process->counts);
  }
}

static void code_threads(state_codec *codec, summary_state *state) {
  const uint32_t count = code_count(codec, state->thread_count);
  for (uint32_t i = 0; codec_has_more(codec, i, count); i++) {
    state_thread *thread = codec_is_reading(codec) ? state_add_thread(state) : &state->threads[i];
    if (!thread) return;
    codec_uint32(codec, &thread->process, state->process_count + 1);
    codec_uint(codec, &thread->tid);
    codec_int(codec, &thread->first);
    codec_int(codec, &thread->last);
    codec_uint(codec, &thread->io_ns);
    codec_uint(codec, &thread->process_ns);
    codec_uint(codec, &thread->region_ns);
  }
}

/* What a hash stands for. When reading, `add` puts it into the state. Returns its number. */
static uint32_t code_name(state_codec *codec, summary_state *state, const state_name *names, uint32_t number,
                          uint32_t add(summary_state *, uint32_t, uint32_t)) {
  state_name entry = codec_is_reading(codec) ? (state_name){0, 0} : names[number];
  code_text(codec, state, &entry.hash);
  code_text(codec, state, &entry.name);
  return codec_is_reading(codec) ? add(state, entry.hash, entry.name) : number;
}

static void code_names(state_codec *codec, summary_state *state) {
  uint32_t count = code_count(codec, state->host_numbers.count);
  for (uint32_t i = 1; codec_has_more(codec, i, count + 1); i++) code_name(codec, state, state->hosts, i, state_host);
  count = code_count(codec, state->command_numbers.count);
  for (uint32_t i = 1; codec_has_more(codec, i, count + 1); i++)
    code_name(codec, state, state->commands, i, state_command);
  count = code_count(codec, state->file_numbers.count);
  for (uint32_t i = 1; codec_has_more(codec, i, count + 1); i++) {
    uint32_t number = code_name(codec, state, state->files, i, state_file);
    check_number(codec, state, number == i);
    if (!codec->problem && !state->file_io[number]) state->file_io[number] = calloc(1, sizeof(io_stats));
    if (!codec->problem && !state->file_io[number]) codec->problem = "out of memory";
    if (!codec->problem) codec_io(codec, state->file_io[number], state->first);
  }
}

/* Whether this is a key of a group. */
static int is_key(const summary_state *state, numbered key) {
  switch (state->question.by) {
    case BY_NAME: return key.a < state->texts.count && key.b < state->texts.count;
    case BY_FILE: return key.a < state->texts.count;
    case BY_PROCESS:
    case BY_THREAD: return key.a && key.a <= state->process_count;
    default: return 1;
  }
}

static void code_groups(state_codec *codec, summary_state *state) {
  const uint32_t count = code_count(codec, state->group_numbers.count);
  for (uint32_t i = 1; codec_has_more(codec, i, count + 1); i++) {
    numbered key = codec_is_reading(codec) ? (numbered){0, 0} : state->group_numbers.keys[i];
    group_stats *group = NULL;
    codec_uint(codec, &key.a);
    codec_uint(codec, &key.b);
    if (!is_key(state, key) && !codec->problem) codec->problem = "the file is damaged";
    if (!codec->problem) group = codec_is_reading(codec) ? state_group(state, key.a, key.b) : &state->groups[i];
    if (codec_is_reading(codec)) check_number(codec, state, group && state->group_numbers.count == i);
    if (!group || codec->problem) return;
    codec_uint(codec, &group->total_ns);
    codec_uint(codec, &group->self_ns);
    codec_histogram(codec, &group->durations);
  }
}

static void code_calls(state_codec *codec, summary_state *state) {
  const uint32_t count = code_count(codec, state->call_numbers.count);
  for (uint32_t i = 1; codec_has_more(codec, i, count + 1); i++) {
    numbered key = codec_is_reading(codec) ? (numbered){0, 0} : state->call_numbers.keys[i];
    uint32_t name = (uint32_t)key.a, cat = (uint32_t)key.b;
    call_stats *calls;
    code_text(codec, state, &name);
    code_text(codec, state, &cat);
    if (codec->problem) return;
    calls = codec_is_reading(codec) ? state_call(state, name, cat) : &state->calls[i];
    if (codec_is_reading(codec)) check_number(codec, state, calls && state->call_numbers.count == i);
    if (!calls || codec->problem) return;
    codec_sparse(codec, &calls->count, CALL_STATS_NUMBERS);
  }
}

static void code_failures(state_codec *codec, summary_state *state) {
  const uint32_t count = code_count(codec, state->failure_numbers.count);
  for (uint32_t i = 1; codec_has_more(codec, i, count + 1); i++) {
    numbered key = codec_is_reading(codec) ? (numbered){0, 0} : state->failure_numbers.keys[i];
    uint32_t name = (uint32_t)(key.a >> 32), file = (uint32_t)key.a;
    uint64_t *failures;
    code_text(codec, state, &name);
    code_text(codec, state, &file);
    codec_uint(codec, &key.b);
    if (codec->problem) return;
    failures = codec_is_reading(codec) ? state_failure(state, name, file, key.b) : &state->failures[i];
    if (!failures) return;
    codec_uint(codec, failures);
  }
  codec_spans(codec, &state->reads);
  codec_spans(codec, &state->writes);
}

static void code_epochs(state_codec *codec, summary_state *state) {
  const uint32_t count = code_count(codec, state->epoch_numbers.count);
  for (uint32_t i = 1; codec_has_more(codec, i, count + 1); i++) {
    int64_t number = codec_is_reading(codec) ? 0 : (int64_t)state->epoch_numbers.keys[i].a;
    epoch_stats *epoch;
    codec_int(codec, &number);
    epoch = codec->problem ? NULL : codec_is_reading(codec) ? state_epoch(state, number) : &state->epochs[i];
    if (!epoch) return;
    codec_uint(codec, &epoch->fetches);
    codec_uint(codec, &epoch->computes);
    codec_uint(codec, &epoch->fetch_ns);
    codec_uint(codec, &epoch->compute_ns);
    codec_int(codec, &epoch->first);
    codec_int(codec, &epoch->last);
    codec_uint(codec, &epoch->steps);
    codec_uint(codec, &epoch->batches);
    codec_uint(codec, &epoch->samples);
    codec_uint(codec, &epoch->sampled);
    codec_sparse(codec, epoch->class_ns, TIME_CLASSES);
    codec_uint(codec, &epoch->evaluation_ns);
  }
}

static void code_state(state_codec *codec, summary_state *state) {
  void (*const parts[])(state_codec *, summary_state *) = {
    code_texts,   code_question, code_run,    code_totals, code_sources,  code_problems, code_processes,
    code_threads, code_names,    code_groups, code_calls,  code_failures, code_epochs};
  for (size_t i = 0; i < sizeof parts / sizeof parts[0] && !codec->problem; i++) {
    parts[i](codec, state);
    check(codec, state);
  }
}

void state_save(outfile *out, state_parts *parts) {
  state_codec codec;
  codec_begin_writing(&codec, out);
  code_count(&codec, parts->count);
  for (uint32_t i = 0; codec_has_more(&codec, i, parts->count); i++) code_state(&codec, &parts->states[i]);
  if (codec_end(&codec)) parts->is_good = 0;
}

int state_is(const char *path) {
  char head[sizeof STATE_MAGIC - 1];
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t len = fd >= 0 ? pread(fd, head, sizeof head, 0) : -1;
  if (fd >= 0) close(fd);
  return len == (ssize_t)sizeof head && memcmp(head, STATE_MAGIC, sizeof head) == 0;
}

const char *state_load(state_parts *parts, const char *path) {
  state_codec codec;
  const char *problem;
  struct stat facts;
  uint32_t count;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &facts) != 0) {
    problem = strerror(errno);
    if (fd >= 0) close(fd);
    return problem;
  }
  codec_begin_reading(&codec, fd, (uint64_t)facts.st_size);
  count = code_count(&codec, 0);
  for (uint32_t i = 0; codec_has_more(&codec, i, count); i++) {
    summary_state *state = state_parts_add(parts);
    if (state) code_state(&codec, state);
    else codec.problem = "out of memory";
  }
  problem = codec_end(&codec);
  close(fd);
  return problem;
}
