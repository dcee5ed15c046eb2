/* loads.c - dlopen and dlsym go by their caller: its RUNPATH, what comes after it, its errors.
 * SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#ifdef PLUGIN
const char *answer(void);
const char *next_answer(void);
const char *answer(void) {
  return PLUGIN;
}
/* The one behind this library in the order of loading. */
const char *next_answer(void) {
  const char *(*next)(void) = (const char *(*)(void))dlsym(RTLD_NEXT, "answer");
  return next ? next() : "none";
}
#else
int main(void) {
  void *first = dlopen("libplugin_first.so", RTLD_NOW | RTLD_GLOBAL); /* in the program's RUNPATH only */
  void *second = dlopen("libplugin_second.so", RTLD_NOW | RTLD_GLOBAL);
  const char *(*answer)(void), *(*next)(void);
  if (!first || !second) return puts(dlerror()), 1;
  errno = 77;
  answer = (const char *(*)(void))dlsym(second, "answer");
  next = (const char *(*)(void))dlsym(first, "next_answer");
  printf("%s %s %d %s\n", answer(), next(), errno, dlerror() ? "error" : "fine");
  printf("%d ", dlsym(second, "no_such_symbol") == NULL);
  printf("%d ", strstr(dlerror(), "no_such_symbol") != NULL);
  printf("%d\n", dlopen("libnot_there.so", RTLD_NOW) == NULL && strstr(dlerror(), "libnot_there.so") != NULL);
  return 0;
}
#endif
