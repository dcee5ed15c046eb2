/* test_span.c - regions that are taken off the stack, and measurements that were never on it, recorded later or never.
 * SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>

#include "session.h"

static dft_site outer = DFT_SITE("outer", "test");
static dft_site inner = DFT_SITE("inner", "test");

static dft_span taken(dft_region region) {
  dft_span span = {.struct_size = sizeof span};
  dft_region_take(region, &span);
  return span;
}

static void a_taken_region_is_recorded_where_it_stood(void) {
  dft_arg args[] = {{.name = "n", .name_len = 1, .type = DFT_INT, .value.i = 7}};
  trace in;
  const event *one;
  dft_region region;
  dft_span span;
  start_in_memory();
  dft_region_begin(&outer);
  region = dft_region_begin(&inner);
  span = taken(region);
  CHECK_INT((int64_t)span.id, (int64_t)region);
  dft_region_begin_named("after", "test"); /* a sibling: the taken one is off the stack */
  dft_span_record(&span, args, 1);
  dft_region_end();
  dft_region_end();
  in = stop();
  one = the_event(&in, "inner");
  CHECK_INT(one->id, (int64_t)region);
  CHECK_INT(arg_int(one, "n"), 7);
  CHECK_INT(arg_int(one, "level"), 2);
  CHECK_INT(arg_int(one, "p_idx"), the_event(&in, "outer")->id);
  CHECK_INT(arg_int(the_event(&in, "after"), "p_idx"), the_event(&in, "outer")->id);
  CHECK(one->ts + one->dur <= the_event(&in, "after")->ts);
  CHECK_INT(arg_int(the_event(&in, "end"), "num_events"), 3);
  free_trace(&in);
}

static void one_that_is_not_recorded_leaves_nothing(void) {
  trace in;
  start_in_memory();
  taken(dft_region_begin(&inner));
  dft_region_begin(&outer);
  dft_region_end();
  in = stop();
  CHECK_INT(arg_int(the_event(&in, "outer"), "level"), 1);
  CHECK_INT(arg_int(the_event(&in, "end"), "num_events"), 1);
  free_trace(&in);
}

static void a_span_of_nothing_or_of_another_trace_is_ignored(void) {
  trace in;
  dft_span span;
  start_in_memory();
  span = taken(dft_region_begin(&inner));
  dft_region_begin(&outer);
  dft_region_end();
  in = stop();
  free_trace(&in);
  CHECK_INT((int64_t)taken(12345).id, 0);
  dft_region_take(1, NULL);
  start_in_memory();
  CHECK_INT((int64_t)taken(12345).id, 0);
  dft_span_record(&span, NULL, 0);
  dft_span_record(NULL, NULL, 0);
  dft_region_begin(&outer);
  dft_region_end();
  in = stop();
  CHECK_INT(arg_int(the_event(&in, "end"), "num_events"), 1);
  free_trace(&in);
}

static dft_site measured = DFT_SITE("measured", "test");

static dft_span begun(void) {
  dft_span span = {.struct_size = sizeof span};
  dft_span_begin(&measured, &span);
  return span;
}

static void finish(dft_span *span, int overlaps) {
  dft_span_end(span, overlaps);
  dft_span_record(span, NULL, 0);
}

static int is_on_a_lane(const trace *in, const char *name) {
  return the_event(in, name)->tid > 1 << 22;
}

static void a_measurement_owns_nothing_of_what_happens_meanwhile(void) {
  trace in;
  dft_span span;
  int64_t around;
  start_in_memory();
  dft_region_begin(&outer);
  span = begun();
  dft_region_begin(&inner);
  dft_region_end();
  finish(&span, 0);
  begun(); /* given up */
  dft_region_end();
  in = stop();
  around = the_event(&in, "outer")->id;
  CHECK_INT(arg_int(the_event(&in, "measured"), "p_idx"), around);
  CHECK_INT(arg_int(the_event(&in, "measured"), "level"), 2);
  CHECK_INT(arg_int(the_event(&in, "inner"), "p_idx"), around);
  CHECK(!is_on_a_lane(&in, "measured"));
  CHECK_INT(arg_int(the_event(&in, "end"), "num_events"), 3);
  free_trace(&in);
}

