/* test_io.c - the parts behind the wrappers of I/O calls, and wrappers called by their own names: here the sanitizers see
 * them, which cannot be preloaded into programs that were built without. SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <sys/mman.h>

#include "base/config.h"
#include "intercept/call.h"
#include "session.h"
#include "session/session.h"
#include "spool/intern.h"

int dft__io_open(const char *path, int flags, mode_t mode);
int dft__io_close(int fd);
int dft__io_dup2(int fd, int to);
ssize_t dft__io_write(int fd, const void *from, size_t count);
ssize_t dft__io_pread(int fd, void *to, size_t count, off_t offset);
int dft__io_rename(const char *path, const char *to);
int dft__io_chdir(const char *path);

/* ---- Paths ---- */

static const char *absolute(int dir, const char *path) {
  static char text[DFT__IO_PATH];
  text[dft__path_absolute(dir, path, text, DFT__IO_PATH)] = '\0';
  return text;
}

static void paths_are_made_absolute(void) {
  char expected[8192], here[4096];
  CHECK(getcwd(here, sizeof here));
  CHECK_STR(absolute(AT_FDCWD, "/a/b"), "/a/b");
  CHECK_STR(absolute(AT_FDCWD, "//a///b//"), "/a/b");
  CHECK_STR(absolute(AT_FDCWD, "/./a/./b/."), "/a/b");
  CHECK_STR(absolute(AT_FDCWD, "/"), "/");
  CHECK_STR(absolute(AT_FDCWD, "/.."), "/");
  CHECK_STR(absolute(AT_FDCWD, "/none/../b"), "/b");
  CHECK_STR(absolute(AT_FDCWD, "/none/x/../../../b/.."), "/");
  CHECK_STR(absolute(DFT__AS_IT_IS, "../x"), "../x");
  snprintf(expected, sizeof expected, "%s/x", here);
  CHECK_STR(absolute(AT_FDCWD, "x"), expected);
  CHECK_STR(absolute(AT_FDCWD, "./y/../x"), expected);
  CHECK_STR(absolute(AT_FDCWD, ""), here);
  CHECK_UINT(dft__path_absolute(-1, "x", expected, DFT__IO_PATH), 0);
}

/* Every string of these characters up to a length, alone and where blocks of sixteen end, against a plain loop. */
static const char *spelled_out(const char *path) {
  static char text[64];
  char copy[64], *rest = copy;
  size_t len = 0;
  snprintf(copy, sizeof copy, "%s", path);
  for (const char *part; (part = strsep(&rest, "/")) != NULL;) {
    if (strcmp(part, "..") == 0) {
      while (len && text[--len] != '/') continue;
    } else if (*part && strcmp(part, ".") != 0) {
      len += (size_t)snprintf(text + len, sizeof text - len, "/%s", part);
    }
  }
  if (!len) text[len++] = '/';
  text[len] = '\0';
  return text;
}

static void paths_of_odd_parts_are_made_absolute(void) {
  static const char characters[] = "/./x"; /* dots are as frequent as slashes */
  for (unsigned before = 0; before <= 16; before++) {
    for (unsigned number = 0; number < 1u << 14; number++) {
      char path[64] = "/nowhere/nowhere";
      size_t len = before;
      for (unsigned i = 0; i < 7; i++) path[len++] = characters[number >> 2 * i & 3];
      path[0] = '/';
      path[len] = '\0';
      CHECK_STR(absolute(AT_FDCWD, path), spelled_out(path));
      CHECK_INT(dft__path_is_plain(path, len), len > 1 && strcmp(path, spelled_out(path)) == 0);
    }
  }
}

