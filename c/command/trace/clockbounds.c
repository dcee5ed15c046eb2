/* clockbounds.c - by how much the clocks of hosts differ, from what was recorded.
 * SPDX-License-Identifier: MIT */
#include "clockbounds.h"

#include <math.h>
#include <stdlib.h>

#define SIDE_FIRST 64u
#define SEARCH_STEPS 60              /* each makes the range of slopes smaller by a third: then it is 3e-14 */
#define COMPARED_MOST 16u            /* hosts at a collective that are all compared with the last one */
#define TIME_MOST ((int64_t)1 << 62) /* the year 2116: what is beyond it is damage, and would overflow */

/* One bound: at this time the difference is at least `least`; of upper bounds, its negative is. */
typedef struct clock_fact {
  int64_t at, least;
} clock_fact;

/* Only the corners of the convex hull matter to a straight line. Others are forgotten now and then. */
typedef struct clock_side {
  clock_fact *facts;
  uint32_t count, capacity;
  int64_t most; /* the largest `least` */
} clock_side;

/* Of hosts i < j: at the time t of j, the clock of i shows t + difference. */
struct clock_pair {
  clock_side lower, upper;
};

/* ---- Facts ---------------------------------------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b) {
  const clock_fact *one = a, *two = b;
  if (one->at != two->at) return one->at < two->at ? -1 : 1;
  return (one->least > two->least) - (one->least < two->least);
}

/* Whether `middle` is below the line from `left` to `right`, or on it; rounded, which moves a bound by less than 1 ns. */
static int is_below(const clock_fact *left, const clock_fact *middle, const clock_fact *right) {
  const double rise = (double)(middle->least - left->least), whole_rise = (double)(right->least - left->least);
  return rise * (double)(right->at - left->at) <= whole_rise * (double)(middle->at - left->at);
}

/* Keeps the upper convex hull (Andrew's monotone chain). */
static void keep_hull(clock_side *side) {
  clock_fact *kept = side->facts;
  uint32_t count = 0;
  if (side->count) qsort(side->facts, side->count, sizeof *side->facts, by_time);
  for (uint32_t i = 0; i < side->count; i++) {
    const clock_fact fact = side->facts[i];
    if (count && kept[count - 1].at == fact.at) count--; /* sorted: this one is higher */
    while (count > 1 && is_below(&kept[count - 2], &kept[count - 1], &fact)) count--;
    kept[count++] = fact;
  }
  side->count = count;
}

static int add_fact(clock_side *side, int64_t at, int64_t least) {
  if (side->count == side->capacity) {
    if (side->count) keep_hull(side);
    if (side->count >= side->capacity / 2) {
      uint32_t capacity = side->capacity ? side->capacity * 2 : SIDE_FIRST;
      clock_fact *facts = realloc(side->facts, capacity * sizeof *facts);
      if (!facts) return 0;
      side->facts = facts;
      side->capacity = capacity;
    }
  }
  if (!side->count || least > side->most) side->most = least;
  side->facts[side->count++] = (clock_fact){at, least};
  return 1;
}

/* The pair of two hosts, the first one being the lower number. NULL: no memory. */
static clock_pair *pair_of(clock_bounds *all, uint32_t one, uint32_t two) {
  int is_new;
  uint32_t number;
  all->pair_numbers.limit = all->host_numbers.limit = UINT32_MAX - 1;
  number = numbering_of(&all->pair_numbers, one, two, &is_new);
  if (!number || !numbering_of(&all->host_numbers, one, 0, &is_new) ||
      !numbering_of(&all->host_numbers, two, 0, &is_new))
    return NULL;
  if (number >= all->pair_capacity) {
    uint32_t capacity = all->pair_capacity ? all->pair_capacity * 2 : 8;
    clock_pair *pairs = realloc(all->pairs, capacity * sizeof *pairs);
    if (!pairs) return NULL;
    for (uint32_t i = all->pair_capacity; i < capacity; i++) pairs[i] = (clock_pair){{0}, {0}};
    all->pairs = pairs;
    all->pair_capacity = capacity;
  }
  return &all->pairs[number];
}

