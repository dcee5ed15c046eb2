/* test_identity.c - who a process is, and whether the one that left a spool still lives.
 * SPDX-License-Identifier: MIT */
#include "base/identity.h"

#include <sys/prctl.h>

#include "session.h"

static dft__identity own;

static void a_process_knows_itself(void) {
  dft__identity again;
  dft__identity_own(&own);
  dft__identity_own(&again);
  CHECK(memcmp(&own, &again, sizeof own) == 0);
  CHECK_INT(own.pid, getpid());
  CHECK_INT(own.ppid, getppid());
  CHECK(own.start_ticks > 0 && own.pid_namespace > 0);
  CHECK_INT(strlen(own.boot_id), 36);
  CHECK(own.host[0]);
  CHECK_INT(dft__identity_life(&own, &own), DFT__ALIVE);
}

/* Its identity comes over a pipe; it lives until it is told to end. */
static pid_t start_child(dft__identity *identity, int *stop_it) {
  int there[2], back[2];
  pid_t child;
  CHECK(pipe(there) == 0 && pipe(back) == 0);
  child = fork();
  CHECK(child >= 0);
  if (!child) {
    char byte;
    prctl(PR_SET_NAME, "a) Z 1 (b) R"); /* the name stands in /proc/PID/stat as it is */
    dft__identity_own(identity);
    CHECK(write(back[1], identity, sizeof *identity) == sizeof *identity);
    close(there[1]);
    _exit(read(there[0], &byte, 1) == 0 ? 0 : 1);
  }
  close(there[0]);
  CHECK(read(back[0], identity, sizeof *identity) == sizeof *identity);
  *stop_it = there[1];
  return child;
}

