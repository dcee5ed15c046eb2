/* inplace.c - an annotated program whose I/O is bound in place: inplace FOLDER PLUGIN TRACES [fork]
 *
 * Prints how many words of the other objects point into the tracing library: before binding, while bound, after stopping.
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <dftracer/dft.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static ssize_t (*const sealed_write)(int, const void *, size_t) = write; /* RELRO, where there is such */
static ssize_t (*volatile table_write)(int, const void *, size_t) = write;

static uintptr_t core_start, core_end;

static int find_core(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size, (void)unused;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    uintptr_t start = info->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_LOAD && part->p_flags & PF_X && strstr(info->dlpi_name, "libdftracer_core"))
      core_start = start, core_end = start + part->p_memsz;
  }
  return 0;
}

static int count_words(struct dl_phdr_info *info, size_t size, void *count) {
  (void)size;
  if (strstr(info->dlpi_name, "libdftracer_core")) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    uintptr_t *word = (uintptr_t *)((info->dlpi_addr + part->p_vaddr + 7) & ~(uintptr_t)7);
    uintptr_t *end = (uintptr_t *)((info->dlpi_addr + part->p_vaddr + part->p_memsz) & ~(uintptr_t)7);
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_W)) continue;
    for (; word < end; word++) *(int *)count += *word >= core_start && *word < core_end;
  }
  return 0;
}

static int words_into_core(void) {
  int count = 0;
  dl_iterate_phdr(find_core, NULL);
  dl_iterate_phdr(count_words, &count);
  return count;
}

static void require(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "inplace: %s\n", what);
  exit(1);
}

static const char *path(const char *folder, const char *name) {
  static char text[4096];
  snprintf(text, sizeof text, "%s/%s", folder, name);
  return text;
}

static void write_by(ssize_t (*call)(int, const void *, size_t), const char *file) {
  int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  require(fd >= 0 && call(fd, "bytes", 5) == 5 && close(fd) == 0, file);
}

static void use_plugin(const char *plugin, const char *file) {
  void *handle = dlopen(plugin, RTLD_NOW);
  int (*function)(const char *);
  require(handle != NULL, "dlopen");
  *(void **)&function = dlsym(handle, "plugin_write");
  require(function && function(file), file);
  require(dlclose(handle) == 0, "dlclose");
}

static void session(const char *folder, const char *plugin, const char *log_file, int *bound) {
  dft_options options = {.struct_size = sizeof options, .log_file = log_file, .data_dir = folder};
  require(dft_bind_io() == DFT_EDISABLED, "binding without a trace");
  require(dft_start(&options) == DFT_OK, "dft_start");
  dft_region_begin_named("work", "test");
  require(dft_bind_io() == DFT_OK, "dft_bind_io");
  require(dft_bind_io() == DFT_OK, "dft_bind_io again");
  write_by(write, path(folder, "direct"));
  write_by(sealed_write, path(folder, "sealed"));
  write_by(table_write, path(folder, "table"));
  use_plugin(plugin, path(folder, "late"));
  write_by(write, path(folder, "after"));
  use_plugin(plugin, path(folder, "late_again"));
  *bound = words_into_core();
  dft_region_end();
  require(dft_stop() == DFT_OK, "dft_stop");
  write_by(write, path(folder, "unrecorded"));
  use_plugin(plugin, path(folder, "unrecorded_plugin"));
}

/* A child ends the trace it has from its parent, and makes one of its own. */
static void session_of_child(const char *folder, const char *log_file, int before, int bound) {
  dft_options options = {.struct_size = sizeof options, .log_file = log_file, .data_dir = folder};
  write_by(write, path(folder, "child"));
  require(dft_stop() == DFT_OK, "dft_stop in the child");
  require(words_into_core() == bound, "a child keeps the slots of its parent");
  write_by(write, path(folder, "unrecorded"));
  require(dft_start(&options) == DFT_OK, "dft_start in the child");
  dft_region_begin_named("work", "test");
  write_by(write, path(folder, "unrecorded"));
  require(dft_bind_io() == DFT_OK, "dft_bind_io in the child");
  write_by(write, path(folder, "child_again"));
  dft_region_end();
  require(dft_stop() == DFT_OK, "dft_stop in the child, again");
  require(words_into_core() == before, "a child gives back what it bound");
}

static void session_with_child(const char *folder, const char *traces, int before) {
  char own[4096], childs[4096];
  dft_options options = {.struct_size = sizeof options, .log_file = own, .data_dir = folder};
  int status;
  snprintf(own, sizeof own, "%s/third.pfw", traces);
  snprintf(childs, sizeof childs, "%s/child.pfw", traces);
  require(dft_start(&options) == DFT_OK && dft_bind_io() == DFT_OK, "dft_start with a child");
  if (fork() == 0) {
    session_of_child(folder, childs, before, words_into_core());
    _exit(0);
  }
  require(wait(&status) > 0 && status == 0, "the child");
  write_by(write, path(folder, "parent"));
  require(dft_stop() == DFT_OK, "dft_stop of the parent");
  require(words_into_core() == before, "the parent gives back what it bound");
}

int main(int argc, char **argv) {
  int before, bound, after;
  require(argc == 4 || argc == 5, "usage: inplace FOLDER PLUGIN TRACES [fork]");
  session(argv[1], argv[2], path(argv[3], "first.pfw"), &bound); /* binds every function that is used, also lazily */
  dft_unbind_io();
  before = words_into_core();
  session(argv[1], argv[2], path(argv[3], "second.pfw"), &bound);
  after = words_into_core();
  if (argc == 5) session_with_child(argv[1], argv[3], before);
  printf("%d %d %d\n", before, bound, after);
  return 0;
}