int clock_bounds_message(clock_bounds *all, uint32_t from, uint32_t to, int64_t send_start, int64_t receive_end) {
  const int64_t sent = send_start, received = receive_end, most = TIME_MOST / 2;
  clock_pair *pair;
  if (from == to || sent <= -TIME_MOST || sent >= TIME_MOST || received <= -TIME_MOST || received >= TIME_MOST)
    return 1;
  if (sent / 2 - received / 2 > most / 2 || sent / 2 - received / 2 < -most / 2) return 1;
  pair = from < to ? pair_of(all, from, to) : pair_of(all, to, from);
  if (!pair) return 0;
  return from < to ? add_fact(&pair->lower, receive_end, send_start - receive_end)
                   : add_fact(&pair->upper, send_start, send_start - receive_end);
}

/* The one on whose host nobody waited long came last: everyone left after that. To compare each with each would be too much for
 * a large job, so of the rest only one is compared with all. */
int clock_bounds_collective(clock_bounds *all, const clock_visit *visits, uint32_t count) {
  const clock_visit *first = visits, *last = visits;
  int is_good = 1;
  for (uint32_t i = 1; i < count; i++) {
    if (visits[i].host < first->host) first = &visits[i];
    if (visits[i].first_end - visits[i].last_start < last->first_end - last->last_start) last = &visits[i];
  }
  for (uint32_t i = 0; i < count && is_good; i++) {
    const clock_visit *other = &visits[i];
    is_good = clock_bounds_message(all, first->host, other->host, first->last_start, other->first_end) &&
              clock_bounds_message(all, other->host, first->host, other->last_start, first->first_end);
    if (is_good && count <= COMPARED_MOST)
      is_good = clock_bounds_message(all, last->host, other->host, last->last_start, other->first_end);
  }
  return is_good;
}

/* ---- Lines ---------------------------------------------------------------------------------------------------------- */

/* What is asked of a pair: lines through (at, height) with a slope. */
typedef struct line_search {
  const clock_pair *pair;
  int64_t at;
} line_search;

/* The lowest height of a line with this slope that is above all facts of the side. */
static double height_over(const clock_side *side, int64_t at, double slope) {
  double height = -INFINITY;
  for (uint32_t i = 0; i < side->count; i++) {
    double own = (double)side->facts[i].least - slope * (double)(side->facts[i].at - at);
    if (own > height) height = own;
  }
  return height;
}

static double lowest(const line_search *search, double slope) {
  return height_over(&search->pair->lower, search->at, slope);
}

static double highest(const line_search *search, double slope) {
  return -height_over(&search->pair->upper, search->at, -slope);
}

static double room(const line_search *search, double slope) {
  return highest(search, slope) - lowest(search, slope);
}

static double negative_lowest(const line_search *search, double slope) {
  return -lowest(search, slope);
}

/* Where a concave function of the slope is largest. */
static double best_slope(const line_search *search, double value(const line_search *, double), double low,
                         double high) {
  for (int i = 0; i < SEARCH_STEPS; i++) {
    double one = low + (high - low) / 3, two = high - (high - low) / 3;
    if (value(search, one) < value(search, two)) low = one;
    else high = two;
  }
  return (low + high) / 2;
}

/* The slope nearest to `outside` that leaves room, from `inside`, which does. */
static double last_slope(const line_search *search, double inside, double outside) {
  if (room(search, outside) >= 0) return outside;
  for (int i = 0; i < SEARCH_STEPS; i++) {
    double middle = (inside + outside) / 2;
    if (room(search, middle) >= 0) inside = middle;
    else outside = middle;
  }
  return inside;
}

