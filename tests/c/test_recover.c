/* test_recover.c - what dead processes left: published once, whole, and without harm from whatever damage.
 * SPDX-License-Identifier: MIT */
#include <alloca.h>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>

#include "session.h"
#include "spool/record.h"

static dft_recovery report;

static dft_status recover(const char *path) {
  report = (dft_recovery){.struct_size = sizeof report};
  return dft_recover(path, &report);
}

/* Something of everything, and then death. */
static void record_and_die(void) {
  static dft_site site = DFT_SITE("region", "test");
  dft_arg path = {.name = "fhash", .name_len = 5, .type = DFT_PATH, .value.s = {"/as/text", 8}};
  char *text = calloc(1, 20001);
  CHECK(text);
  memset(text, 'x', 20000);
  CHECK_INT(dft_start(&(dft_options){sizeof(dft_options), "out/dead.pfw", NULL}), DFT_OK);
  for (int i = 0; i < 500; i++) {
    char name[32];
    int len = snprintf(name, sizeof name, "/path/%d", i % 50);
    dft_region_begin(&site);
    dft_update_int("number", i);
    if (i % 10 == 0) dft_update_string("text", i % 100 ? "short" : text);
    path.path = i % 3 ? dft_path(name, (size_t)len) : 0;
    dft_instant_n("instant", 7, "test", 4, &path, 1);
    dft_region_end();
  }
  dft_app_metadata_int("epochs", 3);
  dft_counter("counter", "test", 1);
  dft_region_begin_named("open outside", "test");
  dft_update_string("key", "value");
  dft_region_begin_named("open inside", "test");
  kill(getpid(), SIGKILL);
}

static void leave_a_spool(void) {
  set("DFTRACER_ENABLE", "1");
  set("DFTRACER_TRACE_COMPRESSION", "0");
  CHECK_INT(in_process(record_and_die), 128 + SIGKILL);
  CHECK_INT(exists("out/.dftracer/dead.spool"), 1);
}

static void check_whole(const char *path) {
  trace in = read_trace(path);
  check_nesting(&in);
  CHECK_INT(count_name(&in, "region"), 500);
  CHECK_INT(count_name(&in, "instant"), 500);
  CHECK_INT(arg_int(the_event(&in, "open outside"), "open"), 1);
  CHECK_STR(arg_text(the_event(&in, "open outside"), "key"), "value");
  CHECK_INT(arg_int(the_event(&in, "open inside"), "p_idx"), the_event(&in, "open outside")->id);
  CHECK_INT(arg_int(the_event(&in, "end"), "recovered"), 1);
  CHECK_INT(arg_int(the_event(&in, "end"), "num_events"), 1002);
  CHECK_INT(arg_int(the_event(&in, "end"), "app.epochs"), 3);
  free_trace(&in);
}

static void nothing_to_do_is_fine(void) {
  CHECK_INT(recover("."), DFT_OK);
  CHECK_INT(report.published + report.alive + report.foreign + report.failed, 0);
  CHECK_INT(dft_recover(".", NULL), DFT_OK);
  CHECK_INT(recover("missing"), DFT_EIO);
  CHECK_INT(dft_recover(NULL, NULL), DFT_EINVAL);
  CHECK_INT(dft_recover("", NULL), DFT_EINVAL);
}

static void a_dead_process_is_published_once(void) {
  leave_a_spool();
  CHECK_INT(recover("out"), DFT_OK);
  CHECK_INT(report.published, 1);
  CHECK_UINT(report.events, 1002);
  check_whole("out/dead.pfw");
  CHECK_INT(exists("out/.dftracer"), 0);
  CHECK_INT(recover("out"), DFT_OK);
  CHECK_INT(report.published, 0);
  check_whole("out/dead.pfw");
}

static void the_folder_may_be_named_in_many_ways(void) {
  static const char *const names[] = {"out", "out/", "out/.dftracer", "./out///", "out/other.pfw"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    leave_a_spool();
    close(open("out/other.pfw", O_CREAT | O_WRONLY, 0600));
    CHECK_INT(recover(names[i]), DFT_OK);
    CHECK_INT(report.published, 1);
    CHECK_INT(unlink("out/dead.pfw"), 0);
  }
}

static void a_folder_that_was_moved_is_recovered_where_it_is(void) {
  leave_a_spool();
  CHECK_INT(rename("out", "moved"), 0);
  CHECK_INT(recover("moved"), DFT_OK);
  check_whole("moved/dead.pfw");
  CHECK_INT(exists("out"), 0);
}

static void the_next_process_does_it_by_itself(void) {
  leave_a_spool();
  CHECK_INT(dft_start(&(dft_options){sizeof(dft_options), "out/next.pfw", NULL}), DFT_OK);
  dft_instant("one", "test");
  CHECK_INT(dft_stop(), DFT_OK);
  check_whole("out/dead.pfw");
  CHECK_INT(exists("out/next.pfw"), 1);
  CHECK_INT(exists("out/.dftracer"), 0);
}

