/* test_region.c - regions: levels, parents, ends that do not match, lanes, pauses, and names of every kind.
 * SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>

#include "region.h"
#include "session.h"

static dft_site outer = DFT_SITE("outer", "test");
static dft_site inner = DFT_SITE("inner", "test");
static dft_site other = DFT_SITE("other", "elsewhere");

static void check_place(const trace *in, const char *name, int64_t parent, int64_t level) {
  const event *one = the_event(in, name);
  CHECK_INT(arg_int(one, "p_idx"), parent);
  CHECK_INT(arg_int(one, "level"), level);
}

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
  CHECK_STR(text, "dftracer: 2 ends of regions had no begin and were ignored\n");
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

/* ---- Depth -------------------------------------------------------------------------------------------------------- */

enum { DEEP = 65536, TOO_DEEP = 200000 };

static void sixty_five_thousand_regions_nest(void) {
  static int64_t parent[DEEP + 2], id[DEEP + 2];
  trace in;
  start_in_memory();
  for (int i = 0; i < DEEP; i++) CHECK(dft_region_begin(&inner));
  for (int i = 0; i < DEEP; i++) dft_region_end();
  in = stop();
  CHECK_INT(count_name(&in, "inner"), DEEP);
  for (size_t i = 0; i < in.count; i++) {
    int64_t level = arg_int(&in.events[i], "level");
    if (strcmp(in.events[i].name, "inner") != 0) continue;
    CHECK(level >= 1 && level <= DEEP && !id[level]);
    id[level] = in.events[i].id;
    parent[level] = arg_int(&in.events[i], "p_idx");
  }
  id[0] = -1;
  for (int level = 1; level <= DEEP; level++) CHECK_INT(parent[level], id[level - 1]);
  free_trace(&in);
}

/* Many times what one batch holds. */
static void sixty_five_thousand_open_regions_are_told_once(void) {
  trace in;
  set("DFTRACER_ENABLE", "1");
  set("DFTRACER_TRACE_COMPRESSION", "0");
  CHECK_INT(dft_start(&(dft_options){sizeof(dft_options), "deep.pfw", NULL}), DFT_OK);
  for (int i = 0; i < DEEP; i++) CHECK(dft_region_begin(&inner));
  CHECK_INT(dft_stop(), DFT_OK);
  in = read_trace("deep.pfw");
  CHECK_INT(count_name(&in, "inner"), DEEP);
  CHECK_INT(arg_int(the_event(&in, "end"), "num_events"), DEEP);
  free_trace(&in);
}

static void regions_too_deep_are_dropped_and_counted(void) {
  trace in;
  int recorded = 0;
  start_in_memory();
  for (int i = 0; i < TOO_DEEP; i++) recorded += dft_region_begin(&inner) != 0;
  CHECK(recorded > DEEP && recorded < TOO_DEEP);
  dft_update_int("lost", 1); /* belongs to a region that was dropped */
  for (int i = 0; i < TOO_DEEP; i++) dft_region_end();
  dft_region_begin(&outer);
  dft_region_end();
  CHECK_UINT(dft_dropped(), (uint64_t)(TOO_DEEP - recorded));
  in = stop_any(DFT_EDROPPED);
  CHECK_INT(count_name(&in, "inner"), recorded);
  check_place(&in, "outer", -1, 1);
  CHECK_INT(arg_int(the_event(&in, "end"), "num_dropped"), TOO_DEEP - recorded);
  CHECK(arg_int(the_event(&in, "end"), "dropped_first") <= arg_int(the_event(&in, "end"), "dropped_last"));
  CHECK(arg_int(the_event(&in, "end"), "dropped_first") >= the_event(&in, "start")->ts);
  free_trace(&in);
}

static void regions_too_deep_are_closed_by_handle_too(void) {
  static dft_region regions[TOO_DEEP];
  trace in;
  start_in_memory();
  for (int i = 0; i < TOO_DEEP; i++) regions[i] = dft_region_begin(&inner);
  for (int i = TOO_DEEP; i-- > 0;) dft_region_close(regions[i]);
  dft_region_begin(&outer);
  dft_update_int("seen", 1);
  dft_region_end();
  in = stop_any(DFT_EDROPPED);
  check_place(&in, "outer", -1, 1);
  CHECK_INT(arg_int(the_event(&in, "outer"), "seen"), 1);
  CHECK(!find_arg(the_event(&in, "outer"), "open"));
  free_trace(&in);
}

