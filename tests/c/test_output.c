/* test_output.c - sinks: several at once, from outside, failing, missing.
 * SPDX-License-Identifier: MIT */
#include <dftracer/sink.h>

#include "session.h"

enum { EVENTS = FEWER(50000, 10000) };

static dft_site site = DFT_SITE("step", "test");

static void start(const char *sinks) {
  set("DFTRACER_ENABLE", "1");
  set("DFTRACER_TRACE_COMPRESSION", "0");
  set("DFTRACER_SINK", sinks);
  CHECK_INT(dft_start(&(dft_options){sizeof(dft_options), "out/a.pfw", NULL}), DFT_OK);
}

static void record(int count) {
  for (int i = 0; i < count; i++) {
    dft_region_begin(&site);
    dft_update_int("number", i);
    dft_region_end();
  }
}

/* Enough for several batches; the second sink wants other pieces than the first. */
static void check_both(const char *sinks) {
  char *lines, *text;
  size_t len, same = 0;
  trace in;
  start(sinks);
  record(EVENTS);
  CHECK_INT(dft_stop(), DFT_OK);
  lines = dft__memory_take(&len);
  text = read_text("out/a.pfw");
  CHECK(strncmp(text, "[\n", 2) == 0);
  for (size_t i = 0; i < len && lines[i] == text[2 + i]; i++) same = i + 1;
  if (same < len)
    fprintf(stderr, "  from byte %zu of %zu on:\n  %.300s\n  %.300s\n", same, len, lines + same, text + 2 + same);
  CHECK(same == len && text[2 + len] == '\0');
  in = read_trace("out/a.pfw");
  CHECK_INT(count_name(&in, "step"), EVENTS);
  free_trace(&in);
  free(lines);
  free(text);
}

/* The table of sinks and the table of settings agree. */
static void the_first_built_in_sink_is_the_default(void) {
  char value[64];
  CHECK(dft_config_get("DFTRACER_SINK", value, sizeof value));
  CHECK_STR(value, dft_sink_built_in(0)->name);
}

static void two_sinks_get_the_same_events(void) {
  check_both("jsonl,memory");
}

static void the_order_of_sinks_does_not_matter(void) {
  check_both("memory,jsonl");
}

static void a_sink_from_outside_is_named_by_its_path(void) {
  char *text;
  size_t count = 0;
  start(plugin("sink_names"));
  record(EVENTS);
  CHECK_INT(dft_stop(), DFT_OK);
  text = read_text("out/a.names");
  CHECK(strncmp(text, "HH\nthread_name\nCM\n", 18) == 0);
  CHECK_STR(text + strlen(text) - 4, "end\n");
  for (const char *at = text; *at; at = strchr(at, '\n') + 1) count += strncmp(at, "step\n", 5) == 0;
  CHECK_INT(count, EVENTS);
  CHECK_INT(count_files("out", NULL), 1);
  free(text);
}

static void sinks_from_outside_and_inside_go_together(void) {
  char sinks[8192];
  trace in;
  char *text;
  size_t lines = 0;
  snprintf(sinks, sizeof sinks, "jsonl,%s,null", plugin("sink_names"));
  start(sinks);
  record(EVENTS);
  CHECK_INT(dft_stop(), DFT_OK);
  in = read_trace("out/a.pfw");
  CHECK_INT(count_name(&in, "step"), EVENTS);
  text = read_text("out/a.names");
  for (const char *at = text; *at; at++) lines += *at == '\n';
  CHECK_INT(lines, in.count);
  CHECK_INT(count_files("out", NULL), 2);
  free(text);
  free_trace(&in);
}

/* Alone it says how large a batch is; beside another it takes the same events in as many pieces as it wants. */
static void check_pieces(const char *sinks) {
  trace in = {0};
  char *text;
  int64_t events = 0, begins = 0;
  start(sinks);
  record(EVENTS);
  CHECK_INT(dft_stop(), DFT_OK);
  text = read_text("out/a.pieces");
  CHECK(strncmp(text, "begin 100\n", 10) == 0);
  for (const char *at = text; *at; at = strchr(at, '\n') + 1) {
    begins += strncmp(at, "begin", 5) == 0;
    events += atoi(at + 6);
  }
  CHECK_INT(begins, 1);
  CHECK_INT(events, EVENTS + 8); /* and the lines of our own, without the bracket */
  if (exists("out/a.pfw")) {
    in = read_trace("out/a.pfw");
    CHECK_INT(events, (int64_t)in.count);
  }
  free_trace(&in);
  free(text);
}

