/* test_elffile.c - tests c/base/elffile.c: functions by address, and files that are not what they say. */
#define _GNU_SOURCE
#include "base/elffile.h"

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static dft__elffile file;
static char name[256];

__attribute__((noinline)) static int a_static_function(int n) {
  return n + 1;
}

static int find_base(struct dl_phdr_info *info, size_t size, void *base) {
  (void)size;
  *(uintptr_t *)base = info->dlpi_addr; /* the program comes first */
  return 1;
}

static uintptr_t in_file(uintptr_t address) {
  uintptr_t base = 0;
  dl_iterate_phdr(find_base, &base);
  return address - base;
}

static void a_function_is_found_by_any_of_its_addresses(void) {
  uintptr_t address = in_file((uintptr_t)&a_static_function);
  CHECK_INT(a_static_function(1), 2);
  dft__elffile_read(&file, "/proc/self/exe");
  CHECK(file.count > 10 && file.changed_ns > 0);
  CHECK(dft__elffile_find(&file, address, name, sizeof name));
  CHECK_STR(name, "a_static_function");
  CHECK(dft__elffile_find(&file, address + 1, name, sizeof name));
  CHECK_STR(name, "a_static_function");
  CHECK(!dft__elffile_find(&file, 0, name, sizeof name));
  CHECK(!dft__elffile_find(&file, UINT64_MAX, name, sizeof name));
  for (size_t i = 1; i < file.count; i++) CHECK(file.symbols[i - 1].address <= file.symbols[i].address);
}

static void a_name_is_cut_to_its_room(void) {
  char small[4];
  CHECK(dft__elffile_find(&file, in_file((uintptr_t)&a_static_function), small, sizeof small));
  CHECK_STR(small, "a_s");
}

static void what_is_no_file_has_no_functions(void) {
  static const char *const paths[] = {"/nonexistent", "/tmp", "/dev/null", "/proc/self/maps", ""};
  for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
    dft__elffile_read(&file, paths[i]);
    CHECK_INT((long)file.count, 0);
    CHECK(!dft__elffile_find(&file, 4096, name, sizeof name));
  }
}

/* Heads that lie, and ends that are missing: anything may be found, as long as nothing else happens. */
static void damaged_files_are_survived(void) {
  char path[] = "/tmp/dftracer-elffile-XXXXXX";
  int from = open("/proc/self/exe", O_RDONLY);
  int to = mkstemp(path);
  off_t len = lseek(from, 0, SEEK_END);
  char *whole = malloc((size_t)len);
  unsigned seed = 7;
  ElfW(Ehdr) head;
  CHECK(whole && to >= 0 && pread(from, whole, (size_t)len, 0) == len);
  memcpy(&head, whole, sizeof head);
  for (int round = 0; round < 400; round++) {
    off_t cut = round % 4 == 0 ? (off_t)(rand_r(&seed) % (unsigned)len) : len;
    CHECK_INT(pwrite(to, whole, (size_t)len, 0), len);
    CHECK_INT(ftruncate(to, cut), 0);
    for (int i = 0; i < 4 && cut == len; i++) { /* in the head, or in the list of sections */
      off_t at = rand_r(&seed) % 2
                   ? (off_t)(16 + rand_r(&seed) % (sizeof head - 16))
                   : (off_t)(head.e_shoff + (unsigned)rand_r(&seed) % (head.e_shnum * sizeof(ElfW(Shdr))));
      char byte = (char)rand_r(&seed);
      CHECK_INT(pwrite(to, &byte, 1, at), 1);
    }
    dft__elffile_read(&file, path);
    for (size_t i = 0; i < file.count && i < 50; i++) {
      dft__elffile_find(&file, file.symbols[i].address, name, sizeof name);
    }
  }
  free(whole);
  close(from);
  close(to);
  unlink(path);
}

int main(void) {
  a_function_is_found_by_any_of_its_addresses();
  a_name_is_cut_to_its_room();
  what_is_no_file_has_no_functions();
  damaged_files_are_survived();
  return 0;
}
