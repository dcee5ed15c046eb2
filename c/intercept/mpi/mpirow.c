/* mpirow.c - the rows of mpicalls.inc, and their index by name.
 * SPDX-License-Identifier: MIT */
#include "mpirow.h"

#include <string.h>

#include "../loadedobject.h"

dft__mpi_row dft__mpi_rows[] = {
#define MPI_CALL(cat, name, rule, flow, roles) \
  {DFT_SITE("MPI_" #name, #cat), roles, DFT__MPI_##rule, DFT__MPI_##flow, sizeof(roles) - 1, 0, {0}},
#include "mpicalls.inc"
};
#define MPI_CALL(cat, name, rule, flow, roles) \
  _Static_assert(sizeof(roles) - 1 <= DFT__MPI_ARGS_MOST, "more arguments than are forwarded");
#include "mpicalls.inc"

#define ROWS (sizeof dft__mpi_rows / sizeof dft__mpi_rows[0])
#define BUCKETS 1024u
static uint16_t first_of[BUCKETS]; /* row + 1, 0: none */
static uint16_t next_of[ROWS];
static int is_indexed;

uint32_t dft__mpi_row_count(void) {
  return ROWS;
}

static void make_index(void) {
  for (uint32_t i = 0; i < ROWS; i++) {
    dft__mpi_row *row = &dft__mpi_rows[i];
    uint32_t bucket = dft__gnu_hash(row->site.name) % BUCKETS;
    size_t len = strlen(row->site.name);
    row->is_large = row->site.name[len - 2] == '_' && row->site.name[len - 1] == 'c';
    for (uint8_t place = 0; place < row->arity; place++) {
      if (row->roles[place] != '.') row->at[row->roles[place] - 'A'] = (uint8_t)(place + 1);
    }
    next_of[i] = first_of[bucket];
    first_of[bucket] = (uint16_t)(i + 1);
  }
  is_indexed = 1;
}

dft__mpi_row *dft__mpi_row_find(const char *symbol) {
  if (*symbol == 'P') symbol++;
  if (strncmp(symbol, "MPI_", 4) != 0) return NULL;
  if (!is_indexed) make_index();
  for (uint32_t i = first_of[dft__gnu_hash(symbol) % BUCKETS]; i; i = next_of[i - 1]) {
    if (strcmp(dft__mpi_rows[i - 1].site.name, symbol) == 0) return &dft__mpi_rows[i - 1];
  }
  return NULL;
}
