/* reader.c - a set of sources and its dictionaries.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "parser.h"
#include "paths.h"
#include "source.h"
#include "walk.h"

static const char *const known_keys[] = {
#define KEY(name) #name,
  DFT__KEY_LIST(KEY)
#undef KEY
};

static void set_options(dft_reader_options *own, const dft_reader_options *given) {
  if (given) memcpy(own, given, given->struct_size < sizeof *own ? given->struct_size : sizeof *own);
  if (!own->want) own->want = DFT_WANT_ARGS;
  if (!own->line_bytes) own->line_bytes = 8u << 20;
  if (!own->member_bytes) own->member_bytes = (uint64_t)1 << 40;
  if (own->line_bytes > 1u << 30) own->line_bytes = 1u << 30;
  if (!own->nesting || own->nesting > 64) own->nesting = 64;
  if (!own->text_bytes) own->text_bytes = 64u << 20;
}

static int make_dictionaries(dft_reader *reader) {
  dft__arena_init(&reader->arena, reader->options.text_bytes);
  for (uint32_t i = 0; i < DFT__DICTIONARIES; i++) {
    if (!dft__dictionary_init(&reader->dictionaries[i], &reader->arena)) return 0;
  }
  for (size_t i = 0; i < sizeof known_keys / sizeof known_keys[0]; i++) {
    dft__dictionary_number(&reader->dictionaries[DFT_KEYS], known_keys[i], strlen(known_keys[i]));
  }
  return 1;
}

dft_status dft_reader_open(const dft_reader_options *options, const char *const *paths, size_t count,
                           dft_reader **result) {
  dft_reader *reader = calloc(1, sizeof *reader);
  *result = NULL;
  if (!reader) return DFT_ENOMEM;
  pthread_mutex_init(&reader->lock, NULL);
  set_options(&reader->options, options);
  if (!make_dictionaries(reader)) {
    dft_reader_close(reader);
    return DFT_ENOMEM;
  }
  for (size_t i = 0; i < count; i++) {
    if (!dft__paths_add(reader, paths[i])) {
      dft_reader_close(reader);
      return DFT_ENOMEM;
    }
  }
  *result = reader;
  return reader->source_count ? DFT_OK : DFT_EIO;
}

void dft_reader_close(dft_reader *reader) {
  if (!reader) return;
  for (uint32_t i = 0; i < reader->source_count; i++) {
    dft__walk_free(&reader->sources[i].walk);
    dft__source_free(&reader->sources[i]);
  }
  for (uint32_t i = 0; i < reader->path_problem_count; i++) free(reader->path_problems[i].detail);
  for (uint32_t i = 0; i < DFT__DICTIONARIES; i++) dft__dictionary_free(&reader->dictionaries[i]);
  free(reader->path_problems);
  free(reader->sources);
  dft__arena_free(&reader->arena);
  pthread_mutex_destroy(&reader->lock);
  free(reader);
}

/* ---- Sources -------------------------------------------------------------------------------------------------------- */

uint32_t dft_reader_source_count(const dft_reader *reader) {
  return reader->source_count;
}

dft_status dft_reader_source(dft_reader *reader, uint32_t index, dft_source *source) {
  const dft__source_state *state;
  dft_source all;
  if (index >= reader->source_count) return DFT_EINVAL;
  state = &reader->sources[index];
  pthread_mutex_lock(&reader->lock);
  all = (dft_source){.struct_size = source->struct_size,
                     .path = state->path,
                     .kind = state->kind,
                     .is_done = state->is_done,
                     .bytes = state->size,
                     .text_bytes = state->text_bytes,
                     .members = state->members,
                     .units = state->units,
                     .lines = state->lines,
                     .rows = state->rows,
                     .problems = state->problem_count,
                     .unit_ns = state->unit_ns};
  pthread_mutex_unlock(&reader->lock);
  memcpy(source, &all, source->struct_size < sizeof all ? source->struct_size : sizeof all);
  return DFT_OK;
}

void dft_reader_progress(dft_reader *reader, uint64_t *done_bytes, uint64_t *all_bytes) {
  *done_bytes = *all_bytes = 0;
  pthread_mutex_lock(&reader->lock);
  for (uint32_t i = 0; i < reader->source_count; i++) {
    *done_bytes += reader->sources[i].done_bytes;
    *all_bytes += reader->sources[i].size;
  }
  pthread_mutex_unlock(&reader->lock);
}

/* ---- Texts ---------------------------------------------------------------------------------------------------------- */

uint32_t dft_reader_text_count(dft_reader *reader, uint32_t dictionary) {
  return dictionary < DFT_DICTIONARIES ? atomic_load(&reader->dictionaries[dictionary].count) : 0;
}

dft_text dft_reader_hash(dft_reader *reader, uint32_t dictionary, uint32_t number) {
  if (dictionary >= DFT_DICTIONARIES) return (dft_text){"", 0};
  return dft__dictionary_at(&reader->dictionaries[dictionary], number)->text;
}

dft_text dft_reader_text(dft_reader *reader, uint32_t dictionary, uint32_t number) {
  const dft__text_entry *entry;
  const dft_text *meaning;
  if (dictionary >= DFT_DICTIONARIES) return (dft_text){"", 0};
  entry = dft__dictionary_at(&reader->dictionaries[dictionary], number);
  meaning = atomic_load_explicit(&entry->meaning, memory_order_acquire);
  return meaning ? *meaning : entry->text;
}

uint32_t dft_reader_number(dft_reader *reader, uint32_t dictionary, const char *text, size_t len) {
  if (dictionary >= DFT_DICTIONARIES) return 0;
  return dft__dictionary_number(&reader->dictionaries[dictionary], text, len);
}

dft_status dft_reader_resolve(dft_reader *reader, const char *hash, size_t len, dft_text *text) {
  static const uint32_t order[] = {DFT_FILES, DFT_HOSTS, DFT__STRINGS};
  for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
    const dft__text_entry *entry = dft__dictionary_find(&reader->dictionaries[order[i]], hash, len);
    const dft_text *meaning = entry ? atomic_load_explicit(&entry->meaning, memory_order_acquire) : NULL;
    if (!meaning) continue;
    *text = *meaning;
    return DFT_OK;
  }
  return DFT_EINVAL;
}
