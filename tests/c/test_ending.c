/* test_ending.c - what the `end` says of the program: when it ended, what tracing cost, and which regions do not fit.
 * SPDX-License-Identifier: MIT */
#include "session.h"
#include "sink_finish.h"

#define MS UINT64_C(1000000)

/* ---- When the program ended, and what tracing cost ---------------------------------------------------------------------- */

DFT_API extern finish_seen finish_in_test;
finish_seen finish_in_test;

static void record(int count) {
  static dft_site site = DFT_SITE("step", "test");
  for (int i = 0; i < count; i++) {
    dft_region_begin(&site);
    dft_region_end();
  }
}

static void start_finish(void) {
  set("DFTRACER_ENABLE", "1");
  set("DFTRACER_SINK", plugin("sink_finish"));
  set("DFTRACER_TIME_METRIC", "NS");
  CHECK_INT(dft_start(NULL), DFT_OK);
}

/* The drain's thread is in the sink when the program stops the trace, and comes out of it some time later. */
static void the_end_is_when_the_program_ended(void) {
  uint64_t stopped_ns;
  const finish_seen *seen = &finish_in_test;
  start_finish();
  record(20000);
  while (!atomic_load(&seen->is_called)) usleep(1000);
  stopped_ns = now_ns(CLOCK_REALTIME);
  CHECK_INT(dft_stop(), DFT_OK);
  CHECK(seen->held_until_ns > stopped_ns && seen->last_append_ns >= seen->held_until_ns);
  CHECK(seen->end_ns + MS >= stopped_ns);     /* the clocks differ by less */
  CHECK(seen->end_ns <= seen->held_until_ns); /* not when the rest was written */
  CHECK(seen->finish_ns + MS >= seen->last_append_ns - seen->held_until_ns);
  CHECK(seen->finish_ns <= now_ns(CLOCK_REALTIME) - stopped_ns + MS);
  CHECK(seen->drain_cpu_ns >= seen->cpu_ns);
}

static void waiting_for_room_is_counted(void) {
  uint64_t begun_ns;
  finish_in_test.pause_ns = 20 * MS;
  set("DFTRACER_SPOOL_LIMIT", "1M");
  start_finish();
  begun_ns = now_ns(CLOCK_MONOTONIC);
  record(100000); /* of which the spool holds a sixth */
  begun_ns = now_ns(CLOCK_MONOTONIC) - begun_ns;
  CHECK_INT(dft_stop(), DFT_OK);
  CHECK(finish_in_test.assist_ns > 0 && finish_in_test.assist_ns <= begun_ns);
}

/* ---- Ends without a begin, and begins without an end ---------------------------------------------------------------------- */

static void check_unmatched(const event *end, int64_t count, const char *sites) {
  CHECK_INT(arg_int(end, "unmatched_ends"), count ? count : INT64_MIN);
  if (count) CHECK_STR(arg_text(end, "unmatched_sites"), sites);
  else CHECK(!find_arg(end, "unmatched_sites"));
}

static void check_open(const event *end, int64_t count, const char *sites) {
  CHECK_INT(arg_int(end, "open_regions"), count ? count : INT64_MIN);
  if (count) CHECK_STR(arg_text(end, "open_sites"), sites);
  else CHECK(!find_arg(end, "open_sites"));
}

static void region(const char *name) {
  dft_region_begin_named(name, "test");
  dft_region_end();
}

static void a_balanced_program_says_nothing(void) {
  trace in;
  start_in_memory();
  region("a");
  dft_region_close(dft_region_begin_named("b", "test"));
  dft_enter();
  dft_exit();
  dft_pause();
  region("c");
  dft_resume();
  in = stop();
  check_unmatched(the_event(&in, "end"), 0, NULL);
  check_open(the_event(&in, "end"), 0, NULL);
  free_trace(&in);
}

static void ends_without_a_begin_are_counted_and_named(void) {
  trace in;
  start_in_memory();
  dft_region_end();
  region("a");
  dft_region_end();
  dft_region_end();
  region("b");
  dft_region_end();
  in = stop();
  check_unmatched(the_event(&in, "end"), 4, "no region (dftracer); a (test); b (test)");
  check_open(the_event(&in, "end"), 0, NULL);
  free_trace(&in);
}

static void only_ten_are_named(void) {
  trace in;
  start_in_memory();
  for (char name[2] = "a"; name[0] <= 'l'; name[0]++) {
    region(name);
    dft_region_end();
  }
  in = stop();
  check_unmatched(the_event(&in, "end"), 12,
                  "a (test); b (test); c (test); d (test); e (test); f (test); g (test); h (test); i (test); j (test)");
  free_trace(&in);
}