/* Two children are killed; the end of the second one was on purpose. */
static void a_child_that_was_ended_on_purpose_did_not_die(void) {
  set("DFTRACER_ENABLE", "1");
  set("DFTRACER_TRACE_COMPRESSION", "0");
  for (int i = 0; i < 2; i++) {
    char name[32];
    pid_t pid = fork();
    snprintf(name, sizeof name, "out/child-%d.pfw", i);
    CHECK(pid >= 0);
    if (pid == 0) {
      CHECK_INT(dft_start(&(dft_options){sizeof(dft_options), name, NULL}), DFT_OK);
      dft_instant("one", "test");
      kill(getpid(), SIGKILL);
    }
    CHECK_INT(waitpid(pid, NULL, 0), pid);
    if (i == 1) dft_child_ends((uint32_t)pid);
  }
  CHECK_INT(recover("out"), DFT_OK);
  CHECK_INT(report.published, 2);
  for (int i = 0; i < 2; i++) {
    trace in = read_trace(i ? "out/child-1.pfw" : "out/child-0.pfw");
    CHECK_INT(count_name(&in, "one"), 1);
    CHECK_INT(find_arg(the_event(&in, "end"), "recovered") != NULL, i == 0);
    free_trace(&in);
  }
}

static void the_same_explicit_name_does_not_replace_the_dead(void) {
  leave_a_spool();
  CHECK_INT(dft_start(&(dft_options){sizeof(dft_options), "out/dead.pfw", NULL}), DFT_OK);
  dft_instant("one", "test");
  CHECK_INT(dft_stop(), DFT_OK);
  CHECK_INT(count_files("out", NULL), 2);
  trace in = read_trace("out/dead.pfw");
  the_event(&in, "one");
  free_trace(&in);
}

/* Nothing can be written where a folder lies. */
static void block_output(void) {
  CHECK_INT(mkdir("out/.dftracer/dead.0-jsonl", 0700), 0);
}

static void a_recovery_that_failed_may_be_repeated(void) {
  leave_a_spool();
  block_output();
  CHECK(recover("out") != DFT_OK);
  CHECK_INT(report.failed, 1);
  CHECK(recover("./out/../out/.dftracer") != DFT_OK);
  CHECK_INT(rmdir("out/.dftracer/dead.0-jsonl"), 0);
  CHECK_INT(recover("out"), DFT_OK);
  CHECK_INT(report.published, 1);
  check_whole("out/dead.pfw");
}

/* As recoveries of relative paths left it when they failed. */
static void a_header_with_a_relative_folder_does_no_harm(void) {
  int fd;
  leave_a_spool();
  fd = open("out/.dftracer/dead.spool", O_RDWR);
  CHECK(fd >= 0 && pwrite(fd, "out", 4, offsetof(dft__header, folder)) == 4 && close(fd) == 0);
  CHECK_INT(recover("out"), DFT_OK);
  check_whole("out/dead.pfw");
}

static uint32_t dead_pid(void) {
  uint32_t pid = 0;
  int fd = open("out/.dftracer/dead.spool", O_RDONLY);
  CHECK(fd >= 0 && pread(fd, &pid, 4, offsetof(dft__header, pid)) == 4 && close(fd) == 0);
  return pid;
}

static void start_under_the_same_name(void) {
  CHECK_INT(dft_start(&(dft_options){sizeof(dft_options), "out/dead.pfw", NULL}), DFT_OK);
  dft_instant("one", "test");
  CHECK_INT(dft_stop(), DFT_OK);
}

static void failed_attempts_do_not_make_the_name_longer(void) {
  char name[64];
  leave_a_spool();
  snprintf(name, sizeof name, "out/dead-%u.pfw", dead_pid());
  block_output();
  CHECK_INT(in_process(start_under_the_same_name), 0);
  CHECK_INT(in_process(start_under_the_same_name), 0);
  CHECK_INT(rmdir("out/.dftracer/dead.0-jsonl"), 0);
  CHECK_INT(in_process(start_under_the_same_name), 0);
  check_whole(name);
  trace in = read_trace("out/dead.pfw");
  the_event(&in, "one");
  free_trace(&in);
}

static void living_processes_are_left_alone(void) {
  set("DFTRACER_ENABLE", "1");
  set("DFTRACER_TRACE_COMPRESSION", "0");
  CHECK_INT(dft_start(&(dft_options){sizeof(dft_options), "out/own.pfw", NULL}), DFT_OK);
  dft_instant("before", "test");
  CHECK_INT(recover("out"), DFT_OK);
  CHECK_INT(report.published, 0);
  CHECK_INT(report.alive, 1);
  dft_instant("after", "test");
  CHECK_INT(dft_stop(), DFT_OK);
  trace in = read_trace("out/own.pfw");
  CHECK_INT(count_name(&in, "before") + count_name(&in, "after"), 2);
  free_trace(&in);
}

/* ---- Damage ------------------------------------------------------------------------------------------------------- */

static char *good;
static size_t good_len;
static uint64_t random_state;

static uint64_t next_random(void) {
  random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return random_state >> 24;
}