static void one_that_a_region_outlives_goes_onto_a_lane(void) {
  trace in;
  dft_span span;
  start_in_memory();
  dft_region_begin(&outer);
  span = begun();
  dft_region_begin(&inner);
  finish(&span, 0);
  dft_region_end();
  dft_region_end();
  in = stop();
  CHECK(is_on_a_lane(&in, "measured"));
  CHECK(!is_on_a_lane(&in, "inner"));
  CHECK_INT(arg_int(the_event(&in, "measured"), "p_idx"), the_event(&in, "outer")->id);
  free_trace(&in);
}

static void one_that_outlives_a_region_goes_onto_a_lane(void) {
  trace in;
  dft_span span;
  start_in_memory();
  dft_region_begin(&outer);
  dft_region_begin(&inner);
  span = begun();
  dft_region_end();
  finish(&span, 0);
  dft_region_end();
  in = stop();
  CHECK(is_on_a_lane(&in, "measured"));
  CHECK_INT(arg_int(the_event(&in, "measured"), "p_idx"), the_event(&in, "outer")->id);
  free_trace(&in);
}

static void one_that_outlives_a_region_further_out_goes_onto_a_lane(void) {
  trace in;
  dft_span span;
  dft_region first, second;
  start_in_memory();
  first = dft_region_begin(&outer);
  second = dft_region_begin(&inner);
  span = begun();
  dft_region_close(first);
  finish(&span, 0);
  dft_region_close(second);
  in = stop();
  CHECK(is_on_a_lane(&in, "measured"));
  CHECK(is_on_a_lane(&in, "inner"));
  CHECK(the_event(&in, "measured")->tid != the_event(&in, "inner")->tid);
  free_trace(&in);
}

static void one_that_its_caller_knows_to_overlap_goes_onto_a_lane(void) {
  trace in;
  dft_span span;
  start_in_memory();
  span = begun();
  finish(&span, 1);
  in = stop();
  CHECK(is_on_a_lane(&in, "measured"));
  CHECK_INT(arg_int(the_event(&in, "measured"), "p_idx"), -1);
  free_trace(&in);
}

static void a_measurement_of_another_trace_or_without_a_site_is_none(void) {
  trace in;
  dft_span span, small = {.struct_size = 8};
  start_in_memory();
  span = begun();
  dft_region_begin(&outer);
  dft_region_end();
  in = stop();
  free_trace(&in);
  start_in_memory();
  finish(&span, 0);
  CHECK_INT((int64_t)span.id, 0);
  dft_span_begin(NULL, &span);
  finish(&span, 0);
  dft_span_begin(&measured, &small);
  dft_span_begin(&measured, NULL);
  dft_span_end(NULL, 0);
  finish(&small, 0);
  dft_region_begin(&outer);
  dft_region_end();
  in = stop();
  CHECK_INT(arg_int(the_event(&in, "end"), "num_events"), 1);
  free_trace(&in);
}

static void a_span_keeps_its_name_when_names_have_run_out(void) {
  static dft_site block = DFT_SITE("block", "test");
  dft_span span, of_region;
  trace in;
  start_in_memory();
  use_up_names();
  span = begun();
  finish(&span, 0);
  of_region = taken(dft_region_begin_site(&block));
  dft_span_record(&of_region, NULL, 0);
  of_region = taken(dft_region_begin_site(&block));
  of_region.named = &block;
  dft_span_record(&of_region, NULL, 0);
  in = stop();
  CHECK_STR(the_event(&in, measured.name)->cat, measured.cat);
  CHECK_STR(the_event(&in, "block")->cat, "test");
  CHECK_INT(count_name(&in, "unknown"), 1);
  free_trace(&in);
}

int main(void) {
  RUN(a_measurement_owns_nothing_of_what_happens_meanwhile);
  RUN(one_that_a_region_outlives_goes_onto_a_lane);
  RUN(one_that_outlives_a_region_goes_onto_a_lane);
  RUN(one_that_outlives_a_region_further_out_goes_onto_a_lane);
  RUN(one_that_its_caller_knows_to_overlap_goes_onto_a_lane);
  RUN(a_measurement_of_another_trace_or_without_a_site_is_none);
  RUN(a_taken_region_is_recorded_where_it_stood);
  RUN(one_that_is_not_recorded_leaves_nothing);
  RUN(a_span_of_nothing_or_of_another_trace_is_ignored);
  RUN(a_span_keeps_its_name_when_names_have_run_out);
  return failed_cases;
}
