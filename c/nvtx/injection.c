/* injection.c - libdftracer_nvtx.so: what NVTX calls when it has loaded this library.
 *
 * Every image of a process that uses NVTX has tables of its own and calls this once. While tracing is off, nothing is
 * set: NVTX then skips every call by one test.
 * SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <pthread.h>

#include "nvtxcall.h"
#include "pushedrange.h"

DFT_API int InitializeInjectionNvtx2(dft__nvtx_get_table *get_table);

static int is_asked_for(void) {
  char value[8];
  return dft_config_get("DFTRACER_ENABLE", value, sizeof value) > 0 && strcmp(value, "1") == 0;
}

/* Older versions of NVTX may have shorter tables. */
static void set(dft__nvtx_function ***table, unsigned int size, unsigned int number, dft__nvtx_function *function) {
  if (table && number < size && table[number]) *table[number] = function;
}

/* Zero: NVTX leaves its functions empty, and closes this library. */
int InitializeInjectionNvtx2(dft__nvtx_get_table *get_table) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  const dft__nvtx_callbacks *callbacks = get_table ? get_table(DFT__NVTX_TABLE_CALLBACKS) : NULL;
  dft__nvtx_function ***CORE = NULL, ***CORE2 = NULL;
  unsigned int CORE_size = 0, CORE2_size = 0;
  if (!is_asked_for() || !callbacks || callbacks->struct_size < sizeof *callbacks) return 0;
  if (!callbacks->module_table(DFT__NVTX_MODULE_CORE, &CORE, &CORE_size)) return 0;
  if (!callbacks->module_table(DFT__NVTX_MODULE_CORE2, &CORE2, &CORE2_size)) CORE2 = NULL;
  pthread_once(&once, dft__pushed_range_prepare);
#define SET(module, number, name) set(module, module##_size, number, (dft__nvtx_function *)dft__nvtx_##name);
  DFT__NVTX_CALL_LIST(SET)
#undef SET
  return 1;
}