/* Anywhere, but more often in the header and at the start of a cell, where references and lengths are. */
static void damage(char *bytes) {
  static const uint64_t values[] = {0, 1, 0xff, 0x7fffffff, 0xffffffff, UINT64_MAX, 1 << 20, 1 << 12};
  for (uint64_t count = 1 + next_random() % 20; count; count--) {
    size_t at = next_random() % good_len;
    uint64_t value = next_random();
    if (next_random() % 3 == 0) at = sizeof(((dft__header *)0)->magic) + next_random() % sizeof(dft__header);
    if (next_random() % 2 == 0) at = at / 8 * 8;
    if (next_random() % 2 == 0) value = values[next_random() % 8];
    for (size_t i = 0; i < 1 + next_random() % 8 && at + i < good_len; i++) bytes[at + i] = (char)(value >> 8 * i);
  }
}

static void write_file(const char *path, const char *bytes, size_t len) {
  int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
  CHECK(fd >= 0 && write(fd, bytes, len) == (ssize_t)len && close(fd) == 0);
}

/* Whatever was published holds whole lines. Their content is anybody's guess. */
static void recover_damaged(void) {
  char name[256], path[300], *text;
  trace in;
  alarm(20);
  CHECK(freopen("/dev/null", "w", stderr));
  recover("out");
  if (!count_files("out", name) || name[0] == '.') return;
  snprintf(path, sizeof path, "out/%s", name);
  text = read_text(path);
  if (strncmp(text, "\x1f\x8b", 2) == 0) { /* the damage says that the trace shall be compressed */
    free(text);
    return;
  }
  if (strncmp(text, "[\n", 2) != 0) exit(3);
  memmove(text, text + 2, strlen(text + 2) + 1);
  in = read_lines(text);
  free_trace(&in);
}

static void damage_of_any_kind_does_no_harm(void) {
  const char *more = getenv("DFT_TEST_TURNS"); /* for people with time */
  uint64_t turns = more ? strtoull(more, NULL, 10) : FEWER(400, 100);
  char *bytes;
  struct stat facts;
  int fd;
  leave_a_spool();
  fd = open("out/.dftracer/dead.spool", O_RDONLY);
  CHECK(fd >= 0 && fstat(fd, &facts) == 0);
  good_len = (size_t)facts.st_size;
  good = malloc(good_len);
  bytes = malloc(good_len);
  CHECK(good && bytes && read(fd, good, good_len) == (ssize_t)good_len);
  for (uint64_t turn = 0; turn < turns; turn++) {
    int result;
    remove_tree("out");
    CHECK(mkdir("out", 0700) == 0 && mkdir("out/.dftracer", 0700) == 0);
    memcpy(bytes, good, good_len);
    random_state = turn;
    damage(bytes);
    write_file("out/.dftracer/dead.spool", bytes, turn % 10 ? good_len : next_random() % good_len);
    result = in_process(recover_damaged);
    if (result) fprintf(stderr, "  turn %d\n", (int)turn);
    CHECK_INT(result, 0);
  }
  free(good);
  free(bytes);
}

/* ---- Signals of the program meanwhile ------------------------------------------------------------------------------------ */

#define DEEP_BYTES ((size_t)2 << 20)

static volatile sig_atomic_t is_signalled, handled;

/* In the place of the C library's: a recovery lists folders. */
DIR *fdopendir(int fd) {
  DIR *(*real)(int);
  *(void **)&real = dlsym(RTLD_NEXT, "fdopendir");
  if (is_signalled) raise(SIGUSR1);
  return real(fd);
}

static void take_much_stack(int signal) {
  volatile char *bytes = alloca(DEEP_BYTES);
  (void)signal;
  for (size_t i = DEEP_BYTES; i > 0; i -= 4096) bytes[i - 1] = 1;
  handled = 1;
}

static void recover_while_signals_come(void) {
  signal(SIGUSR1, take_much_stack);
  is_signalled = 1;
  CHECK_INT(recover("out"), DFT_OK);
  CHECK_INT(handled, 1);
  CHECK_INT(report.published, 1);
}

static void handlers_have_the_stack_of_the_main_thread(void) {
  leave_a_spool();
  CHECK_INT(in_process(recover_while_signals_come), 0);
  check_whole("out/dead.pfw");
}

int main(void) {
  RUN(nothing_to_do_is_fine);
  RUN(a_dead_process_is_published_once);
  RUN(the_folder_may_be_named_in_many_ways);
  RUN(a_folder_that_was_moved_is_recovered_where_it_is);
  RUN(the_next_process_does_it_by_itself);
  RUN(a_child_that_was_ended_on_purpose_did_not_die);
  RUN(the_same_explicit_name_does_not_replace_the_dead);
  RUN(a_recovery_that_failed_may_be_repeated);
  RUN(a_header_with_a_relative_folder_does_no_harm);
  RUN(failed_attempts_do_not_make_the_name_longer);
  RUN(living_processes_are_left_alone);
  RUN(damage_of_any_kind_does_no_harm);
  RUN(handlers_have_the_stack_of_the_main_thread);
  return failed_cases;
}
