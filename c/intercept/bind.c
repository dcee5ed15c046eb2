/* bind.c - binds the I/O calls of this process in place: puts wrappers into the import slots of the loaded objects.
 *
 * A slot is a word that the dynamic linker fills with the address of an imported function. There are slots for calls
 * (jump slots), for addresses that code takes (GLOB_DAT) and for addresses in data. A slot is rewritten if it holds the
 * real function or is not bound yet. No list of slots is kept, because objects come and go: a walk finds those that
 * hold a wrapper.
 * SPDX-License-Identifier: MIT */
#include "bind.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/signals.h"
#include "tail.h"

#if defined(__x86_64__)
#define JUMP_SLOT R_X86_64_JUMP_SLOT
#define GLOB_DAT R_X86_64_GLOB_DAT
#define ADDRESS R_X86_64_64
#elif defined(__aarch64__)
#define JUMP_SLOT R_AARCH64_JUMP_SLOT
#define GLOB_DAT R_AARCH64_GLOB_DAT
#define ADDRESS R_AARCH64_ABS64
#endif

/* ---- Names -------------------------------------------------------------------------------------------------------- */

DFT__TAIL(dft__bind_dlopen, dft__bind_before_dlopen);
DFT__TAIL(dft__bind_dlsym, dft__bind_before_dlsym);

/* The symbols of symbol.h, and these two. */
enum { DLOPEN = DFT__SYMBOL_vfork + 1, DLSYM, NAMES };
static const struct {
  const char *name;
  void (*wrapper)(void);
} loaders[] = {{"dlopen", dft__bind_dlopen}, {"dlsym", dft__bind_dlsym}};

#define BUCKETS 1024u
static uint16_t first_of[BUCKETS]; /* name + 1, 0: none */
static uint16_t next_of[NAMES];
static _Atomic(dft__function) real_of[NAMES];
static int is_indexed;

static const char *name_of(unsigned number) {
  return number < DLOPEN ? dft__symbol_name((enum dft__symbol)number) : loaders[number - DLOPEN].name;
}

static dft__function wrapper_of(unsigned number) {
  return number < DLOPEN ? dft__symbol_wrapper((enum dft__symbol)number) : loaders[number - DLOPEN].wrapper;
}

static dft__function real_for(unsigned number) {
  dft__function real = DFT__GET(real_of[number]);
  if (!real) DFT__SET(real_of[number], real = dft__real_by_name(name_of(number)));
  return real;
}

/* A walk holds one lock of the dynamic linker, and a lookup takes another. A thread that loads a library holds that
 * other lock and waits for the first one, so a lookup inside a walk could deadlock. A walk therefore only notes the
 * names that it needs. They are looked up when it is over, and then the walk is repeated. */
enum { UNKNOWN = 0, NOTED = 1, LOOKED_UP = 2 };
static _Atomic uint8_t look_up_state[NAMES];

/* NULL: not known. The name is noted, unless it was looked up in vain. */
static dft__function real_in_walk(unsigned number, int *has_noted) {
  dft__function real = DFT__GET(real_of[number]);
  if (!real && DFT__GET(look_up_state[number]) != LOOKED_UP) {
    DFT__SET(look_up_state[number], NOTED);
    *has_noted = 1;
  }
  return real;
}

static void look_up_noted(void) {
  for (unsigned i = 0; i < NAMES; i++) {
    if (DFT__GET(look_up_state[i]) != NOTED) continue;
    real_for(i);
    DFT__SET(look_up_state[i], LOOKED_UP);
  }
}

static uint32_t hash(const char *name) {
  uint32_t h = 5381;
  for (; *name; name++) h = h * 33 + (unsigned char)*name;
  return h % BUCKETS;
}

static void make_index(void) {
  if (is_indexed) return;
  for (unsigned i = 0; i < NAMES; i++) {
    uint32_t bucket = hash(name_of(i));
    next_of[i] = first_of[bucket];
    first_of[bucket] = (uint16_t)(i + 1);
  }
  is_indexed = 1;
}

/* Returns NAMES for a name without a wrapper. */
static unsigned find(const char *name) {
  if (name[0] == '_' && name[1] == 'Z') return NAMES; /* C++ has many names, and long ones */
  for (unsigned i = first_of[hash(name)]; i; i = next_of[i - 1]) {
    if (strcmp(name_of(i - 1), name) == 0) return i - 1;
  }
  return NAMES;
}

