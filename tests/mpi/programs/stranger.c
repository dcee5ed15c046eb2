/* stranger.c - an MPI library that nobody knows, and with -DPROGRAM a program for it.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

int MPI_Init(int *argc, char ***argv);
int MPI_Barrier(void *comm);
int MPI_Finalize(void);

#ifdef PROGRAM
int main(int argc, char **argv) {
  int bad = MPI_Init(&argc, &argv) | MPI_Barrier(stdout) | MPI_Barrier(stdout) | MPI_Finalize();
  puts(bad ? "bad" : "good");
  return bad;
}
#else
int PMPI_Get_library_version(char *text, int *len);
#define ANSWERS_ZERO(name) \
  int name(void);          \
  int name(void) {         \
    return 0;              \
  }
ANSWERS_ZERO(PMPI_Init)
ANSWERS_ZERO(PMPI_Initialized)
ANSWERS_ZERO(PMPI_Finalized)
ANSWERS_ZERO(PMPI_Comm_rank)
ANSWERS_ZERO(PMPI_Comm_size)
ANSWERS_ZERO(PMPI_Comm_test_inter)
ANSWERS_ZERO(PMPI_Comm_group)
ANSWERS_ZERO(PMPI_Comm_remote_group)
ANSWERS_ZERO(PMPI_Group_size)
ANSWERS_ZERO(PMPI_Group_free)
ANSWERS_ZERO(PMPI_Group_translate_ranks)
ANSWERS_ZERO(PMPI_Type_size)

int PMPI_Get_library_version(char *text, int *len) {
  strcpy(text, "Acme MPI 1.0");
  *len = 12;
  return 0;
}
int MPI_Init(int *argc, char ***argv) {
  return *argc == 0 || !**argv;
}
int MPI_Barrier(void *comm) {
  return comm != stdout;
}
int MPI_Finalize(void) {
  return 0;
}
#endif
