/* cells.c - numbers and texts of a summary as cells of a table.
 * SPDX-License-Identifier: MIT */
#include "cells.h"

#include "command/cli/terminal.h"

void add_text(table *sheet, dft_text text) {
  if (text.len) table_add(sheet, text.text, text.len);
  else table_format(sheet, "-");
}

void add_time(table *sheet, uint64_t ns) {
  char text[FORMAT_BYTES];
  table_format(sheet, "%s", ns ? format_duration(text, (double)ns / 1e9) : "0");
}

void add_count(table *sheet, uint64_t count) {
  char text[FORMAT_BYTES];
  table_format(sheet, "%s", format_count(text, count));
}

void add_bytes(table *sheet, uint64_t bytes) {
  char text[FORMAT_BYTES];
  table_format(sheet, "%s", bytes ? format_bytes(text, (double)bytes) : "-");
}

const char *at_least(void) {
  return terminal_has_unicode() ? "\u2265 " : ">= ";
}

/* Bytes of transfers, some of which may be unknown. */
void add_moved(table *sheet, uint64_t bytes, uint64_t unknown) {
  char text[FORMAT_BYTES];
  if (!bytes && unknown) table_format(sheet, "unknown");
  else if (unknown) table_format(sheet, "%s%s", at_least(), format_bytes(text, (double)bytes));
  else add_bytes(sheet, bytes);
}

void add_share(table *sheet, uint64_t part, uint64_t whole) {
  if (whole) table_format(sheet, "%.1f %%", 100.0 * (double)part / (double)whole);
  else table_format(sheet, "-");
}

void add_rate(table *sheet, uint64_t bytes, uint64_t unknown, uint64_t ns) {
  char text[FORMAT_BYTES];
  if (bytes && ns)
    table_format(sheet, "%s%s/s", unknown ? at_least() : "", format_bytes(text, (double)bytes * 1e9 / (double)ns));
  else table_format(sheet, "-");
}

/* "15 of 230; --top shows more" */
const char *shown(char note[64], uint32_t top, uint32_t count) {
  note[0] = '\0';
  if (count > top) snprintf(note, 64, "%u of %u; --top N shows more", top, count);
  return note;
}
