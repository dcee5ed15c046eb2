/* session.h - what tests of the core share: a process and a folder of its own for each case, one trace recorded and read
 * back, and the rules that every trace keeps.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_TESTS_SESSION_H
#define DFTRACER_TESTS_SESSION_H

#include <dftracer/dft.h>
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lines.h"
#include "sinks/memory/memory.h"

/* Sanitizers make everything 5 to 20 times slower: counts that are there for their size alone become smaller. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define FEWER(plain, sanitized) (sanitized)
#else
#define FEWER(plain, sanitized) (plain)
#endif

/* ---- Cases -------------------------------------------------------------------------------------------------------- */

static char folder[4096]; /* of this case, the working directory, removed at its end */

__attribute__((unused)) static void remove_tree(const char *path) {
  DIR *entries = opendir(path);
  struct dirent *entry;
  while (entries && (entry = readdir(entries)) != NULL) {
    char inner[8192];
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
    if (unlink(inner) != 0) remove_tree(inner);
  }
  if (entries) closedir(entries);
  rmdir(path);
}

static int failed_cases; /* main returns it */

/* Runs one case in a process of its own, which nothing of the case before can disturb, nor the next ones. It gets limits
 * of time and space, so that a core run wild harms no machine. */
__attribute__((unused)) static void run_case(const char *name, void (*test_case)(void)) {
  const struct rlimit most = {(rlim_t)2 << 30, (rlim_t)2 << 30};
  const char *temporary = getenv("TMPDIR");
  const char *only = getenv("DFT_TEST_CASE"); /* for people: this case alone */
  int status;
  pid_t child;
  if (only && strcmp(only, name) != 0) return;
  snprintf(folder, sizeof folder, "%s/dftracer-test-XXXXXX", temporary && *temporary ? temporary : "/tmp");
  CHECK(mkdtemp(folder) && chdir(folder) == 0);
  child = fork();
  CHECK(child >= 0);
  if (!child) {
    alarm(getenv("DFT_TEST_TURNS") ? 0 : 100);
    setrlimit(RLIMIT_FSIZE, &most);
    test_case();
    exit(0);
  }
  CHECK_INT(waitpid(child, &status, 0), child);
  CHECK(chdir("/") == 0);
  remove_tree(folder);
  if (status == 0) return;
  fprintf(stderr, "failed case: %s, status %#x\n\n", name, (unsigned)status);
  failed_cases = 1;
}
#define RUN(test_case) run_case(#test_case, test_case)

