/* test_stack.c - the stack of a thread's open regions: how deep it is, and ends out of order, which give lanes.
 * SPDX-License-Identifier: MIT */
#include "session.h"

static dft_site outer = DFT_SITE("outer", "test");
static dft_site inner = DFT_SITE("inner", "test");

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

static int is_named(const trace *in, int64_t tid) {
  for (size_t i = 0; i < in->count; i++) {
    if (strcmp(in->events[i].name, "thread_name") == 0 && in->events[i].tid == tid) return 1;
  }
  return 0;
}

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
  CHECK(is_named(&in, lane));
  free_trace(&in);
}

static void one_that_is_never_closed_goes_onto_a_lane(void) {
  dft_region a;
  const event *open;
  trace in;
  start_in_memory();
  a = dft_region_begin_named("a", "test");
  dft_region_begin_named("b", "test");
  dft_update_arg(0, &(dft_arg){.name = "file", .name_len = 4, .type = DFT_PATH, .value.s = {"/some/where", 11}});
  usleep(1000);
  dft_region_close(a);
  usleep(1000);
  in = stop();
  open = the_event(&in, "b");
  CHECK_INT(arg_int(open, "open"), 1);
  CHECK(find_arg(open, "file") != NULL);
  CHECK(open->tid > 1 << 22);
  CHECK(is_named(&in, open->tid));
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
  enum { LIVE = 40, STEPS = 20000, LANE_TID = 1 << 22 };
  dft_region live[LIVE] = {0};
  int64_t number[LIVE] = {0};
  unsigned random = 12345;
  int64_t begun = 0, lanes = 0;
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
    if (in.events[i].tid - LANE_TID > lanes) lanes = in.events[i].tid - LANE_TID;
  }
  CHECK(lanes >= LIVE / 2 && lanes <= 4 * LIVE); /* used again, however many there are */
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

int main(void) {
  RUN(sixty_five_thousand_regions_nest);
  RUN(sixty_five_thousand_open_regions_are_told_once);
  RUN(regions_too_deep_are_dropped_and_counted);
  RUN(regions_too_deep_are_closed_by_handle_too);
  RUN(a_region_closed_out_of_order_goes_onto_a_lane);
  RUN(one_that_is_never_closed_goes_onto_a_lane);
  RUN(the_outer_of_two_can_be_updated_and_closed_first);
  RUN(any_order_gives_lanes_without_overlap);
  RUN(regions_that_take_turns_go_on_for_ever);
  return failed_cases;
}
