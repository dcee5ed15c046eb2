/* test_session.c - one trace of one process: start and stop, names of files.
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "session.h"
#include "session/session.h"

static char host[256];

static const char *prefixed(const char *prefix, int pid, const char *end) {
  static char name[1024];
  snprintf(name, sizeof name, "%s-%s-%d-%s", prefix, host, pid, end);
  return name;
}

/* ---- Start and stop ------------------------------------------------------------------------------------------------ */

static void a_second_start_is_refused(void) {
  trace in;
  start_in_memory();
  dft_instant("before", "test");
  CHECK_INT(dft_start(NULL), DFT_EACTIVE);
  CHECK_INT(dft_start(&(dft_options){sizeof(dft_options), "other.pfw", NULL}), DFT_EACTIVE);
  dft_instant("after", "test");
  in = stop();
  CHECK_INT(count_name(&in, "before") + count_name(&in, "after"), 2);
  free_trace(&in);
  CHECK_INT(count_files(".", NULL), 0);
}

static void a_second_stop_does_nothing(void) {
  CHECK_INT(dft_stop(), DFT_EINACTIVE);
  write_trace("a.pfw", "one");
  CHECK_INT(dft_stop(), DFT_EINACTIVE);
  CHECK_INT(dft_stop(), DFT_EINACTIVE);
  check_has("a.pfw", "one");
}

static void a_start_after_a_stop_is_a_new_trace(void) {
  for (int i = 0; i < 20; i++) {
    char file[32], name[32];
    snprintf(file, sizeof file, "%d.pfw", i);
    snprintf(name, sizeof name, "event %d", i);
    write_trace(file, name);
  }
  for (int i = 0; i < 20; i++) {
    char file[32], name[32];
    trace in;
    snprintf(file, sizeof file, "%d.pfw", i);
    snprintf(name, sizeof name, "event %d", i);
    in = read_trace(file);
    the_event(&in, name);
    CHECK_INT(arg_int(the_event(&in, "end"), "num_events"), 1);
    free_trace(&in);
  }
  CHECK_INT(count_files(".", NULL), 20);
}

static void nothing_recorded_leaves_nothing(void) {
  start_file("a.pfw");
  CHECK_INT(exists(".dftracer"), 1);
  stop_file();
  start_file("b");
  dft_app_metadata_int("epochs", 1);
  dft_thread_name("main");
  stop_file();
  CHECK_INT(count_files(".", NULL), 0);
}

static void wrong_options_are_refused(void) {
  char *name = malloc(6000);
  dft_options options = {sizeof options, NULL, NULL};
  CHECK(name);
  memset(name, 'x', 5999);
  name[5999] = '\0';
  set("DFTRACER_ENABLE", "1");
  options.struct_size = 8;
  CHECK_INT(dft_start(&options), DFT_EINVAL);
  options.struct_size = sizeof options;
  options.log_file = name;
  CHECK_INT(dft_start(&options), DFT_EINVAL);
  name[300] = '\0'; /* no file system takes that */
  CHECK_INT(dft_start(&options), DFT_EINVAL);
  CHECK_INT(dft_is_enabled(), 0);
  CHECK_INT(count_files(".", NULL), 0);
  free(name);
}

static void record_and_return(void) {
  dft_instant("returned", "test");
}

static void a_trace_is_complete_when_the_process_ends(void) {
  set("DFTRACER_ENABLE", "1");
  set("DFTRACER_TRACE_COMPRESSION", "0");
  set("DFTRACER_LOG_FILE", "end.pfw");
  CHECK_INT(in_process(record_and_return), 0);
  check_has("end.pfw", "returned");
  CHECK_INT(exists(".dftracer"), 0);
}

/* ---- Names -------------------------------------------------------------------------------------------------------- */