/* Runs part of a case in another process; its exit status, or 128 + the signal. */
__attribute__((unused)) static int in_process(void (*part)(void)) {
  int status;
  pid_t child = fork();
  CHECK(child >= 0);
  if (!child) {
    part();
    exit(0);
  }
  CHECK_INT(waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Runs this very program anew with one argument, and returns what it wrote to stderr, to be freed. Only a stderr that was
 * there when a program started is one the library writes to. */
__attribute__((unused)) static char *run_anew(const char *argument) {
  char path[4096], *text = calloc(1, 1 << 16);
  size_t len = 0;
  ssize_t got;
  int ends[2], status;
  pid_t child;
  CHECK(text && pipe(ends) == 0 && (got = readlink("/proc/self/exe", path, sizeof path - 1)) > 0);
  path[got] = '\0';
  child = fork();
  if (!child) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    execl(path, path, argument, (char *)NULL);
    _exit(99);
  }
  close(ends[1]);
  while ((got = read(ends[0], text + len, (1 << 16) - 1 - len)) > 0) len += (size_t)got;
  close(ends[0]);
  CHECK(waitpid(child, &status, 0) == child);
  if (status != 0) fprintf(stderr, "%s", text);
  CHECK_INT(status, 0);
  return text;
}

/* Runs a function on `count` threads at once, with the numbers from 0 on. */
__attribute__((unused)) static void on_threads(int count, void *(*run)(void *number)) {
  pthread_t threads[64];
  CHECK(count <= 64);
  for (intptr_t i = 0; i < count; i++) CHECK_INT(pthread_create(&threads[i], NULL, run, (void *)i), 0);
  for (int i = 0; i < count; i++) CHECK_INT(pthread_join(threads[i], NULL), 0);
}

/* The shared object of that name, which lies beside this program. */
__attribute__((unused)) static const char *plugin(const char *name) {
  static char path[4200];
  char own[4096];
  ssize_t len = readlink("/proc/self/exe", own, sizeof own - 1);
  CHECK(len > 0);
  own[len] = '\0';
  *strrchr(own, '/') = '\0';
  snprintf(path, sizeof path, "%s/%s.so", own, name);
  CHECK(access(path, R_OK) == 0);
  return path;
}

/* ---- Traces ------------------------------------------------------------------------------------------------------- */

__attribute__((unused)) static void set(const char *name, const char *value) {
  CHECK_INT(setenv(name, value, 1), 0);
}

/* Opens a trace that stays in memory. */
__attribute__((unused)) static void start_in_memory(void) {
  set("DFTRACER_ENABLE", "1");
  set("DFTRACER_SINK", "memory");
  CHECK_INT(dft_start(NULL), DFT_OK);
}

static int compare_int64(const void *a, const void *b) {
  int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
  return left < right ? -1 : left > right;
}

/* L6: ids are positive and unique. */
__attribute__((unused)) static void check_ids(const trace *in) {
  int64_t *ids = malloc((in->count + 1) * sizeof *ids);
  CHECK(ids);
  for (size_t i = 0; i < in->count; i++) ids[i] = in->events[i].id;
  qsort(ids, in->count, sizeof *ids, compare_int64);
  for (size_t i = 0; i < in->count; i++) {
    CHECK(ids[i] > 0);
    if (i && ids[i] == ids[i - 1]) fprintf(stderr, "  id %" PRId64 " is there twice\n", ids[i]);
    CHECK(!i || ids[i] != ids[i - 1]);
  }
  free(ids);
}

static int compare_place(const void *a, const void *b) {
  const event *left = *(event *const *)a, *right = *(event *const *)b;
  if (left->tid != right->tid) return left->tid < right->tid ? -1 : 1;
  if (left->ts != right->ts) return left->ts < right->ts ? -1 : 1;
  if (left->dur != right->dur) return left->dur > right->dur ? -1 : 1;
  return arg_int(left, "level") < arg_int(right, "level") ? -1 : arg_int(left, "level") > arg_int(right, "level");
}

/* T4: events of one thread nest or are disjoint. */
__attribute__((unused)) static void check_nesting(const trace *in) {
  const event **sorted = malloc((in->count + 1) * sizeof *sorted);
  const event **stack = malloc((in->count + 1) * sizeof *stack);
  size_t count = 0, depth = 0;
  CHECK(sorted && stack);
  for (size_t i = 0; i < in->count; i++) {
    if (in->events[i].ph == 'X') sorted[count++] = &in->events[i];
  }
  qsort(sorted, count, sizeof *sorted, compare_place);
  for (size_t i = 0; i < count; i++) {
    const event *now = sorted[i];
    if (depth && stack[0]->tid != now->tid) depth = 0;
    while (depth && stack[depth - 1]->ts + stack[depth - 1]->dur <= now->ts) depth--;
    if (depth && now->ts + now->dur > stack[depth - 1]->ts + stack[depth - 1]->dur) {
      fprintf(stderr, "  these overlap:\n  %s\n  %s\n", stack[depth - 1]->line, now->line);
      CHECK(!"events of one thread nest");
    }
    stack[depth++] = now;
  }
  free(sorted);
  free(stack);
}

/* F7, L2, L3, L4, T2, H1: what holds for every line. */
__attribute__((unused)) static void check_lines(const trace *in) {
  const event *last = &in->events[in->count - 1];
  const char *host = arg_text(&in->events[0], "value");
  CHECK_STR(in->events[0].name, "HH");
  CHECK_STR(last->name, "end");
  CHECK_STR(last->cat, "dftracer");
  for (size_t i = 0; i < in->count; i++) {
    const event *one = &in->events[i];
    CHECK(one->name[0] && one->cat[0]);
    CHECK(one->ph == 'X' || one->ph == 'M' || one->ph == 'C');
    CHECK(one->pid >= 0 && one->pid <= UINT32_MAX && one->tid >= 0 && one->tid <= UINT32_MAX);
    CHECK(one->dur >= 0 && one->ts >= 0);
    if (one->ph == 'C') continue; /* Perfetto takes every argument of a counter for a number */
    CHECK_STR(one->args[0].key, "hhash");
    CHECK_STR(one->args[0].text, host);
  }
}

/* Completes the trace that start_in_memory opened, and reads it. check_nesting is left to the caller: explicit times are
 * written as they are given. */
__attribute__((unused)) static trace stop_any(dft_status expected) {
  trace result;
  CHECK_INT(dft_stop(), expected);
  result = read_lines(dft__memory_take(NULL));
  CHECK(result.count > 0);
  check_lines(&result);
  check_ids(&result);
  return result;
}

__attribute__((unused)) static trace stop(void) {
  trace result = stop_any(DFT_OK);
  check_nesting(&result);
  return result;
}

/* The place of the only event of this name. */
__attribute__((unused)) static void check_place(const trace *in, const char *name, int64_t parent, int64_t level) {
  const event *one = the_event(in, name);
  CHECK_INT(arg_int(one, "p_idx"), parent);
  CHECK_INT(arg_int(one, "level"), level);
}

/* ---- Files -------------------------------------------------------------------------------------------------------- */

__attribute__((unused)) static int exists(const char *path) {
  struct stat facts;
  return lstat(path, &facts) == 0;
}

/* A whole file, terminated; the caller frees. */
__attribute__((unused)) static char *read_text(const char *path) {
  FILE *file = fopen(path, "r");
  char *text;
  long len;
  if (!file) fprintf(stderr, "  there is no %s\n", path);
  CHECK(file && fseek(file, 0, SEEK_END) == 0 && (len = ftell(file)) >= 0);
  rewind(file);
  text = malloc((size_t)len + 1);
  CHECK(text && fread(text, 1, (size_t)len, file) == (size_t)len);
  text[len] = '\0';
  fclose(file);
  return text;
}

/* A published trace that is not compressed. F6: its first line is the bracket. */
__attribute__((unused)) static trace read_trace(const char *path) {
  char *text = read_text(path);
  trace result;
  CHECK(strncmp(text, "[\n", 2) == 0);
  memmove(text, text + 2, strlen(text + 2) + 1);
  result = read_lines(text);
  CHECK(result.count > 0);
  check_lines(&result);
  check_ids(&result);
  return result;
}

/* Fills the registry of names, of which a trace has 65,536. */
__attribute__((unused)) static void use_up_names(void) {
  for (int i = 0; i < 66000; i++) {
    char name[32];
    int len = snprintf(name, sizeof name, "name %d", i);
    dft_region_end_at(dft_region_begin_n(name, (size_t)len, "filler", 6));
  }
}

/* Entries of a folder, and the first one's name. */
__attribute__((unused)) static int count_files(const char *path, char first[256]) {
  DIR *entries = opendir(path);
  struct dirent *entry;
  int count = 0;
  if (first) first[0] = '\0';
  if (!entries) return 0;
  while ((entry = readdir(entries)) != NULL) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    if (!count++ && first) snprintf(first, 256, "%s", entry->d_name);
  }
  closedir(entries);
  return count;
}

/* Opens a trace in files that are not compressed; name NULL: what the environment says. */
__attribute__((unused)) static void start_file(const char *name) {
  set("DFTRACER_ENABLE", "1");
  set("DFTRACER_TRACE_COMPRESSION", "0");
  CHECK_INT(dft_start(&(dft_options){sizeof(dft_options), name, NULL}), DFT_OK);
}

__attribute__((unused)) static void stop_file(void) {
  CHECK_INT(dft_stop(), DFT_OK);
}

__attribute__((unused)) static void write_trace(const char *name, const char *event_name) {
  start_file(name);
  dft_instant(event_name, "test");
  stop_file();
}

__attribute__((unused)) static void check_has(const char *path, const char *event_name) {
  trace in = read_trace(path);
  the_event(&in, event_name);
  free_trace(&in);
}

#endif