/* How far a line that fits can be from this one at a time. */
static double distance_at(const clock_pair *pair, const clock_fit *fit, int64_t time, double low, double high) {
  line_search search = {pair, time};
  double own = fit->offset_ns + fit->drift * (double)(time - fit->at);
  double above = highest(&search, best_slope(&search, highest, low, high)) - own;
  double below = own - lowest(&search, best_slope(&search, negative_lowest, low, high));
  return above > below ? above : below;
}

/* A drift is taken only if what was recorded asks for it: without one there is less than half of the room. */
static clock_fit fit_pair(clock_pair *pair) {
  clock_side *lower = &pair->lower, *upper = &pair->upper;
  clock_fit fit = {.knowledge = CLOCK_UNKNOWN};
  line_search search = {pair, 0};
  int64_t first, last;
  double widest, low, high, other;
  if (!lower->count || !upper->count) return fit;
  keep_hull(lower);
  keep_hull(upper);
  first = lower->facts[0].at < upper->facts[0].at ? lower->facts[0].at : upper->facts[0].at;
  last = lower->facts[lower->count - 1].at;
  if (upper->facts[upper->count - 1].at > last) last = upper->facts[upper->count - 1].at;
  fit.at = search.at = first + (last - first) / 2;
  fit.is_off = lower->most > 0 || upper->most > 0;
  fit.drift = best_slope(&search, room, -CLOCK_DRIFT_MOST, CLOCK_DRIFT_MOST);
  widest = room(&search, fit.drift);
  if (room(&search, 0) >= 0 && room(&search, 0) >= widest / 2) fit.drift = 0;
  fit.offset_ns = (highest(&search, fit.drift) + lowest(&search, fit.drift)) / 2;
  if (widest < 0) {
    fit.knowledge = CLOCK_CONTRADICTED;
    fit.bound_ns = -widest / 2;
    return fit;
  }
  low = last_slope(&search, fit.drift, -CLOCK_DRIFT_MOST);
  high = last_slope(&search, fit.drift, CLOCK_DRIFT_MOST);
  fit.knowledge = CLOCK_BOUNDED;
  fit.bound_ns = distance_at(pair, &fit, first, low, high);
  other = distance_at(pair, &fit, last, low, high);
  if (other > fit.bound_ns) fit.bound_ns = other;
  return fit;
}

/* ---- Hosts ---------------------------------------------------------------------------------------------------------- */

static int64_t rounded(double ns) {
  return (int64_t)(ns < 0 ? ns - 0.5 : ns + 0.5);
}

/* A host whose clock is being found out: its facts, as if they were all about the first host. */
typedef struct clock_host {
  clock_pair facts;
  clock_fit fit;
  int is_final, has_changed;
} clock_host;

/* A message between two hosts, of which only the second one is not final. Its other time may be off by a bound. */
static int take_fact(clock_host *to, const clock_fit *known, int64_t known_time, int64_t own_time,
                     int is_sent_by_known) {
  const int64_t time = clock_fit_apply(*known, known_time), bound = rounded(known->bound_ns);
  if (is_sent_by_known) return add_fact(&to->facts.lower, own_time, time - bound - own_time);
  return add_fact(&to->facts.upper, own_time, own_time - (time + bound));
}

/* What the pair tells of the one host, now that the other one is final. */
static int take_pair(clock_host *to, const clock_fit *known, const clock_pair *pair, int is_first) {
  int is_good = 1;
  for (uint32_t i = 0; i < pair->lower.count && is_good; i++) { /* sent by the first one of the pair */
    const int64_t received = pair->lower.facts[i].at, sent = received + pair->lower.facts[i].least;
    is_good = is_first ? take_fact(to, known, received, sent, 0) : take_fact(to, known, sent, received, 1);
  }
  for (uint32_t i = 0; i < pair->upper.count && is_good; i++) {
    const int64_t sent = pair->upper.facts[i].at, received = sent - pair->upper.facts[i].least;
    is_good = is_first ? take_fact(to, known, sent, received, 1) : take_fact(to, known, received, sent, 0);
  }
  to->has_changed = 1;
  return is_good;
}

