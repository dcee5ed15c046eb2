/* test_settings.c - the lines that open and close a trace, and settings that shape it.
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <sched.h>

#include "session.h"

/* ---- The lines that open and close a trace ----------------------------------------------------------------------------- */

static void check_keys(const event *one, const char *name, char ph, const char *keys) {
  char found[512] = "";
  CHECK_STR(one->name, name);
  CHECK_STR(one->cat, "dftracer");
  CHECK_INT(one->ph, ph);
  CHECK_INT(one->pid, getpid());
  CHECK_INT(one->tid, getpid());
  for (size_t i = 0; i < one->arg_count; i++) {
    snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s", i ? " " : "", one->args[i].key);
  }
  CHECK_STR(found, keys);
}

static void the_opening_lines_are_these(void) {
  char path[4096], cwd[4096], host[256];
  trace in;
  const event *e;
  char *text;
  size_t lines = 0;
  ssize_t len = readlink("/proc/self/exe", path, sizeof path - 1);
  CHECK(len > 0 && getcwd(cwd, sizeof cwd) && gethostname(host, sizeof host) == 0);
  path[len] = '\0';
  write_trace("a.pfw", "one");
  in = read_trace("a.pfw");
  e = in.events;
  CHECK_INT(in.count, 9);
  check_keys(&e[0], "HH", 'M', "hhash name value");
  CHECK_STR(arg_text(&e[0], "name"), host);
  CHECK_INT(strlen(arg_text(&e[0], "value")), 16);
  check_keys(&e[1], "thread_name", 'M', "hhash name");
  check_keys(&e[2], "CM", 'M', "hhash name value");
  CHECK_STR(arg_text(&e[2], "name"), "time_metric");
  CHECK_STR(arg_text(&e[2], "value"), "US");
  check_keys(&e[3], "FH", 'M', "hhash name value");
  CHECK_STR(arg_text(&e[3], "name"), cwd);
  check_keys(&e[4], "SH", 'M', "hhash name value");
  check_keys(&e[5], "SH", 'M', "hhash name value");
  CHECK_STR(arg_text(&e[5], "name"), path);
  check_keys(&e[6], "start", 'X', "hhash cmd_hash exec_hash cwd version date ppid run process_age_ns");
  CHECK_INT(e[6].dur, 0);
  CHECK_STR(arg_text(&e[6], "cmd_hash"), arg_text(&e[4], "value"));
  CHECK_STR(arg_text(&e[6], "exec_hash"), arg_text(&e[5], "value"));
  CHECK_STR(arg_text(&e[6], "cwd"), arg_text(&e[3], "value"));
  CHECK_STR(arg_text(&e[6], "version"), dft_version());
  CHECK_INT(arg_int(&e[6], "ppid"), getppid());
  CHECK_STR(e[7].name, "one");
  check_keys(&e[8], "end", 'X', "hhash num_events finish_ns drain_cpu_ns assist_ns");
  CHECK_INT(e[8].dur, 0);
  CHECK(e[6].ts <= e[7].ts && e[7].ts <= e[8].ts);
  text = read_text("a.pfw");
  for (size_t i = 0; text[i]; i++) lines += text[i] == '\n';
  CHECK_INT(lines, 9 + 1); /* nine of our own, and the event */
  free(text);
  free_trace(&in);
}

static void without_metadata_little_is_told(void) {
  trace in;
  const event *e;
  set("DFTRACER_INC_METADATA", "0");
  start_file("a.pfw");
  dft_instant("one", "test");
  dft_app_metadata_int("epochs", 3);
  stop_file();
  in = read_trace("a.pfw");
  e = in.events;
  CHECK_INT(in.count, 6);
  check_keys(&e[0], "HH", 'M', "hhash name value");
  check_keys(&e[1], "thread_name", 'M', "hhash name");
  check_keys(&e[2], "CM", 'M', "hhash name value");
  check_keys(&e[3], "start", 'X', "hhash");
  CHECK_STR(e[4].name, "one");
  check_keys(&e[5], "end", 'X', "hhash");
  free_trace(&in);
}

static void a_known_rank_is_told(void) {
  trace in;
  const event *e;
  set("DFTRACER_RANK", "3");
  write_trace("a.pfw", "one");
  in = read_trace("a.pfw");
  e = in.events;
  CHECK_INT(in.count, 11);
  CHECK_STR(arg_text(&e[1], "name"), "Rank 3");
  CHECK_STR(e[6].name, "start");
  check_keys(&e[7], "PR", 'M', "hhash name value");
  CHECK_STR(arg_text(&e[7], "name"), "rank");
  CHECK_STR(arg_text(&e[7], "value"), "3");
  check_keys(&e[8], "process_name", 'M', "hhash name");
  CHECK_STR(arg_text(&e[8], "name"), "Rank 3");
  free_trace(&in);
}

