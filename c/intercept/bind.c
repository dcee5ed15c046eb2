/* bind.c - binds the I/O calls of this process in place: puts wrappers into the import slots of the loaded objects.
 *
 * A slot (loadedobject.h) is rewritten if it holds the real function or is not bound yet. No list of slots is kept,
 * because objects come and go: a walk finds those that hold a wrapper.
 * SPDX-License-Identifier: MIT */
#include "bind.h"

#include <string.h>
#include <unistd.h>

#include "base/signals.h"
#include "loadedobject.h"
#include "mpi/mpibind.h"

/* ---- Names -------------------------------------------------------------------------------------------------------- */

#define BUCKETS 1024u
static uint16_t first_of[BUCKETS]; /* name + 1, 0: none */
static uint16_t next_of[DFT__SYMBOL_END];
static _Atomic(dft__function) real_of[DFT__SYMBOL_END];
static int is_indexed;

dft__function dft__bind_real(unsigned number) {
  dft__function real = DFT__GET(real_of[number]);
  if (!real) DFT__SET(real_of[number], real = dft__real_by_name(dft__symbol_name(number)));
  return real;
}

/* A walk holds one lock of the dynamic linker, and a lookup takes another. A thread that loads a library holds that
 * other lock and waits for the first one, so a lookup inside a walk could deadlock. A walk therefore only notes the
 * names that it needs. They are looked up when it is over, and then the walk is repeated. */
enum { UNKNOWN = 0, NOTED = 1, LOOKED_UP = 2 };
static _Atomic uint8_t look_up_state[DFT__SYMBOL_END];

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
  for (unsigned i = 0; i < DFT__SYMBOL_END; i++) {
    if (DFT__GET(look_up_state[i]) != NOTED) continue;
    dft__bind_real(i);
    DFT__SET(look_up_state[i], LOOKED_UP);
  }
}

static void make_index(void) {
  if (is_indexed) return;
  for (unsigned i = 0; i < DFT__SYMBOL_END; i++) {
    uint32_t bucket = dft__gnu_hash(dft__symbol_name(i)) % BUCKETS;
    next_of[i] = first_of[bucket];
    first_of[bucket] = (uint16_t)(i + 1);
  }
  is_indexed = 1;
}

/* Returns DFT__SYMBOL_END for a name without a wrapper. */
static unsigned find(const char *name) {
  if (name[0] == '_' && name[1] == 'Z') return DFT__SYMBOL_END; /* C++ has many names, and long ones */
  for (unsigned i = first_of[dft__gnu_hash(name) % BUCKETS]; i; i = next_of[i - 1]) {
    if (strcmp(dft__symbol_name(i - 1), name) == 0) return i - 1;
  }
  return DFT__SYMBOL_END;
}

/* ---- One slot ------------------------------------------------------------------------------------------------------ */

typedef struct round {
  int is_binding;
  int has_noted; /* a real function has to be looked up */
  uint64_t skip, objects, unloads;
} round;

static void bind_slot(dft__loaded *object, const dft__import *import, unsigned number, round *own) {
  uintptr_t value = dft__import_value(import);
  uintptr_t wrapper = (uintptr_t)dft__symbol_wrapper(number);
  if (!value || value == wrapper) return;
  if (dft__import_is_unbound(object, import, value) || value == (uintptr_t)real_in_walk(number, &own->has_noted))
    dft__import_store(object, import, wrapper);
}

static void unbind_slot(dft__loaded *object, const dft__import *import, unsigned number, round *own) {
  dft__function real;
  if (dft__import_value(import) != (uintptr_t)dft__symbol_wrapper(number)) return;
  real = real_in_walk(number, &own->has_noted);
  if (real) dft__import_store(object, import, (uintptr_t)real);
}

static void visit_slot(dft__loaded *object, const dft__import *import, void *context) {
  round *own = context;
  unsigned number = find(import->name);
  if (number == DFT__SYMBOL_END) return;
  if (own->is_binding) bind_slot(object, import, number, own);
  else unbind_slot(object, import, number, own);
}

/* ---- All of them -------------------------------------------------------------------------------------------------- */

static _Atomic int is_bound;
static _Atomic pid_t binder;    /* the process that rewrote its slots; its forked children inherit them */
static _Atomic uint64_t walked; /* how many objects had been loaded at the last walk */

/* New objects come last, unless one was unloaded since. An object is settled when two walks have seen it: the first may
 * have come before the dynamic linker had finished it. */
static _Atomic uint64_t last_seen, settled, unloads;

/* Not to be touched: this library, the C library, the dynamic linker, and the sanitizers, which wrap the same calls. */
static int is_spared(const dft__loaded *object, const char *name) {
  static const char *const spared[] = {"/libc.so",   "/ld-linux", "/libasan.", "/libtsan.",
                                       "/libubsan.", "/liblsan.", "linux-vdso"};
  if (dft__loaded_holds(object, (uintptr_t)&dft__bind_all) ||
      dft__loaded_holds(object, (uintptr_t)DFT__GET(real_of[DFT__SYMBOL_read])))
    return 1;
  for (size_t i = 0; i < sizeof spared / sizeof spared[0]; i++) {
    if (name && strstr(name, spared[i])) return 1;
  }
  return 0;
}

static int walk_one(struct dl_phdr_info *info, size_t size, void *context) {
  round *own = context;
  dft__loaded object;
  (void)size;
  own->unloads = info->dlpi_subs;
  if (own->objects++ < own->skip && info->dlpi_subs == atomic_load(&unloads)) return 0;
  if (dft__loaded_read(&object, info) && !is_spared(&object, info->dlpi_name))
    dft__loaded_imports(&object, visit_slot, own);
  return 0;
}

static void walk(int is_binding, uint64_t skip) {
  round own;
  make_index();
  dft__bind_real(DFT__SYMBOL_read);
  atomic_store(&walked, dft__loads_so_far());
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
  if (DFT__GET(dft__io_state) == DFT__IO_ON || DFT__GET(dft__io_state) == DFT__IO_LOOK_AGAIN) dft__mpi_bind();
  if (!atomic_load(&is_bound) || dft__loads_so_far() == atomic_load(&walked)) return;
  before = dft__signals_block();
  walk(1, atomic_load(&settled));
  dft__signals_restore(before);
}
