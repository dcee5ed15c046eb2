/* jobfacts.c - what the traces of a job say of it.
 * SPDX-License-Identifier: MIT */
#include "jobfacts.h"

#include <stdlib.h>
#include <string.h>

/* ---- Ranks ---------------------------------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b) {
  const uint64_t *one = a, *two = b;
  return (*one > *two) - (*one < *two);
}

/* The gaps between ranks that are there, which are sorted. */
static void find_gaps(job_facts *facts, const uint64_t *ranks, uint32_t count) {
  uint64_t next = 0; /* the first rank that was not looked at */
  for (uint32_t i = 0; i <= count && next < facts->world_size; i++) {
    uint64_t rank = i < count ? ranks[i] : facts->world_size;
    if (rank > facts->world_size) rank = facts->world_size;
    if (rank > next) {
      facts->gaps[facts->gap_count++] = (rank_gap){next, rank - 1};
      facts->missing_ranks += rank - next;
    }
    if (rank >= next) next = rank + 1;
  }
}

static int find_ranks(job_facts *facts, const summary_state *state) {
  uint64_t *ranks = calloc((size_t)state->process_count + 1, sizeof *ranks);
  uint32_t count = 0;
  facts->gaps = calloc((size_t)state->process_count + 1, sizeof *facts->gaps);
  for (uint32_t i = 1; ranks && i <= state->process_count; i++) {
    const state_process *process = &state->processes[i];
    if (process->facts.world_size > facts->world_size) facts->world_size = process->facts.world_size;
    if (process->rank >= 0) ranks[count++] = (uint64_t)process->rank;
  }
  if (ranks) qsort(ranks, count, sizeof *ranks, by_number);
  if (ranks && facts->gaps) find_gaps(facts, ranks, count);
  free(ranks);
  return ranks && facts->gaps;
}

/* ---- Sites ---------------------------------------------------------------------------------------------------------- */

/* Sites are written as "name (category); name (category)". */
static int add_sites(text_pool *pool, uint64_t **counts, dft_text joined) {
  const char *at = joined.text;
  while (*at) {
    const char *end = strstr(at, "); ");
    size_t len = end ? (size_t)(end + 1 - at) : strlen(at);
    uint32_t before = pool->count, number = text_pool_add(pool, at, len);
    if (number == UINT32_MAX) return 0;
    if (pool->count > before || !*counts) {
      uint64_t *more = realloc(*counts, ((size_t)pool->count + 1) * sizeof *more);
      if (!more) return 0;
      *counts = more;
      (*counts)[number] = 0;
    }
    (*counts)[number]++;
    if (!end) break;
    at = end + 3;
  }
  return 1;
}

static int by_processes(const void *a, const void *b) {
  const named_site *one = a, *two = b;
  if (one->processes != two->processes) return one->processes > two->processes ? -1 : 1;
  return strcmp(one->site, two->site);
}

static int find_sites(site_list *list, const summary_state *state, int is_open) {
  text_pool pool = {0};
  uint64_t *counts = NULL;
  int is_good = 1;
  for (uint32_t i = 1; is_good && i <= state->process_count; i++) {
    const process_facts *facts = &state->processes[i].facts;
    uint64_t events = is_open ? facts->open_regions : facts->unmatched_ends;
    list->events += events;
    list->processes += events != 0;
    is_good = add_sites(&pool, &counts, state_text_of(state, is_open ? facts->open_sites : facts->unmatched_sites));
  }
  list->sites = calloc((size_t)pool.count + 1, sizeof *list->sites);
  is_good = is_good && list->sites;
  for (uint32_t i = 1; is_good && i < pool.count; i++) {
    list->sites[list->count] = (named_site){strdup(text_pool_get(&pool, i).text), counts[i]};
    is_good = list->sites[list->count].site != NULL;
    list->count += (uint32_t)is_good;
  }
  if (is_good) qsort(list->sites, list->count, sizeof *list->sites, by_processes);
  text_pool_free(&pool);
  free(counts);
  return is_good;
}

static void free_sites(site_list *list) {
  for (uint32_t i = 0; i < list->count; i++) free(list->sites[i].site);
  free(list->sites);
}

/* ---- All ------------------------------------------------------------------------------------------------------------ */

int job_facts_init(job_facts *facts, const summary_state *state, int has_ranks) {
  *facts = (job_facts){0};
  for (uint32_t i = 1; i <= state->process_count; i++) {
    const process_facts *own = &state->processes[i].facts;
    facts->costed += own->has_cost;
    facts->unfinished += own->is_started && !own->is_ended;
    facts->finish_ns += own->finish_ns;
    if (own->finish_ns > facts->finish_most_ns) facts->finish_most_ns = own->finish_ns;
    facts->drain_cpu_ns += own->drain_cpu_ns;
    facts->assist_ns += own->assist_ns;
    facts->orphans += state->processes[i].is_orphan;
  }
  return (!has_ranks || find_ranks(facts, state)) && find_sites(&facts->unmatched, state, 0) &&
         find_sites(&facts->open, state, 1);
}

void job_facts_free(job_facts *facts) {
  free(facts->gaps);
  free_sites(&facts->unmatched);
  free_sites(&facts->open);
  *facts = (job_facts){0};
}