/* The kernel takes 4096 bytes for too long, whether or not there are more. */
static void no_more_of_a_path_is_read_than_the_kernel_read(void) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char text[DFT__IO_PATH];
  char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(pages != MAP_FAILED && mprotect(pages + page, page, PROT_NONE) == 0);
  for (int is_odd = 0; is_odd < 2; is_odd++) {
    char *path = pages + page - PATH_MAX;
    memset(path, 'p', PATH_MAX);
    memcpy(path, is_odd ? "/./" : "/pp", 3);
    CHECK(dft__path_absolute(AT_FDCWD, path, text, DFT__IO_PATH) > 0);
    CHECK_INT(dft__io_open(path, O_RDONLY, 0), -1);
    CHECK_INT(errno, ENAMETOOLONG);
  }
  munmap(pages, 2 * page);
}

static void long_paths_are_cut(void) {
  char path[20000], text[DFT__IO_PATH];
  memset(path, 'p', sizeof path);
  path[0] = '/';
  path[sizeof path - 1] = '\0';
  CHECK(dft__path_absolute(AT_FDCWD, path, text, DFT__IO_PATH) < DFT__IO_PATH);
  for (size_t i = 0; i < sizeof path - 1; i += 2) path[i] = '/';
  CHECK(dft__path_absolute(AT_FDCWD, path, text, DFT__IO_PATH) < DFT__IO_PATH);
  for (size_t i = 0; i + 3 < sizeof path; i += 3) memcpy(path + i, "../", 3);
  CHECK(dft__path_absolute(AT_FDCWD, path, text, DFT__IO_PATH) < DFT__IO_PATH);
}

/* ---- The filter ---- */

static enum dft__wanted judge(const char *path) {
  return dft__filter_judge(path, strlen(path));
}

static void filter_by(const char *wanted, const char *excluded) {
  setenv("DFTRACER_DATA_DIR", wanted, 1);
  setenv("DFTRACER_EXCLUDE_DIR", excluded, 1);
  dft__config_read();
  CHECK_INT(dft__filter_make(), *wanted != '\0');
}

static void the_innermost_folder_decides(void) {
  filter_by("/data:/data/out/keep:/other/", "/data/out:/data");
  CHECK_INT(judge("/data"), DFT__WANTED);
  CHECK_INT(judge("/data/x"), DFT__WANTED);
  CHECK_INT(judge("/database"), DFT__WANTED_NOT);
  CHECK_INT(judge("/data/out/x"), DFT__WANTED_NOT);
  CHECK_INT(judge("/data/out"), DFT__WANTED_BELOW);
  CHECK_INT(judge("/data/out/keep/x"), DFT__WANTED);
  CHECK_INT(judge("/other/x"), DFT__WANTED);
  CHECK_INT(judge("/"), DFT__WANTED_BELOW);
  CHECK_INT(judge("/x"), DFT__WANTED_NOT);
  CHECK_INT(judge("/data/trace.pfw"), DFT__WANTED_NOT);
  CHECK_INT(judge("relative"), DFT__WANTED_NOT);
  CHECK_INT(dft__filter_is_all(), 0);
}

static void all_is_every_path(void) {
  filter_by("all:/dev/shm", "/proc:/dev");
  CHECK_INT(judge("/x"), DFT__WANTED);
  CHECK_INT(judge("/dev/null"), DFT__WANTED_NOT);
  CHECK_INT(judge("/dev/shm/x"), DFT__WANTED);
  CHECK_INT(dft__filter_is_all(), 1);
  filter_by("", "");
  CHECK_INT(judge("/x"), DFT__WANTED_NOT);
}

static void a_look_is_sure_or_says_that_it_is_not(void) {
  char longest[PATH_MAX + 1] = "/elsewhere/";
  unsigned past = 0;
  filter_by("/nowhere/x", "");
  for (unsigned number = 0; number < 1u << 14; number++) {
    char path[16] = "/nowhere";
    for (unsigned i = 0; i < 7; i++) path[8 + i] = "/./x"[number >> 2 * i & 3];
    if (dft__filter_look(path)) continue;
    CHECK_INT(judge(spelled_out(path)), DFT__WANTED_NOT);
    past++;
  }
  CHECK(past > 100);
  CHECK_UINT(dft__filter_look("/elsewhere/file"), 0);
  CHECK_UINT(dft__filter_look("/nowhere/x"), 10);
  CHECK_UINT(dft__filter_look("/nowhere/x/file"), 15);
  CHECK_UINT(dft__filter_look("/nowhere"), 8);
  CHECK_UINT(dft__filter_look("/"), 1);
  CHECK_UINT(dft__filter_look("/elsewhere/../nowhere/x"), 23);
  CHECK_UINT(dft__filter_look("elsewhere/file"), PATH_MAX);
  CHECK_UINT(dft__filter_look(""), PATH_MAX);
  memset(longest + 11, 'x', sizeof longest - 11);
  CHECK_UINT(dft__filter_look(longest), PATH_MAX);
}

