/* nompi.c - a program without MPI that asks for it, as libraries with optional MPI do.
 * SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <stdio.h>

__attribute__((weak)) int MPI_Initialized(int *flag);
__attribute__((weak)) int PMPI_Send(void);

int main(void) {
  void *by_name = dlsym(RTLD_DEFAULT, "MPI_Init"), *next = dlsym(RTLD_NEXT, "MPI_File_open");
  printf("%d %d %d %d\n", MPI_Initialized != NULL, PMPI_Send != NULL, by_name != NULL, next != NULL);
  return 0;
}