static void *leave_two_open(void *unused) {
  (void)unused;
  dft_region_begin_named("thread", "test");
  dft_region_begin_named("inner", "test");
  return NULL;
}

static void regions_without_an_end_are_counted_and_named(void) {
  trace in;
  size_t open = 0;
  start_in_memory();
  on_threads(2, leave_two_open);
  dft_region_begin_named("main", "test");
  dft_enter();
  in = stop();
  for (size_t i = 0; i < in.count; i++) open += find_arg(&in.events[i], "open") != NULL;
  CHECK_INT(open, 5);
  check_open(the_event(&in, "end"), 5, "thread (test); inner (test); main (test)");
  check_unmatched(the_event(&in, "end"), 0, NULL);
  free_trace(&in);
}

static void without_metadata_nothing_is_said(void) {
  trace in;
  set("DFTRACER_INC_METADATA", "0");
  start_in_memory();
  dft_region_end();
  dft_region_begin_named("main", "test");
  in = stop();
  CHECK_INT(the_event(&in, "end")->arg_count, 1);
  CHECK_INT(the_event(&in, "start")->arg_count, 1);
  free_trace(&in);
}

static void while_nothing_is_recorded_nothing_is_counted(void) {
  trace in;
  start_in_memory();
  region("a");
  in = stop();
  free_trace(&in);
  dft_region_end();
  start_in_memory();
  region("b");
  in = stop();
  check_unmatched(the_event(&in, "end"), 0, NULL);
  free_trace(&in);
}

/* ---- Forked and killed processes ------------------------------------------------------------------------------------------ */

static void to_a_file(void) {
  set("DFTRACER_ENABLE", "1");
  set("DFTRACER_SINK", "jsonl");
  set("DFTRACER_TRACE_COMPRESSION", "0");
  CHECK_INT(dft_start(&(dft_options){sizeof(dft_options), "a.pfw", NULL}), DFT_OK);
}

/* Two regions are open at the fork: the third end has no begin anywhere. */
static void end_three(void) {
  region("child");
  for (int i = 0; i < 3; i++) dft_region_end();
}

static void a_child_may_end_what_began_before_the_fork(void) {
  char name[64];
  trace in;
  pid_t child;
  int status;
  to_a_file();
  dft_region_begin_named("outer", "test");
  dft_region_begin_named("inner", "test");
  child = fork();
  if (!child) {
    end_three();
    exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  dft_region_end();
  dft_region_end();
  CHECK_INT(dft_stop(), DFT_OK);
  in = read_trace("a.pfw");
  check_unmatched(the_event(&in, "end"), 0, NULL);
  check_open(the_event(&in, "end"), 0, NULL);
  free_trace(&in);
  snprintf(name, sizeof name, "a-%d.pfw", (int)child);
  in = read_trace(name);
  check_unmatched(the_event(&in, "end"), 1, "child (test)");
  free_trace(&in);
}

static void *leave_one_open(void *unused) {
  (void)unused;
  dft_region_begin_named("thread", "test");
  return NULL;
}

static void die(void) {
  to_a_file();
  on_threads(1, leave_one_open);
  dft_region_end();
  dft_region_begin_named("main", "test");
  kill(getpid(), SIGKILL);
}

/* Its own regions had no chance to end. What finishing took, nobody knows. */
static void a_recovered_trace_says_what_it_knows(void) {
  trace in;
  CHECK_INT(in_process(die), 128 + SIGKILL);
  CHECK_INT(dft_recover(".", NULL), DFT_OK);
  in = read_trace("a.pfw");
  check_unmatched(the_event(&in, "end"), 1, "no region (dftracer)");
  check_open(the_event(&in, "end"), 1, "thread (test)");
  CHECK(find_arg(the_event(&in, "main"), "open"));
  CHECK(!find_arg(the_event(&in, "end"), "finish_ns") && !find_arg(the_event(&in, "end"), "drain_cpu_ns"));
  free_trace(&in);
}

int main(void) {
  RUN(the_end_is_when_the_program_ended);
  RUN(waiting_for_room_is_counted);
  RUN(a_balanced_program_says_nothing);
  RUN(ends_without_a_begin_are_counted_and_named);
  RUN(only_ten_are_named);
  RUN(regions_without_an_end_are_counted_and_named);
  RUN(without_metadata_nothing_is_said);
  RUN(while_nothing_is_recorded_nothing_is_counted);
  RUN(a_child_may_end_what_began_before_the_fork);
  RUN(a_recovered_trace_says_what_it_knows);
  return failed_cases;
}
