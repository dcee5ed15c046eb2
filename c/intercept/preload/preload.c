/* preload.c - libdftracer_preload.so: every symbol of calls.inc, as a jump to its wrapper in the core.
 *
 * Nothing has to be initialised here: the core's table is ready as soon as the library is loaded. A jump leaves the
 * arguments alone, however many there are.
 * SPDX-License-Identifier: MIT */
#include <dftracer/preload.h>
#include <dlfcn.h>

#if defined(__x86_64__)
#define FIRST_VERSION "GLIBC_2.2.5"
#define JUMP(number)                              \
  "endbr64\n"                                     \
  "movq dft_preload_table@GOTPCREL(%rip), %r11\n" \
  "jmp *8*" number "(%r11)\n"
#elif defined(__aarch64__)
#define FIRST_VERSION "GLIBC_2.17"
#define JUMP(number)                              \
  "hint #34\n"                                    \
  "adrp x16, :got:dft_preload_table\n"            \
  "ldr x16, [x16, :got_lo12:dft_preload_table]\n" \
  "ldr x16, [x16, #8*" number "]\n"               \
  "br x16\n"
#else
#error "this architecture needs a jump of its own"
#endif

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
/* The counter numbers the symbols in the order of the table. */
#define JUMP_TO(name)           \
  __asm__(".text\n.p2align 4\n" \
          ".globl " #name "\n"  \
          ".type " #name ", %function\n" #name ":\n" JUMP(TEXT(__COUNTER__)) ".size " #name ", . - " #name "\n");

#define CALL(cat, action, type, name, params, args, subject, result, items) JUMP_TO(name)
#define VARIANT(plain, type, symbol, params, args, subject, result, items) JUMP_TO(symbol)
#define SPECIAL(cat, action, name, items) JUMP_TO(name)
#define OTHER(plain, symbol) JUMP_TO(symbol)
#define ALIAS(plain, symbol) JUMP_TO(symbol)
#include "../calls.inc"
JUMP_TO(vfork)
JUMP_TO(dlopen)
JUMP_TO(dlsym)

typedef void *lookup(void *, const char *);

/* By its plain name dlsym is the one above. Every C library has the version that its first release had. */
DFT_API void *dft_preload_next(const char *name) {
  static uintptr_t real;
  uintptr_t known = __atomic_load_n(&real, __ATOMIC_RELAXED);
  void *address;
  if (!known) __atomic_store_n(&real, known = (uintptr_t)dlvsym(RTLD_NEXT, "dlsym", FIRST_VERSION), __ATOMIC_RELAXED);
  address = ((lookup *)known)(RTLD_NEXT, name);
  /* Symbols that new programs can no longer be linked with are found only by their version. */
  return address ? address : dlvsym(RTLD_NEXT, name, FIRST_VERSION);
}
