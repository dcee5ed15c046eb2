/* elffile.c - the functions of one ELF file, by address. Checks everything that the file says before using it.
 * SPDX-License-Identifier: MIT */
#include "elffile.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECTIONS_MAX 4096
#define SYMBOLS_MAX (16u << 20)
#define READ_AT_ONCE 512 /* symbols */

static int read_at(int fd, uint64_t offset, void *to, size_t bytes) {
  char *at = to;
  while (bytes) {
    ssize_t got = pread(fd, at, bytes, (off_t)offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return 0;
    at += got;
    offset += (uint64_t)got;
    bytes -= (size_t)got;
  }
  return 1;
}

/* The section of symbols, and that of their names. */
static int find_sections(int fd, ElfW(Shdr) * symbols, ElfW(Shdr) * names) {
  ElfW(Ehdr) head;
  ElfW(Shdr) section;
  memset(symbols, 0, sizeof *symbols); /* its type is SHT_NULL then */
  if (!read_at(fd, 0, &head, sizeof head) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0) return 0;
  if (head.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)) return 0;
  if (head.e_shentsize != sizeof section || head.e_shnum > SECTIONS_MAX) return 0;
  for (unsigned i = 0; i < head.e_shnum; i++) {
    if (!read_at(fd, head.e_shoff + i * sizeof section, &section, sizeof section)) return 0;
    if (section.sh_type == SHT_SYMTAB || (section.sh_type == SHT_DYNSYM && symbols->sh_type == SHT_NULL)) {
      *symbols = section;
    }
  }
  if (symbols->sh_type == SHT_NULL || symbols->sh_entsize != sizeof(ElfW(Sym)) || symbols->sh_link >= head.e_shnum) {
    return 0;
  }
  return read_at(fd, head.e_shoff + symbols->sh_link * sizeof section, names, sizeof *names);
}

/* By address, in place: qsort may allocate. */
static void sift(dft__elfsymbol *symbols, size_t root, size_t count) {
  dft__elfsymbol moved = symbols[root];
  for (size_t child; (child = 2 * root + 1) < count; root = child) {
    if (child + 1 < count && symbols[child + 1].address > symbols[child].address) child++;
    if (symbols[child].address <= moved.address) break;
    symbols[root] = symbols[child];
  }
  symbols[root] = moved;
}

static void sort(dft__elfsymbol *symbols, size_t count) {
  for (size_t i = count / 2; i-- > 0;) sift(symbols, i, count);
  for (size_t end = count; end-- > 1;) {
    dft__elfsymbol last = symbols[end];
    symbols[end] = symbols[0];
    symbols[0] = last;
    sift(symbols, 0, end);
  }
}

static int is_function(const ElfW(Sym) * symbol) {
  unsigned type = symbol->st_info & 15u;
  return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF && symbol->st_name;
}

static void read_symbols(dft__elffile *table, int fd) {
  ElfW(Shdr) symbols, names;
  ElfW(Sym) some[READ_AT_ONCE];
  size_t total;
  if (!find_sections(fd, &symbols, &names)) return;
  total = symbols.sh_size / sizeof some[0];
  if (!total || total > SYMBOLS_MAX) return;
  table->bytes = total * sizeof *table->symbols;
  table->symbols = mmap(NULL, table->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (table->symbols == MAP_FAILED) {
    table->symbols = NULL;
    return;
  }
  table->names_offset = names.sh_offset;
  table->names_bytes = names.sh_size;
  for (size_t done = 0; done < total;) {
    size_t count = total - done < READ_AT_ONCE ? total - done : READ_AT_ONCE;
    if (!read_at(fd, symbols.sh_offset + done * sizeof some[0], some, count * sizeof some[0])) break;
    for (size_t i = 0; i < count; i++) {
      if (!is_function(&some[i])) continue;
      table->symbols[table->count++] = (dft__elfsymbol){
        some[i].st_value, some[i].st_size < UINT32_MAX ? (uint32_t)some[i].st_size : UINT32_MAX, some[i].st_name};
    }
    done += count;
  }
  sort(table->symbols, table->count);
}

void dft__elffile_read(dft__elffile *table, const char *path) {
  struct stat facts;
  int fd;
  if (table->symbols) munmap(table->symbols, table->bytes);
  memset(table, 0, sizeof *table);
  snprintf(table->path, sizeof table->path, "%s", path);
  fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) return;
  if (fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode)) {
    table->changed_ns = (int64_t)facts.st_ctim.tv_sec * 1000000000 + facts.st_ctim.tv_nsec;
    read_symbols(table, fd);
  }
  close(fd);
}

int dft__elffile_find(const dft__elffile *table, uint64_t address, char *name, size_t size) {
  size_t low = 0;
  size_t high = table->count;
  const dft__elfsymbol *found;
  ssize_t got;
  int fd;
  while (low < high) { /* the first beyond the address */
    size_t middle = low + (high - low) / 2;
    if (table->symbols[middle].address <= address) low = middle + 1;
    else high = middle;
  }
  if (!low) return 0;
  found = &table->symbols[low - 1];
  if (address != found->address && address - found->address >= found->size) return 0;
  if (found->name >= table->names_bytes) return 0;
  fd = open(table->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return 0;
  got = pread(fd, name, size - 1, (off_t)(table->names_offset + found->name));
  close(fd);
  if (got <= 0) return 0;
  name[got] = '\0';
  return name[0] != '\0';
}
