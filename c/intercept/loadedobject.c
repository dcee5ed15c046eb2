/* loadedobject.c - one loaded object: its import slots, and the symbols that it defines.
 *
 * There are slots for calls (jump slots), for addresses that code takes (GLOB_DAT) and for addresses in data.
 * SPDX-License-Identifier: MIT */
#include "loadedobject.h"

#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define JUMP_SLOT R_X86_64_JUMP_SLOT
#define GLOB_DAT R_X86_64_GLOB_DAT
#define ADDRESS R_X86_64_64
#elif defined(__aarch64__)
#define JUMP_SLOT R_AARCH64_JUMP_SLOT
#define GLOB_DAT R_AARCH64_GLOB_DAT
#define ADDRESS R_AARCH64_ABS64
#endif

/* ---- Reading ------------------------------------------------------------------------------------------------------ */

static uintptr_t address_in(const dft__loaded *object, uintptr_t value) {
  return value < object->base ? object->base + value
                              : value; /* the dynamic linker has already relocated most of them */
}

static void read_dynamic(dft__loaded *object, const ElfW(Dyn) * dynamic) {
  for (; dynamic->d_tag != DT_NULL; dynamic++) {
    uintptr_t value = dynamic->d_un.d_ptr;
    switch (dynamic->d_tag) {
      case DT_SYMTAB: object->symbols = (const ElfW(Sym) *)address_in(object, value); break;
      case DT_STRTAB: object->strings = (const char *)address_in(object, value); break;
      case DT_GNU_HASH: object->gnu_hash = (const uint32_t *)address_in(object, value); break;
      case DT_RELA: object->tables[0] = (const ElfW(Rela) *)address_in(object, value); break;
      case DT_RELASZ: object->counts[0] = value / sizeof(ElfW(Rela)); break;
      case DT_RELACOUNT: object->plain = value; break;
      case DT_JMPREL: object->tables[1] = (const ElfW(Rela) *)address_in(object, value); break;
      case DT_PLTRELSZ: object->counts[1] = value / sizeof(ElfW(Rela)); break;
      default: break;
    }
  }
}

int dft__loaded_read(dft__loaded *object, const struct dl_phdr_info *info) {
  const ElfW(Dyn) *dynamic = NULL;
  memset(object, 0, sizeof *object);
  object->base = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    uintptr_t start = object->base + part->p_vaddr;
    if (part->p_type == PT_DYNAMIC) dynamic = (const ElfW(Dyn) *)start;
    if (part->p_type == PT_LOAD && part->p_flags & PF_X) {
      object->text = start;
      object->text_end = start + part->p_memsz;
    }
    if (part->p_type == PT_GNU_RELRO) {
      object->sealed = start;
      object->sealed_end = start + part->p_memsz;
    }
  }
  if (dynamic) read_dynamic(object, dynamic);
  return object->symbols && object->strings;
}

/* ---- Imports ------------------------------------------------------------------------------------------------------ */

static void protect(const dft__loaded *object, int protection) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t start = object->sealed & ~(page - 1);
  uintptr_t end = object->sealed_end & ~(page - 1); /* as the dynamic linker does: data shares the last page */
  if (end > start) syscall(SYS_mprotect, start, end - start, protection);
}

void dft__import_store(dft__loaded *object, const dft__import *import, uintptr_t value) {
  if (import->slot >= object->sealed && import->slot < object->sealed_end && !object->is_unsealed) {
    protect(object, PROT_READ | PROT_WRITE);
    object->is_unsealed = 1;
  }
  __atomic_store_n((uintptr_t *)import->slot, value, __ATOMIC_RELEASE);
}

void dft__loaded_imports(dft__loaded *object, dft__import_use *use, void *context) {
  for (int table = 0; table < 2; table++) {
    for (size_t i = table == 0 ? object->plain : 0; object->tables[table] && i < object->counts[table]; i++) {
      const ElfW(Rela) *entry = &object->tables[table][i];
      unsigned type = (unsigned)ELF64_R_TYPE(entry->r_info);
      const ElfW(Sym) * symbol;
      dft__import import = {.slot = object->base + entry->r_offset, .is_lazy = type == JUMP_SLOT};
      if ((type != JUMP_SLOT && type != GLOB_DAT && type != ADDRESS) || import.slot % sizeof(uintptr_t)) continue;
      symbol = &object->symbols[ELF64_R_SYM(entry->r_info)];
      if (symbol->st_shndx != SHN_UNDEF || (type == ADDRESS && entry->r_addend)) continue;
      import.name = object->strings + symbol->st_name;
      use(object, &import, context);
    }
  }
  if (object->is_unsealed) protect(object, PROT_READ);
  object->is_unsealed = 0;
}

/* ---- Definitions -------------------------------------------------------------------------------------------------- */

uint32_t dft__gnu_hash(const char *name) {
  uint32_t hash = 5381;
  for (; *name; name++) hash = hash * 33 + (unsigned char)*name;
  return hash;
}

/* The table: counts of buckets, of the first symbol in it, of filter words, a shift; filter words; buckets; chains. */
uintptr_t dft__loaded_symbol(const dft__loaded *object, const char *name, uint32_t hash) {
  const uint32_t *table = object->gnu_hash, *buckets, *chain;
  const uint64_t *filter;
  uint64_t word;
  uint32_t at;
  if (!table || !table[0] || !table[2]) return 0;
  filter = (const uint64_t *)(const void *)(table + 4);
  word = filter[hash / 64 & (table[2] - 1)];
  if (!(word >> hash % 64 & word >> (hash >> table[3]) % 64 & 1)) return 0;
  buckets = (const uint32_t *)(filter + table[2]);
  chain = buckets + table[0];
  for (at = buckets[hash % table[0]]; at >= table[1]; at++) {
    const ElfW(Sym) *symbol = &object->symbols[at];
    uint32_t in_chain = chain[at - table[1]];
    if ((in_chain | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF && symbol->st_value &&
        strcmp(object->strings + symbol->st_name, name) == 0)
      return object->base + symbol->st_value;
    if (in_chain & 1) break; /* the last one of its bucket */
  }
  return 0;
}

/* ---- All of them -------------------------------------------------------------------------------------------------- */

static int note_loads(struct dl_phdr_info *info, size_t size, void *loads) {
  (void)size;
  *(uint64_t *)loads = info->dlpi_adds;
  return 1;
}

uint64_t dft__loads_so_far(void) {
  uint64_t loads = 0;
  dl_iterate_phdr(note_loads, &loads);
  return loads;
}

typedef struct symbol_search {
  const char *name;
  uint32_t hash;
  uintptr_t address;
} symbol_search;

static int look_in(struct dl_phdr_info *info, size_t size, void *context) {
  symbol_search *search = context;
  dft__loaded object;
  (void)size;
  if (dft__loaded_read(&object, info)) search->address = dft__loaded_symbol(&object, search->name, search->hash);
  return search->address != 0;
}

uintptr_t dft__loaded_find(const char *name) {
  symbol_search search = {name, dft__gnu_hash(name), 0};
  dl_iterate_phdr(look_in, &search);
  return search.address;
}