static void more_folders_than_fit_do_no_harm(void) {
  char list[4000] = "";
  for (int i = 0; i < 400; i++) snprintf(list + strlen(list), sizeof list - strlen(list), "/f%d:", i);
  filter_by(list, "");
  CHECK_INT(judge("/f1/x"), DFT__WANTED);
}

/* ---- Descriptors ---- */

static void descriptors_are_remembered(void) {
  static const int numbers[] = {0, 1, 1023, 1024, 70000, 1048575};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) dft__fd_set(numbers[i], DFT__FD_OUT);
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    CHECK_UINT(dft__fd_take(numbers[i]), DFT__FD_OUT);
    CHECK_UINT(dft__fd_take(numbers[i]), DFT__FD_UNKNOWN);
  }
  CHECK(!dft__fd_slot(-1) && !dft__fd_slot(1048576) && !dft__fd_slot(INT_MAX));
  dft__fd_set(-1, DFT__FD_OUT);
  dft__fd_set(INT_MAX, DFT__FD_OUT);
  dft__fd_set(5000, DFT__FD_OUT);
  dft__fd_set(5001, DFT__FD_OUT);
  dft__fd_forget(5001, UINT_MAX);
  CHECK_UINT(dft__fd_take(5000), DFT__FD_OUT);
  CHECK_UINT(dft__fd_take(5001), DFT__FD_UNKNOWN);
}

/* ---- Wrappers ---- */

static void start_io(void) {
  set("DFTRACER_DATA_DIR", folder);
  start_in_memory();
  CHECK_INT(dft_bind_io(), DFT_OK);
}

static int named(const trace *in, const char *name) {
  int count = 0;
  for (size_t i = 0; i < in->count; i++) count += strcmp(in->events[i].name, name) == 0;
  return count;
}

static void wrappers_record(void) {
  char byte;
  int fd;
  trace got;
  start_io();
  fd = dft__io_open("a", O_RDWR | O_CREAT, 0600);
  CHECK(fd >= 0);
  errno = 77;
  CHECK_INT(dft__io_write(fd, "x", 1), 1);
  CHECK_INT(dft__io_dup2(fd, 100), 100);
  CHECK_INT(dft__io_pread(100, &byte, 1, 0), 1);
  CHECK_INT(dft__io_rename("a", "b"), 0);
  CHECK_INT(dft__io_chdir("."), 0);
  CHECK_INT(dft__io_close(100), 0);
  CHECK_INT(errno, 77);
  CHECK_INT(dft__io_close(100), -1);
  CHECK_INT(errno, EBADF);
  CHECK_INT(dft__io_open("/nowhere/else", O_RDONLY, 0), -1);
  CHECK_INT(dft__io_open(NULL, O_RDONLY, 0), -1);
  CHECK_INT(dft__io_close(fd), 0);
  got = stop();
  CHECK_INT(named(&got, "open"), 1);
  CHECK_INT(named(&got, "write"), 1);
  CHECK_INT(named(&got, "dup2"), 1);
  CHECK_INT(named(&got, "pread"), 1);
  CHECK_INT(named(&got, "rename"), 1);
  CHECK_INT(named(&got, "close"), 2);
  free_trace(&got);
}