static void an_explicit_name_is_used_as_it_is(void) {
  write_trace("plain.pfw", "one");
  check_has("plain.pfw", "one");
  write_trace("ending.pfw.gz", "one");
  check_has("ending.pfw", "one");
  write_trace("deep/er/folder/is-made.pfw", "one");
  check_has("deep/er/folder/is-made.pfw", "one");
  set("DFTRACER_LOG_FILE", "from-the-environment.pfw");
  write_trace(NULL, "one");
  check_has("from-the-environment.pfw", "one");
  CHECK_INT(count_files(".", NULL), 4);
}

static void a_compressed_trace_ends_in_gz(void) {
  static const char *const names[] = {"a.pfw", "b.pfw.gz"};
  for (int i = 0; i < 2; i++) {
    unsigned char bytes[2];
    FILE *file;
    set("DFTRACER_ENABLE", "1");
    set("DFTRACER_LOG_FILE", names[i]);
    CHECK_INT(dft_start(NULL), DFT_OK);
    dft_instant("one", "test");
    stop_file();
    file = fopen(i ? "b.pfw.gz" : "a.pfw.gz", "r");
    CHECK(file && fread(bytes, 1, 2, file) == 2 && bytes[0] == 0x1f && bytes[1] == 0x8b);
    fclose(file);
  }
  CHECK_INT(count_files(".", NULL), 2);
}

static void a_prefix_gets_host_process_and_kind(void) {
  static dft_site call = DFT_SITE("read", "POSIX");
  write_trace("out/trace", "one");
  check_has(prefixed("out/trace", getpid(), "app.pfw"), "one");
  start_file("io/trace");
  dft_record(&call, dft_ticks(), dft_ticks(), NULL, 0);
  stop_file();
  check_has(prefixed("io/trace", getpid(), "preload.pfw"), "read");
  write_trace("out/", "one");
  check_has(prefixed("out/trace", getpid(), "app-2.pfw"), "one");
  write_trace(NULL, "one");
  check_has(prefixed("trace", getpid(), "app.pfw"), "one");
}

static void write_old(void) {
  write_trace("same.pfw", "old");
}

static void a_new_run_replaces_the_explicit_name(void) {
  CHECK_INT(in_process(write_old), 0);
  check_has("same.pfw", "old");
  write_trace("same.pfw", "new");
  check_has("same.pfw", "new");
  CHECK_INT(count_files(".", NULL), 1);
}

static void a_later_session_replaces_nothing_of_its_process(void) {
  start_file("again.pfw");
  stop_file(); /* nothing recorded, nothing used */
  write_trace("again.pfw", "first");
  write_trace("other.pfw", "other");
  write_trace("again.pfw", "second");
  write_trace("again.pfw", "third");
  check_has("again.pfw", "first");
  check_has("again-2.pfw", "second");
  check_has("again-3.pfw", "third");
  CHECK_INT(count_files(".", NULL), 4);
}

static void a_prefix_never_replaces(void) {
  write_trace("same", "first");
  write_trace("same", "second");
  write_trace("same", "third");
  check_has(prefixed("same", getpid(), "app.pfw"), "first");
  check_has(prefixed("same", getpid(), "app-2.pfw"), "second");
  check_has(prefixed("same", getpid(), "app-3.pfw"), "third");
}

static int may_go_on[2], has_begun[2];

static void hold_the_name(void) {
  char byte = 0;
  start_file("shared.pfw");
  dft_instant("first", "test");
  CHECK_INT(write(has_begun[1], &byte, 1), 1);
  CHECK_INT(read(may_go_on[0], &byte, 1), 1);
  stop_file();
}

static void two_living_processes_never_share_a_file(void) {
  char byte = 0, path[64];
  pid_t first;
  int status;
  CHECK(pipe(may_go_on) == 0 && pipe(has_begun) == 0);
  first = fork();
  if (!first) {
    hold_the_name();
    exit(0);
  }
  CHECK_INT(read(has_begun[0], &byte, 1), 1);
  write_trace("shared.pfw", "second");
  snprintf(path, sizeof path, "shared-%d.pfw", getpid());
  check_has(path, "second");
  CHECK_INT(exists("shared.pfw"), 0);
  CHECK_INT(write(may_go_on[1], &byte, 1), 1);
  CHECK(waitpid(first, &status, 0) == first && status == 0);
  check_has("shared.pfw", "first");
  CHECK_INT(count_files(".", NULL), 2);
}

