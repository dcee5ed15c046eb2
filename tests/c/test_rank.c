/* test_rank.c - rank and size from the variables of every launcher we know.
 * SPDX-License-Identifier: MIT */
#include "base/rank.h"

#include "base/config.h"
#include "base/identity.h"
#include "session.h"

/* From the manuals of the launchers. */
static const char *const launchers[][2] = {
  {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, /* Open MPI */
  {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},   /* MVAPICH2 */
  {"PMI_RANK", "PMI_SIZE"},                         /* MPICH, Intel MPI, Cray */
  {"PMIX_RANK", "PMIX_SIZE"},
  {"PALS_RANKID", "PALS_SIZE"}, /* HPE */
  {"FLUX_TASK_RANK", "FLUX_JOB_SIZE"},
  {"RANK", "WORLD_SIZE"}, /* torchrun */
  {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
};
enum { LAUNCHERS = sizeof launchers / sizeof launchers[0] };

static void check(int32_t rank, int32_t size) {
  int32_t found_rank = -2, found_size = -2;
  dft__config_read();
  dft__rank_find(&found_rank, &found_size);
  CHECK_INT(found_rank, rank);
  CHECK_INT(found_size, size);
  CHECK_INT(dft_rank(), rank);
  CHECK_INT(dft_size(), size);
}

static void clear(void) {
  for (int i = 0; i < LAUNCHERS; i++) {
    unsetenv(launchers[i][0]);
    unsetenv(launchers[i][1]);
  }
}

static void without_a_launcher_nothing_is_known(void) {
  clear();
  check(-1, -1);
}

static void every_launcher_is_understood(void) {
  for (int i = 0; i < LAUNCHERS; i++) {
    clear();
    set(launchers[i][0], "12");
    set(launchers[i][1], "64");
    check(12, 64);
    set(launchers[i][0], "0");
    check(0, 64);
  }
}

static void the_rank_alone_is_enough_but_for_the_common_word(void) {
  for (int i = 0; i < LAUNCHERS; i++) {
    clear();
    set(launchers[i][0], "3");
    if (strcmp(launchers[i][0], "RANK") == 0) check(-1, -1);
    else check(3, -1);
  }
}

static void a_size_without_a_rank_says_nothing(void) {
  for (int i = 0; i < LAUNCHERS; i++) {
    clear();
    set(launchers[i][1], "64");
    check(-1, -1);
  }
}

static void what_is_no_number_is_not_there(void) {
  static const char *const bad[] = {"", "x", "-1", "1x", " ", "99999999999", "1.5"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    clear();
    set("PMI_RANK", bad[i]);
    check(-1, -1);
    set("PMI_RANK", "4");
    set("PMI_SIZE", bad[i]);
    check(4, -1);
  }
}

/* Slurm sets its variables also in the shell that calls mpirun. */
static void the_mpi_library_comes_before_the_resource_manager(void) {
  clear();
  set("SLURM_PROCID", "0");
  set("SLURM_STEP_NUM_TASKS", "1");
  set("OMPI_COMM_WORLD_RANK", "7");
  set("OMPI_COMM_WORLD_SIZE", "8");
  check(7, 8);
}

static void the_user_knows_best(void) {
  clear();
  set("DFTRACER_RANK", "5");
  check(5, -1);
  set("PMI_RANK", "1");
  set("PMI_SIZE", "2");
  check(5, 2);
  set("DFTRACER_RANK", "-1");
  check(1, 2);
}

static void the_program_knows_better(void) {
  clear();
  set("PMI_RANK", "1");
  dft__config_read();
  dft_set_rank(9, 10);
  CHECK_INT(dft_rank(), 9);
  CHECK_INT(dft_size(), 10);
  dft_set_rank(-7, -7);
  CHECK_INT(dft_rank(), 1);
  CHECK_INT(dft_size(), -1);
}

int main(void) {
  RUN(without_a_launcher_nothing_is_known);
  RUN(every_launcher_is_understood);
  RUN(the_rank_alone_is_enough_but_for_the_common_word);
  RUN(a_size_without_a_rank_says_nothing);
  RUN(what_is_no_number_is_not_there);
  RUN(the_mpi_library_comes_before_the_resource_manager);
  RUN(the_user_knows_best);
  RUN(the_program_knows_better);
  return failed_cases;
}