static void a_thread_named_by_the_program_keeps_its_name(void) {
  trace in;
  set("DFTRACER_RANK", "3");
  start_file("a.pfw");
  dft_thread_name("worker 7");
  dft_instant("one", "test");
  stop_file();
  in = read_trace("a.pfw");
  CHECK_STR(arg_text(the_event(&in, "thread_name"), "name"), "worker 7");
  CHECK_STR(arg_text(the_event(&in, "process_name"), "name"), "Rank 3");
  free_trace(&in);
}

static void a_rank_set_by_the_program_is_told(void) {
  trace in;
  start_file("a.pfw");
  CHECK_INT(dft_rank(), -1);
  dft_set_rank(5, 8);
  CHECK_INT(dft_rank(), 5);
  CHECK_INT(dft_size(), 8);
  dft_instant("one", "test");
  stop_file();
  in = read_trace("a.pfw");
  CHECK_STR(arg_text(the_event(&in, "process_name"), "name"), "Rank 5");
  free_trace(&in);
}

static void cores_are_told_when_asked_for(void) {
  cpu_set_t cores;
  trace in;
  const event *one;
  int first = 0;
  CHECK_INT(sched_getaffinity(0, sizeof cores, &cores), 0);
  while (!CPU_ISSET(first, &cores)) first++;
  set("DFTRACER_SET_CORE_AFFINITY", "1");
  write_trace("a.pfw", "one");
  in = read_trace("a.pfw");
  one = the_event(&in, "PR");
  CHECK_STR(arg_text(one, "name"), "core_affinity");
  CHECK_INT(atoi(arg_text(one, "value")), first);
  CHECK_INT(strspn(arg_text(one, "value"), "0123456789,"), (int64_t)find_arg(one, "value")->len);
  free_trace(&in);
}

static const char *self; /* this program */

/* Runs this program anew with arguments, one of them a secret; see main. */
static void run_with_secret(const char *setting) {
  pid_t child = fork();
  int status;
  if (!child) {
    if (setting) set("DFTRACER_COMMAND_LINE", setting);
    set("DFTRACER_ENABLE", "1");
    set("DFTRACER_TRACE_COMPRESSION", "0");
    set("DFTRACER_LOG_FILE", "secret.pfw");
    execl(self, "test_settings", "--password", "swordfish", (char *)NULL);
    _exit(1);
  }
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void the_command_line_can_be_left_out(void) {
  char *text;
  trace in;
  run_with_secret(NULL);
  in = read_trace("secret.pfw");
  CHECK_STR(arg_text(&in.events[4], "name"), "test_settings;--password;swordfish");
  free_trace(&in);
  run_with_secret("0");
  in = read_trace("secret.pfw");
  CHECK_STR(arg_text(&in.events[4], "name"), "test_settings");
  free_trace(&in);
  text = read_text("secret.pfw");
  CHECK(!strstr(text, "swordfish"));
  free(text);
}

/* ---- Settings ----------------------------------------------------------------------------------------------------- */

static void times_have_the_unit_asked_for(void) {
  static const struct {
    const char *name;
    int64_t ns;
  } units[] = {{"US", 1000}, {"NS", 1}, {"MS", 1000000}, {"SEC", 1000000000}};
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    struct timespec now;
    trace in;
    const event *one;
    int64_t wall, own;
    set("DFTRACER_TIME_METRIC", units[i].name);
    start_file("a.pfw");
    clock_gettime(CLOCK_REALTIME, &now);
    own = (int64_t)dft_time();
    wall = (now.tv_sec * INT64_C(1000000000) + now.tv_nsec) / units[i].ns;
    dft_region_begin_named("slept", "test");
    usleep(5000);
    dft_region_end();
    stop_file();
    in = read_trace("a.pfw");
    one = the_event(&in, "slept");
    CHECK_STR(arg_text(&in.events[2], "value"), units[i].name);
    CHECK(own >= wall - 1000000 / units[i].ns - 1 && own <= wall + 1000000000 / units[i].ns + 1);
    CHECK(one->ts >= own && one->ts <= own + 1000000000 / units[i].ns + 1);
    CHECK(one->dur >= 5000000 / units[i].ns - 1 && one->dur <= INT64_C(10000000000) / units[i].ns);
    free_trace(&in);
    unlink("a.pfw");
  }
}

static void *record_on_thread(void *number) {
  (void)number;
  dft_instant("on a thread", "test");
  return NULL;
}