static int is_better(clock_fit one, clock_fit two) {
  if (one.knowledge != two.knowledge) return two.knowledge == CLOCK_UNKNOWN || one.knowledge == CLOCK_BOUNDED;
  return one.bound_ns < two.bound_ns;
}

/* The host whose clock is known best; 0: nothing is known of the rest. */
static uint32_t next_host(clock_host *hosts, uint32_t count) {
  uint32_t best = 0;
  for (uint32_t i = 1; i <= count; i++) {
    clock_host *host = &hosts[i];
    if (host->is_final) continue;
    if (host->has_changed) host->fit = fit_pair(&host->facts);
    host->has_changed = 0;
    if (host->fit.knowledge != CLOCK_UNKNOWN && (!best || is_better(host->fit, hosts[best].fit))) best = i;
  }
  return best;
}

static int settle_hosts(clock_bounds *all, clock_host *hosts, uint32_t start) {
  const numbering *numbers = &all->host_numbers;
  int is_good = 1;
  hosts[start].fit.knowledge = CLOCK_BOUNDED;
  for (uint32_t known = start; known && is_good; known = next_host(hosts, numbers->count)) {
    const uint64_t own = numbers->keys[known].a;
    hosts[known].is_final = 1;
    for (uint32_t i = 1; i <= all->pair_numbers.count && is_good; i++) {
      const numbered pair = all->pair_numbers.keys[i];
      clock_host *other;
      if (pair.a != own && pair.b != own) continue;
      other = &hosts[numbering_find(numbers, pair.a == own ? pair.b : pair.a, 0)];
      if (!other->is_final) is_good = take_pair(other, &hosts[known].fit, &all->pairs[i], pair.b == own);
    }
  }
  return is_good;
}

int clock_bounds_solve(clock_bounds *all, uint32_t first) {
  const uint32_t count = all->host_numbers.count, start = numbering_find(&all->host_numbers, first, 0);
  clock_host *hosts = calloc((size_t)count + 1, sizeof *hosts);
  int is_good = hosts != NULL;
  free(all->fits);
  all->fits = calloc((size_t)count + 1, sizeof *all->fits);
  is_good = is_good && all->fits;
  for (uint32_t i = 1; i <= all->pair_numbers.count; i++) {
    keep_hull(&all->pairs[i].lower);
    keep_hull(&all->pairs[i].upper);
  }
  if (is_good && start) is_good = settle_hosts(all, hosts, start);
  for (uint32_t i = 1; i <= count && hosts; i++) {
    if (is_good) all->fits[i] = hosts[i].fit;
    free(hosts[i].facts.lower.facts);
    free(hosts[i].facts.upper.facts);
  }
  free(hosts);
  return is_good;
}

clock_fit clock_bounds_fit(const clock_bounds *all, uint32_t host) {
  uint32_t number = all->fits ? numbering_find(&all->host_numbers, host, 0) : 0;
  return number ? all->fits[number] : (clock_fit){.knowledge = CLOCK_UNKNOWN};
}

int64_t clock_fit_apply(clock_fit fit, int64_t time_ns) {
  if (fit.knowledge == CLOCK_UNKNOWN) return time_ns;
  return time_ns + rounded(fit.offset_ns + fit.drift * (double)(time_ns - fit.at));
}

void clock_bounds_free(clock_bounds *all) {
  for (uint32_t i = 0; i < all->pair_capacity; i++) {
    free(all->pairs[i].lower.facts);
    free(all->pairs[i].upper.facts);
  }
  free(all->pairs);
  free(all->fits);
  numbering_free(&all->pair_numbers);
  numbering_free(&all->host_numbers);
  *all = (clock_bounds){0};
}
