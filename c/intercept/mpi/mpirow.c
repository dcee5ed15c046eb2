/* mpirow.c - the rows of mpicalls.inc, and their index by name.
 *
 * What the compiler makes of the table has no pointers: the dynamic linker would fill them in at the start of every
 * program, also of those without MPI. The first look into the table makes the rows.
 * SPDX-License-Identifier: MIT */
#include "mpirow.h"

#include <stddef.h>
#include <string.h>

#include "../loadedobject.h"
#include "base/atomic.h"

/* The texts of the table, and where they are. */
static const struct table_texts {
#define MPI_CALL(cat, name, rule, flow, roles) \
  char name[sizeof("MPI_" #name)];             \
  char name##_roles[sizeof(roles)];
#include "mpicalls.inc"
} texts = {
#define MPI_CALL(cat, name, rule, flow, roles) "MPI_" #name, roles,
#include "mpicalls.inc"
};
static const struct table_row {
  uint16_t name, roles;
  uint8_t rule, flow, is_file;
} table[] = {
#define MPI_CALL(cat, name, rule, flow, roles)                                                                       \
  {offsetof(struct table_texts, name), offsetof(struct table_texts, name##_roles), DFT__MPI_##rule, DFT__MPI_##flow, \
   sizeof(#cat) == sizeof("MPIIO")},
#include "mpicalls.inc"
};
#define MPI_CALL(cat, name, rule, flow, roles) \
  _Static_assert(sizeof(roles) - 1 <= DFT__MPI_ARGS_MOST, "more arguments than are forwarded");
#include "mpicalls.inc"
_Static_assert(sizeof texts <= UINT16_MAX, "places of texts have 16 bits");

#define ROWS (sizeof table / sizeof table[0])
#define BUCKETS 1024u
static dft__mpi_row rows[ROWS] DFT__LARGE;
static uint16_t first_of[BUCKETS] DFT__LARGE; /* row + 1, 0: none */
static uint16_t next_of[ROWS] DFT__LARGE;
static int is_indexed;

static void make_row(dft__mpi_row *row, const struct table_row *from) {
  const char *name = (const char *)&texts + from->name, *roles = (const char *)&texts + from->roles;
  size_t len = strlen(name);
  *row = (dft__mpi_row){.site = {name, from->is_file ? "MPIIO" : "MPI", 0},
                        .rule = from->rule,
                        .flow = from->flow,
                        .arity = (uint8_t)strlen(roles),
                        .is_file = from->is_file,
                        .is_large = name[len - 2] == '_' && name[len - 1] == 'c'};
  for (uint8_t place = 0; place < row->arity; place++) {
    if (roles[place] != '.') row->at[roles[place] - 'A'] = (uint8_t)(place + 1);
  }
}

static void make_rows(void) {
  for (uint32_t i = 0; i < ROWS; i++) {
    uint32_t bucket;
    make_row(&rows[i], &table[i]);
    bucket = dft__gnu_hash(rows[i].site.name) % BUCKETS;
    next_of[i] = first_of[bucket];
    first_of[bucket] = (uint16_t)(i + 1);
  }
  is_indexed = 1;
}

dft__mpi_row *dft__mpi_row_find(const char *symbol) {
  if (*symbol == 'P') symbol++;
  if (strncmp(symbol, "MPI_", 4) != 0) return NULL;
  if (!is_indexed) make_rows();
  for (uint32_t i = first_of[dft__gnu_hash(symbol) % BUCKETS]; i; i = next_of[i - 1]) {
    if (strcmp(rows[i - 1].site.name, symbol) == 0) return &rows[i - 1];
  }
  return NULL;
}
