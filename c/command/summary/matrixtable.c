/* matrixtable.c - the summary for people: how much went from rank to rank, and through MPI-IO.
 * SPDX-License-Identifier: MIT */
#include "matrixtable.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cells.h"
#include "command/cli/terminal.h"

#define SQUARE_MOST 16u /* ranks or nodes */
#define CELL_WIDTH 10   /* "1023.9 KiB", about */

_Static_assert(SQUARE_MOST < TABLE_COLUMNS, "there is a column for each of them, and one for the sender");

/* ---- Places --------------------------------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b) {
  const int64_t *one = a, *two = b;
  return (*one > *two) - (*one < *two);
}

/* All ranks, or nodes, in order. Returns their number; more than `most`: there are too many. */
static uint32_t find_places(const comm_matrix *matrix, int64_t *places, uint32_t most) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < 2 * matrix->count; i++) {
    const int64_t place = i % 2 ? matrix->pairs[i / 2].to : matrix->pairs[i / 2].from;
    uint32_t at = 0;
    while (at < count && places[at] != place) at++;
    if (at < count) continue;
    if (count == most) return most + 1;
    places[count++] = place;
  }
  qsort(places, count, sizeof *places, by_number);
  return count;
}

static void label_place(char *text, size_t room, const summary_answer *answer, int64_t place) {
  if (!answer->matrix.is_by_node && place == NO_NUMBER) snprintf(text, room, "?");
  else if (!answer->matrix.is_by_node) snprintf(text, room, "%" PRId64, place);
  else if (place == NO_NODE) snprintf(text, room, "not traced");
  else snprintf(text, room, "%s", answer_host(answer->state, (uint32_t)place).text);
}

/* ---- Pairs ---------------------------------------------------------------------------------------------------------- */

static const matrix_pair *find_pair(const comm_matrix *matrix, int64_t from, int64_t to) {
  for (uint32_t i = 0; i < matrix->count; i++) {
    if (matrix->pairs[i].from == from && matrix->pairs[i].to == to) return &matrix->pairs[i];
  }
  return NULL;
}

static void print_square(FILE *out, const summary_answer *answer, const int64_t *places, uint32_t count) {
  char labels[TABLE_COLUMNS][64];
  table_column columns[TABLE_COLUMNS] = {{answer->matrix.is_by_node ? "from node" : "from rank", 'l'}};
  table lines = {.columns = columns, .column_count = (int)count + 1};
  for (uint32_t i = 0; i < count; i++) {
    label_place(labels[i], sizeof labels[i], answer, places[i]);
    columns[i + 1] = (table_column){labels[i], 'r'};
  }
  for (uint32_t i = 0; i < count; i++) {
    table_format(&lines, "%s", labels[i]);
    for (uint32_t j = 0; j < count; j++) {
      const matrix_pair *pair = find_pair(&answer->matrix, places[i], places[j]);
      add_bytes(&lines, pair ? pair->stats.bytes : 0);
    }
  }
  table_print(&lines, out, 2);
}

static int by_bytes(const void *a, const void *b) {
  const matrix_pair *one = a, *two = b;
  if (one->stats.bytes != two->stats.bytes) return one->stats.bytes > two->stats.bytes ? -1 : 1;
  if (one->stats.calls != two->stats.calls) return one->stats.calls > two->stats.calls ? -1 : 1;
  if (one->from != two->from) return one->from < two->from ? -1 : 1;
  return (one->to > two->to) - (one->to < two->to);
}

static void print_pairs(FILE *out, const summary_answer *answer, uint32_t top) {
  static const table_column columns[] = {{"from", 'l'}, {"to", 'l'}, {"calls", 'r'}, {"bytes", 'r'}};
  table lines = {.columns = columns, .column_count = 4};
  const comm_matrix *matrix = &answer->matrix;
  matrix_pair *order = malloc((matrix->count + 1) * sizeof *order);
  char label[64];
  if (!order) return;
  memcpy(order, matrix->pairs, matrix->count * sizeof *order);
  qsort(order, matrix->count, sizeof *order, by_bytes);
  for (uint32_t i = 0; i < matrix->count && i < top; i++) {
    label_place(label, sizeof label, answer, order[i].from);
    table_format(&lines, "%s", label);
    label_place(label, sizeof label, answer, order[i].to);
    table_format(&lines, "%s", label);
    add_count(&lines, order[i].stats.calls);
    add_bytes(&lines, order[i].stats.bytes);
  }
  table_print(&lines, out, 2);
  free(order);
}

void matrix_table(FILE *out, const summary_answer *answer, uint32_t top) {
  const comm_matrix *matrix = &answer->matrix;
  int64_t places[SQUARE_MOST];
  const uint32_t count = find_places(matrix, places, SQUARE_MOST);
  char note[SHOWN_BYTES], started[160] = "", text[FORMAT_BYTES];
  if (matrix->started.calls)
    snprintf(started, sizeof started, "without the requests of %s calls of MPI_Start",
             format_count(text, matrix->started.calls));
  if (!matrix->count) return;
  if (count <= SQUARE_MOST && (int)(count + 1) * CELL_WIDTH <= table_room(out)) {
    table_heading(
      out, matrix->is_by_node ? "Bytes of messages from node to node" : "Bytes of messages from rank to rank", started);
    print_square(out, answer, places, count);
    return;
  }
  table_heading(out, matrix->is_by_node ? "Messages from node to node" : "Messages from rank to rank",
                *started ? started : shown(note, top, matrix->count));
  print_pairs(out, answer, top);
}

/* ---- MPI-IO --------------------------------------------------------------------------------------------------------- */

void mpiio_table(FILE *out, const summary_answer *answer, uint32_t top) {
  static const table_column columns[] = {{"call", 'l'}, {"calls", 'r'}, {"collective", 'l'},  {"bytes", 'r'},
                                         {"time", 'r'}, {"rate", 'r'},  {"~size median", 'r'}};
  table lines = {.columns = columns, .column_count = 7};
  const collective_list *list = &answer->collectives;
  char more[SHOWN_BYTES], note[160];
  uint32_t count = 0, printed = 0;
  for (uint32_t i = 0; i < list->count; i++) count += list->calls[i].kind == MPI_FILE;
  if (!count) return;
  shown(more, top, count);
  snprintf(note, sizeof note, "the I/O calls below them are in the tables above%s%s", *more ? "; " : "", more);
  table_heading(out, "MPI-IO", note);
  for (uint32_t i = 0; i < list->count && printed < top; i++) {
    const collective *call = &list->calls[i];
    if (call->kind != MPI_FILE) continue;
    printed++;
    add_text(&lines, state_text_of(answer->state, call->name));
    add_count(&lines, call->calls);
    table_format(&lines, "%s", call->on_files == call->calls ? "yes" : call->on_files ? "some" : "no");
    add_bytes(&lines, call->bytes);
    add_time(&lines, call->time_ns);
    add_rate(&lines, call->is_begun ? 0 : call->bytes, 0, call->time_ns);
    add_bytes(&lines, histogram_percentile(&call->sizes, 0.5, 1));
  }
  table_print(&lines, out, 2);
}
