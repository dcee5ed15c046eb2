/* test_clock.c - ticks never step back and lead to the epoch, whichever clock they come from.
 * SPDX-License-Identifier: MIT */
#include "spool/clock.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "session.h"

static const char *const clock_names[] = {"monotonic", "auto", "tsc"}; /* the last two may be one of the others here */

/* The header of the open trace's spool. */
static dft__header *live_header(void) {
  char name[256], path[512];
  int fd;
  void *header;
  CHECK_INT(count_files(".dftracer", name), 1);
  snprintf(path, sizeof path, ".dftracer/%s", name);
  CHECK((fd = open(path, O_RDWR)) >= 0);
  header = mmap(NULL, DFT__HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  CHECK(header != MAP_FAILED);
  close(fd);
  return header;
}

static void pause_ms(long ms) {
  struct timespec time = {0, ms * 1000000};
  nanosleep(&time, NULL);
}

/* ---- Reading ------------------------------------------------------------------------------------------------------ */

static void ticks_never_step_back(void) {
  for (int i = 0; i < 3; i++) {
    uint64_t before, opened;
    set("DFTRACER_CLOCK", clock_names[i]);
    start_in_memory();
    before = opened = live_header()->opened_ticks;
    for (int k = 0; k < 100000; k++) {
      uint64_t now = k % 3 == 0 ? dft__clock_ticks() : k % 3 == 1 ? dft_ticks() : dft_ticks_inline();
      CHECK(now >= before);
      before = now;
    }
    CHECK(before > opened);
    CHECK_INT(dft_stop(), DFT_OK);
    CHECK(dft_ticks() >= before); /* they go on without a trace */
  }
}

static void monotonic_ticks_are_nanoseconds(void) {
  uint64_t before, now, after;
  set("DFTRACER_CLOCK", "monotonic");
  start_in_memory();
  CHECK_UINT(live_header()->clock.source, DFT__CLOCK_MONOTONIC);
  CHECK_UINT(dft_tsc_until, 0);
  before = dft_ticks();
  now = dft__clock_ns();
  after = dft_ticks_inline();
  CHECK(before <= now && now <= after);
}

/* Where the kernel keeps time by the counter, so do we. */
static void the_counter_is_used_where_the_kernel_uses_it(void) {
  FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "r");
  char name[64] = "";
  int is_tsc = file && fgets(name, sizeof name, file) && strcmp(name, "tsc\n") == 0;
  if (file) fclose(file);
#ifndef __x86_64__
  is_tsc = 0;
#endif
  start_in_memory();
  CHECK_UINT(live_header()->clock.source, is_tsc ? DFT__CLOCK_TSC : DFT__CLOCK_MONOTONIC);
  CHECK_INT(dft_tsc_until != 0, is_tsc);
}

/* Ticks taken before the first event belong to the same clock as its end. */
static void the_first_ticks_are_good(void) {
  static dft_site site = DFT_SITE("first", "test");
  set("DFTRACER_ENABLE", "1");
  set("DFTRACER_SINK", "memory");
  uint64_t begin = dft_ticks_inline();
  pause_ms(2);
  dft_record(&site, begin, dft_ticks_inline(), NULL, 0);
  trace in = stop();
  CHECK(the_event(&in, "first")->dur >= 2000 && the_event(&in, "first")->dur < 60000000);
  free_trace(&in);
}

/* ---- Times of events ------------------------------------------------------------------------------------------------ */

typedef struct bracket {
  uint64_t before_begin, after_begin, before_end, after_end; /* ns since the epoch */
} bracket;

static uint64_t offset_ns;
static uint64_t epoch_ns(void) {
  return dft__clock_ns() + offset_ns;
}

static void region_within(bracket *times, const char *name, long ms) {
  times->before_begin = epoch_ns();
  dft_region_begin_named(name, "test");
  times->after_begin = epoch_ns();
  if (ms) pause_ms(ms);
  times->before_end = epoch_ns();
  dft_region_end();
  times->after_end = epoch_ns();
}

/* A clock that is wrong is off by more: by a part of the pause, or of the time since the machine began. How exact a right one
 * is depends on how busy the machine is; c.clockmap tells of the map alone. */
#define SLACK_NS 100000

static void check_within(const event *found, const bracket *times) {
  uint64_t start = (uint64_t)found->ts * 1000, end = start + (uint64_t)found->dur * 1000;
  CHECK(start + SLACK_NS >= times->before_begin && start <= times->after_begin + SLACK_NS);
  CHECK(end + SLACK_NS >= times->before_end && end <= times->after_end + SLACK_NS);
}

static void check_is_epoch(void) {
  uint64_t before = epoch_ns(), now = dft__clock_read(CLOCK_REALTIME), after = epoch_ns();
  CHECK(now + 1000000 >= before && now <= after + 1000000); /* unless it is set at this very moment */
}

