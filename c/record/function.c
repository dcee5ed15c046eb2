/* function.c - every function of a program built with -finstrument-functions as an event of category FUNC.
 *
 * The compiler calls the two hooks with the function's address. The name is not looked up here: the site is called
 * "0xADDRESS@FILE", with the address in that file, and functionname.c replaces it by the symbol's name when the event is
 * written. Finding a site takes one lookup in a lock-free hash table. If the table is full, the site is found by name.
 *
 * The hooks have the names that the compiler requires. If a library loaded after this one defines them too, it is called as well.
 * SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/aside.h"
#include "base/signals.h"
#include "function.h"
#include "site.h"

#define TABLE_LOG 16
#define PROBES 64
#define TEXTS_BYTES (8u << 20)

typedef void hook(void *function, void *caller);

DFT_API hook __cyg_profile_func_enter;
DFT_API hook __cyg_profile_func_exit;

typedef struct function {
  _Atomic uintptr_t address; /* 0: free */
  _Atomic uint32_t is_ready; /* the site has its name; release */
  dft_site site;
} function;

/* Pages that are not touched cost nothing. */
static DFT__LARGE function table[1u << TABLE_LOG];
static DFT__LARGE char texts[TEXTS_BYTES];
static _Atomic size_t texts_used;
static hook find_enter, find_exit;
static hook *next_enter = find_enter, *next_exit = find_exit; /* NULL: there is none */

/* ---- Other hooks ---------------------------------------------------------------------------------------------------- */

/* Two addresses, and the end of the search when a loaded file holds one of them: whether it holds the other, too. dladdr would
 * look through every symbol of libc, at the start of every program. */
typedef struct pair {
  uintptr_t address[2];
  int are_together;
} pair;

static int holds(const struct dl_phdr_info *info, uintptr_t address) {
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    if (part->p_type == PT_LOAD && address - info->dlpi_addr - part->p_vaddr < part->p_memsz) return 1;
  }
  return 0;
}

static int compare(struct dl_phdr_info *info, size_t size, void *context) {
  pair *two = context;
  int has_first = holds(info, two->address[0]);
  int has_second = holds(info, two->address[1]);
  (void)size;
  two->are_together = has_first && has_second;
  return has_first || has_second;
}

/* libc has hooks that do nothing. */
static hook *find_next(const char *name) {
  void *symbol = dlsym(RTLD_NEXT, name);
  pair two = {{(uintptr_t)symbol, (uintptr_t)&getpid}, 0};
  hook *next = NULL;
  if (symbol) dl_iterate_phdr(compare, &two);
  if (symbol && !two.are_together) memcpy(&next, &symbol, sizeof next);
  return next;
}

/* At the first call: most programs have none. */
static void find_enter(void *address, void *caller) {
  hook *next = find_next("__cyg_profile_func_enter");
  __atomic_store_n(&next_enter, next, __ATOMIC_RELAXED);
  if (next) next(address, caller);
}

static void find_exit(void *address, void *caller) {
  hook *next = find_next("__cyg_profile_func_exit");
  __atomic_store_n(&next_exit, next, __ATOMIC_RELAXED);
  if (next) next(address, caller);
}

/* ---- Sites ---------------------------------------------------------------------------------------------------------- */

typedef struct place {
  uintptr_t address;
  char text[DFT__NAME_MAX];
} place;

/* Called by the linker for each loaded file. */
static int describe(struct dl_phdr_info *info, size_t size, void *context) {
  place *wanted = context;
  char path[DFT__NAME_MAX - 32];
  ssize_t len = 0;
  (void)size;
  if (!holds(info, wanted->address)) return 0;
  /* Not the library's: its wrapper would look it up, which must not be done here (intercept/bind.c). */
  if (!info->dlpi_name[0]) len = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, sizeof path - 1);
  path[len > 0 ? len : 0] = '\0';
  snprintf(wanted->text, sizeof wanted->text, DFT__FUNCTION_FORMAT, (unsigned long)(wanted->address - info->dlpi_addr),
           len > 0 ? path : info->dlpi_name);
  return 1;
}

static void describe_address(place *wanted) {
  if (!dl_iterate_phdr(describe, wanted)) {
    snprintf(wanted->text, sizeof wanted->text, "0x%lx", (unsigned long)wanted->address);
  }
}

/* What is done with the name of a function, aside: it is long. */
typedef void name_use(const char *name, size_t len, void *context);

typedef struct naming {
  uintptr_t address;
  name_use *use;
  void *context;
} naming;

static void name_aside(void *naming_in_hand) {
  const naming *own = naming_in_hand;
  place wanted = {.address = own->address};
  describe_address(&wanted);
  own->use(wanted.text, strlen(wanted.text), own->context);
}

static void with_name(uintptr_t address, name_use *use, void *context) {
  naming own = {address, use, context};
  uint64_t before = dft__signals_block();
  dft__aside_run(name_aside, &own);
  dft__signals_restore(before);
}

