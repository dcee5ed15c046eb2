/* test_event.c - events that one call makes: instants, counters, metadata, measured and explicit times; none while off.
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <math.h>

#include "session.h"

static dft_site measured = DFT_SITE("measured", "test");

/* ---- Instants, counters, metadata ------------------------------------------------------------------------------------ */

static void an_instant_has_no_duration(void) {
  dft_arg args[] = {{.name = "a", .name_len = 1, .type = DFT_INT, .value.i = 1},
                    {.name = "b", .name_len = 1, .type = DFT_STRING, .value.s = {"two", 3}},
                    {.name = "a", .name_len = 1, .type = DFT_INT, .value.i = 3}};
  trace in;
  const event *one;
  start_in_memory();
  dft_region_begin_named("around", "test");
  dft_instant_n("instant", 7, "test", 4, args, 3);
  dft_region_end();
  dft_instant("plain", "test");
  dft_instant_n("none", 4, "test", 4, NULL, 5);
  dft_instant(NULL, NULL);
  in = stop();
  one = the_event(&in, "instant");
  CHECK_INT(one->dur, 0);
  CHECK_INT(one->ph, 'X');
  CHECK_INT(arg_int(one, "p_idx"), the_event(&in, "around")->id);
  CHECK_INT(arg_int(one, "level"), 2);
  CHECK_INT(arg_int(one, "a"), 3);
  CHECK_STR(arg_text(one, "b"), "two");
  CHECK_INT(arg_int(the_event(&in, "plain"), "level"), 1);
  CHECK_INT(the_event(&in, "none")->arg_count, 3);
  CHECK_STR(the_event(&in, "(unnamed)")->cat, "(unnamed)");
  free_trace(&in);
}

static void a_counter_carries_its_value(void) {
  trace in;
  const event *one;
  start_in_memory();
  dft_counter("loss", "train", 0.25);
  dft_counter("not a number", "train", NAN);
  in = stop();
  one = the_event(&in, "loss");
  CHECK_STR(one->cat, "train");
  CHECK_INT(one->ph, 'C');
  CHECK(one->ts > 0);
  CHECK(strtod(arg_text(one, "loss"), NULL) == 0.25);
  CHECK(!find_arg(one, "level") && !find_arg(one, "p_idx"));
  CHECK(!strstr(one->line, "\"dur\""));
  free_trace(&in);
}

static void metadata_is_a_key_and_a_value(void) {
  trace in;
  size_t found = 0;
  start_in_memory();
  dft_metadata("epoch.start", "1753123070219648");
  dft_metadata("empty", "");
  dft_metadata(NULL, NULL);
  in = stop();
  for (size_t i = 0; i < in.count; i++) {
    const event *one = &in.events[i];
    if (strcmp(one->name, "CM") != 0 || strcmp(arg_text(one, "name"), "time_metric") == 0) continue;
    found++;
    CHECK_INT(one->ph, 'M');
    CHECK_STR(one->cat, "dftracer");
    CHECK(!strstr(one->line, "\"ts\""));
    if (strcmp(arg_text(one, "name"), "epoch.start") == 0) CHECK_STR(arg_text(one, "value"), "1753123070219648");
    else CHECK_STR(arg_text(one, "value"), "");
  }
  CHECK_INT(found, 3);
  CHECK_INT(arg_int(the_event(&in, "end"), "num_events"), 0);
  free_trace(&in);
}

/* ---- Times -------------------------------------------------------------------------------------------------------- */

static void a_measured_event_nests_below_the_open_regions(void) {
  dft_key key = DFT_KEY("count");
  dft_arg args[] = {{.key = &key, .type = DFT_INT, .value.i = 4096}};
  trace in;
  const event *one;
  uint64_t begin, end;
  start_in_memory();
  dft_region_begin_named("around", "test");
  begin = dft_ticks();
  usleep(2000);
  end = dft_ticks();
  dft_record(&measured, begin, end, args, 1);
  dft_record(NULL, begin, end, args, 1);
  dft_region_end();
  in = stop();
  one = the_event(&in, "measured");
  CHECK_INT(arg_int(one, "p_idx"), the_event(&in, "around")->id);
  CHECK_INT(arg_int(one, "level"), 2);
  CHECK_INT(arg_int(one, "count"), 4096);
  CHECK(one->dur >= 2000 && (uint64_t)one->dur <= (end - begin) / 1000 + 1);
  free_trace(&in);
}

static void an_end_before_the_begin_is_no_duration(void) {
  static dft_site sites[] = {DFT_SITE("reversed", "test"), DFT_SITE("endless", "test")};
  trace in;
  set("DFTRACER_TIME_METRIC", "NS");
  start_in_memory();
  dft_record(&sites[0], dft_ticks(), dft_ticks() - 1000000, NULL, 0);
  dft_record(&sites[1], 0, UINT64_MAX, NULL, 0);
  in = stop_any(DFT_OK);
  CHECK_INT(the_event(&in, "reversed")->dur, 0);
  CHECK(the_event(&in, "endless")->dur >= 0);
  free_trace(&in);
}

