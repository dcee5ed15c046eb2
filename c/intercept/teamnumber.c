/* teamnumber.c - asks the OpenMP libraries of this process, without depending on one.
 *
 * A process may have several: Python packages bring their own. Each answers 0 for threads that are not its own.
 * SPDX-License-Identifier: MIT */
#include "teamnumber.h"

#include "base/signals.h"
#include "loadedobject.h"

typedef struct team_search {
  uint64_t signals;
  uint32_t number;
} team_search;

static int ask_object(struct dl_phdr_info *info, size_t size, void *context) {
  team_search *search = context;
  dft__loaded object;
  uintptr_t function = 0;
  int number;
  (void)size;
  if (dft__loaded_read(&object, info))
    function = dft__loaded_symbol(&object, "omp_get_thread_num", dft__gnu_hash("omp_get_thread_num"));
  if (!function) return 0;
  /* On a thread that the library has not seen, thread-local memory of a library may be allocated here. */
  if (dft__signals_may_be_handler(search->signals)) return 1;
  number = ((int (*)(void))function)();
  search->number = number > 0 ? (uint32_t)number : 0;
  return search->number != 0;
}

uint32_t dft__team_number(uint64_t signals) {
  team_search search = {signals, 0};
  dl_iterate_phdr(ask_object, &search);
  return search.number;
}