/* ---- Out of order --------------------------------------------------------------------------------------------------- */

static void a_region_closed_out_of_order_goes_onto_a_lane(void) {
  dft_region a, b;
  const event *first, *second;
  trace in;
  int64_t lane;
  start_in_memory();
  a = dft_region_begin_named("a", "test");
  b = dft_region_begin_named("b", "test");
  usleep(1000);
  dft_region_close(a);
  usleep(1000);
  dft_region_begin_named("c", "test");
  dft_region_end();
  dft_region_close(b);
  dft_region_begin_named("d", "test");
  dft_region_end();
  in = stop();
  first = the_event(&in, "a");
  second = the_event(&in, "b");
  lane = second->tid;
  CHECK_INT(first->tid, getpid());
  CHECK(lane > 1 << 22);
  CHECK(second->ts + second->dur > first->ts + first->dur);
  CHECK_INT(arg_int(second, "p_idx"), first->id);
  check_place(&in, "c", second->id, 3);
  check_place(&in, "d", -1, 1);
  for (size_t i = 0; i < in.count; i++) {
    if (strcmp(in.events[i].name, "thread_name") == 0 && in.events[i].tid == lane) lane = 0;
  }
  CHECK_INT(lane, 0); /* it has a name */
  free_trace(&in);
}

static void the_outer_of_two_can_be_updated_and_closed_first(void) {
  dft_region a, b;
  trace in;
  start_in_memory();
  a = dft_region_begin_named("a", "test");
  b = dft_region_begin_named("b", "test");
  dft_update_int_n(b, "of", 2, 2);
  dft_update_int_n(a, "of", 2, 1);
  dft_region_close(a);
  dft_update_int_n(a, "late", 4, 1);
  dft_update_int_n(b, "more", 4, 3);
  dft_region_close(a);
  dft_region_close(b);
  in = stop();
  CHECK_INT(arg_int(the_event(&in, "a"), "of"), 1);
  CHECK(!find_arg(the_event(&in, "a"), "late"));
  CHECK_INT(arg_int(the_event(&in, "b"), "of"), 2);
  CHECK_INT(arg_int(the_event(&in, "b"), "more"), 3);
  CHECK(!find_arg(the_event(&in, "b"), "late"));
  free_trace(&in);
}

/* Coroutines: up to 40 at once, begun, updated and closed in random order. */
static void any_order_gives_lanes_without_overlap(void) {
  enum { LIVE = 40, STEPS = 20000 };
  dft_region live[LIVE] = {0};
  int64_t number[LIVE] = {0};
  unsigned random = 12345;
  int64_t begun = 0;
  trace in;
  char seen[STEPS + 1] = "";
  start_in_memory();
  for (int step = 0; step < STEPS; step++) {
    int slot;
    random = random * 1103515245u + 12345u;
    slot = (int)(random >> 16) % LIVE;
    if (!live[slot]) {
      live[slot] = dft_region_begin(&inner);
      number[slot] = ++begun;
    } else if (random >> 30 == 0) {
      dft_region_begin(&outer);
      dft_region_end();
    } else {
      dft_update_int_n(live[slot], "number", 6, number[slot]);
      dft_region_close(live[slot]);
      live[slot] = 0;
    }
  }
  for (int slot = 0; slot < LIVE; slot++) {
    if (live[slot]) dft_update_int_n(live[slot], "number", 6, number[slot]);
    dft_region_close(live[slot]);
  }
  in = stop();
  CHECK_INT(count_name(&in, "inner"), begun);
  for (size_t i = 0; i < in.count; i++) {
    int64_t which = arg_int(&in.events[i], "number");
    if (strcmp(in.events[i].name, "inner") != 0) continue;
    CHECK(which >= 1 && which <= begun && !seen[which]++);
    CHECK(!find_arg(&in.events[i], "open"));
  }
  free_trace(&in);
}

