/* timeorigin.c - what --from and --to count from.
 * SPDX-License-Identifier: MIT */
#include "timeorigin.h"

#include <stdlib.h>
#include <string.h>

#include "command/summary/answer/runs.h"
#include "command/summary/count/collect.h"
#include "command/trace/inputs.h"

/* Writes the origins of all traces of the parts, which the reader finds by their paths. */
static int write_origins(int64_t *origins, dft_reader *reader, const state_parts *parts, const run_list *runs) {
  text_pool paths = {0};
  int is_good = 1;
  for (uint32_t i = 0; is_good && i < dft_reader_source_count(reader); i++) { /* number 0 is the empty text */
    dft_source source = {.struct_size = sizeof source};
    dft_reader_source(reader, i, &source);
    is_good = text_pool_add(&paths, source.path, strlen(source.path)) == i + 1;
  }
  for (uint32_t i = 0; is_good && i < parts->count; i++) {
    const summary_state *state = &parts->states[i];
    if (!runs->run_of_part[i]) continue;
    for (uint32_t j = 0; j < state->source_count; j++) {
      dft_text path = state_text_of(state, state->sources[j].path);
      uint32_t source = text_pool_add(&paths, path.text, path.len);
      if (source && source <= dft_reader_source_count(reader))
        origins[source - 1] = runs->runs[runs->run_of_part[i] - 1].origin;
    }
  }
  text_pool_free(&paths);
  return is_good;
}

int64_t *time_origins(dft_reader *reader, int threads) {
  const summary_question everything = {.threads = threads};
  dft_reader *second = inputs_reopen(reader);
  int64_t *origins = calloc((size_t)dft_reader_source_count(reader) + 1, sizeof *origins);
  state_parts parts;
  run_list runs = {0};
  int is_good;
  state_parts_init(&parts);
  is_good = second && origins && !collect_traces(&parts, second, &everything, NULL, NULL);
  if (is_good) state_parts_settle(&parts);
  is_good = is_good && parts.is_good && run_list_init(&runs, &parts) && write_origins(origins, reader, &parts, &runs);
  run_list_free(&runs);
  state_parts_free(&parts);
  dft_reader_close(second);
  if (is_good) return origins;
  free(origins);
  return NULL;
}