static void times_are_those_of_the_kernel(void) {
  static const long pauses[] = {0, 0, 1, 3, 30, 0, 200, 0, 350, 1};
  enum { COUNT = sizeof pauses / sizeof pauses[0] };
  for (int i = 0; i < 3; i++) {
    bracket times[COUNT];
    char names[COUNT][16];
    trace in;
    set("DFTRACER_CLOCK", clock_names[i]);
    start_in_memory();
    offset_ns = (uint64_t)live_header()->epoch_offset_ns;
    check_is_epoch();
    for (int k = 0; k < COUNT; k++) {
      snprintf(names[k], sizeof names[k], "region %d", k);
      region_within(&times[k], names[k], pauses[k]);
    }
    in = stop();
    for (int k = 0; k < COUNT; k++) check_within(the_event(&in, names[k]), &times[k]);
    free_trace(&in);
  }
}

static void the_clock_call_fits_the_events(void) {
  trace in;
  start_in_memory();
  uint64_t before = dft_time();
  dft_region_begin_named("region", "test");
  dft_region_end();
  uint64_t after = dft_time();
  in = stop();
  uint64_t start = (uint64_t)the_event(&in, "region")->ts;
  CHECK(start + SLACK_NS / 1000 >= before && start <= after + SLACK_NS / 1000);
  free_trace(&in);
}

/* One scenario with either clock: all but the times is the same, and so is the order of times. */
static void scenario(void) {
  dft_arg args[2] = {{.name = "n", .name_len = 1, .type = DFT_INT, .value.i = 7},
                     {.name = "s", .name_len = 1, .type = DFT_STRING, .value.s = {"text", 4}}};
  dft_region_begin_named("outer", "test");
  for (int i = 0; i < 50; i++) {
    dft_region_begin_named("inner", "test");
    dft_update_int("i", i);
    dft_instant_n("instant", 7, "test", 4, args, 2);
    dft_region_end();
    dft_counter("counter", "test", i);
  }
  dft_region_end();
  dft_metadata("key", "value");
  dft_region_begin_named("open", "test");
}

static void both_clocks_give_the_same_trace(void) {
  trace in[2];
  for (int i = 0; i < 2; i++) {
    set("DFTRACER_CLOCK", clock_names[i]);
    start_in_memory();
    scenario();
    in[i] = stop();
  }
  CHECK_INT((int64_t)in[0].count, (int64_t)in[1].count);
  for (size_t i = 0; i < in[0].count; i++) {
    const event *a = &in[0].events[i], *b = &in[1].events[i];
    CHECK_STR(a->name, b->name);
    CHECK_STR(a->cat, b->cat);
    CHECK_INT(a->ph, b->ph);
    CHECK_INT(a->id, b->id);
    CHECK_INT((int64_t)a->arg_count, (int64_t)b->arg_count);
    for (size_t k = 0; k < a->arg_count; k++) {
      CHECK_STR(a->args[k].key, b->args[k].key);
      if (strcmp(a->args[k].key, "date") == 0 || strcmp(a->args[k].key, "finish_ns") == 0 ||
          strcmp(a->args[k].key, "process_age_ns") == 0)
        continue;
      CHECK_STR(a->args[k].text, b->args[k].text);
    }
  }
  free_trace(&in[0]);
  free_trace(&in[1]);
}

/* ---- Other processes and threads ------------------------------------------------------------------------------------- */

static bracket *shared;

static void record_and_die(void) {
  CHECK_INT(dft_start(&(dft_options){sizeof(dft_options), "out/dead.pfw", NULL}), DFT_OK);
  for (int i = 0; i < 5; i++) {
    char name[16];
    snprintf(name, sizeof name, "region %d", i);
    region_within(&shared[i], name, i * 40);
  }
  kill(getpid(), SIGKILL);
}

static void a_recovered_spool_has_the_same_times(void) {
  shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(shared != MAP_FAILED);
  start_in_memory();
  offset_ns = (uint64_t)live_header()->epoch_offset_ns; /* the same for all, but for a few nanoseconds */
  CHECK_INT(dft_stop(), DFT_OK);
  set("DFTRACER_SINK", "jsonl");
  set("DFTRACER_TRACE_COMPRESSION", "0");
  for (int i = 0; i < 2; i++) {
    trace in;
    set("DFTRACER_CLOCK", clock_names[i]);
    CHECK_INT(in_process(record_and_die), 128 + SIGKILL);
    set("DFTRACER_CLOCK", clock_names[!i]); /* who recovers may use the other clock */
    CHECK_INT(dft_recover("out", NULL), DFT_OK);
    in = read_trace("out/dead.pfw");
    for (int k = 0; k < 5; k++) {
      char name[16];
      snprintf(name, sizeof name, "region %d", k);
      check_within(the_event(&in, name), &shared[k]);
    }
    free_trace(&in);
  }
}

