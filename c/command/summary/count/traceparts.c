/* traceparts.c - traces that surely belong to one run, while they are read.
 * SPDX-License-Identifier: MIT */
#include "traceparts.h"

#include <stdlib.h>
#include <string.h>

/* ---- Lifetimes ------------------------------------------------------------------------------------------------------ */

void trace_life_init(trace_life *life) {
  *life = (trace_life){.first = INT64_MAX, .last = INT64_MIN, .start = INT64_MAX};
}

void trace_life_add(trace_life *life, int64_t start, int64_t end) {
  if (start < life->first) life->first = start;
  if (end > life->last) life->last = end;
}

int trace_life_set_run(trace_life *life, const char *text, size_t len) {
  char *copy;
  if (!len) return 1;
  copy = strndup(text, len);
  if (!copy) return 0;
  if (life->run && strcmp(life->run, copy) <= 0) {
    free(copy);
    return 1;
  }
  free(life->run);
  life->run = copy;
  return 1;
}

/* Adds what another worker saw of the same trace, and empties it. */
static int join_lives(trace_life *into, trace_life *from) {
  int is_good = !from->run || trace_life_set_run(into, from->run, strlen(from->run));
  trace_life_add(into, from->first, from->last);
  if (from->start < into->start) into->start = from->start;
  free(from->run);
  trace_life_init(from);
  return is_good;
}

/* ---- Parts ---------------------------------------------------------------------------------------------------------- */

int trace_parts_init(trace_parts *parts, uint32_t sources) {
  *parts = (trace_parts){.source_count = sources, .is_good = 1};
  pthread_mutex_init(&parts->lock, NULL);
  parts->sources = calloc((size_t)sources + 1, sizeof *parts->sources);
  for (uint32_t i = 0; parts->sources && i < sources; i++) trace_life_init(&parts->sources[i].life);
  return parts->sources != NULL;
}

static void free_totals(part_source *source) {
  if (source->totals) tally_free(source->totals);
  free(source->totals);
  source->totals = NULL;
}

void trace_parts_free(trace_parts *parts) {
  for (uint32_t i = 0; parts->sources && i < parts->source_count; i++) {
    free_totals(&parts->sources[i]);
    free(parts->sources[i].life.run);
  }
  for (uint32_t i = 0; i < parts->count; i++) tally_free(&parts->parts[i].counts);
  free(parts->sources);
  free(parts->parts);
  pthread_mutex_destroy(&parts->lock);
}

static trace_part *new_part(trace_parts *parts) {
  trace_part *part;
  if (parts->count == parts->capacity) {
    uint32_t capacity = parts->capacity ? parts->capacity * 2 : 16;
    trace_part *more = realloc(parts->parts, capacity * sizeof *more);
    if (!more) return NULL;
    parts->parts = more;
    parts->capacity = capacity;
  }
  part = &parts->parts[parts->count];
  *part = (trace_part){.first = INT64_MAX, .last = INT64_MIN, .into = parts->count++};
  tally_init(&part->counts);
  return part;
}

static int belongs(const trace_part *part, const trace_life *life) {
  if (life->run || part->run) return life->run && part->run && strcmp(life->run, part->run) == 0;
  if (life->first > life->last || part->first > part->last) return life->first > life->last && part->first > part->last;
  return life->first <= part->last && part->first <= life->last;
}

/* Moves everything that was counted. */
static void take(trace_parts *parts, tally *into, tally *from) {
  tally_merge(into, from);
  parts->is_good &= into->is_good;
  tally_free(from);
  tally_init(from);
}

/* The part of a life. One that overlaps several parts makes one of them. */
static trace_part *part_of(trace_parts *parts, const trace_life *life) {
  trace_part *found = NULL;
  for (uint32_t i = 0; i < parts->count; i++) {
    trace_part *part = &parts->parts[i];
    if (part->into != i || !belongs(part, life)) continue;
    if (!found) {
      found = part;
      continue;
    }
    part->into = found->into;
    take(parts, &found->counts, &part->counts);
    if (part->first < found->first) found->first = part->first;
    if (part->last > found->last) found->last = part->last;
  }
  return found ? found : new_part(parts);
}

/* The caller holds the lock, or is alone. */
static void place(trace_parts *parts, part_source *source) {
  trace_part *part = part_of(parts, &source->life);
  source->is_placed = 1;
  if (!part) {
    parts->is_good = 0;
    return;
  }
  part->run = source->life.run;
  if (source->life.first < part->first) part->first = source->life.first;
  if (source->life.last > part->last) part->last = source->life.last;
  source->part = part->into;
  if (source->totals) take(parts, &part->counts, source->totals);
  free_totals(source);
}

/* ---- Sources -------------------------------------------------------------------------------------------------------- */

void trace_parts_hold(trace_parts *parts, uint32_t source) {
  pthread_mutex_lock(&parts->lock);
  parts->sources[source].holders++;
  pthread_mutex_unlock(&parts->lock);
}

void trace_parts_give(trace_parts *parts, uint32_t number, tally *counts, trace_life *life) {
  part_source *source = &parts->sources[number];
  pthread_mutex_lock(&parts->lock);
  if (!source->totals) {
    source->totals = malloc(sizeof *source->totals);
    if (source->totals) tally_init(source->totals);
  }
  parts->is_good &= join_lives(&source->life, life) && source->totals;
  if (source->totals) take(parts, source->totals, counts);
  if (--source->holders == 0 && source->is_ended) place(parts, source);
  pthread_mutex_unlock(&parts->lock);
}

void trace_parts_end(trace_parts *parts, uint32_t source) {
  pthread_mutex_lock(&parts->lock);
  parts->sources[source].is_ended = 1;
  pthread_mutex_unlock(&parts->lock);
}

void trace_parts_settle(trace_parts *parts) {
  for (uint32_t i = 0; i < parts->source_count; i++) {
    if (!parts->sources[i].is_placed) place(parts, &parts->sources[i]);
  }
}

uint32_t trace_parts_of(const trace_parts *parts, uint32_t source) {
  uint32_t part = parts->sources[source].part;
  while (parts->parts[part].into != part) part = parts->parts[part].into;
  return part;
}
