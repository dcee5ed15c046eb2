/* test_facts.c - names of threads, and facts of the process.
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "session.h"
#include "spool/record.h"

static void *name_itself(void *number) {
  (void)number;
  pthread_setname_np(pthread_self(), "worker-7");
  dft_instant("of a worker", "test");
  return NULL;
}

static void *rename_itself(void *number) {
  (void)number;
  dft_instant("of a loader", "test");
  dft_thread_name("DataLoader worker 3");
  dft_thread_name(NULL);
  return NULL;
}

static size_t count_thread_name(const trace *in, int64_t tid, const char *name) {
  size_t count = 0;
  for (size_t i = 0; i < in->count; i++) {
    count += strcmp(in->events[i].name, "thread_name") == 0 && in->events[i].tid == tid &&
             (!name || strcmp(arg_text(&in->events[i], "name"), name) == 0);
  }
  return count;
}

static void threads_have_the_best_name_there_is(void) {
  trace in;
  start_in_memory();
  on_threads(1, name_itself);
  on_threads(1, rename_itself);
  dft_thread_name("the main one");
  dft_instant("of main", "test");
  in = stop();
  CHECK_INT(count_thread_name(&in, the_event(&in, "of a worker")->tid, "worker-7"), 1);
  CHECK_INT(count_thread_name(&in, the_event(&in, "of a loader")->tid, "DataLoader worker 3"), 1);
  CHECK_INT(count_thread_name(&in, getpid(), "the main one"), 1);
  CHECK_INT(count_thread_name(&in, getpid(), NULL), 1);
  CHECK_STR(in.events[1].name, "thread_name");
  CHECK_STR(arg_text(&in.events[1], "name"), "the main one");
  CHECK_INT(arg_int(the_event(&in, "end"), "num_events"), 3);
  free_trace(&in);
}

static void facts_stand_in_the_end(void) {
  trace in;
  const event *end;
  start_in_memory();
  dft_app_metadata_int("epochs", 1);
  dft_app_metadata_string("model", "unet");
  dft_app_metadata_int("epochs", 12);
  dft_app_metadata_string("model", "a \"resnet\"");
  dft_mark_used("pytorch");
  dft_mark_used("pytorch");
  dft_app_metadata_int(NULL, 1);
  dft_app_metadata_string("null", NULL);
  dft_mark_used("");
  dft_instant("one", "test");
  in = stop();
  end = the_event(&in, "end");
  CHECK_INT(arg_int(end, "app.epochs"), 12);
  CHECK_STR(arg_text(end, "app.model"), "a \"resnet\"");
  CHECK_STR(arg_text(end, "app.null"), "");
  CHECK_INT(arg_int(end, "used.pytorch"), 1);
  CHECK_INT(arg_int(end, "num_events"), 1);
  CHECK_INT(end->arg_count, 1 + 1 + 4 + 3); /* what tracing cost */
  free_trace(&in);
}

static void facts_beyond_their_room_are_counted(void) {
  char text[DFT__FACTS_BYTES / 4];
  trace in;
  const event *end;
  memset(text, 'x', sizeof text);
  start_in_memory();
  dft_instant("one", "test");
  for (int i = 0; i < 10; i++) {
    char key[8];
    int len = snprintf(key, sizeof key, "k%d", i);
    dft_app_metadata_string_n(key, (size_t)len, text, sizeof text);
    dft_app_metadata_string_n(key, (size_t)len, text, sizeof text);
  }
  in = stop_any(DFT_EDROPPED);
  end = the_event(&in, "end");
  CHECK_INT(find_arg(end, "app.k0")->len, sizeof text);
  CHECK_INT(find_arg(end, "app.k2")->len, sizeof text);
  CHECK(!find_arg(end, "app.k9"));
  CHECK(arg_int(end, "num_dropped") > 0);
  free_trace(&in);
}

static void *keep_facts(void *number) {
  for (int i = 0; i < 2000; i++) {
    char key[16];
    snprintf(key, sizeof key, "of%d", (int)(intptr_t)number);
    dft_app_metadata_int(key, i);
    dft_app_metadata_int("shared", i);
  }
  return NULL;
}

static void facts_of_several_threads_are_kept(void) {
  trace in;
  start_in_memory();
  dft_instant("one", "test");
  on_threads(4, keep_facts);
  in = stop();
  for (int i = 0; i < 4; i++) {
    char key[16];
    snprintf(key, sizeof key, "app.of%d", i);
    CHECK_INT(arg_int(the_event(&in, "end"), key), 1999);
  }
  CHECK_INT(arg_int(the_event(&in, "end"), "app.shared"), 1999);
  free_trace(&in);
}

int main(void) {
  RUN(threads_have_the_best_name_there_is);
  RUN(facts_stand_in_the_end);
  RUN(facts_beyond_their_room_are_counted);
  RUN(facts_of_several_threads_are_kept);
  return failed_cases;
}