static void a_sink_takes_as_much_as_it_wants(void) {
  check_pieces(plugin("sink_pieces"));
}

static void a_second_sink_takes_the_same_events_in_pieces(void) {
  char sinks[8192];
  snprintf(sinks, sizeof sinks, "jsonl,%s", plugin("sink_pieces"));
  check_pieces(sinks);
}

static void the_null_sink_leaves_nothing(void) {
  start("null");
  record(EVENTS);
  CHECK_INT(dft_stop(), DFT_OK);
  CHECK_INT(count_files("out", NULL), 0);
}

/* ---- Trouble ------------------------------------------------------------------------------------------------------ */

/* The events are kept for later, the program goes on, and is told at the end. */
static void part_broken(void) {
  char sinks[8192];
  snprintf(sinks, sizeof sinks, "jsonl,%s", plugin("sink_broken"));
  start(sinks);
  record(100);
  CHECK_INT(dft_stop(), DFT_EIO);
  start("jsonl"); /* another trace, which the broken one does not disturb */
  record(3);
  CHECK_INT(dft_stop(), DFT_OK);
}

static void a_broken_sink_is_told_and_loses_nothing(void) {
  char *text = run_anew("broken");
  size_t lines = 0;
  for (const char *at = text; *at; at++) lines += *at == '\n';
  CHECK(lines >= 1 && lines <= 3); /* one line a kind */
  CHECK(strstr(text, "cannot write the trace"));
  CHECK(strstr(text, "dftracer recover"));
  CHECK(count_files("out/.dftracer", NULL) >= 1);
  free(text);
}

static void part_missing(void) {
  start("nothing,/no/such/sink.so,jsonl");
  record(3);
  CHECK_INT(dft_stop(), DFT_OK);
}

static void a_missing_sink_is_told_and_left_out(void) {
  char *text = run_anew("missing");
  trace in = read_trace("out/a.pfw");
  CHECK_INT(count_name(&in, "step"), 3);
  CHECK(strstr(text, "DFTRACER_SINK") && strstr(text, "nothing") && strstr(text, "jsonl"));
  CHECK(strchr(text, '\n') == text + strlen(text) - 1);
  free(text);
  free_trace(&in);
}

static void part_not_a_sink(void) {
  start("/proc/self/exe");
  record(3);
  CHECK_INT(dft_stop(), DFT_OK);
}

static void without_a_sink_there_is_the_default(void) {
  char *text = run_anew("not a sink");
  trace in = read_trace("out/a.pfw");
  CHECK_INT(count_name(&in, "step"), 3);
  CHECK(strstr(text, "DFTRACER_SINK"));
  free(text);
  free_trace(&in);
}

static void part_too_many(void) {
  start("null,null,null,null,jsonl");
  record(3);
  CHECK_INT(dft_stop(), DFT_OK);
}

static void too_many_sinks_are_told(void) {
  char *text = run_anew("too many");
  CHECK(strstr(text, "DFTRACER_SINK") && strstr(text, "jsonl") && strstr(text, "4"));
  CHECK_INT(count_files("out", NULL), 0);
  free(text);
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "broken") == 0) return part_broken(), 0;
  if (argc > 1 && strcmp(argv[1], "missing") == 0) return part_missing(), 0;
  if (argc > 1 && strcmp(argv[1], "not a sink") == 0) return part_not_a_sink(), 0;
  if (argc > 1 && strcmp(argv[1], "too many") == 0) return part_too_many(), 0;
  RUN(the_first_built_in_sink_is_the_default);
  RUN(two_sinks_get_the_same_events);
  RUN(the_order_of_sinks_does_not_matter);
  RUN(a_sink_from_outside_is_named_by_its_path);
  RUN(sinks_from_outside_and_inside_go_together);
  RUN(a_sink_takes_as_much_as_it_wants);
  RUN(a_second_sink_takes_the_same_events_in_pieces);
  RUN(the_null_sink_leaves_nothing);
  RUN(a_broken_sink_is_told_and_loses_nothing);
  RUN(a_missing_sink_is_told_and_left_out);
  RUN(without_a_sink_there_is_the_default);
  RUN(too_many_sinks_are_told);
  return failed_cases;
}