/* The names of calls and of their arguments stand in the events then. */
static void calls_are_recorded_when_names_have_run_out(void) {
  int fd;
  trace got;
  start_io();
  use_up_names();
  fd = dft__io_open("a", O_RDWR | O_CREAT, 0600);
  CHECK(fd >= 0);
  CHECK_INT(dft__io_write(fd, "x", 1), 1);
  CHECK_INT(dft__io_rename("a", "b"), 0);
  CHECK_INT(dft__io_close(fd), 0);
  got = stop();
  CHECK_INT(named(&got, "open"), 1);
  CHECK_INT(named(&got, "rename"), 1);
  CHECK_INT(named(&got, "close"), 1);
  CHECK_STR(the_event(&got, "write")->cat, "POSIX");
  CHECK_INT(arg_int(the_event(&got, "write"), "ret"), 1);
  CHECK_INT(arg_int(the_event(&got, "end"), "num_events"), 66000 + 4);
  free_trace(&got);
}

#define ROUNDS FEWER(2000, 300)

static void *open_and_close(void *number) {
  for (int i = 0; i < ROUNDS; i++) {
    char name[64];
    int fd;
    snprintf(name, sizeof name, "f%d", (i + (int)(intptr_t)number) % 50);
    fd = dft__io_open(name, O_RDWR | O_CREAT, 0600);
    CHECK(fd >= 0);
    CHECK_INT(dft__io_write(fd, "y", 1), 1);
    CHECK_INT(dft__io_close(fd), 0);
  }
  return NULL;
}

static void threads_open_the_same_files(void) {
  trace got;
  start_io();
  on_threads(4, open_and_close);
  got = stop();
  CHECK_INT(named(&got, "open"), 4 * ROUNDS);
  CHECK_INT(named(&got, "write"), 4 * ROUNDS);
  CHECK_INT(named(&got, "close"), 4 * ROUNDS);
  free_trace(&got);
}

/* ---- References of paths ---- */

#define PATHS FEWER(20000, 2000)
static uint32_t first_refs[4][20000];

static void *intern_all(void *number) {
  dft__own own;
  CHECK_INT(dft__thread_take(&own), DFT__READY);
  for (int i = 0; i < PATHS; i++) {
    char path[64];
    int len = snprintf(path, sizeof path, "/some/where/%d", i);
    first_refs[(intptr_t)number % 4][i] = dft__intern_path(own.base, own.session, path, (size_t)len);
  }
  return NULL;
}

static void threads_agree_on_references(void) {
  start_in_memory();
  on_threads(4, intern_all);
  for (int i = 0; i < PATHS; i++) {
    const dft__name *name = dft__name_own(dft__session.spool, first_refs[0][i]);
    char path[64];
    snprintf(path, sizeof path, "/some/where/%d", i);
    CHECK(first_refs[0][i] != 0);
    CHECK_BYTES(name->text, name->len, path, strlen(path));
    for (int k = 1; k < 4; k++)
      CHECK_UINT(dft__name_own(dft__session.spool, first_refs[k][i])->hash, name->hash); /* one may have lost a race */
  }
}

/* The first ones are found another way than those that come when there are many. */
static void early_paths_keep_their_references(void) {
  start_in_memory();
  intern_all((void *)0);
  intern_all((void *)1);
  for (int i = 0; i < PATHS; i++) CHECK_UINT(first_refs[1][i], first_refs[0][i]);
}

int main(void) {
  RUN(paths_are_made_absolute);
  RUN(paths_of_odd_parts_are_made_absolute);
  RUN(no_more_of_a_path_is_read_than_the_kernel_read);
  RUN(long_paths_are_cut);
  RUN(the_innermost_folder_decides);
  RUN(all_is_every_path);
  RUN(a_look_is_sure_or_says_that_it_is_not);
  RUN(more_folders_than_fit_do_no_harm);
  RUN(descriptors_are_remembered);
  RUN(wrappers_record);
  RUN(calls_are_recorded_when_names_have_run_out);
  RUN(threads_open_the_same_files);
  RUN(threads_agree_on_references);
  RUN(early_paths_keep_their_references);
  return failed_cases;
}
