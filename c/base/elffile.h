/* elffile.h - the functions of one ELF file, by address.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_ELFFILE_H
#define DFT_ELFFILE_H

#include <stddef.h>
#include <stdint.h>

typedef struct dft__elfsymbol {
  uint64_t address;
  uint32_t size;
  uint32_t name; /* offset in the file's names */
} dft__elfsymbol;

typedef struct dft__elffile {
  char path[4096];         /* empty: not in use */
  dft__elfsymbol *symbols; /* by address; NULL: none */
  size_t count;
  size_t bytes;
  uint64_t names_offset, names_bytes; /* in the file */
  int64_t changed_ns;                 /* when the file last was, since the epoch */
} dft__elffile;

/* Reads the functions of a file, .symtab before .dynsym, in place of what the table held. A file that cannot be read, or
 * is not an ELF file of this machine, gives an empty table. */
void dft__elffile_read(dft__elffile *table, const char *path);

/* The name of the function at an address; zero when there is none. */
int dft__elffile_find(const dft__elffile *table, uint64_t address, char *name, size_t size);

#endif
