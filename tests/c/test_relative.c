/* test_relative.c - a relative DFTRACER_LOG_FILE: all processes of a job write to one folder, wherever they go.
 * SPDX-License-Identifier: MIT */
#include <errno.h>

#include "session.h"

static void go_elsewhere(void) {
  CHECK(mkdir("elsewhere", 0700) == 0 || errno == EEXIST);
  CHECK_INT(chdir("elsewhere"), 0);
}

static void use_relative_names(void) {
  set("DFTRACER_ENABLE", "1");
  set("DFTRACER_TRACE_COMPRESSION", "0");
  set("DFTRACER_LOG_FILE", "out/trace");
}

static void check_folders(int files) {
  CHECK_INT(chdir(folder), 0);
  CHECK_INT(count_files("out", NULL), files);
  CHECK_INT(count_files("elsewhere", NULL), 0);
}

static void record_in_child(void) {
  dft_instant("child", "test");
}

static void a_fork_after_chdir(void) {
  use_relative_names();
  CHECK_INT(dft_start(NULL), DFT_OK);
  dft_instant("parent", "test");
  go_elsewhere();
  CHECK_INT(in_process(record_in_child), 0);
  CHECK_INT(dft_stop(), DFT_OK);
  check_folders(2);
}

static void a_fork_after_chdir_with_a_name_of_the_program(void) {
  set("DFTRACER_ENABLE", "1");
  CHECK_INT(dft_start(&(dft_options){sizeof(dft_options), "./out/named.pfw", NULL}), DFT_OK);
  dft_instant("parent", "test");
  go_elsewhere();
  CHECK_INT(in_process(record_in_child), 0);
  CHECK_INT(dft_stop(), DFT_OK);
  check_folders(2);
}

/* A program that changes its folder before its first event, and starts another one. */
static void outer(void) {
  go_elsewhere();
  dft_instant("outer", "test");
  free(run_anew("inner"));
}

static void inner(void) {
  dft_instant("inner", "test");
}

static void programs_that_are_started_elsewhere(void) {
  use_relative_names();
  free(run_anew("outer"));
  check_folders(2);
}

static void an_absolute_name_stays_as_it_is(void) {
  char path[sizeof folder + 16];
  snprintf(path, sizeof path, "%s/./out/trace", folder);
  set("SHOWN_AS", path);
  use_relative_names();
  set("DFTRACER_LOG_FILE", path);
  free(run_anew("show"));
}

static void show(void) {
  CHECK_STR(getenv("DFTRACER_LOG_FILE"), getenv("SHOWN_AS"));
}

/* ---- The folder of spools ---------------------------------------------------------------------------------------------- */

static void record_elsewhere_and_die(void) {
  CHECK_INT(dft_start(NULL), DFT_OK);
  go_elsewhere();
  for (int i = 0; i < 5000; i++) dft_instant("step", "test");
  kill(getpid(), SIGKILL);
}

static void a_relative_folder_of_spools(void) {
  char name[256], path[300];
  trace in;
  use_relative_names();
  set("DFTRACER_SPOOL_DIR", "spools");
  CHECK_INT(mkdir("spools", 0700), 0);
  CHECK_INT(in_process(record_elsewhere_and_die), 128 + SIGKILL);
  CHECK_INT(dft_recover("out", NULL), DFT_OK);
  CHECK_INT(count_files("out", name), 1);
  snprintf(path, sizeof path, "out/%s", name);
  in = read_trace(path);
  CHECK_INT(count_name(&in, "step"), 5000);
  free_trace(&in);
}

int main(int argc, char **argv) {
  if (argc > 1) {
    if (strcmp(argv[1], "outer") == 0) outer();
    else if (strcmp(argv[1], "inner") == 0) inner();
    else show();
    return 0;
  }
  RUN(a_fork_after_chdir);
  RUN(a_fork_after_chdir_with_a_name_of_the_program);
  RUN(programs_that_are_started_elsewhere);
  RUN(an_absolute_name_stays_as_it_is);
  RUN(a_relative_folder_of_spools);
  return failed_cases;
}