/* Two coroutines that take turns, one of them always open: what has ended does not fill the stack. */
static void regions_that_take_turns_go_on_for_ever(void) {
  enum { TURNS = 250000 }; /* more than a stack has room for */
  static char seen[TURNS];
  dft_region before = 0;
  trace in;
  set("DFTRACER_SPOOL_LIMIT", "256M");
  dft_handlers_are_silent();
  start_in_memory();
  for (int turn = 0; turn < FEWER(TURNS, 3000); turn++) {
    dft_region region = dft_region_begin(&inner);
    dft_update_int_n(region, "turn", 4, turn);
    dft_region_close(before);
    before = region;
  }
  dft_region_close(before);
  in = stop();
  CHECK_INT(count_name(&in, "inner"), FEWER(TURNS, 3000));
  for (size_t i = 0; i < in.count; i++) {
    const event *one = &in.events[i];
    int64_t turn = arg_int(one, "turn");
    if (strcmp(one->name, "inner") != 0) continue;
    CHECK(turn >= 0 && turn < TURNS && !seen[turn]++);
  }
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

/* ---- Names -------------------------------------------------------------------------------------------------------- */

static void names_may_be_missing(void) {
  dft_site nothing = DFT_SITE(NULL, NULL);
  dft_site empty = DFT_SITE("", "");
  trace in;
  size_t unnamed = 0;
  start_in_memory();
  dft_region_begin(&nothing);
  dft_region_end();
  dft_region_begin(&empty);
  dft_region_end();
  dft_region_begin(NULL);
  dft_region_end();
  dft_region_begin_named(NULL, NULL);
  dft_region_end();
  dft_region_begin_n("abc", 0, "def", 0);
  dft_region_end();
  dft_region_begin_named("named", NULL);
  dft_region_end();
  in = stop();
  for (size_t i = 0; i < in.count; i++) {
    unnamed += strcmp(in.events[i].name, "(unnamed)") == 0 && strcmp(in.events[i].cat, "(unnamed)") == 0;
  }
  CHECK_INT(unnamed, 5);
  CHECK_STR(the_event(&in, "named")->cat, "(unnamed)");
  free_trace(&in);
}

static void a_name_may_hold_anything(void) {
  trace in;
  const event *bad;
  start_in_memory();
  dft_region_begin_named("say \"no\"\n\tto\\it", "a\"b");
  dft_region_end();
  dft_region_begin_n("zero\0inside", 11, "[x]", 3);
  dft_region_end();
  dft_region_begin_named("f\xc3\xbcr \xe2\x82\xac", "\xf0\x9f\x98\x80");
  dft_region_end();
  dft_region_begin_named("bad\xff", "cat\xfe");
  dft_region_end();
  in = stop();
  CHECK_STR(the_event(&in, "say \"no\"\n\tto\\it")->cat, "a\"b");
  CHECK(strstr(the_event(&in, "zero")->line, "\"name\":\"zero\\u0000inside\",\"cat\":\"\\u005bx\\u005d\""));
  CHECK_STR(the_event(&in, "f\xc3\xbcr \xe2\x82\xac")->cat, "\xf0\x9f\x98\x80");
  bad = the_event(&in, "bad\xef\xbf\xbd");
  CHECK_STR(bad->cat, "cat\xef\xbf\xbd");
  CHECK_STR(arg_text(bad, "name.hex"), "626164ff");
  CHECK_STR(arg_text(bad, "cat.hex"), "636174fe");
  free_trace(&in);
}

/* Longer than any limit, cut at a character; bytes that are no characters are cut at the limit. */
static void a_huge_name_is_cut_at_a_character(void) {
  enum { LEN = 1 << 20 };
  char *name = malloc(LEN + 1);
  trace in;
  size_t found = 0;
  CHECK(name);
  start_in_memory();
  for (size_t shift = 0; shift < 3; shift++) {
    memset(name, 'x', shift);
    for (size_t i = shift; i + 3 <= LEN; i += 3) memcpy(name + i, "\xe2\x82\xac", 3);
    dft_region_begin_n(name, LEN, name, LEN);
    dft_region_end();
  }
  memset(name, 0x80, LEN);
  dft_region_begin_n(name, LEN, "bad", 3);
  dft_region_end();
  in = stop();
  for (size_t i = 0; i < in.count; i++) {
    size_t len = strlen(in.events[i].name);
    if (strcmp(in.events[i].cat, "bad") == 0) {
      CHECK(find_arg(&in.events[i], "name.hex") && find_arg(&in.events[i], "name.hex")->len >= 2 * 4093);
      continue;
    }
    if (len < 100) continue;
    found++;
    CHECK(len <= 4096 && len > 4092);
    CHECK_BYTES(in.events[i].name + len - 3, 3, "\xe2\x82\xac", 3);
    CHECK_STR(in.events[i].cat, in.events[i].name);
    CHECK(!find_arg(&in.events[i], "name.hex"));
  }
  CHECK_INT(found, 3);
  free_trace(&in);
  free(name);
}

/* Many more than can be registered; the others travel with their events. */
static void a_million_distinct_names_are_kept(void) {
  enum { NAMES = FEWER(1000000, 100000) };
  char *seen = calloc(NAMES, 1);
  size_t found = 0;
  trace in;
  CHECK(seen);
  start_in_memory();
  for (int i = 0; i < NAMES; i++) {
    char name[32];
    snprintf(name, sizeof name, "name %d", i);
    dft_region_begin_named(name, i % 2 ? "odd" : "even");
    dft_update_int("number", i);
    dft_region_end();
  }
  in = stop();
  for (size_t i = 0; i < in.count; i++) {
    int number;
    if (sscanf(in.events[i].name, "name %d", &number) != 1) continue;
    CHECK(number >= 0 && number < NAMES && !seen[number]++);
    CHECK_STR(in.events[i].cat, number % 2 ? "odd" : "even");
    CHECK_INT(arg_int(&in.events[i], "number"), number);
    found++;
  }
  CHECK_INT(found, NAMES);
  free_trace(&in);
  free(seen);
}

/* Static sites that came too late for the registry. */
static void sites_beyond_the_registry_are_recorded(void) {
  enum { SITES = 70000 };
  dft_site *sites = calloc(SITES, sizeof *sites);
  char(*names)[16] = calloc(SITES, sizeof *names);
  trace in;
  CHECK(sites && names);
  set("DFTRACER_CATEGORIES", "kept");
  start_in_memory();
  for (int turn = 0; turn < 2; turn++) {
    for (int i = 0; i < SITES; i++) {
      snprintf(names[i], sizeof names[i], "site %d", i);
      sites[i].name = names[i];
      sites[i].cat = i % 7 ? "kept" : "muted";
      dft_region_begin(&sites[i]);
      dft_region_end();
      dft_record(&sites[i], dft_ticks(), dft_ticks(), NULL, 0);
    }
  }
  in = stop();
  CHECK_INT(count_name(&in, "site 1"), 4);
  CHECK_INT(count_name(&in, "site 69999"), 4);
  CHECK_INT(count_name(&in, "site 7"), 0);
  CHECK_INT(count_name(&in, "site 69993"), 0);
  CHECK_INT(arg_int(the_event(&in, "end"), "num_events"), INT64_C(4) * (SITES - SITES / 7));
  free_trace(&in);
  free(sites);
  free(names);
}

/* ---- Threads ------------------------------------------------------------------------------------------------------ */

enum { ROUNDS = FEWER(20000, 2000) };

static void *record_nested(void *number) {
  int64_t own = (intptr_t)number;
  for (int i = 0; i < ROUNDS; i++) {
    dft_region_begin(&outer);
    dft_region_begin(&inner);
    dft_update_int("thread", own);
    dft_region_end();
    dft_region_end();
  }
  return NULL;
}

/* Each inner region lies in an outer one of its own thread. The first event of all opens the trace, on any of them. */
static void threads_have_stacks_of_their_own(void) {
  enum { THREADS = 8 };
  int64_t tids[THREADS] = {0};
  trace in;
  set("DFTRACER_ENABLE", "1");
  set("DFTRACER_SINK", "memory");
  on_threads(THREADS, record_nested);
  in = stop();
  CHECK_INT(count_name(&in, "inner"), (int64_t)THREADS * ROUNDS);
  CHECK_INT(count_name(&in, "outer"), (int64_t)THREADS * ROUNDS);
  for (size_t i = 0; i < in.count; i++) {
    int64_t thread = arg_int(&in.events[i], "thread");
    if (strcmp(in.events[i].name, "outer") == 0) CHECK_INT(arg_int(&in.events[i], "level"), 1);
    if (strcmp(in.events[i].name, "inner") != 0) continue;
    CHECK_INT(arg_int(&in.events[i], "level"), 2);
    CHECK(thread >= 0 && thread < THREADS);
    if (!tids[thread]) tids[thread] = in.events[i].tid;
    CHECK_INT(in.events[i].tid, tids[thread]);
  }
  for (int i = 0; i < THREADS; i++) {
    size_t names = 0;
    for (size_t k = 0; k < in.count; k++) {
      names += strcmp(in.events[k].name, "thread_name") == 0 && in.events[k].tid == tids[i];
    }
    CHECK_INT(names, 1);
  }
  free_trace(&in);
}

static void *record_one(void *number) {
  (void)number;
  dft_region_begin(&inner);
  dft_region_end();
  return NULL;
}

/* Memory of a thread that has ended serves the next ones. */
static void ten_thousand_short_threads_stay_cheap(void) {
  enum { THREADS = FEWER(10000, 2000) };
  struct rusage before, after;
  struct stat facts;
  char spool[256], path[512];
  set("DFTRACER_ENABLE", "1");
  set("DFTRACER_TRACE_COMPRESSION", "0");
  CHECK_INT(dft_start(&(dft_options){sizeof(dft_options), "short.pfw", NULL}), DFT_OK);
  for (int i = 0; i < THREADS; i++) {
    on_threads(1, record_one);
    if (i == THREADS / 5) getrusage(RUSAGE_SELF, &before);
  }
  getrusage(RUSAGE_SELF, &after);
  CHECK(count_files(".dftracer", spool) <= 2);
  snprintf(path, sizeof path, ".dftracer/%s", "short.spool");
  CHECK_INT(stat(path, &facts), 0);
  CHECK(facts.st_size <= 48 << 20);
  if (FEWER(1, 0)) CHECK(after.ru_maxrss - before.ru_maxrss < 40 << 10);
  CHECK_INT(dft_stop(), DFT_OK);
  trace in = read_trace("short.pfw");
  CHECK_INT(count_name(&in, "inner"), THREADS);
  CHECK_INT(count_name(&in, "thread_name"), THREADS + 1);
  CHECK_INT(arg_int(the_event(&in, "end"), "num_events"), THREADS);
  free_trace(&in);
}

static _Atomic int is_running;

static void *record_until_told(void *number) {
  (void)number;
  while (is_running) {
    dft_region_begin(&outer);
    dft_update_string("text", "some");
    dft_region_end();
    dft_instant("now", "test");
  }
  return NULL;
}

/* Other threads go on as if nothing had happened, into whatever trace is open. */
static void a_stop_while_threads_record_is_clean(void) {
  pthread_t threads[4];
  is_running = 1;
  start_in_memory();
  for (int i = 0; i < 4; i++) CHECK_INT(pthread_create(&threads[i], NULL, record_until_told, NULL), 0);
  for (int turn = 0; turn < 6; turn++) {
    trace in;
    dft_instant("at least one", "test");
    usleep(10000);
    in = stop();
    CHECK_INT(count_name(&in, "at least one"), 1);
    free_trace(&in);
    usleep(1000);
    start_in_memory();
    dft_pause();
    dft_resume();
  }
  is_running = 0;
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  CHECK_INT(dft_stop(), DFT_OK);
  dft__memory_reset();
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
  RUN(sixty_five_thousand_regions_nest);
  RUN(sixty_five_thousand_open_regions_are_told_once);
  RUN(regions_too_deep_are_dropped_and_counted);
  RUN(regions_too_deep_are_closed_by_handle_too);
  RUN(a_region_closed_out_of_order_goes_onto_a_lane);
  RUN(the_outer_of_two_can_be_updated_and_closed_first);
  RUN(any_order_gives_lanes_without_overlap);
  RUN(regions_that_take_turns_go_on_for_ever);
  RUN(nothing_is_recorded_while_paused);
  RUN(a_region_begun_in_a_pause_hides_no_level);
  RUN(a_resume_too_many_is_ignored);
  RUN(a_pause_before_the_start_holds);
  RUN(only_the_categories_asked_for_are_recorded);
  RUN(a_site_is_judged_anew_in_a_new_trace);
  RUN(muted_regions_alone_leave_no_file);
  RUN(an_explicit_event_takes_the_level_that_was_entered);
  RUN(ends_and_exits_find_their_own);
  RUN(names_may_be_missing);
  RUN(a_name_may_hold_anything);
  RUN(a_huge_name_is_cut_at_a_character);
  RUN(a_million_distinct_names_are_kept);
  RUN(sites_beyond_the_registry_are_recorded);
  RUN(threads_have_stacks_of_their_own);
  RUN(ten_thousand_short_threads_stay_cheap);
  RUN(a_stop_while_threads_record_is_clean);
  return failed_cases;
}
