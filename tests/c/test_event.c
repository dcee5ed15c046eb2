/* test_event.c - events that one call makes: instants, counters, metadata, measured and explicit times, paths, names of
 * threads, facts of the process, entities.
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <math.h>

#include "record.h"
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
  dft_log_event_n("theirs", 6, "test", 4, 5, 6, 777, args, 1);
  dft_log_event_n("ours", 4, "test", 4, 5, 6, 0, args, 1);
  in = stop_any(DFT_OK);
  CHECK_INT(the_event(&in, "theirs")->tid, 777);
  CHECK_INT(the_event(&in, "ours")->tid, getpid());
  CHECK_INT(arg_int(the_event(&in, "theirs"), "k"), 1);
  free_trace(&in);
}

/* ---- Paths -------------------------------------------------------------------------------------------------------- */

/* H4: each hash is defined by an FH line above its first use. How often each is defined: once, but for paths that came as
 * text, of which no list can be kept; they are defined again now and then. */
static size_t check_paths(const trace *in, const char *key) {
  size_t used = 0, room = 1 << 18;
  uint64_t *known = calloc(room, sizeof *known);
  CHECK(known);
  for (size_t i = 0; i < in->count; i++) {
    const event *one = &in->events[i];
    const char *text = strcmp(one->name, "FH") == 0 ? arg_text(one, "value") : arg_text(one, key);
    uint64_t hash;
    size_t slot;
    if (!text) continue;
    CHECK_INT(strlen(text), 16);
    CHECK_INT(strspn(text, "0123456789abcdef"), 16);
    hash = strtoull(text, NULL, 16);
    slot = hash % room;
    while (known[slot] && known[slot] != hash) slot = (slot + 1) % room;
    if (strcmp(one->name, "FH") == 0) {
      known[slot] = hash;
    } else {
      if (known[slot] != hash) fprintf(stderr, "  not defined: %s\n", one->line);
      CHECK(known[slot] == hash);
      used++;
    }
  }
  free(known);
  return used;
}

static void record_path(const char *path) {
  dft_key key = DFT_KEY("fhash");
  dft_arg value = {.key = &key, .type = DFT_PATH};
  value.path = dft_path(path, strlen(path));
  value.value.s.text = path;
  value.value.s.len = strlen(path);
  dft_record(&measured, dft_ticks(), dft_ticks(), &value, 1);
}

static size_t count_definitions(const trace *in, const char *path) {
  size_t count = 0;
  for (size_t i = 0; i < in->count; i++) {
    count += strcmp(in->events[i].name, "FH") == 0 && strcmp(arg_text(&in->events[i], "name"), path) == 0;
  }
  return count;
}

static void a_path_is_defined_once_before_its_first_use(void) {
  char cwd[4096];
  trace in;
  CHECK(getcwd(cwd, sizeof cwd));
  start_in_memory();
  for (int i = 0; i < 1000; i++) {
    char path[32];
    snprintf(path, sizeof path, "/data/%d", i % 100);
    record_path(path);
  }
  record_path(cwd); /* the opening lines have it already */
  CHECK_UINT(dft_path(NULL, 5), 0);
  CHECK_UINT(dft_path("", 0), 0);
  in = stop();
  CHECK_INT(check_paths(&in, "fhash"), 1001);
  CHECK_INT(count_name(&in, "FH"), 101);
  CHECK_INT(count_definitions(&in, "/data/7"), 1);
  CHECK_INT(count_definitions(&in, cwd), 1);
  CHECK_INT(arg_int(the_event(&in, "end"), "num_events"), 1001);
  free_trace(&in);
}

static void a_path_given_as_text_is_defined_too(void) {
  dft_arg value = {.name = "fhash", .name_len = 5, .type = DFT_PATH, .value.s = {"/as/text", 8}};
  char cwd[4096];
  trace in;
  CHECK(getcwd(cwd, sizeof cwd));
  start_in_memory();
  dft_instant_n("first", 5, "test", 4, &value, 1);
  dft_instant_n("second", 6, "test", 4, &value, 1);
  value.value.s.text = cwd;
  value.value.s.len = strlen(cwd);
  dft_instant_n("third", 5, "test", 4, &value, 1);
  dft_region_begin_named("open", "test");
  value.value.s.text = "/open";
  value.value.s.len = 5;
  dft_update_arg(0, &value);
  in = stop();
  CHECK_INT(check_paths(&in, "fhash"), 4);
  CHECK_INT(count_definitions(&in, "/as/text"), 1);
  CHECK_INT(count_definitions(&in, "/open"), 1);
  CHECK_INT(count_definitions(&in, cwd), 1);
  CHECK_STR(arg_text(the_event(&in, "first"), "fhash"), arg_text(the_event(&in, "second"), "fhash"));
  CHECK_INT(arg_int(the_event(&in, "end"), "num_events"), 4);
  free_trace(&in);
}

