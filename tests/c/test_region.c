/* test_region.c - regions: levels, parents, ends that do not match, pauses, categories.
 * SPDX-License-Identifier: MIT */
#include "session.h"

static dft_site outer = DFT_SITE("outer", "test");
static dft_site inner = DFT_SITE("inner", "test");
static dft_site other = DFT_SITE("other", "elsewhere");

/* ---- Nesting ------------------------------------------------------------------------------------------------------ */

static void one_region_alone_gives_a_trace(void) {
  trace in;
  const event *one;
  dft_region region;
  start_in_memory();
  region = dft_region_begin(&outer);
  CHECK(region);
  dft_region_end();
  in = stop();
  one = the_event(&in, "outer");
  CHECK_STR(one->cat, "test");
  CHECK_INT(one->ph, 'X');
  CHECK_INT(one->pid, getpid());
  CHECK_INT(one->tid, getpid());
  CHECK_INT(one->id, (int64_t)region);
  CHECK_INT(one->arg_count, 3);
  check_place(&in, "outer", -1, 1);
  CHECK_INT(arg_int(the_event(&in, "end"), "num_events"), 1);
  free_trace(&in);
}

static void levels_and_parents_follow_the_nesting(void) {
  trace in;
  const event *a, *b, *c;
  start_in_memory();
  dft_region_begin_named("a", "test");
  dft_region_begin_named("b", "test");
  dft_region_begin_named("c", "test");
  dft_region_end();
  dft_region_end();
  dft_region_begin_named("d", "test");
  dft_region_end();
  dft_region_end();
  dft_region_begin_named("e", "test");
  dft_region_end();
  in = stop();
  a = the_event(&in, "a");
  b = the_event(&in, "b");
  c = the_event(&in, "c");
  check_place(&in, "a", -1, 1);
  check_place(&in, "b", a->id, 2);
  check_place(&in, "c", b->id, 3);
  check_place(&in, "d", a->id, 2);
  check_place(&in, "e", -1, 1);
  CHECK(a->ts <= b->ts && b->ts <= c->ts && c->ts + c->dur <= b->ts + b->dur && b->ts + b->dur <= a->ts + a->dur);
  free_trace(&in);
}

static void the_time_is_the_clock_of_the_epoch(void) {
  struct timespec before, after;
  trace in;
  const event *one;
  start_in_memory();
  clock_gettime(CLOCK_REALTIME, &before);
  dft_region_begin(&outer);
  usleep(20000);
  dft_region_end();
  clock_gettime(CLOCK_REALTIME, &after);
  in = stop();
  one = the_event(&in, "outer");
  CHECK(one->ts >= before.tv_sec * INT64_C(1000000) + before.tv_nsec / 1000 - 1000);
  CHECK(one->ts + one->dur <= after.tv_sec * INT64_C(1000000) + after.tv_nsec / 1000 + 1000);
  CHECK(one->dur >= 20000);
  free_trace(&in);
}

/* ---- Ends that do not match ------------------------------------------------------------------------------------------ */

static void an_end_without_a_begin_is_ignored(void) {
  trace in;
  start_in_memory();
  dft_region_end();
  dft_region_begin(&outer);
  dft_region_end();
  dft_region_end();
  dft_region_close(12345);
  dft_region_close(0);
  dft_region_begin(&inner);
  dft_region_end();
  in = stop();
  check_place(&in, "outer", -1, 1);
  check_place(&in, "inner", -1, 1);
  free_trace(&in);
}

static void ends_without_a_begin_are_told_at_level_warn(void) {
  char *text;
  setenv("DFTRACER_ENABLE", "1", 1);
  setenv("DFTRACER_SINK", "null", 1);
  text = run_anew("end twice too often");
  CHECK_STR(text, "");
  free(text);
  setenv("DFTRACER_LOG_LEVEL", "WARN", 1);
  text = run_anew("end twice too often");
  CHECK_STR(text, "dftracer: ignored 2 ends of regions that had no begin\n");
  free(text);
}

static void a_begin_without_an_end_is_an_open_region(void) {
  trace in;
  start_in_memory();
  dft_region_begin(&outer);
  dft_update_int("kept", 7);
  dft_region_begin(&inner);
  in = stop();
  check_place(&in, "outer", -1, 1);
  check_place(&in, "inner", the_event(&in, "outer")->id, 2);
  CHECK_INT(arg_int(the_event(&in, "outer"), "open"), 1);
  CHECK_INT(arg_int(the_event(&in, "outer"), "kept"), 7);
  CHECK_INT(arg_int(the_event(&in, "inner"), "open"), 1);
  CHECK(!find_arg(the_event(&in, "inner"), "kept"));
  CHECK_INT(arg_int(the_event(&in, "end"), "num_events"), 2);
  free_trace(&in);
}

