/* rankregions.c - regions over ranks.
 * SPDX-License-Identifier: MIT */
#include "rankregions.h"

#include <math.h>
#include <stdlib.h>

/* ---- Members -------------------------------------------------------------------------------------------------------- */

/* Ranks in order, then the processes without one. */
typedef struct member_list {
  region_member *members;
  uint32_t count, ranks;
  uint32_t *of_process; /* by number of a process: its member */
} member_list;

/* A process with any event. */
typedef struct candidate {
  int64_t rank;
  uint64_t pid;
  uint32_t process;
} candidate;

static int by_rank(const void *a, const void *b) {
  const candidate *one = a, *two = b;
  const int has_one = one->rank != NO_NUMBER, has_two = two->rank != NO_NUMBER;
  if (has_one != has_two) return has_one ? -1 : 1;
  if (one->rank != two->rank) return one->rank < two->rank ? -1 : 1;
  if (one->pid != two->pid) return one->pid < two->pid ? -1 : 1;
  return (one->process > two->process) - (one->process < two->process);
}

/* A process that has no event in the time that was asked for is not among them. */
static int find_members(member_list *all, const summary_state *state) {
  candidate *found = calloc((size_t)state->process_count + 1, sizeof *found);
  uint32_t count = 0;
  all->members = calloc((size_t)state->process_count + 1, sizeof *all->members);
  all->of_process = calloc((size_t)state->process_count + 1, sizeof *all->of_process);
  const int is_good = found && all->members && all->of_process;
  for (uint32_t i = 1; is_good && i <= state->process_count; i++) {
    const state_process *process = &state->processes[i];
    if (process->threads) found[count++] = (candidate){process->rank, process->pid, i};
  }
  if (is_good) qsort(found, count, sizeof *found, by_rank);
  for (uint32_t i = 0; i < count; i++) {
    const int is_new = !i || found[i].rank == NO_NUMBER || found[i].rank != found[i - 1].rank;
    if (is_new) all->members[all->count++] = (region_member){.rank = found[i].rank, .process = found[i].process};
    all->of_process[found[i].process] = all->count - 1;
    all->ranks += is_new && found[i].rank != NO_NUMBER;
  }
  free(found);
  return is_good;
}

/* ---- Visits --------------------------------------------------------------------------------------------------------- */

/* What a member spent in a region. */
typedef struct visit {
  uint32_t name, cat, member;
  uint64_t activity, count, total_ns;
} visit;

static int by_region(const void *a, const void *b) {
  const visit *one = a, *two = b;
  if (one->name != two->name) return one->name < two->name ? -1 : 1;
  if (one->cat != two->cat) return one->cat < two->cat ? -1 : 1;
  return (one->member > two->member) - (one->member < two->member);
}

static int is_same_region(const visit *one, const visit *two) {
  return one->name == two->name && one->cat == two->cat;
}

/* Sorted by region and member, one for each pair. The caller frees it. NULL: no memory. */
static visit *find_visits(const member_list *all, const summary_state *state, uint32_t *count) {
  uint32_t found = 0;
  visit *visits;
  *count = 0;
  for (uint32_t i = 1; i <= state->process_count; i++) found += state->processes[i].counts.regions.count;
  visits = calloc((size_t)found + 1, sizeof *visits);
  found = 0;
  for (uint32_t i = 1; visits && i <= state->process_count; i++) {
    const region_stats *regions = &state->processes[i].counts.regions;
    for (uint32_t j = 0; j < regions->count; j++) {
      const region_total *total = &regions->list[j];
      visits[found++] = (visit){total->name,     total->cat,   all->of_process[i],
                                total->activity, total->count, total->total_ns};
    }
  }
  if (visits) qsort(visits, found, sizeof *visits, by_region);
  for (uint32_t i = 0; i < found; i++) {
    visit *last = *count ? &visits[*count - 1] : NULL;
    if (last && by_region(last, &visits[i]) == 0) {
      last->count += visits[i].count;
      add_saturating(&last->total_ns, visits[i].total_ns);
    } else {
      visits[(*count)++] = visits[i];
    }
  }
  return visits;
}