static void write_one_path(void) {
  set("DFTRACER_ENABLE", "1");
  set("DFTRACER_TRACE_COMPRESSION", "0");
  CHECK_INT(dft_start(NULL), DFT_OK);
  record_path("/the/same/file");
  CHECK_INT(dft_stop(), DFT_OK);
}

static void the_hash_of_a_path_is_the_same_in_every_process(void) {
  char hashes[2][17];
  for (int i = 0; i < 2; i++) {
    char name[256], path[300];
    trace in;
    set("DFTRACER_LOG_FILE", i ? "b/trace" : "a/trace");
    CHECK_INT(in_process(write_one_path), 0);
    CHECK_INT(count_files(i ? "b" : "a", name), 1);
    snprintf(path, sizeof path, "%s/%s", i ? "b" : "a", name);
    in = read_trace(path);
    snprintf(hashes[i], sizeof hashes[i], "%s", arg_text(the_event(&in, "measured"), "fhash"));
    free_trace(&in);
  }
  CHECK_STR(hashes[0], hashes[1]);
}

/* Some are registered, the rest goes along as text. */
static void more_paths_than_can_be_registered_are_defined(void) {
  enum { PATHS = 100000 };
  trace in;
  set("DFTRACER_ENABLE", "1");
  set("DFTRACER_TRACE_COMPRESSION", "0");
  set("DFTRACER_LOG_FILE", "paths.pfw");
  for (int i = 0; i < PATHS; i++) {
    char path[64];
    snprintf(path, sizeof path, "/some/folder/with/files/number-%d", i);
    record_path(path);
  }
  record_path("/some/folder/with/files/number-99999");
  CHECK_INT(dft_stop(), DFT_OK);
  in = read_trace("paths.pfw");
  CHECK_INT(check_paths(&in, "fhash"), PATHS + 1);
  CHECK_INT(count_definitions(&in, "/some/folder/with/files/number-0"), 1);
  CHECK(count_definitions(&in, "/some/folder/with/files/number-99999") >= 1);
  CHECK_INT(arg_int(the_event(&in, "end"), "num_events"), PATHS + 1);
  free_trace(&in);
}

enum { PATH_THREADS = 8, THREAD_PATHS = FEWER(20000, 3000) };

static void *record_paths(void *number) {
  for (int i = 0; i < THREAD_PATHS; i++) {
    char path[64];
    snprintf(path, sizeof path, "/shared/%d", (i * 7 + (int)(intptr_t)number) % 5000);
    record_path(path);
  }
  return NULL;
}

static void threads_share_the_definitions(void) {
  trace in;
  set("DFTRACER_ENABLE", "1");
  set("DFTRACER_TRACE_COMPRESSION", "0");
  set("DFTRACER_LOG_FILE", "threads.pfw");
  on_threads(PATH_THREADS, record_paths);
  CHECK_INT(dft_stop(), DFT_OK);
  in = read_trace("threads.pfw");
  CHECK_INT(check_paths(&in, "fhash"), PATH_THREADS * THREAD_PATHS);
  CHECK(count_name(&in, "FH") <= 5001 + 50); /* two threads may register the same text in the same moment */
  free_trace(&in);
}

/* ---- Threads and facts ----------------------------------------------------------------------------------------------- */

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
  CHECK_INT(end->arg_count, 1 + 1 + 4);
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

/* ---- Entities ----------------------------------------------------------------------------------------------------- */

static uint64_t declare(const char *type, const char *key, int32_t store, const char *uri) {
  return dft_entity_declare_n(type, strlen(type), key, strlen(key), store, uri, uri ? strlen(uri) : 0);
}