static void *leave_open(void *number) {
  (void)number;
  dft_region_begin(&outer);
  dft_update_string("said", "bye");
  dft_region_begin(&inner);
  return NULL;
}

static void a_region_open_when_its_thread_ends_is_an_open_region(void) {
  trace in;
  start_in_memory();
  on_threads(1, leave_open);
  in = stop();
  CHECK_INT(arg_int(the_event(&in, "outer"), "open"), 1);
  CHECK_STR(arg_text(the_event(&in, "outer"), "said"), "bye");
  check_place(&in, "inner", the_event(&in, "outer")->id, 2);
  free_trace(&in);
}

static void the_end_after_the_stop_is_ignored(void) {
  trace in;
  start_in_memory();
  dft_region_begin(&outer);
  in = stop();
  CHECK_INT(arg_int(the_event(&in, "outer"), "open"), 1);
  free_trace(&in);
  dft_region_end();
  start_in_memory();
  dft_region_end();
  dft_region_begin(&inner);
  dft_region_end();
  in = stop();
  CHECK_INT(count_name(&in, "outer"), 0);
  check_place(&in, "inner", -1, 1);
  free_trace(&in);
}

/* ---- Pause -------------------------------------------------------------------------------------------------------- */

static void nothing_is_recorded_while_paused(void) {
  trace in;
  start_in_memory();
  CHECK_INT(dft_is_enabled(), 1);
  dft_region_begin_named("before", "test");
  dft_pause();
  CHECK_INT(dft_is_enabled(), 0);
  dft_region_begin_named("unseen", "test");
  dft_instant("unseen", "test");
  dft_counter("unseen", "test", 1);
  dft_metadata("unseen", "1");
  dft_log_event("unseen", "test", 1, 1);
  dft_pause();
  dft_resume();
  CHECK_INT(dft_is_enabled(), 0);
  dft_region_end();
  dft_region_begin_named("across", "test");
  dft_region_end();
  dft_region_end(); /* of "before": it was open, and is recorded */
  dft_resume();
  CHECK_INT(dft_is_enabled(), 1);
  dft_region_begin_named("after", "test");
  dft_region_end();
  in = stop();
  CHECK_INT(count_name(&in, "unseen") + count_name(&in, "across"), 0);
  check_place(&in, "before", -1, 1);
  check_place(&in, "after", -1, 1);
  CHECK_INT(arg_int(the_event(&in, "end"), "num_events"), 2);
  free_trace(&in);
}

static void a_region_begun_in_a_pause_hides_no_level(void) {
  trace in;
  start_in_memory();
  dft_region_begin_named("a", "test");
  dft_pause();
  dft_region_begin_named("unseen", "test");
  dft_resume();
  dft_region_begin_named("b", "test");
  dft_instant("c", "test");
  dft_region_end();
  dft_region_end();
  dft_region_end();
  in = stop();
  CHECK_INT(count_name(&in, "unseen"), 0);
  check_place(&in, "b", the_event(&in, "a")->id, 2);
  check_place(&in, "c", the_event(&in, "b")->id, 3);
  CHECK(!find_arg(the_event(&in, "a"), "open"));
  free_trace(&in);
}

static void a_resume_too_many_is_ignored(void) {
  trace in;
  start_in_memory();
  dft_resume();
  dft_resume();
  dft_pause();
  dft_instant("unseen", "test");
  dft_resume();
  dft_instant("seen", "test");
  in = stop();
  CHECK_INT(count_name(&in, "unseen"), 0);
  CHECK_INT(count_name(&in, "seen"), 1);
  free_trace(&in);
}

static void a_pause_before_the_start_holds(void) {
  trace in;
  dft_pause();
  start_in_memory();
  dft_instant("unseen", "test");
  dft_resume();
  dft_instant("seen", "test");
  in = stop();
  CHECK_INT(count_name(&in, "unseen"), 0);
  CHECK_INT(count_name(&in, "seen"), 1);
  free_trace(&in);
}

/* ---- Categories --------------------------------------------------------------------------------------------------- */

