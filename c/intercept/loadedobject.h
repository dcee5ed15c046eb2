/* loadedobject.h - one loaded object (the program or a library): its import slots, and the symbols that it defines.
 *
 * For callbacks of dl_iterate_phdr. Nothing here allocates, or asks the dynamic linker for more than that walk.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_LOADEDOBJECT_H
#define DFT_LOADEDOBJECT_H

#include <link.h>
#include <stddef.h>
#include <stdint.h>

typedef struct dft__loaded {
  uintptr_t base;
  const ElfW(Sym) * symbols;
  const char *strings;
  const uint32_t *gnu_hash;
  const ElfW(Rela) * tables[2];
  size_t counts[2];
  size_t plain; /* entries at the start of the first table that import nothing; most entries of large objects */
  uintptr_t text, text_end;     /* its code */
  uintptr_t sealed, sealed_end; /* RELRO: read-only after loading */
  int is_unsealed;
} dft__loaded;

/* Returns 0 for an object without a symbol table. */
int dft__loaded_read(dft__loaded *object, const struct dl_phdr_info *info);

static inline int dft__loaded_holds(const dft__loaded *object, uintptr_t address) {
  return address >= object->text && address < object->text_end;
}

/* An import slot: a word that the dynamic linker fills with the address of the function `name`. */
typedef struct dft__import {
  uintptr_t slot;
  const char *name;
  int is_lazy; /* it may hold an address within its own object until the first call */
} dft__import;

/* Calls `use` for every import slot, and seals again what `use` had to unseal. */
typedef void dft__import_use(dft__loaded *object, const dft__import *import, void *context);
void dft__loaded_imports(dft__loaded *object, dft__import_use *use, void *context);

/* What the slot holds: 0 for a weak function that nobody defines. */
static inline uintptr_t dft__import_value(const dft__import *import) {
  return __atomic_load_n((uintptr_t *)import->slot, __ATOMIC_RELAXED);
}
static inline int dft__import_is_unbound(const dft__loaded *object, const dft__import *import, uintptr_t value) {
  return import->is_lazy && dft__loaded_holds(object, value);
}
void dft__import_store(dft__loaded *object, const dft__import *import, uintptr_t value);

/* The address of a symbol that the object itself defines; 0: it does not. `hash` is dft__gnu_hash of the name. */
uintptr_t dft__loaded_symbol(const dft__loaded *object, const char *name, uint32_t hash);
uint32_t dft__gnu_hash(const char *name);

/* ---- All of them ---- */

/* How many objects have been loaded so far, also if some are gone. */
uint64_t dft__loads_so_far(void);
/* The first definition of a symbol in the order of loading, without asking the dynamic linker; 0: there is none. */
uintptr_t dft__loaded_find(const char *name);

#endif
