/* loading.c - a thread loads and unloads a library all the time, while I/O is bound in place and given back: loading PLUGIN TRACE
 * SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int is_done;
static atomic_int loads;

static void *load(void *plugin) {
  while (!is_done) {
    void *handle = dlopen(plugin, RTLD_NOW);
    if (!handle || dlclose(handle) != 0) _exit(2);
    loads++;
  }
  return NULL;
}

int main(int argc, char **argv) {
  dft_options options = {.struct_size = sizeof options, .data_dir = "all"};
  pthread_t thread;
  if (argc != 3) return 1;
  options.log_file = argv[2];
  alarm(30); /* they must not wait for each other for ever */
  if (pthread_create(&thread, NULL, load, argv[1]) != 0) return 1;
  while (!loads) continue;
  if (dft_start(&options) != DFT_OK || dft_bind_io() != DFT_OK) return 3;
  if (access("/none", F_OK) == 0 || dft_stop() != DFT_OK) return 4;
  is_done = 1;
  pthread_join(thread, NULL);
  return 0;
}