static void only_the_categories_asked_for_are_recorded(void) {
  dft_key key = DFT_KEY("k");
  dft_arg value = {.key = &key, .type = DFT_INT, .value.i = 1};
  trace in;
  set("DFTRACER_CATEGORIES", "test,more");
  start_in_memory();
  dft_region_begin(&other);
  dft_update_arg(0, &value);
  dft_region_begin(&outer);
  dft_instant("muted", "elsewhere");
  dft_instant("heard", "more");
  dft_counter("muted", "elsewhere", 1);
  dft_log_event("muted", "tes", 1, 1);
  dft_record(&other, dft_ticks(), dft_ticks(), NULL, 0);
  dft_region_end();
  dft_region_end();
  in = stop();
  check_place(&in, "outer", -1, 1);
  check_place(&in, "heard", the_event(&in, "outer")->id, 2);
  CHECK_INT(count_name(&in, "muted") + count_name(&in, "other"), 0);
  CHECK(!find_arg(the_event(&in, "outer"), "k"));
  free_trace(&in);
}

static void a_site_is_judged_anew_in_a_new_trace(void) {
  trace in;
  set("DFTRACER_CATEGORIES", "elsewhere");
  start_in_memory();
  dft_region_begin(&outer);
  dft_region_begin(&other);
  dft_region_end();
  dft_region_end();
  in = stop();
  CHECK_INT(count_name(&in, "outer"), 0);
  free_trace(&in);
  set("DFTRACER_CATEGORIES", "");
  start_in_memory();
  dft_region_begin(&outer);
  dft_region_end();
  in = stop();
  check_place(&in, "outer", -1, 1);
  free_trace(&in);
}

static void muted_regions_alone_leave_no_file(void) {
  set("DFTRACER_ENABLE", "1");
  set("DFTRACER_CATEGORIES", "test");
  CHECK_INT(dft_start(NULL), DFT_OK);
  dft_region_begin(&other);
  CHECK_INT(dft_stop(), DFT_OK);
  CHECK_INT(dft_start(NULL), DFT_OK);
  dft_pause();
  dft_region_begin(&outer);
  CHECK_INT(dft_stop(), DFT_OK);
  dft_resume();
  CHECK_INT(dft_start(NULL), DFT_OK);
  dft_enter();
  CHECK_INT(dft_stop(), DFT_OK);
  CHECK_INT(count_files(".", NULL), 0);
}

/* ---- Levels ------------------------------------------------------------------------------------------------------- */

static void an_explicit_event_takes_the_level_that_was_entered(void) {
  trace in;
  start_in_memory();
  CHECK_INT(dft_enter(), 0);
  CHECK_INT(dft_enter(), 1);
  dft_region_begin_named("inside", "test");
  dft_region_end();
  dft_log_event("second", "test", 100, 10);
  dft_log_event("further", "test", 100, 5);
  dft_exit();
  dft_log_event("first", "test", 100, 20);
  dft_exit();
  dft_exit(); /* one too many */
  dft_log_event("alone", "test", 200, 1);
  in = stop_any(DFT_OK);
  check_place(&in, "first", -1, 1);
  check_place(&in, "second", the_event(&in, "first")->id, 2);
  check_place(&in, "inside", the_event(&in, "second")->id, 3);
  check_place(&in, "further", the_event(&in, "second")->id, 3);
  check_place(&in, "alone", -1, 1);
  free_trace(&in);
}

static void ends_and_exits_find_their_own(void) {
  trace in;
  start_in_memory();
  dft_region_begin(&outer);
  dft_enter();
  dft_update_int("for", 1); /* the innermost region, past the level */
  dft_region_end();
  dft_exit();
  dft_region_begin(&inner);
  dft_region_end();
  in = stop();
  CHECK_INT(arg_int(the_event(&in, "outer"), "for"), 1);
  check_place(&in, "inner", -1, 1);
  free_trace(&in);
}

int main(int argc, char **argv) {
  (void)argv;
  if (argc > 1) {
    dft_region_begin(&outer);
    for (int i = 0; i < 3; i++) dft_region_end();
    return 0;
  }
  RUN(one_region_alone_gives_a_trace);
  RUN(levels_and_parents_follow_the_nesting);
  RUN(the_time_is_the_clock_of_the_epoch);
  RUN(an_end_without_a_begin_is_ignored);
  RUN(ends_without_a_begin_are_told_at_level_warn);
  RUN(a_begin_without_an_end_is_an_open_region);
  RUN(a_region_open_when_its_thread_ends_is_an_open_region);
  RUN(the_end_after_the_stop_is_ignored);
  RUN(nothing_is_recorded_while_paused);
  RUN(a_region_begun_in_a_pause_hides_no_level);
  RUN(a_resume_too_many_is_ignored);
  RUN(a_pause_before_the_start_holds);
  RUN(only_the_categories_asked_for_are_recorded);
  RUN(a_site_is_judged_anew_in_a_new_trace);
  RUN(muted_regions_alone_leave_no_file);
  RUN(an_explicit_event_takes_the_level_that_was_entered);
  RUN(ends_and_exits_find_their_own);
  return failed_cases;
}
