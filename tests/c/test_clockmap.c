/* test_clockmap.c - maps from ticks to the epoch, against clocks that are made up: hours pass in milliseconds here.
 *
 * A made-up counter runs at a constant 2.4 GHz; a made-up kernel clock strays from it as its profile says. Every sample has an
 * error, as real ones do.
 * SPDX-License-Identifier: MIT */
#include "check.h"
#include "spool/clockmap.h"

#define HZ 2400000000.0
#define PERIOD (UINT64_C(1) << 28) /* of clock.c */
#define START UINT64_C(123456789012345)
#define EPOCH UINT64_C(1700000000000000000)
#define NOISE_NS 25

static uint64_t seed;
static uint64_t dice(uint64_t sides) {
  seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (seed >> 33) % sides;
}

/* ---- Kernel clocks: nanoseconds by which they are ahead of the counter's true time after so many seconds ---- */

static double steady(double s) {
  return 31e3 * s; /* 31 ppm */
}

/* As time servers do: another rate every minute, up to a tenth of a millionth apart. */
static double disciplined(double s) {
  double ahead = 0, minute = 0;
  for (; minute + 60 <= s; minute += 60) ahead += 60 * 100 * ((double)((unsigned)(minute * 7919) % 201) - 100) / 100;
  return ahead + (s - minute) * 100 * ((double)((unsigned)(minute * 7919) % 201) - 100) / 100 + 31e3 * s;
}

/* A correction by slewing: 15 ppm faster for five minutes in every half hour. */
static double slewed(double s) {
  double rounds = (double)(uint64_t)(s / 1800), rest = s - rounds * 1800;
  return (rounds * 300 + (rest < 300 ? rest : 300)) * 15e3;
}

static uint64_t truth(double (*ahead)(double), uint64_t ticks) {
  double s = (double)(ticks - START) / HZ;
  return EPOCH + (uint64_t)(s * 1e9 + ahead(s));
}

static void sample_at(dft__clock_map *map, double (*ahead)(double), uint64_t ticks) {
  dft__sample sample = {ticks, truth(ahead, ticks) + dice(2 * NOISE_NS + 1) - NOISE_NS, NOISE_NS};
  if (ticks == START) dft__clock_map_begin(map, DFT__CLOCK_TSC, &sample, 0);
  else dft__clock_map_add(map, &sample);
}

static uint64_t off_by(const dft__clock_map *map, double (*ahead)(double), uint64_t ticks) {
  uint64_t said = dft__epoch_ns(map, ticks), is = truth(ahead, ticks);
  return said > is ? said - is : is - said;
}

/* ---- Cases -------------------------------------------------------------------------------------------------------- */

/* Runs for `seconds` with comparisons at the pace of clock.c. `busy`: a batch settles the map every now and then. Remembers
 * what the map said of settled ticks, and holds all of it against the truth, and against what it says in the end. */
enum { KEPT_MOST = 100000 };
static struct { uint64_t ticks, ns; } kept[KEPT_MOST];

static uint64_t run(dft__clock_map *map, double (*ahead)(double), double seconds, int is_busy) {
  uint64_t end = START + (uint64_t)(seconds * HZ), now = START, worst = 0, count = 0, last = 0;
  uint64_t each = (end - START) / PERIOD / KEPT_MOST + 1, turn = 0;
  sample_at(map, ahead, START);
  sample_at(map, ahead, now += 1000000);
  while (now < end) {
    uint64_t age = now - START, next = now + (age < PERIOD ? age : PERIOD), event = now + dice(next - now);
    sample_at(map, ahead, next);
    if (is_busy && turn % 3 == 0) map->settled = next + dice(100);
    if (turn++ % each == 0 && count < KEPT_MOST) {
      kept[count].ticks = event;
      kept[count++].ns = event <= map->settled ? dft__epoch_ns(map, event) : 0;
    }
    now = next;
  }
  for (uint64_t i = 0; i < count; i++) {
    uint64_t ns = dft__epoch_ns(map, kept[i].ticks), off = off_by(map, ahead, kept[i].ticks);
    CHECK(ns >= last);
    if (kept[i].ns && DFT__GET(map->count) < DFT__KNOTS) CHECK_UINT(ns, kept[i].ns);
    if (off > worst) worst = off;
    last = ns;
  }
  CHECK(count > 100);
  CHECK(DFT__GET(map->count) >= 2 && DFT__GET(map->count) <= DFT__KNOTS);
  return worst;
}

