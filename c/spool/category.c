/* category.c - which categories are recorded, by DFTRACER_CATEGORIES.
 *
 * A name in that list may be misspelt: no event has it, and a category with almost the same spelling was left out. That is
 * reported at the end of the trace, because only then is it known that no event of that name came.
 * SPDX-License-Identifier: MIT */
#include "category.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "base/alike.h"
#include "base/config.h"
#include "base/log.h"

static _Atomic uint64_t seen; /* bit per name of the list, the first 64 */
static _Atomic int stage;     /* of left_out: 0 empty, 1 being written, 2 there */
static struct {
  unsigned place; /* in the list */
  int name_len, cat_len;
  const char *name;
  char cat[DFT__ALIKE_MOST];
} left_out; /* the first that is alike */

/* The next name of the list, without spaces around it; zero at the end. */
static int next_name(const char **at, const char **name, size_t *len) {
  *name = *at + strspn(*at, ", ");
  *len = strcspn(*name, ",");
  *at = *name + *len;
  while (*len && (*name)[*len - 1] == ' ') --*len;
  return *len != 0;
}

static void note_left_out(const char *cat, size_t len) {
  const char *at = dft__config_text(DFT__CATEGORIES);
  const char *name;
  size_t name_len;
  int empty = 0;
  for (unsigned i = 0; i < 64 && next_name(&at, &name, &name_len); i++) {
    if (!dft__is_alike(name, name_len, cat, len)) continue;
    if (!atomic_compare_exchange_strong(&stage, &empty, 1)) return;
    left_out.place = i;
    left_out.name = name;
    left_out.name_len = (int)name_len;
    memcpy(left_out.cat, cat, len);
    left_out.cat_len = (int)len;
    atomic_store(&stage, 2);
    return;
  }
}

int dft__category_is_muted(const char *cat, size_t len) {
  const char *at = dft__config_text(DFT__CATEGORIES);
  const char *name;
  size_t name_len;
  if (!*at || (len == 8 && memcmp(cat, "dftracer", 8) == 0)) return 0;
  for (unsigned i = 0; next_name(&at, &name, &name_len); i++) {
    if (name_len != len || memcmp(name, cat, len) != 0) continue;
    if (i < 64) atomic_fetch_or(&seen, UINT64_C(1) << i);
    return 0;
  }
  if (!atomic_load(&stage)) note_left_out(cat, len);
  return 1;
}

void dft__category_report(void) {
  uint64_t came = atomic_exchange(&seen, 0);
  if (atomic_load(&stage) != 2) return;
  if (!(came >> left_out.place & 1)) {
    dft__log_config(DFT__CATEGORIES,
                    "DFTRACER_CATEGORIES: no event has the category \"%.*s\"; events of \"%.*s\" were left out",
                    left_out.name_len, left_out.name, left_out.cat_len, left_out.cat);
  }
  atomic_store(&stage, 0);
}
