/* sinks.c - the one table of built-in sinks.
 * SPDX-License-Identifier: MIT */
#include "sinks.h"

#include "codec/gzip.h"

const dft_sink *const dft__sinks[] = {
  &dft__sink_jsonl, &dft__sink_hdf5, &dft__sink_null, &dft__sink_memory, NULL,
};

void dft__sinks_prepare(void) {
  dft__gzip_load();
}

void dft__sinks_prepare_aside(void) {
  dft__gzip_load_aside();
}

const dft_sink *dft__sink_find(const char *name, size_t len) {
  for (const dft_sink *const *sink = dft__sinks; *sink; sink++) {
    if (strlen((*sink)->name) == len && memcmp((*sink)->name, name, len) == 0) return *sink;
  }
  return NULL;
}
