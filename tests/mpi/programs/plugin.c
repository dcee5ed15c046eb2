/* plugin.c - a plug-in that uses MPI, and with -DHOST a program that has none, and loads it; it does nothing else. With
 * two arguments, the first is another MPI library, which is loaded before, and not used.
 * SPDX-License-Identifier: MIT */
#ifdef HOST
#define _GNU_SOURCE
#include <dlfcn.h>

int main(int argc, char **argv) {
  int how = argc == 3 ? RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND : RTLD_NOW | RTLD_LOCAL;
  void *other = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : argv;
  void *plugin = other ? dlopen(argv[argc - 1], how) : 0;
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