static void explicit_times_are_written_as_they_are(void) {
  static const char *const units[] = {"US", "NS", "SEC"};
  for (int i = 0; i < 3; i++) {
    trace in;
    set("DFTRACER_TIME_METRIC", units[i]);
    start_in_memory();
    dft_log_event("plain", "test", 1727286231145121, 1054);
    dft_log_event("zero", "test", 0, 0);
    dft_log_event("huge", "test", INT64_MAX, INT64_MAX);
    dft_log_event("too huge", "test", UINT64_MAX, UINT64_MAX);
    in = stop_any(DFT_OK);
    CHECK_INT(the_event(&in, "plain")->ts, 1727286231145121);
    CHECK_INT(the_event(&in, "plain")->dur, 1054);
    CHECK_INT(the_event(&in, "zero")->ts, 0);
    CHECK_INT(the_event(&in, "huge")->ts, INT64_MAX);
    CHECK_INT(the_event(&in, "huge")->dur, INT64_MAX);
    CHECK_INT(the_event(&in, "too huge")->ts, INT64_MAX);
    free_trace(&in);
  }
}

static void an_explicit_event_may_be_of_another_thread(void) {
  dft_arg args[] = {{.name = "k", .name_len = 1, .type = DFT_BOOL, .value.i = 1}};
  trace in;
  start_in_memory();
  dft_region_begin_named("around", "test");
  dft_log_event_n("theirs", 6, "test", 4, 5, 6, 777, args, 1);
  dft_log_event_n("ours", 4, "test", 4, 5, 6, 0, args, 1);
  dft_region_end();
  in = stop_any(DFT_OK);
  check_place(&in, "theirs", -1, 1);
  check_place(&in, "ours", the_event(&in, "around")->id, 2);
  CHECK_INT(the_event(&in, "theirs")->tid, 777);
  CHECK_INT(the_event(&in, "ours")->tid, getpid());
  CHECK_INT(arg_int(the_event(&in, "theirs"), "k"), 1);
  free_trace(&in);
}

/* ---- Off ---------------------------------------------------------------------------------------------------------- */

static void call_everything(void) {
  dft_arg value = {.name = "k", .name_len = 1, .type = DFT_INT, .value.i = 1};
  CHECK_UINT(dft_region_begin(&measured), 0);
  CHECK_UINT(dft_region_begin_named("a", "b"), 0);
  dft_update_int("k", 1);
  dft_update_uint("k", 1);
  dft_update_double("k", 1);
  dft_update_bool("k", 1);
  dft_update_string("k", "v");
  dft_update_arg(0, &value);
  dft_region_relate(0, 0, 1);
  dft_region_end();
  dft_region_close(1);
  dft_instant("a", "b");
  dft_instant_n("a", 1, "b", 1, &value, 1);
  dft_counter("a", "b", 1);
  dft_metadata("a", "b");
  dft_record(&measured, 1, 2, &value, 1);
  dft_log_event("a", "b", 1, 2);
  CHECK_INT(dft_enter(), 0);
  dft_exit();
  dft_app_metadata_int("a", 1);
  dft_app_metadata_string("a", "b");
  dft_mark_used("a");
  dft_thread_name("a");
  CHECK_UINT(dft_path("/a", 2), 0);
  CHECK_UINT(dft_entity_declare_n("t", 1, "k", 1, 0, NULL, 0), 0);
  dft_entity_type_n("t", 1, 0, NULL, 0);
  dft_entity_relate(16, 1, 2);
  CHECK_UINT(dft_time(), 0);
  CHECK_UINT(dft_dropped(), 0);
  CHECK_INT(dft_is_enabled(), 0);
  dft_pause();
  dft_resume();
}

static void off_by_default_nothing_happens(void) {
  call_everything();
  CHECK_INT(dft_start(NULL), DFT_EDISABLED);
  call_everything();
  CHECK_INT(dft_stop(), DFT_EINACTIVE);
  call_everything();
  CHECK_INT(count_files(".", NULL), 0);
}

static void events_after_the_stop_are_ignored(void) {
  trace in;
  start_in_memory();
  dft_instant("one", "test");
  in = stop();
  free_trace(&in);
  call_everything();
  CHECK_INT(dft_stop(), DFT_EINACTIVE);
  CHECK(!dft__memory_take(NULL));
  CHECK_INT(count_files(".", NULL), 0);
}

/* Without dft_start: the first event of any kind opens the trace. */
static void events_before_the_start_open_the_trace(void) {
  trace in;
  set("DFTRACER_ENABLE", "1");
  set("DFTRACER_SINK", "memory");
  CHECK_INT(dft_is_enabled(), 1);
  dft_instant("first of all", "test");
  CHECK_INT(dft_start(NULL), DFT_EACTIVE);
  in = stop();
  CHECK_INT(count_name(&in, "first of all"), 1);
  free_trace(&in);
}

int main(void) {
  RUN(an_instant_has_no_duration);
  RUN(a_counter_carries_its_value);
  RUN(metadata_is_a_key_and_a_value);
  RUN(a_measured_event_nests_below_the_open_regions);
  RUN(an_end_before_the_begin_is_no_duration);
  RUN(explicit_times_are_written_as_they_are);
  RUN(an_explicit_event_may_be_of_another_thread);
  RUN(off_by_default_nothing_happens);
  RUN(events_after_the_stop_are_ignored);
  RUN(events_before_the_start_open_the_trace);
  return failed_cases;
}