static void an_entity_is_told_once(void) {
  trace in;
  const event *one;
  start_in_memory();
  CHECK_UINT(declare("protein_structure", "MGYP0001", 2, "file:///data/a b.pdb"), UINT64_C(0x8f0de68c04eea0bf));
  CHECK_UINT(declare("protein_structure", "MGYP0001", 3, "elsewhere"), UINT64_C(0x8f0de68c04eea0bf));
  CHECK_UINT(dft_entity_declare_n(NULL, 0, "k", 1, 0, NULL, 0), 0);
  CHECK_UINT(dft_entity_declare_n("t", 1, NULL, 0, 0, NULL, 0), 0);
  in = stop();
  one = the_event(&in, "EH");
  CHECK_INT(one->ph, 'M');
  CHECK_STR(one->cat, "dftracer");
  CHECK_STR(arg_text(one, "id"), "8f0de68c04eea0bf");
  CHECK_STR(arg_text(one, "type"), "protein_structure");
  CHECK_INT(arg_int(one, "store"), 2);
  CHECK_STR(arg_text(one, "uri"), "file:///data/a b.pdb");
  CHECK_INT(one->arg_count, 5);
  CHECK_INT(arg_int(the_event(&in, "end"), "num_events"), 0);
  free_trace(&in);
  start_in_memory(); /* once a trace, that is */
  declare("protein_structure", "MGYP0001", 2, NULL);
  in = stop();
  CHECK_INT(count_name(&in, "EH"), 1);
  free_trace(&in);
}

static void texts_of_entities_are_cleaned_and_cut(void) {
  char text[400];
  trace in;
  const event *one;
  memset(text, 'x', sizeof text);
  start_in_memory();
  dft_entity_declare_n("a\"b[c]\n\xc3\xa9", 9, "key", 3, 0, text, sizeof text);
  dft_entity_type_n(text, sizeof text, 4, text, sizeof text);
  dft_entity_type_n(text, 31, 5, "again", 5);
  dft_entity_type_n("other", 5, 1, "a_-.:/@+=,~ 9Z#", 15);
  in = stop();
  one = the_event(&in, "EH");
  CHECK_STR(arg_text(one, "type"), "a_b_c____");
  CHECK_INT(find_arg(one, "uri")->len, 255);
  CHECK_INT(count_name(&in, "ET"), 2);
  for (size_t i = 0; i < in.count; i++) {
    if (strcmp(in.events[i].name, "ET") != 0) continue;
    if (strcmp(arg_text(&in.events[i], "type"), "other") == 0) {
      CHECK_STR(arg_text(&in.events[i], "description"), "a_-.:/@+=,~ 9Z_");
      CHECK_INT(arg_int(&in.events[i], "role"), 1);
    } else {
      CHECK_INT(find_arg(&in.events[i], "type")->len, 31);
      CHECK_INT(find_arg(&in.events[i], "description")->len, 255);
      CHECK_INT(arg_int(&in.events[i], "role"), 4);
    }
  }
  free_trace(&in);
}

static void entities_are_related(void) {
  trace in;
  const event *one;
  start_in_memory();
  dft_entity_relate(16, 1, 0xabc);
  dft_entity_relate(15, 1, 2);
  dft_entity_relate(23, 1, 2);
  dft_entity_relate(-1, 1, 2);
  dft_entity_relate(16, 0, 2);
  dft_entity_relate(16, 1, 0);
  in = stop();
  one = the_event(&in, "ER");
  CHECK_INT(arg_int(one, "relation"), 16);
  CHECK_STR(arg_text(one, "subject"), "0000000000000001");
  CHECK_STR(arg_text(one, "object"), "0000000000000abc");
  free_trace(&in);
}

static void *declare_many(void *number) {
  (void)number;
  for (int i = 0; i < 500; i++) {
    char key[16];
    snprintf(key, sizeof key, "key %d", i);
    CHECK(declare("thing", key, 0, NULL));
  }
  return NULL;
}

static void threads_declare_an_entity_once(void) {
  trace in;
  start_in_memory();
  on_threads(8, declare_many);
  in = stop();
  CHECK_INT(count_name(&in, "EH"), 500);
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
  CHECK_UINT(declare("t", "k", 0, NULL), 0);
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
  RUN(a_path_is_defined_once_before_its_first_use);
  RUN(a_path_given_as_text_is_defined_too);
  RUN(the_hash_of_a_path_is_the_same_in_every_process);
  RUN(more_paths_than_can_be_registered_are_defined);
  RUN(threads_share_the_definitions);
  RUN(threads_have_the_best_name_there_is);
  RUN(facts_stand_in_the_end);
  RUN(facts_beyond_their_room_are_counted);
  RUN(facts_of_several_threads_are_kept);
  RUN(an_entity_is_told_once);
  RUN(texts_of_entities_are_cleaned_and_cut);
  RUN(entities_are_related);
  RUN(threads_declare_an_entity_once);
  RUN(off_by_default_nothing_happens);
  RUN(events_after_the_stop_are_ignored);
  RUN(events_before_the_start_open_the_trace);
  return failed_cases;
}