static void keep_name(const char *name, size_t len, void *kept) {
  size_t at = atomic_fetch_add(&texts_used, len + 1);
  *(const char **)kept = at + len + 1 <= sizeof texts ? memcpy(texts + at, name, len + 1) : NULL;
}

/* NULL when there is no room for more. */
static const char *make_name(uintptr_t address) {
  const char *kept;
  with_name(address, keep_name, &kept);
  return kept;
}

/* NULL when there is no room for one more, or another thread, or a call that this one interrupted, is about to make it. */
static dft_site *site_of(uintptr_t address) {
  uint32_t slot = (uint32_t)((uint64_t)address * UINT64_C(0x9e3779b97f4a7c15) >> (64 - TABLE_LOG));
  for (uint32_t i = 0; i < PROBES; i++) {
    function *one = &table[(slot + i) % (1u << TABLE_LOG)];
    uintptr_t found = DFT__GET(one->address);
    if (!found && atomic_compare_exchange_strong(&one->address, &found, address)) {
      one->site.cat = DFT__FUNCTION_CATEGORY;
      one->site.name = make_name(address);
      if (!one->site.name) return NULL;
      DFT__RELEASE(one->is_ready, 1);
      return &one->site;
    }
    if (DFT__LIKELY(found == address)) return DFT__ACQUIRE(one->is_ready) ? &one->site : NULL;
  }
  return NULL;
}

static void begin_named(const char *name, size_t len, void *unused) {
  (void)unused;
  dft_region_begin_n(name, len, DFT__FUNCTION_CATEGORY, strlen(DFT__FUNCTION_CATEGORY));
}

/* The same, only slower. */
static void begin_without_site(uintptr_t address) {
  with_name(address, begin_named, NULL);
}

struct found_ref {
  const dft__own *own;
  uint32_t ref;
};

static void note_ref(const char *name, size_t len, void *found_in_hand) {
  struct found_ref *found = found_in_hand;
  found->ref = dft__site_named(found->own, name, len, DFT__FUNCTION_CATEGORY, strlen(DFT__FUNCTION_CATEGORY));
}

static uint32_t find_ref(const dft__own *own, uintptr_t address) {
  struct found_ref found = {own, 0};
  with_name(address, note_ref, &found);
  return found.ref;
}

/* ---- Hooks ---------------------------------------------------------------------------------------------------------- */

void __cyg_profile_func_enter(void *address, void *caller) {
  hook *next = __atomic_load_n(&next_enter, __ATOMIC_RELAXED);
  dft_site *site;
  if (next) next(address, caller);
  if (!dft_is_active()) return;
  site = site_of((uintptr_t)address);
  if (DFT__UNLIKELY(!site)) begin_without_site((uintptr_t)address);
  else if (!(__atomic_load_n(&site->cache, __ATOMIC_RELAXED) & DFT__SITE_MUTED)) dft_region_begin_site(site);
}

/* A frame of a function; those may have been left by a long jump. */
static int is_function(const dft__own *own, uint32_t ref) {
  const dft__name *site = (const dft__name *)(own->base + (uint64_t)ref * 16);
  const dft__name *cat;
  if (!ref || site->use != DFT__NAME_SITE) return 0;
  cat = dft__name_at(dft__thread_spool(), site->cat);
  return cat && cat->len == strlen(DFT__FUNCTION_CATEGORY) && memcmp(cat->text, DFT__FUNCTION_CATEGORY, cat->len) == 0;
}

/* The function's frame is not on top: whatever functions are above it ended without saying so. */
static void end_below(const dft__own *own, uint32_t ref) {
  uint32_t depth = DFT__GET(own->thread->depth);
  uint32_t at = depth;
  while (at && DFT__GET(dft__frames(own)[at - 1].site) != ref) at--;
  if (!at) return; /* it began before the trace did */
  for (; depth >= at; depth--) {
    const dft__frame *frame = &dft__frames(own)[depth - 1];
    if (depth == at || is_function(own, DFT__GET(frame->site))) dft_region_end_at(DFT__GET(frame->id));
  }
}

static void leave(uintptr_t address) {
  dft_site *site = site_of(address);
  const dft__frame *top;
  dft__own own;
  uint32_t ref, depth;
  if (dft__thread_take(&own) == DFT__OFF) return;
  ref = site ? (uint32_t)__atomic_load_n(&site->cache, __ATOMIC_RELAXED) : find_ref(&own, address);
  if (site && ref & DFT__SITE_MUTED) return;
  depth = DFT__GET(own.thread->depth);
  top = dft__frames(&own) + depth - 1;
  /* One without a site began while recording was paused, or is muted, or there was no room for its name. */
  if (DFT__GET(own.thread->overflow)) dft_region_end_innermost();
  else if (depth && (DFT__GET(top->site) == ref || !DFT__GET(top->site))) dft_region_end_innermost();
  else if (depth) end_below(&own, ref);
}

void __cyg_profile_func_exit(void *address, void *caller) {
  hook *next = __atomic_load_n(&next_exit, __ATOMIC_RELAXED);
  if (dft_is_active()) leave((uintptr_t)address);
  if (next) next(address, caller);
}
