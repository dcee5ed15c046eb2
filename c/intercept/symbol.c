/* symbol.c - the symbols of calls.inc: their names, their wrappers, and the real functions behind them.
 * SPDX-License-Identifier: MIT */
#include "symbol.h"

#include <dftracer/preload.h>
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#if defined(__x86_64__)
#define FIRST_VERSION "GLIBC_2.2.5"
#else
#define FIRST_VERSION "GLIBC_2.17"
#endif

static const char *const names[] = {
#define CALL(cat, action, type, name, params, args, subject, result, items) #name,
#define VARIANT(plain, type, symbol, params, args, subject, result, items) #symbol,
#define SPECIAL(cat, action, name, items) #name,
#define OTHER(plain, symbol) #symbol,
#define ALIAS(plain, symbol) #symbol,
#include "calls.inc"
  "vfork",
  "dlopen",
  "dlsym",
};

/* A wrapper has the type of its call. Here only its address matters. */
#define CALL(cat, action, type, name, params, args, subject, result, items) void dft__io_##name(void);
#define VARIANT(plain, type, symbol, params, args, subject, result, items) void dft__io_##symbol(void);
#define SPECIAL(cat, action, name, items) void dft__io_##name(void);
#define OTHER(plain, symbol) void dft__io_##symbol(void);
#include "calls.inc"
void dft__io_vfork(void);
void dft__io_dlopen(void);
void dft__io_dlsym(void);

dft_preload_wrappers dft_preload_table = {
  {
#define CALL(cat, action, type, name, params, args, subject, result, items) dft__io_##name,
#define VARIANT(plain, type, symbol, params, args, subject, result, items) dft__io_##symbol,
#define SPECIAL(cat, action, name, items) dft__io_##name,
#define OTHER(plain, symbol) dft__io_##symbol,
#define ALIAS(plain, symbol) dft__io_##plain,
#include "calls.inc"
    dft__io_vfork,
    dft__io_dlopen,
    dft__io_dlsym,
  },
};
_Static_assert(DFT__SYMBOL_END <= DFT_PRELOAD_WRAPPERS, "the table of the preload library is full");

_Atomic(dft__function) dft__reals[DFT__SYMBOL_COUNT];
_Atomic uint32_t dft__io_state = DFT__IO_UNDECIDED;

const char *dft__symbol_name(enum dft__symbol symbol) {
  return names[symbol];
}

dft__function dft__symbol_wrapper(enum dft__symbol symbol) {
  return dft_preload_table.at[symbol];
}

int dft__io_is_preloaded(void) {
  return &dft_preload_next != NULL;
}

/* ---- Stepping aside ------------------------------------------------------------------------------------------------ */

/* The wrappers that the table does not hold now, because the real function is in their place. */
static _Atomic(dft__function) absent[DFT__SYMBOL_COUNT];

void dft__symbols_put_back(void) {
  for (unsigned i = 0; i < DFT__SYMBOL_COUNT; i++) {
    dft__function wrapper = DFT__GET(absent[i]);
    if (wrapper) __atomic_store_n(&dft_preload_table.at[i], wrapper, __ATOMIC_SEQ_CST);
  }
}

/* While nothing is recorded, the program's calls go straight to the real function. Whoever switches recording on sets
 * the state first and then puts the wrappers back. Here the state is read last, so one of the two sees the other's
 * store. */
static void step_aside(enum dft__symbol symbol, dft__function real) {
  dft__function wrapper = __atomic_load_n(&dft_preload_table.at[symbol], __ATOMIC_RELAXED);
  if (!dft__io_is_preloaded() || wrapper == real) return;
  for (unsigned i = 0; i < DFT__SYMBOL_COUNT; i++) { /* aliases share a wrapper */
    if (__atomic_load_n(&dft_preload_table.at[i], __ATOMIC_RELAXED) != wrapper) continue;
    DFT__SET(absent[i], wrapper);
    __atomic_store_n(&dft_preload_table.at[i], real, __ATOMIC_SEQ_CST);
  }
  if (atomic_load(&dft__io_state) != DFT__IO_OFF) dft__symbols_put_back();
}

void dft__symbols_step_aside(void) {
  for (unsigned i = 0; i < DFT__SYMBOL_COUNT; i++) {
    dft__function real = DFT__GET(dft__reals[i]);
    if (real) step_aside((enum dft__symbol)i, real);
  }
}

/* ---- Looking up --------------------------------------------------------------------------------------------------- */

static dft__function as_function(void *address) {
  dft__function function;
  memcpy(&function, &address, sizeof function);
  return function;
}

static int note_program(struct dl_phdr_info *info, size_t size, void *range) {
  uintptr_t *bounds = range;
  (void)size;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    uintptr_t start = info->dlpi_addr + part->p_vaddr;
    if (part->p_type != PT_LOAD) continue;
    if (start < bounds[0]) bounds[0] = start;
    if (start + part->p_memsz > bounds[1]) bounds[1] = start + part->p_memsz;
  }
  return 1; /* the first object is the program */
}

/* A program that takes a function's address may define an entry of its own for it, which jumps through the program's
 * slot and so back to our wrapper. */
static int is_in_program(const void *address) {
  static uintptr_t bounds[2] = {UINTPTR_MAX, 0};
  if (!bounds[1]) dl_iterate_phdr(note_program, bounds);
  return (uintptr_t)address >= bounds[0] && (uintptr_t)address < bounds[1];
}

static void *in_libc(const char *name) {
  static void *libc;
  void *address;
  if (!libc) libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (!libc) return NULL;
  address = dlsym(libc, name);
  return address ? address : dlvsym(libc, name, FIRST_VERSION);
}

dft__function dft__real_by_name(const char *name) {
  void *address;
  if (&dft_preload_next != NULL) return as_function(dft_preload_next(name));
  address = dlsym(RTLD_DEFAULT, name);
  return as_function(address && !is_in_program(address) ? address : in_libc(name));
}

dft__function dft__real_find(enum dft__symbol symbol) {
  dft__function real = dft__real_by_name(names[symbol]);
  if (!real) return NULL;
  DFT__SET(dft__reals[symbol], real);
  if (DFT__GET(dft__io_state) == DFT__IO_OFF) step_aside(symbol, real);
  return real;
}

dft__function dft__real_vfork(void) {
  static _Atomic(dft__function) real;
  dft__function known = DFT__GET(real);
  if (!known) DFT__SET(real, known = dft__real_by_name("vfork"));
  return known;
}
