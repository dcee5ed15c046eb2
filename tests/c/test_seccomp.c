/* test_seccomp.c - a thread whose system calls are filtered goes on recording, with DFTRACER_ON_FULL=wait.
 *
 * Any other call than those of `allowed` kills this process. docs/promises.md lists them.
 * SPDX-License-Identifier: MIT */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "session.h"

enum { EVENTS = 1000000, NAMES = 2000, DEPTH = 300, TEXT = 30000 };

static dft_site site = DFT_SITE("step", "test");

/* The last two are those of the C library when a thread ends. */
static const long allowed[] = {SYS_rt_sigprocmask, SYS_futex, SYS_clock_gettime, SYS_madvise, SYS_exit};
enum { ALLOWED = sizeof allowed / sizeof allowed[0] };

static int filter_calls(void) {
  struct sock_filter code[2 * ALLOWED + 2] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
  };
  struct sock_fprog program = {.len = sizeof code / sizeof code[0], .filter = code};
  int at = 1;
  for (int i = 0; i < ALLOWED; i++) {
    code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)allowed[i], 0, 1);
    code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }
  code[at] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void record_step(void) {
  dft_region_begin(&site);
  dft_region_end();
}

/* Everything that makes a thread take more of the spool: chunks, names, a deep stack, a huge record. */
static void record_much(void) {
  static char text[TEXT + 1];
  for (int i = 0; i < EVENTS; i++) record_step();
  for (int i = 0; i < NAMES; i++) {
    char name[32];
    snprintf(name, sizeof name, "name %d", i);
    dft_instant(name, "test");
  }
  for (int i = 0; i < DEPTH; i++) dft_region_begin(&site);
  for (int i = 0; i < DEPTH; i++) dft_region_end();
  memset(text, 'x', TEXT);
  dft_region_begin(&site);
  dft_update_string("text", text);
  dft_region_end();
}

static int can_filter = 1;

static void *record_filtered(void *unused) {
  (void)unused;
  record_step();
  can_filter = filter_calls();
  if (can_filter) record_much();
  return NULL;
}

static void a_filtered_thread_records(void) {
  pthread_t thread;
  trace in;
  set("DFTRACER_ON_FULL", "wait");
  set("DFTRACER_SPOOL_LIMIT", "8M");
  start_file("a.pfw");
  CHECK_INT(pthread_create(&thread, NULL, record_filtered, NULL), 0);
  CHECK_INT(pthread_join(thread, NULL), 0);
  stop_file();
  if (!can_filter) SKIP("no seccomp filters here");
  in = read_trace("a.pfw");
  CHECK_INT(count_name(&in, "step"), 1 + EVENTS + DEPTH + 1);
  free_trace(&in);
}

int main(void) {
  if (FEWER(0, 1)) SKIP("sanitizers make calls of their own");
  RUN(a_filtered_thread_records);
  return failed_cases;
}
