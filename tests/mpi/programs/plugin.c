/* plugin.c - a plug-in that uses MPI, and with -DHOST a program that has none, and loads it; it does nothing else.
 * SPDX-License-Identifier: MIT */
#ifdef HOST
#include <dlfcn.h>

int main(int argc, char **argv) {
  void *plugin = dlopen(argv[argc - 1], RTLD_NOW | RTLD_LOCAL);
  int (*work)(void) = plugin ? (int (*)(void))dlsym(plugin, "work") : 0;
  return work ? work() : 9;
}
#else
#include <mpi.h>
#include <stddef.h>

int work(void) {
  int value = 1, sum = 0, ranks;
  MPI_Init(NULL, NULL);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return sum != ranks;
}
#endif
