/* factrows.c - what a trace says of itself.
 * SPDX-License-Identifier: MIT */
#include "factrows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t cell_integer(const dft_cell *cell, int64_t otherwise) {
  char digits[24], *end;
  int64_t value;
  if (cell->type == DFT_INT || cell->type == DFT_BOOL) return cell->value.i;
  if (cell->type != DFT_STRING || !cell->len || cell->len >= sizeof digits) return otherwise;
  memcpy(digits, cell->value.text, cell->len);
  digits[cell->len] = '\0';
  value = strtoll(digits, &end, 10);
  return *end ? otherwise : value;
}

/* A hash is a text, or, of older tracers, a number. */
static dft_text hash_of(const dft_cell *cell, char digits[24]) {
  if (cell->type == DFT_STRING) return (dft_text){cell->value.text, cell->len};
  if (cell->type != DFT_INT && cell->type != DFT_UINT) return (dft_text){"", 0};
  return (dft_text){digits, (size_t)snprintf(digits, 24, "%" PRIu64, cell->value.u)};
}

/* A line PR {"name":"rank","value":"3"} gives the rank of its process, a line HH has a hash of a host as its value. */
void fact_rows_metadata(analysis *shared, const dft_rows *rows, uint32_t row) {
  const argument_keys *keys = &shared->keys;
  dft_text name = dft_reader_text(shared->reader, DFT_NAMES, rows->name[row]);
  const dft_cell *value = NULL;
  char digits[24];
  int is_rank = 0;
  if (name.len != 2 || (memcmp(name.text, "PR", 2) != 0 && memcmp(name.text, "HH", 2) != 0)) return;
  for (uint32_t i = rows->arg_first[row]; i < rows->arg_first[row + 1]; i++) {
    const dft_cell *cell = &rows->args[i];
    if (cell->key == keys->name && cell->type == DFT_STRING)
      is_rank = cell->len == 4 && memcmp(cell->value.text, "rank", 4) == 0;
    if (cell->key == keys->value) value = cell;
  }
  if (!value) return;
  if (name.text[0] == 'H') {
    dft_text hash = hash_of(value, digits);
    analysis_add_host(shared, rows->source, dft_reader_number(shared->reader, DFT_HOSTS, hash.text, hash.len));
  }
  if (name.text[0] == 'P' && is_rank)
    analysis_set_rank(shared, rows->source, rows->pid[row], cell_integer(value, NO_NUMBER));
}

static uint64_t amount(const dft_cell *cell) {
  int64_t number = cell_integer(cell, 0);
  return number > 0 ? (uint64_t)number : 0;
}

static uint32_t text_number(dft_reader *reader, const dft_cell *cell) {
  return cell->type == DFT_STRING ? dft_reader_number(reader, DFT_NAMES, cell->value.text, cell->len) : 0;
}

/* The command line of a process says more than its executable. */
static void read_command(analysis *shared, const dft_rows *rows, uint32_t row) {
  const argument_keys *keys = &shared->keys;
  const dft_cell *found = NULL;
  char digits[24];
  dft_text hash;
  for (uint32_t i = rows->arg_first[row]; i < rows->arg_first[row + 1]; i++) {
    const dft_cell *cell = &rows->args[i];
    if (cell->key == keys->command || (cell->key == keys->executable && !found)) found = cell;
  }
  if (!found) return;
  hash = hash_of(found, digits);
  analysis_set_command(shared, rows->source, rows->pid[row], hash);
}

/* A spool ends with recovered:1 if its process died, before anyone has recovered it. */
static int is_spool(dft_reader *reader, uint32_t number) {
  dft_source source = {.struct_size = sizeof source};
  return dft_reader_source(reader, number, &source) == DFT_OK && source.kind == DFT_SOURCE_SPOOL;
}

void fact_rows_bookkeeping(analysis *shared, tally *counts, trace_life *life, const dft_rows *rows, uint32_t row) {
  const argument_keys *keys = &shared->keys;
  dft_reader *reader = shared->reader;
  const int is_start = dft_reader_text(reader, DFT_NAMES, rows->name[row]).text[0] == 's';
  process_facts facts = {.is_started = (uint64_t)is_start, .is_ended = (uint64_t)!is_start};
  uint64_t ppid = 0;
  if (is_start && rows->start_ns[row] < life->start) life->start = rows->start_ns[row];
  for (uint32_t i = rows->arg_first[row]; i < rows->arg_first[row + 1]; i++) {
    const dft_cell *cell = &rows->args[i];
    if (cell->key == keys->num_dropped) counts->dropped += amount(cell);
    else if (cell->key == keys->recovered && cell_integer(cell, 0))
      *(is_spool(reader, rows->source) ? &counts->left : &counts->recovered) += 1;
    else if (cell->key == keys->ppid) ppid = amount(cell);
    else if (cell->key == keys->run && cell->type == DFT_STRING)
      counts->is_good &= trace_life_set_run(life, cell->value.text, cell->len);
    else if (cell->key == keys->world_size) facts.world_size = amount(cell);
    else if (cell->key == keys->process_age_ns) facts.age_ns = amount(cell);
    else if (cell->key == keys->finish_ns) facts.finish_ns = amount(cell);
    else if (cell->key == keys->drain_cpu_ns) facts.drain_cpu_ns = amount(cell);
    else if (cell->key == keys->assist_ns) facts.assist_ns = amount(cell);
    else if (cell->key == keys->unmatched_ends) facts.unmatched_ends = amount(cell);
    else if (cell->key == keys->unmatched_sites) facts.unmatched_sites = text_number(reader, cell);
    else if (cell->key == keys->open_regions) facts.open_regions = amount(cell);
    else if (cell->key == keys->open_sites) facts.open_sites = text_number(reader, cell);
    facts.has_cost |= cell->key == keys->finish_ns;
  }
  read_command(shared, rows, row);
  analysis_add_facts(shared, rows->source, rows->pid[row], ppid, &facts);
}
