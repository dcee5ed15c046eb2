/* test_clockbounds.c - clocks whose offset and drift are known: the fit finds them, and the bound says how far it may be off.
 * The core does not have these files: the command does. SPDX-License-Identifier: MIT */
#include "command/trace/clockbounds.c"

#include "check.h"
#include "command/trace/numbering.c"

#define S 1000000000LL
#define JOB (100 * S)

static uint64_t seed = 12345;

/* A number below `limit`, the same in every run. */
static int64_t random_below(int64_t limit) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((seed >> 33) % (uint64_t)limit);
}

/* What the clock of a host shows at a true time. */
typedef struct test_clock {
  int64_t offset;
  double drift;
} test_clock;
static int64_t shown(test_clock clock, int64_t time) {
  return 1700000000 * S + time + clock.offset + (int64_t)(clock.drift * (double)time);
}

static const test_clock right = {0, 0};

/* Messages in both directions that take 20 to 80 us. */
static void exchange(clock_bounds *all, uint32_t one, test_clock first, uint32_t two, test_clock second, int count) {
  for (int i = 0; i < count; i++) {
    int64_t time = random_below(JOB);
    CHECK(clock_bounds_message(all, one, two, shown(first, time), shown(second, time + 20000 + random_below(60000))));
    time = random_below(JOB);
    CHECK(clock_bounds_message(all, two, one, shown(second, time), shown(first, time + 20000 + random_below(60000))));
  }
}

/* The largest error of the fit during the job. */
static int64_t error_of(clock_fit fit, test_clock clock) {
  int64_t most = 0;
  for (int64_t time = 0; time <= JOB; time += JOB / 100) {
    int64_t error = clock_fit_apply(fit, shown(clock, time)) - shown(right, time);
    if (error < 0) error = -error;
    if (error > most) most = error;
  }
  return most;
}

static void offset_and_drift_are_found(int64_t offset, double drift) {
  const test_clock clock = {offset, drift};
  clock_bounds all = {0};
  clock_fit fit;
  exchange(&all, 1, right, 2, clock, 2000);
  CHECK(clock_bounds_solve(&all, 1));
  fit = clock_bounds_fit(&all, 2);
  CHECK_INT(fit.knowledge, CLOCK_BOUNDED);
  CHECK(error_of(fit, clock) <= (int64_t)fit.bound_ns + 2);
  CHECK(fit.bound_ns < 60000); /* the fastest messages take 20 us */
  CHECK_INT(fit.is_off, offset > 80000 || offset < -80000);
  CHECK_INT(clock_bounds_fit(&all, 1).offset_ns, 0);
  clock_bounds_free(&all);
}

static void zero_drift_is_preferred(void) {
  const clock_visit visits[] = {{7, 1000, 900000}, {9, 500, 800000}};
  clock_bounds all = {0};
  clock_fit fit;
  CHECK(clock_bounds_collective(&all, visits, 2));
  CHECK(clock_bounds_solve(&all, 7));
  fit = clock_bounds_fit(&all, 9);
  CHECK_INT(fit.knowledge, CLOCK_BOUNDED);
  CHECK(fit.drift == 0);
  CHECK_INT((int64_t)fit.offset_ns, (900000 - 500 + 1000 - 800000) / 2);
  CHECK(fit.bound_ns >= 899499 - 50250 && fit.bound_ns < 1000000);
  CHECK_INT(fit.is_off, 0);
  clock_bounds_free(&all);
}

static void hosts_are_compared_by_way_of_others(void) {
  const test_clock second = {300000000, 20e-6}, third = {-5 * S, -30e-6};
  clock_bounds all = {0};
  clock_fit fit;
  exchange(&all, 5, right, 4, second, 500);
  exchange(&all, 4, second, 9, third, 500);
  CHECK(clock_bounds_solve(&all, 5));
  fit = clock_bounds_fit(&all, 9);
  CHECK_INT(fit.knowledge, CLOCK_BOUNDED);
  CHECK(error_of(fit, third) <= (int64_t)fit.bound_ns + 2);
  CHECK(fit.bound_ns > clock_bounds_fit(&all, 4).bound_ns);
  CHECK_INT(fit.is_off, 1);
  clock_bounds_free(&all);
}

static void one_direction_is_not_enough(void) {
  clock_bounds all = {0};
  CHECK(clock_bounds_message(&all, 1, 2, 0, 100));
  CHECK(clock_bounds_message(&all, 3, 3, 0, 100));
  CHECK(clock_bounds_solve(&all, 1));
  CHECK_INT(clock_bounds_fit(&all, 2).knowledge, CLOCK_UNKNOWN);
  CHECK_INT(clock_fit_apply(clock_bounds_fit(&all, 2), 77), 77);
  CHECK_INT(clock_bounds_fit(&all, 3).knowledge, CLOCK_UNKNOWN);
  clock_bounds_free(&all);
}

static void a_clock_that_was_set_is_noticed(void) {
  clock_bounds all = {0};
  clock_fit fit;
  for (int64_t time = 0; time < JOB; time += S) {
    const int64_t offset = time < JOB / 2 ? 0 : 3 * S;
    CHECK(clock_bounds_message(&all, 1, 2, time, time + offset + 50000));
    CHECK(clock_bounds_message(&all, 2, 1, time + offset, time + 50000));
  }
  CHECK(clock_bounds_solve(&all, 1));
  fit = clock_bounds_fit(&all, 2);
  CHECK_INT(fit.knowledge, CLOCK_CONTRADICTED);
  CHECK(fit.bound_ns > S && fit.bound_ns < 2 * S);
  clock_bounds_free(&all);
}

static void impossible_times_are_ignored(void) {
  clock_bounds all = {0};
  CHECK(clock_bounds_message(&all, 1, 2, INT64_MIN, INT64_MAX));
  CHECK(clock_bounds_message(&all, 2, 1, INT64_MAX, INT64_MIN));
  CHECK(clock_bounds_message(&all, 1, 2, -(INT64_MAX / 4), INT64_MAX / 4));
  CHECK(clock_bounds_solve(&all, 1));
  CHECK_INT(clock_bounds_fit(&all, 2).knowledge, CLOCK_UNKNOWN);
  clock_bounds_free(&all);
}

int main(void) {
  offset_and_drift_are_found(0, 0);
  offset_and_drift_are_found(250000000, 0);
  offset_and_drift_are_found(-3 * S, 100e-6);
  offset_and_drift_are_found(1000000, -400e-6);
  zero_drift_is_preferred();
  hosts_are_compared_by_way_of_others();
  one_direction_is_not_enough();
  a_clock_that_was_set_is_noticed();
  impossible_times_are_ignored();
  return 0;
}
