/* test_many_threads.c - more living threads than a commit can name chunks: the trace ends, and so does its recovery.
 * And all of them at once: nothing is dropped, the spool keeps its limit, and no call sleeps for long.
 * SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <glob.h>
#include <sys/syscall.h>
#include <time.h>

#include "session.h"
#include "spool/record.h"

enum { THREADS = DFT__COMMIT_CHUNKS + 76, THREADS_MOST = 8192 };
static int thread_count = THREADS;

static dft_site site = DFT_SITE("step", "test");
static pthread_barrier_t recorded, may_end;

static void record(int count) {
  for (int i = 0; i < count; i++) {
    dft_region_begin(&site);
    dft_region_end();
  }
}

static void *record_and_stay(void *number) {
  (void)number;
  record(1);
  pthread_barrier_wait(&recorded);
  pthread_barrier_wait(&may_end);
  return NULL;
}

enum { EVENTS = FEWER(3000, 200) * THREADS, SLOW_NS = 500000 }; /* of all threads */

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* How long a thread has run, or could have run if the processors had not been taken; 0: the kernel does not say. */
static uint64_t awake_ns(int schedstat) {
  char text[128] = "";
  unsigned long long running = 0, runnable = 0;
  if (pread(schedstat, text, sizeof text - 1, 0) > 0) sscanf(text, "%llu %llu", &running, &runnable);
  return running + runnable;
}

static _Atomic uint64_t longest_sleep_ns;

/* Since `since` the thread slept for so long. Threads that wait for a processor do not sleep. */
static void note_sleep(uint64_t since_ns, uint64_t since_awake_ns, int schedstat) {
  uint64_t awake = awake_ns(schedstat) - since_awake_ns, all = now_ns() - since_ns, longest = longest_sleep_ns;
  while (awake < all && all - awake > longest &&
         !atomic_compare_exchange_weak(&longest_sleep_ns, &longest, all - awake))
    continue;
}

static void *record_at_once(void *number) {
  char path[64];
  int schedstat;
  uint64_t since_ns, since_awake_ns;
  (void)number;
  snprintf(path, sizeof path, "/proc/self/task/%ld/schedstat", syscall(SYS_gettid));
  schedstat = open(path, O_RDONLY | O_CLOEXEC);
  pthread_barrier_wait(&recorded);
  since_ns = now_ns();
  since_awake_ns = awake_ns(schedstat);
  for (int i = 0; i < EVENTS / thread_count; i++) {
    uint64_t before = now_ns();
    record(1);
    if (now_ns() - before < SLOW_NS) continue;
    if (since_awake_ns) note_sleep(since_ns, since_awake_ns, schedstat);
    since_ns = now_ns();
    since_awake_ns = awake_ns(schedstat);
  }
  close(schedstat);
  return NULL;
}

static long long spool_bytes(void) {
  struct stat facts = {0};
  glob_t found;
  CHECK_INT(glob(".dftracer/*.spool", 0, NULL, &found), 0);
  CHECK_INT(stat(found.gl_pathv[0], &facts), 0);
  globfree(&found);
  return (long long)facts.st_size;
}

/* Returns as soon as all have reached the first barrier. */
static void begin_threads(pthread_t *threads, void *(*run)(void *)) {
  pthread_attr_t small;
  pthread_attr_init(&small);
  CHECK_INT(pthread_attr_setstacksize(&small, FEWER(64 << 10, 512 << 10)), 0);
  pthread_barrier_init(&recorded, NULL, (unsigned)thread_count + 1);
  pthread_barrier_init(&may_end, NULL, (unsigned)thread_count + 1);
  for (int i = 0; i < thread_count; i++) CHECK_INT(pthread_create(&threads[i], &small, run, NULL), 0);
  pthread_barrier_wait(&recorded);
}

static void check_trace(const char *path, int events) {
  trace in = read_trace(path);
  CHECK_INT(count_name(&in, "step"), events);
  CHECK_INT(arg_int(the_event(&in, "end"), "num_events"), events);
  free_trace(&in);
}

/* Each of them has a chunk that is not full. */
static void a_trace_ends_while_they_live(void) {
  static pthread_t threads[THREADS];
  start_file("a.pfw");
  begin_threads(threads, record_and_stay);
  stop_file();
  pthread_barrier_wait(&may_end);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  check_trace("a.pfw", THREADS);
}

static void die_while_they_live(void) {
  static pthread_t threads[THREADS];
  start_file("a.pfw");
  begin_threads(threads, record_and_stay);
  raise(SIGKILL);
}

static void what_they_left_is_recovered(void) {
  dft_recovery report = {.struct_size = sizeof report};
  CHECK_INT(in_process(die_while_they_live), 128 + SIGKILL);
  CHECK_INT(dft_recover(".", &report), DFT_OK);
  check_trace("a.pfw", THREADS);
}

/* Their chunks of the usual size would be more than the spool may hold. Sleeps of 100 ms are promised. On a machine that is
 * busy with other things those that work for all get less of it, so the bound here is 20 times that. It was more than 20 s once,
 * when threads raced for chunks and slept in between. */
static void they_record_at_once_and_nothing_is_dropped(void) {
  static pthread_t threads[THREADS_MOST];
  const char *count = getenv("DFT_TEST_THREADS"); /* for people: another number */
  struct rlimit files;
  if (count) thread_count = atoi(count) < THREADS_MOST ? atoi(count) : THREADS_MOST;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max; /* each of them reads its times */
  setrlimit(RLIMIT_NOFILE, &files);
  start_file("a.pfw");
  begin_threads(threads, record_at_once);
  for (int i = 0; i < thread_count; i++) pthread_join(threads[i], NULL);
  printf("%d threads at once: longest sleep %.1f ms, spool %.1f MiB\n", thread_count, (double)longest_sleep_ns / 1e6,
         (double)spool_bytes() / 1048576);
  CHECK(FEWER(longest_sleep_ns < 2000000000u, 1)); /* threads sleep in the sanitizers' own locks */
  CHECK(spool_bytes() <= (64 << 20) + (long long)DFT__HEADER_BYTES + thread_count * 4096);
  stop_file();
  check_trace("a.pfw", EVENTS / thread_count * thread_count);
}

int main(void) {
  RUN(a_trace_ends_while_they_live);
  RUN(they_record_at_once_and_nothing_is_dropped);
  RUN(what_they_left_is_recovered);
  return failed_cases;
}