static void thread_ids_can_be_hidden(void) {
  trace in;
  set("DFTRACER_DISABLE_TIDS", "1");
  start_file("a.pfw");
  on_threads(1, record_on_thread);
  dft_log_event_n("theirs", 6, "test", 4, 5, 6, 777, NULL, 0);
  stop_file();
  in = read_trace("a.pfw");
  for (size_t i = 0; i < in.count; i++) CHECK_INT(in.events[i].tid, getpid());
  free_trace(&in);
}

static void the_spool_may_lie_elsewhere(const char *where) {
  struct stat facts;
  char name[256], path[8192];
  int before = count_files(where, NULL);
  set("DFTRACER_SPOOL_DIR", where);
  start_file("out/a.pfw");
  dft_instant("one", "test");
  CHECK_INT(count_files("out/.dftracer", name), 1);
  snprintf(path, sizeof path, "out/.dftracer/%s", name);
  CHECK(stat(path, &facts) == 0 && facts.st_size < 4096); /* a pointer */
  CHECK_INT(count_files(where, NULL), before + 1);
  stop_file();
  CHECK_INT(count_files(where, NULL), before);
  CHECK_INT(exists("out/.dftracer"), 0);
  check_has("out/a.pfw", "one");
}

static void the_spool_may_lie_in_another_folder(void) {
  char where[sizeof folder + 16];
  snprintf(where, sizeof where, "%s/spools", folder);
  CHECK_INT(mkdir(where, 0700), 0);
  the_spool_may_lie_elsewhere(where);
}

static void the_spool_may_lie_in_memory(void) {
  if (access("/dev/shm", W_OK) == 0) the_spool_may_lie_elsewhere("/dev/shm");
}

/* The folder of the trace has no spool then, and the trace is told about. */
static void a_spool_folder_that_is_missing_is_no_loss(void) {
  set("DFTRACER_SPOOL_DIR", "/nowhere/at/all");
  write_trace("a.pfw", "one");
  check_has("a.pfw", "one");
}

/* Many times what may wait. */
static void a_small_spool_loses_nothing(void) {
  enum { EVENTS = FEWER(400000, 60000) };
  trace in;
  set("DFTRACER_SPOOL_LIMIT", "1M");
  start_file("a.pfw");
  for (int i = 0; i < EVENTS; i++) {
    dft_region_begin_named("one", "test");
    dft_update_int("number", i);
    dft_region_end();
  }
  stop_file();
  in = read_trace("a.pfw");
  CHECK_INT(count_name(&in, "one"), EVENTS);
  CHECK_INT(arg_int(the_event(&in, "end"), "num_events"), EVENTS);
  free_trace(&in);
}

static void drops_are_counted_when_asked_for(void) {
  enum { EVENTS = FEWER(2000000, 300000) };
  trace in;
  dft_status status;
  uint64_t dropped;
  static dft_site site = DFT_SITE("one", "test");
  set("DFTRACER_SPOOL_LIMIT", "1M");
  set("DFTRACER_ON_FULL", "drop");
  set("DFTRACER_LOG_LEVEL", "ERROR");
  start_file("a.pfw");
  CHECK(freopen("/dev/null", "w", stderr)); /* the line about it */
  for (int i = 0; i < EVENTS; i++) {
    dft_region_begin(&site);
    dft_region_end();
  }
  dropped = dft_dropped();
  status = dft_stop();
  in = read_trace("a.pfw");
  if (dropped) CHECK_INT(status, DFT_EDROPPED);
  CHECK_INT(count_name(&in, "one") + dropped, EVENTS);
  CHECK_INT(arg_int(the_event(&in, "end"), "num_events"), (int64_t)(EVENTS - dropped));
  CHECK_INT(arg_int(the_event(&in, "end"), "num_dropped"), dropped ? (int64_t)dropped : INT64_MIN);
  free_trace(&in);
}

int main(int argc, char **argv) {
  static char path[4096];
  if (argc > 1 && strcmp(argv[1], "--password") == 0) {
    dft_instant("one", "test");
    return 0;
  }
  self = realpath(argv[0], path);
  CHECK(self);
  RUN(the_opening_lines_are_these);
  RUN(without_metadata_little_is_told);
  RUN(a_known_rank_is_told);
  RUN(a_thread_named_by_the_program_keeps_its_name);
  RUN(a_rank_set_by_the_program_is_told);
  RUN(cores_are_told_when_asked_for);
  RUN(the_command_line_can_be_left_out);
  RUN(times_have_the_unit_asked_for);
  RUN(thread_ids_can_be_hidden);
  RUN(the_spool_may_lie_in_another_folder);
  RUN(the_spool_may_lie_in_memory);
  RUN(a_spool_folder_that_is_missing_is_no_loss);
  RUN(a_small_spool_loses_nothing);
  RUN(drops_are_counted_when_asked_for);
  return failed_cases;
}