/* ---- One object --------------------------------------------------------------------------------------------------- */

typedef struct loaded_object {
  uintptr_t base;
  const ElfW(Sym) * symbols;
  const char *strings;
  const ElfW(Rela) * tables[2];
  size_t counts[2];
  size_t plain; /* entries at the start of the first table that import nothing; most entries of large objects */
  uintptr_t text, text_end;     /* its code */
  uintptr_t sealed, sealed_end; /* RELRO: read-only after loading */
  int is_unsealed;
  int has_noted; /* a real function has to be looked up */
} loaded_object;

static uintptr_t address_in(const loaded_object *object, uintptr_t value) {
  return value < object->base ? object->base + value
                              : value; /* the dynamic linker has already relocated most of them */
}

static void read_dynamic(loaded_object *object, const ElfW(Dyn) * dynamic) {
  for (; dynamic->d_tag != DT_NULL; dynamic++) {
    uintptr_t value = dynamic->d_un.d_ptr;
    switch (dynamic->d_tag) {
      case DT_SYMTAB: object->symbols = (const ElfW(Sym) *)address_in(object, value); break;
      case DT_STRTAB: object->strings = (const char *)address_in(object, value); break;
      case DT_RELA: object->tables[0] = (const ElfW(Rela) *)address_in(object, value); break;
      case DT_RELASZ: object->counts[0] = value / sizeof(ElfW(Rela)); break;
      case DT_RELACOUNT: object->plain = value; break;
      case DT_JMPREL: object->tables[1] = (const ElfW(Rela) *)address_in(object, value); break;
      case DT_PLTRELSZ: object->counts[1] = value / sizeof(ElfW(Rela)); break;
      default: break;
    }
  }
}

/* Returns 0 for an object without imports. */
static int read_object(loaded_object *object, const struct dl_phdr_info *info) {
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
  return object->symbols && object->strings && (object->tables[0] || object->tables[1]);
}

static int holds(const loaded_object *object, uintptr_t address) {
  return address >= object->text && address < object->text_end;
}

static void protect(const loaded_object *object, int protection) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t start = object->sealed & ~(page - 1);
  uintptr_t end = object->sealed_end & ~(page - 1); /* as the dynamic linker does: data shares the last page */
  if (end > start) syscall(SYS_mprotect, start, end - start, protection);
}

static void store(loaded_object *object, uintptr_t slot, uintptr_t value) {
  if (slot >= object->sealed && slot < object->sealed_end && !object->is_unsealed) {
    protect(object, PROT_READ | PROT_WRITE);
    object->is_unsealed = 1;
  }
  __atomic_store_n((uintptr_t *)slot, value, __ATOMIC_RELEASE);
}

static void bind_slot(loaded_object *object, uintptr_t slot, unsigned type, unsigned number) {
  uintptr_t value = __atomic_load_n((uintptr_t *)slot, __ATOMIC_RELAXED);
  uintptr_t wrapper = (uintptr_t)wrapper_of(number);
  int is_unbound = type == JUMP_SLOT && holds(object, value);
  if (!value || value == wrapper) return;
  if (is_unbound || value == (uintptr_t)real_in_walk(number, &object->has_noted)) store(object, slot, wrapper);
}

static void unbind_slot(loaded_object *object, uintptr_t slot, unsigned number) {
  uintptr_t value = __atomic_load_n((uintptr_t *)slot, __ATOMIC_RELAXED);
  dft__function real;
  if (value != (uintptr_t)wrapper_of(number)) return;
  real = real_in_walk(number, &object->has_noted);
  if (real) store(object, slot, (uintptr_t)real);
}

static void walk_object(loaded_object *object, int is_binding) {
  for (int table = 0; table < 2; table++) {
    for (size_t i = table == 0 ? object->plain : 0; i < object->counts[table]; i++) {
      const ElfW(Rela) *entry = &object->tables[table][i];
      unsigned type = (unsigned)ELF64_R_TYPE(entry->r_info);
      const ElfW(Sym) * symbol;
      uintptr_t slot = object->base + entry->r_offset;
      unsigned number;
      if ((type != JUMP_SLOT && type != GLOB_DAT && type != ADDRESS) || slot % sizeof(uintptr_t)) continue;
      symbol = &object->symbols[ELF64_R_SYM(entry->r_info)];
      if (symbol->st_shndx != SHN_UNDEF || (type == ADDRESS && entry->r_addend)) continue;
      number = find(object->strings + symbol->st_name);
      if (number == NAMES) continue;
      if (is_binding) bind_slot(object, slot, type, number);
      else unbind_slot(object, slot, number);
    }
  }
  if (object->is_unsealed) protect(object, PROT_READ);
}