static void a_forked_child_has_a_name_of_its_own(void) {
  char path[64];
  pid_t child;
  int status;
  trace in;
  start_file("job.pfw");
  dft_region_begin_named("across", "test");
  child = fork();
  if (!child) {
    dft_region_end(); /* of the parent's region: ignored */
    dft_region_begin_named("of the child", "test");
    dft_region_end();
    exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  dft_region_end();
  stop_file();
  in = read_trace("job.pfw");
  CHECK_INT(count_name(&in, "of the child"), 0);
  CHECK(!find_arg(the_event(&in, "across"), "open"));
  free_trace(&in);
  snprintf(path, sizeof path, "job-%d.pfw", child);
  in = read_trace(path);
  CHECK_INT(count_name(&in, "across"), 0);
  CHECK_INT(arg_int(the_event(&in, "of the child"), "p_idx"), -1);
  CHECK_INT(the_event(&in, "of the child")->pid, child);
  CHECK_INT(arg_int(the_event(&in, "start"), "ppid"), getpid());
  free_trace(&in);
  CHECK_INT(count_files(".", NULL), 2);
}

static useconds_t moment;

static void *open_by_the_first_event(void *unused) {
  dft_instant("of the parent", "test");
  return unused;
}

static void fork_while_another_thread_opens(void) {
  pthread_t thread;
  pid_t child;
  int status;
  CHECK_INT(pthread_create(&thread, NULL, open_by_the_first_event, NULL), 0);
  usleep(moment);
  child = fork();
  if (!child) {
    dft_instant("of the child", "test");
    syscall(SYS_exit_group, dft_stop() != DFT_OK); /* at exit sanitizers miss the threads of the parent */
  }
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  pthread_join(thread, NULL);
}

static void a_child_made_while_the_trace_is_opened_records(void) {
  set("DFTRACER_ENABLE", "1");
  set("DFTRACER_LOG_FILE", "job");
  for (int i = 0; i < 100; i++) {
    moment = (useconds_t)i * 3;
    CHECK_INT(in_process(fork_while_another_thread_opens), 0);
    CHECK_INT(count_files(".", NULL), 2 * (i + 1));
  }
}

/* ---- A lock that is held for long ---- */

static void *hold_the_lock(void *is_held) {
  CHECK(dft__session_lock(DFT__LOCK_ALWAYS));
  atomic_store((_Atomic int *)is_held, 1);
  for (;;) pause();
}

static void fork_while_another_thread_holds_the_lock(void) {
  static _Atomic int is_held;
  pthread_t thread;
  pid_t child;
  int status;
  CHECK_INT(prctl(PR_SET_TIMERSLACK, 3000000ul), 0); /* pauses take long, as on a loaded machine */
  CHECK_INT(pthread_create(&thread, NULL, hold_the_lock, &is_held), 0);
  while (!atomic_load(&is_held)) sched_yield();
  alarm(60);
  child = fork();
  if (!child) _exit(0);
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  _exit(0);
}

static void a_fork_waits_some_seconds_however_long_pauses_take(void) {
  CHECK_INT(in_process(fork_while_another_thread_holds_the_lock), 0);
}

static int handlers_record;

static void record_in_handler(void) {
  if (handlers_record) dft_instant("in a handler", "test");
}

/* Before the library does the same, as where it is loaded late: its handlers are the outermost then. */
__attribute__((constructor(101))) static void be_first_at_fork(void) {
  pthread_atfork(record_in_handler, record_in_handler, record_in_handler);
}

static void handlers_of_fork_may_record(void) {
  char path[64];
  pid_t child;
  int status;
  trace in;
  set("DFTRACER_ENABLE", "1");
  set("DFTRACER_LOG_FILE", "job.pfw");
  set("DFTRACER_TRACE_COMPRESSION", "0");
  handlers_record = 1; /* the first one opens the trace */
  child = fork();
  if (!child) {
    for (int i = 0; i < 10; i++) dft_instant("of the child", "test");
    exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  stop_file();
  in = read_trace("job.pfw");
  CHECK_INT(count_name(&in, "in a handler"), 2);
  CHECK_INT(count_name(&in, "of the child"), 0);
  free_trace(&in);
  snprintf(path, sizeof path, "job-%d.pfw", child);
  in = read_trace(path);
  CHECK_INT(count_name(&in, "in a handler"), 1);
  CHECK_INT(count_name(&in, "of the child"), 10);
  free_trace(&in);
}

static void a_child_that_records_nothing_leaves_no_file(void) {
  pid_t child;
  int status;
  start_file("job");
  dft_instant("one", "test");
  child = fork();
  if (!child) exit(0);
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  stop_file();
  CHECK_INT(count_files(".", NULL), 1);
}

/* A reader trusts an index of the trace's name blindly. */
static void stale_indexes_are_removed(void) {
  static const char *const names[] = {"a.pfw.zindex", "a.pfw.idx", "b.pfw.zindex"};
  for (int i = 0; i < 3; i++) close(open(names[i], O_CREAT | O_WRONLY, 0600));
  write_trace("a.pfw", "one");
  CHECK_INT(exists("a.pfw.zindex") + exists("a.pfw.idx"), 0);
  CHECK_INT(exists("b.pfw.zindex"), 1);
}

static void the_index_of_another_trace_stays(void) {
  glob_t found;
  char index[512];
  write_trace("job", "one");
  CHECK_INT(glob("job-*", 0, NULL, &found), 0);
  snprintf(index, sizeof index, "%s.zindex", found.gl_pathv[0]);
  globfree(&found);
  close(open(index, O_CREAT | O_WRONLY, 0600));
  write_trace("job", "two");
  CHECK_INT(exists(index), 1);
}

static void a_live_trace_has_no_name_that_readers_take(void) {
  char name[256];
  start_file("live.pfw");
  dft_instant("one", "test");
  CHECK_INT(count_files(".", name), 1);
  CHECK_STR(name, ".dftracer");
  CHECK_INT(count_files(".dftracer", name), 1);
  CHECK(!strstr(name, ".pfw"));
  stop_file();
  CHECK_INT(exists(".dftracer"), 0);
}

static void files_have_the_rights_they_should(void) {
  struct stat facts;
  umask(022);
  start_file("rights.pfw");
  dft_instant("one", "test");
  CHECK(stat(".dftracer/rights.spool", &facts) == 0 && (facts.st_mode & 07777) == 0600);
  stop_file();
  CHECK(stat("rights.pfw", &facts) == 0 && (facts.st_mode & 07777) == 0644);
}

int main(void) {
  CHECK_INT(gethostname(host, sizeof host), 0);
  RUN(a_second_start_is_refused);
  RUN(a_second_stop_does_nothing);
  RUN(a_start_after_a_stop_is_a_new_trace);
  RUN(nothing_recorded_leaves_nothing);
  RUN(wrong_options_are_refused);
  RUN(a_trace_is_complete_when_the_process_ends);
  RUN(an_explicit_name_is_used_as_it_is);
  RUN(a_compressed_trace_ends_in_gz);
  RUN(a_prefix_gets_host_process_and_kind);
  RUN(a_new_run_replaces_the_explicit_name);
  RUN(a_later_session_replaces_nothing_of_its_process);
  RUN(a_prefix_never_replaces);
  RUN(two_living_processes_never_share_a_file);
  RUN(a_forked_child_has_a_name_of_its_own);
  RUN(a_child_made_while_the_trace_is_opened_records);
  RUN(a_fork_waits_some_seconds_however_long_pauses_take);
  RUN(handlers_of_fork_may_record);
  RUN(a_child_that_records_nothing_leaves_no_file);
  RUN(stale_indexes_are_removed);
  RUN(the_index_of_another_trace_stays);
  RUN(a_live_trace_has_no_name_that_readers_take);
  RUN(files_have_the_rights_they_should);
  return failed_cases;
}