static void a_process_lives_until_it_is_dead(void) {
  dft__identity child;
  int stop_it, status;
  siginfo_t info;
  pid_t pid;
  dft__identity_own(&own);
  pid = start_child(&child, &stop_it);
  CHECK_INT(child.pid, pid);
  CHECK_INT(dft__identity_life(&child, &own), DFT__ALIVE);
  close(stop_it);
  CHECK_INT(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
  CHECK_INT(dft__identity_life(&child, &own), DFT__DEAD); /* a zombie does nothing any more */
  CHECK_INT(waitpid(pid, &status, 0), pid);
  CHECK_INT(dft__identity_life(&child, &own), DFT__DEAD);
}

static void a_pid_that_came_again_is_another_process(void) {
  dft__identity before;
  dft__identity_own(&own);
  before = own;
  before.start_ticks--;
  CHECK_INT(dft__identity_life(&before, &own), DFT__DEAD);
}

/* In another time namespace the same process has another start time. */
static void a_start_time_of_another_clock_proves_nothing(void) {
  dft__identity before;
  dft__identity_own(&own);
  if (!own.time_namespace) return; /* an old kernel */
  before = own;
  before.start_ticks--;
  before.time_namespace++;
  CHECK_INT(dft__identity_life(&before, &own), DFT__UNKNOWN);
  before.time_namespace = 0; /* as in spools of 5.0 */
  CHECK_INT(dft__identity_life(&before, &own), DFT__UNKNOWN);
  before = own;
  before.start_ticks = 0; /* it could not be found out */
  CHECK_INT(dft__identity_life(&before, &own), DFT__UNKNOWN);
}

static void others_cannot_be_judged_from_here(void) {
  dft__identity other;
  dft__identity_own(&own);
  other = own;
  other.pid_namespace++;
  CHECK_INT(dft__identity_life(&other, &own), DFT__UNKNOWN);
  other = own;
  other.boot_id[0] ^= 1; /* the host has the same name, and is perhaps another one */
  CHECK_INT(dft__identity_life(&other, &own), DFT__UNKNOWN);
  other = own;
  other.pid = UINT32_MAX;
  CHECK_INT(dft__identity_life(&other, &own), DFT__UNKNOWN);
  other.pid = 0;
  CHECK_INT(dft__identity_life(&other, &own), DFT__UNKNOWN);
  other = own;
  other.boot_id[0] = own.boot_id[0] = '\0'; /* not known: no judgement */
  CHECK_INT(dft__identity_life(&other, &own), DFT__UNKNOWN);
  dft__identity_own(&own);
  other = own;
  other.pid_namespace = own.pid_namespace = 0;
  CHECK_INT(dft__identity_life(&other, &own), DFT__UNKNOWN);
}

static void without_descriptors_nobody_is_dead(void) {
  struct rlimit before, none;
  dft__identity child, blind;
  int stop_it, status;
  siginfo_t info;
  pid_t pid;
  dft__identity_own(&own);
  pid = start_child(&child, &stop_it);
  CHECK_INT(getrlimit(RLIMIT_NOFILE, &before), 0);
  none = (struct rlimit){0, before.rlim_max};
  CHECK_INT(setrlimit(RLIMIT_NOFILE, &none), 0);
  CHECK_INT(dft__identity_life(&child, &own), DFT__UNKNOWN);
  dft__identity_own(&blind);
  CHECK_STR(blind.boot_id, "");
  CHECK_INT(dft__identity_life(&child, &blind), DFT__UNKNOWN);
  close(stop_it);
  CHECK_INT(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
  CHECK_INT(dft__identity_life(&child, &own), DFT__UNKNOWN);
  CHECK_INT(waitpid(pid, &status, 0), pid);
  CHECK_INT(dft__identity_life(&child, &own), DFT__DEAD); /* the kernel says so, without a file */
  CHECK_INT(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static void *outlive(void *pipe_end) {
  char byte;
  _exit(read((int)(intptr_t)pipe_end, &byte, 1) == 0 ? 0 : 1);
}

/* The main thread ends by pthread_exit, and the process looks like a zombie. */
static void a_process_without_its_main_thread_lives(void) {
  dft__identity child;
  int back[2], there[2], status;
  pid_t pid;
  CHECK(pipe(back) == 0 && pipe(there) == 0);
  dft__identity_own(&own);
  pid = fork();
  if (!pid) {
    pthread_t thread;
    close(there[1]);
    pthread_create(&thread, NULL, outlive, (void *)(intptr_t)there[0]);
    dft__identity_own(&child);
    CHECK(write(back[1], &child, sizeof child) == sizeof child);
    pthread_exit(NULL);
  }
  close(there[0]);
  CHECK(read(back[0], &child, sizeof child) == sizeof child);
  for (int i = 0; i < 1000; i++) { /* until the state is Z */
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    dft__read_file(path, text, sizeof text);
    if (strstr(text, ") Z ")) break;
    usleep(1000);
  }
  CHECK_INT(dft__identity_life(&child, &own), DFT__ALIVE);
  close(there[1]);
  CHECK(waitpid(pid, &status, 0) == pid);
  CHECK_INT(dft__identity_life(&child, &own), DFT__DEAD);
}

static void small_files_are_read_whole_and_terminated(void) {
  char text[8];
  FILE *file = fopen("f", "w");
  CHECK(file && fputs("0123456789", file) >= 0 && fclose(file) == 0);
  CHECK_INT(dft__read_file("f", text, sizeof text), 7);
  CHECK_STR(text, "0123456");
  CHECK_INT(dft__read_file("missing", text, sizeof text), 0);
  CHECK_STR(text, "");
}

int main(void) {
  RUN(a_process_knows_itself);
  RUN(a_process_lives_until_it_is_dead);
  RUN(a_pid_that_came_again_is_another_process);
  RUN(a_start_time_of_another_clock_proves_nothing);
  RUN(others_cannot_be_judged_from_here);
  RUN(without_descriptors_nobody_is_dead);
  RUN(a_process_without_its_main_thread_lives);
  RUN(small_files_are_read_whole_and_terminated);
  return failed_cases;
}