/* ---- All of them -------------------------------------------------------------------------------------------------- */

static _Atomic int is_bound;
static _Atomic pid_t binder;    /* the process that rewrote its slots; its forked children inherit them */
static _Atomic uint64_t walked; /* how many objects had been loaded at the last walk */

/* New objects come last, unless one was unloaded since. An object is settled when two walks have seen it: the first may
 * have come before the dynamic linker had finished it. */
static _Atomic uint64_t last_seen, settled, unloads;
typedef struct round {
  int is_binding;
  int has_noted;
  uint64_t skip, objects, unloads;
} round;

/* Not to be touched: this library, the C library, the dynamic linker, and the sanitizers, which wrap the same calls. */
static int is_spared(const loaded_object *object, const char *name) {
  static const char *const spared[] = {"/libc.so",   "/ld-linux", "/libasan.", "/libtsan.",
                                       "/libubsan.", "/liblsan.", "linux-vdso"};
  if (holds(object, (uintptr_t)&dft__bind_all) || holds(object, (uintptr_t)DFT__GET(real_of[DFT__SYMBOL_read])))
    return 1;
  for (size_t i = 0; i < sizeof spared / sizeof spared[0]; i++) {
    if (name && strstr(name, spared[i])) return 1;
  }
  return 0;
}

static int walk_one(struct dl_phdr_info *info, size_t size, void *context) {
  round *own = context;
  loaded_object object;
  (void)size;
  own->unloads = info->dlpi_subs;
  if (own->objects++ < own->skip && info->dlpi_subs == atomic_load(&unloads)) return 0;
  if (read_object(&object, info) && !is_spared(&object, info->dlpi_name)) {
    walk_object(&object, own->is_binding);
    own->has_noted |= object.has_noted;
  }
  return 0;
}

static int note_loads(struct dl_phdr_info *info, size_t size, void *loads) {
  (void)size;
  *(uint64_t *)loads = info->dlpi_adds;
  return 1;
}

static uint64_t loads_so_far(void) {
  uint64_t loads = 0;
  dl_iterate_phdr(note_loads, &loads);
  return loads;
}

static void walk(int is_binding, uint64_t skip) {
  round own;
  make_index();
  real_for(DFT__SYMBOL_read);
  atomic_store(&walked, loads_so_far());
  do {
    own = (round){.is_binding = is_binding, .skip = skip};
    dl_iterate_phdr(walk_one, &own);
    if (own.has_noted) look_up_noted();
  } while (own.has_noted);
  atomic_store(&settled, own.unloads == atomic_load(&unloads) ? atomic_load(&last_seen) : 0);
  atomic_store(&unloads, own.unloads);
  atomic_store(&last_seen, is_binding ? own.objects : 0);
}

void dft__bind_all(void) {
  atomic_store(&is_bound, 1);
  atomic_store(&binder, getpid());
  walk(1, 0);
}

void dft__unbind_all(void) {
  atomic_store(&is_bound, 0);
  if (atomic_load(&binder) == getpid()) walk(0, 0);
}

int dft__bind_is_bound(void) {
  return atomic_load(&is_bound);
}

/* ---- Objects that are loaded later ----------------------------------------------------------------------------------- */

void dft__bind_look_again(void) {
  uint64_t before;
  if (!atomic_load(&is_bound) || loads_so_far() == atomic_load(&walked)) return;
  before = dft__signals_block();
  walk(1, atomic_load(&settled));
  dft__signals_restore(before);
}

/* The library is loaded only after this returns, so the next wrapped call looks again. */
dft__function dft__bind_before_dlopen(void) {
  uint32_t on = DFT__IO_ON;
  if (!(dft__hush & DFT__HUSH_VFORK)) atomic_compare_exchange_strong(&dft__io_state, &on, DFT__IO_LOOK_AGAIN);
  return real_for(DLOPEN);
}

/* A program that uses a library it has loaded first looks up a function in it. */
dft__function dft__bind_before_dlsym(void) {
  int saved = errno;
  dft__function real = real_for(DLSYM);
  if (!(dft__hush & DFT__HUSH_VFORK)) dft__bind_look_again();
  errno = saved;
  return real;
}