/* ---- Regions -------------------------------------------------------------------------------------------------------- */

static double squared(uint64_t one, uint64_t two) {
  const double distance = one > two ? (double)(one - two) : (double)(two - one);
  return distance * distance;
}

/* Of the members of a region, `absent` of which never entered it. */
static uint64_t deviation(const visit *visits, uint32_t count, uint32_t absent, uint64_t mean_ns, double fraction) {
  double sum = absent * squared(0, mean_ns);
  for (uint32_t i = 0; i < count; i++) sum += squared(visits[i].total_ns, mean_ns);
  return (uint64_t)(sqrt(fmax(sum / (count + absent) - fraction * fraction, 0)) + 0.5);
}

static region_member member_of(const member_list *all, const visit *who) {
  region_member member = all->members[who->member];
  member.total_ns = who->total_ns;
  return member;
}

/* Visits of one region; ranks come first. */
static rank_region compare(const member_list *all, const visit *visits, uint32_t count) {
  rank_region region = {.name = visits[0].name, .cat = visits[0].cat, .activity = visits[0].activity, .entered = count};
  uint32_t ranks = 0, absent = 0;
  const visit *least = visits, *most = visits;
  for (uint32_t i = 0; i < count; i++) {
    ranks += visits[i].member < all->ranks;
    region.count += visits[i].count;
    add_saturating(&region.total_ns, visits[i].total_ns);
    if (visits[i].total_ns < least->total_ns) least = &visits[i];
    if (visits[i].total_ns > most->total_ns) most = &visits[i];
  }
  if (ranks) absent = all->ranks - ranks;
  region.ranks = count + absent;
  region.min = member_of(all, least);
  region.max = member_of(all, most);
  if (absent) {
    uint32_t first = 0; /* rank that never entered it */
    while (first < ranks && visits[first].member == first) first++;
    if (least->total_ns || first < least->member) region.min = all->members[first];
    if (!most->total_ns && first < most->member) region.max = all->members[first];
  }
  region.mean_ns = region.total_ns / region.ranks;
  region.lost_ns = region.max.total_ns - region.mean_ns;
  region.deviation_ns = deviation(visits, count, absent, region.mean_ns,
                                  (double)(region.total_ns % region.ranks) / region.ranks);
  return region;
}

static int by_loss(const void *a, const void *b) {
  const rank_region *one = a, *two = b;
  if (one->lost_ns != two->lost_ns) return one->lost_ns > two->lost_ns ? -1 : 1;
  if (one->max.total_ns != two->max.total_ns) return one->max.total_ns > two->max.total_ns ? -1 : 1;
  if (one->name != two->name) return one->name < two->name ? -1 : 1;
  return (one->cat > two->cat) - (one->cat < two->cat);
}

int rank_region_list_init(rank_region_list *list, const summary_state *state) {
  member_list all = {0};
  uint32_t count = 0, end;
  visit *visits = find_members(&all, state) ? find_visits(&all, state, &count) : NULL;
  *list = (rank_region_list){.ranks = all.ranks, .regions = calloc((size_t)count + 1, sizeof *list->regions)};
  const int is_good = visits && list->regions;
  for (uint32_t i = 0; is_good && i < count; i = end) {
    for (end = i + 1; end < count && is_same_region(&visits[i], &visits[end]);) end++;
    list->regions[list->count] = compare(&all, visits + i, end - i);
    list->count += list->regions[list->count].ranks > 1;
  }
  if (is_good) qsort(list->regions, list->count, sizeof *list->regions, by_loss);
  free(visits);
  free(all.members);
  free(all.of_process);
  return is_good;
}

void rank_region_list_free(rank_region_list *list) {
  free(list->regions);
  *list = (rank_region_list){0};
}