static void a_forked_child_lies_within_its_parent(void) {
  char path[64];
  trace of_parent, of_child;
  const event *around, *inside;
  pid_t child;
  int status;
  set("DFTRACER_ENABLE", "1");
  set("DFTRACER_TRACE_COMPRESSION", "0");
  CHECK_INT(dft_start(&(dft_options){sizeof(dft_options), "parent.pfw", NULL}), DFT_OK);
  dft_region_begin_named("around", "test");
  child = fork();
  if (!child) {
    dft_region_begin_named("inside", "test");
    dft_region_end();
    exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  dft_region_end();
  CHECK_INT(dft_stop(), DFT_OK);
  snprintf(path, sizeof path, "parent-%d.pfw", child);
  of_parent = read_trace("parent.pfw");
  of_child = read_trace(path);
  around = the_event(&of_parent, "around");
  inside = the_event(&of_child, "inside");
  CHECK(inside->ts >= around->ts && inside->ts + inside->dur <= around->ts + around->dur);
  free_trace(&of_parent);
  free_trace(&of_child);
}

enum { TURNS = 20000 };
static _Atomic int turn;

static void *take_turns(void *number) {
  static dft_site site = DFT_SITE("turn", "test");
  for (int i = (int)(intptr_t)number; i < TURNS; i += 2) {
    while (atomic_load_explicit(&turn, memory_order_acquire) != i) sched_yield();
    dft_region_begin(&site);
    dft_update_int("turn", i);
    dft_region_end();
    atomic_store_explicit(&turn, i + 1, memory_order_release);
  }
  return NULL;
}

/* What one thread did because another had done something comes later in a trace that tells nanoseconds, on whatever core. */
static void threads_in_turn_are_in_order(void) {
  static int64_t starts[TURNS], ends[TURNS];
  trace in;
  set("DFTRACER_TIME_METRIC", "NS");
  start_in_memory();
  on_threads(2, take_turns);
  in = stop();
  CHECK_INT(count_name(&in, "turn"), TURNS);
  for (size_t i = 0; i < in.count; i++) {
    const event *one = &in.events[i];
    if (strcmp(one->name, "turn") != 0) continue;
    starts[arg_int(one, "turn")] = one->ts;
    ends[arg_int(one, "turn")] = one->ts + one->dur;
  }
  for (int i = 1; i < TURNS; i++) CHECK(ends[i - 1] <= starts[i]);
  free_trace(&in);
}

/* ---- Trouble ------------------------------------------------------------------------------------------------------ */

/* How far the map is from the kernel's clock now, by the quickest of many looks. */
static uint64_t ahead_ns(const dft__header *header) {
  uint64_t best = UINT64_MAX, ahead = 0;
  for (int i = 0; i < 100; i++) {
    uint64_t before = epoch_ns(), mapped = dft__epoch_ns(&header->clock, dft_ticks()), width = epoch_ns() - before;
    if (width >= best) continue;
    best = width;
    ahead = mapped - before;
  }
  return ahead;
}

/* As after the sleep of a machine whose counter begins anew: the map is far ahead of it. */
static void a_counter_that_steps_back_is_replaced(void) {
  bracket times;
  trace in;
  start_in_memory();
  dft__header *header = live_header();
  if (header->clock.source != DFT__CLOCK_TSC) SKIP("the time stamp counter is not safe here");
  offset_ns = (uint64_t)header->epoch_offset_ns;
  dft_region_begin_named("before", "test");
  dft_region_end();
  pause_ms(1);
  uint64_t ahead = dft_ticks() + (UINT64_C(1) << 40);
  header->clock.settled = ahead;
  dft__clock_check();
  CHECK_UINT(dft_tsc_until, 0);
  CHECK(dft_ticks() >= ahead);
  offset_ns += ahead_ns(header); /* what the map had promised stands */
  region_within(&times, "after", 20);
  in = stop();
  check_within(the_event(&in, "after"), &times);
  CHECK(the_event(&in, "after")->ts >= the_event(&in, "before")->ts);
  free_trace(&in);
}

/* Every open trace of a process has a map of its own; the wall clock may have been set in between. */
static void a_second_trace_begins_anew(void) {
  for (int i = 0; i < 3; i++) {
    bracket times;
    trace in;
    start_in_memory();
    offset_ns = (uint64_t)live_header()->epoch_offset_ns;
    region_within(&times, "region", 2);
    in = stop();
    check_within(the_event(&in, "region"), &times);
    free_trace(&in);
  }
}

int main(void) {
  RUN(ticks_never_step_back);
  RUN(monotonic_ticks_are_nanoseconds);
  RUN(the_counter_is_used_where_the_kernel_uses_it);
  RUN(the_first_ticks_are_good);
  RUN(times_are_those_of_the_kernel);
  RUN(the_clock_call_fits_the_events);
  RUN(both_clocks_give_the_same_trace);
  RUN(a_recovered_spool_has_the_same_times);
  RUN(a_forked_child_lies_within_its_parent);
  RUN(threads_in_turn_are_in_order);
  RUN(a_counter_that_steps_back_is_replaced);
  RUN(a_second_trace_begins_anew);
  return failed_cases;
}
