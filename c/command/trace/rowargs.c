/* rowargs.c - the arguments of a row as a JSON object.
 * SPDX-License-Identifier: MIT */
#include "rowargs.h"

#include <math.h>
#include <string.h>

#include "codec/number.h"

static void put_value(outfile *out, const dft_cell *cell) {
  char number[DFT__NUMBER_ROOM];
  switch (cell->type) {
    case DFT_INT: outfile_int(out, cell->value.i); break;
    case DFT_UINT: outfile_put(out, number, (size_t)(dft__number_uint(number, cell->value.u) - number)); break;
    case DFT_BOOL: outfile_text(out, cell->value.i ? "true" : "false"); break;
    case DFT_DOUBLE:
      if (isfinite(cell->value.d))
        outfile_put(out, number, (size_t)(dft__number_double(number, cell->value.d) - number));
      else outfile_text(out, "null");
      break;
    case DFT_STRING: outfile_quoted(out, (dft_text){cell->value.text, cell->len}); break;
    default: outfile_json(out, cell->value.text, cell->len);
  }
}

/* If the argument is a known hash, writes what it stands for, under another key. Zero: it is not, and nothing was written. */
static int put_resolved(outfile *out, dft_reader *reader, dft_text key, const dft_cell *cell) {
  static const struct {
    dft_text key;
    const char *shown;
  } hashes[] = {{{"path2_hash", 10}, "\"file2\":"},
                {{"cmd_hash", 8}, "\"command\":"},
                {{"exec_hash", 9}, "\"executable\":"},
                {{"cwd", 3}, "\"cwd\":"}};
  dft_text meaning;
  for (size_t i = 0; i < sizeof hashes / sizeof hashes[0]; i++) {
    if (key.len != hashes[i].key.len || memcmp(key.text, hashes[i].key.text, key.len) != 0) continue;
    if (cell->type != DFT_STRING || dft_reader_resolve(reader, cell->value.text, cell->len, &meaning) != DFT_OK)
      return 0;
    outfile_text(out, hashes[i].shown);
    outfile_quoted(out, meaning);
    return 1;
  }
  return 0;
}

void rowargs_put(outfile *out, dft_reader *reader, const dft_rows *rows, uint32_t row, int with_file) {
  const char *comma = "";
  outfile_text(out, "{");
  if (with_file && rows->file[row]) {
    outfile_text(out, "\"file\":");
    outfile_quoted(out, dft_reader_text(reader, DFT_FILES, rows->file[row]));
    comma = ",";
  }
  for (uint32_t i = rows->arg_first[row]; i < rows->arg_first[row + 1]; i++) {
    dft_text key = dft_reader_text(reader, DFT_KEYS, rows->args[i].key);
    outfile_text(out, comma);
    comma = ",";
    if (put_resolved(out, reader, key, &rows->args[i])) continue;
    outfile_quoted(out, key);
    outfile_text(out, ":");
    put_value(out, &rows->args[i]);
  }
  outfile_text(out, "}");
}