static void an_hour_is_told_to_the_microsecond(void) {
  static double (*const profiles[])(double) = {steady, disciplined, slewed};
  static const char *const names[] = {"steady", "disciplined", "slewed"};
  static dft__clock_map map;
  for (int i = 0; i < 3; i++) {
    for (int is_busy = 0; is_busy < 2; is_busy++) {
      uint64_t worst = run(&map, profiles[i], 3600, is_busy);
      fprintf(stderr, "%s%s: off by %" PRIu64 " ns at most, %u knots\n", names[i], is_busy ? ", busy" : "", worst,
              DFT__GET(map.count));
      CHECK(worst <= 1000);
    }
  }
}

/* Two comparisons are enough for a short life: exact at both, and nothing else is known. */
static void a_millisecond_is_told_as_well(void) {
  static dft__clock_map map;
  for (int i = 0; i < 1000; i++) {
    uint64_t end = START + 100000 + dice(2400000);
    sample_at(&map, steady, START);
    sample_at(&map, steady, end);
    for (int k = 0; k < 10; k++) CHECK(off_by(&map, steady, START + dice(end - START)) <= 2 * NOISE_NS);
    CHECK(off_by(&map, steady, end + (end - START)) <= 4 * NOISE_NS + 1); /* killed before the next one */
  }
}

/* A rate that changes all the time fills the table; what is taken out is what matters least. */
static double restless(double s) {
  uint64_t turns = (uint64_t)(s / 2);
  return (turns % 2 ? s - (double)turns * 2 : 2 - (s - (double)turns * 2)) * 5e3;
}

static void a_full_table_is_thinned(void) {
  static dft__clock_map map;
  uint64_t before = 0;
  CHECK(run(&map, restless, 3600, 1) < 20000); /* it strays by 10,000 ns to and fro */
  CHECK_UINT(DFT__GET(map.count) >= DFT__KNOTS - 1, 1);
  for (uint64_t t = START; t < START + (uint64_t)(3600 * HZ); t += 1000000000) {
    uint64_t ns = dft__epoch_ns(&map, t);
    CHECK(ns >= before);
    before = ns;
  }
  for (uint32_t i = 1; i < DFT__GET(map.count); i++) CHECK(map.knots[i].ticks > map.knots[i - 1].ticks);
}

/* The kernel's clock never steps back, but a sample may lie behind what the map had foretold. */
static void no_line_falls(void) {
  static dft__clock_map map;
  dft__sample sample = {1000, 1000000, 0};
  dft__clock_map_begin(&map, DFT__CLOCK_TSC, &sample, 0);
  dft__clock_map_add(&map, &(dft__sample){2000, 1001000, 0});
  map.settled = 20000; /* foretold: 1019000 */
  dft__clock_map_add(&map, &(dft__sample){20010, 1010000, 0});
  CHECK_UINT(dft__epoch_ns(&map, 20000), 1019000);
  CHECK_UINT(dft__epoch_ns(&map, 20010), 1019000);
  for (uint64_t t = 1000; t < 50000; t += 7) CHECK(dft__epoch_ns(&map, t) <= dft__epoch_ns(&map, t + 7));
  dft__clock_map_add(&map, &(dft__sample){40000, 1030000, 0});
  CHECK_UINT(dft__epoch_ns(&map, 20000), 1019000);
  CHECK(dft__epoch_ns(&map, 40000) >= 1029999 && dft__epoch_ns(&map, 40000) <= 1030000);
}

static void ticks_before_the_first_knot_have_a_time(void) {
  static dft__clock_map map;
  dft__clock_map_begin(&map, DFT__CLOCK_MONOTONIC, &(dft__sample){5000, 7000, 0}, UINT64_C(1) << DFT__RATE_LOG);
  CHECK_UINT(dft__epoch_ns(&map, 5000), 7000);
  CHECK_UINT(dft__epoch_ns(&map, 4000), 6000);
  CHECK_UINT(dft__epoch_ns(&map, 6000), 8000);
  dft__clock_map_begin(&map, DFT__CLOCK_MONOTONIC, &(dft__sample){5000, 700, 0}, UINT64_C(1) << DFT__RATE_LOG);
  CHECK_UINT(dft__epoch_ns(&map, 0), 0);
}

/* A stranger's map may hold anything. */
static void damage_does_no_harm(void) {
  static dft__clock_map map;
  for (int i = 0; i < 100000; i++) {
    uint8_t *bytes = (uint8_t *)&map;
    bytes[dice(sizeof map)] = (uint8_t)dice(256);
    if (i % 3 == 0) bytes[dice(64)] = (uint8_t)dice(256);
    CHECK(dft__epoch_ns(&map, (uint64_t)dice(UINT32_MAX) << dice(33)) <= INT64_MAX);
  }
}

int main(void) {
  an_hour_is_told_to_the_microsecond();
  a_millisecond_is_told_as_well();
  a_full_table_is_thinned();
  no_line_falls();
  ticks_before_the_first_knot_have_a_time();
  damage_does_no_harm();
  return 0;
}
