/* csv.c - events as a table: a header line, then one line per event; RFC 4180.
 * SPDX-License-Identifier: MIT */
#include "csv.h"

#include <errno.h>

#include "command/trace/csvcell.h"
#include "command/trace/eventrule.h"
#include "command/trace/rowargs.h"

#define HEAD "name,cat,ph,pid,tid,start_us,dur_us,level,id,parent,host,file,args\r\n"

static void put_field(outfile *out, const char *text, size_t len) {
  char *at = outfile_room(out, CSV_CELL_ROOM(len));
  if (at) outfile_advance(out, csv_cell(at, (dft_text){text, len}));
}

static void put_word(outfile *out, dft_text text) {
  put_field(out, text.text, text.len);
  outfile_text(out, ",");
}

static void put_number(outfile *out, int64_t number) {
  outfile_int(out, number);
  outfile_text(out, ",");
}

/* The arguments are JSON. They are written to `aside` first, because their quotes must be doubled. */
static void put_args(outfile *out, outfile *aside, dft_reader *reader, const dft_rows *rows, uint32_t i) {
  aside->len = 0;
  rowargs_put(aside, reader, rows, i, 0);
  put_field(out, aside->text, aside->len);
}

static void put_row(outfile *out, outfile *aside, dft_reader *reader, const dft_rows *rows, uint32_t i) {
  char phase = (char)rows->phase[i];
  put_word(out, dft_reader_text(reader, DFT_NAMES, rows->name[i]));
  put_word(out, dft_reader_text(reader, DFT_CATS, rows->cat[i]));
  put_word(out, (dft_text){&phase, 1});
  put_number(out, (int64_t)rows->pid[i]);
  put_number(out, (int64_t)rows->tid[i]);
  outfile_us(out, rows->start_ns[i]);
  outfile_text(out, ",");
  outfile_us(out, rows->dur_ns[i]);
  outfile_text(out, ",");
  put_number(out, rows->level[i]);
  put_number(out, (int64_t)rows->id[i]);
  put_number(out, rows->parent[i]);
  put_word(out, dft_reader_text(reader, DFT_HOSTS, rows->host[i]));
  put_word(out, dft_reader_text(reader, DFT_FILES, rows->file[i]));
  put_args(out, aside, reader, rows, i);
  outfile_text(out, "\r\n");
}

int csv_write(const char *path, dft_reader *reader, progress *shown, uint64_t *events) {
  outfile out, aside;
  dft_cursor *cursor;
  const dft_rows *rows;
  event_rule rule = event_rule_for(reader);
  uint64_t done = 0, before = 0, all;
  int error = outfile_open(&out, path);
  if (error) return error;
  error = outfile_adopt(&aside, -1);
  if (!error && dft_cursor_open(reader, DFT_ALL, &cursor) != DFT_OK) error = ENOMEM;
  if (!error) {
    outfile_text(&out, HEAD);
    while (!out.error && dft_cursor_next(cursor, &rows) == DFT_OK && rows) {
      for (uint32_t i = 0; i < rows->count; i++) {
        if (rows->phase[i] == 'M') continue;
        put_row(&out, &aside, reader, rows, i);
        *events += (uint64_t)is_event(&rule, rows, i);
      }
      dft_reader_progress(reader, &done, &all);
      progress_add(shown, done - before);
      before = done;
    }
    dft_cursor_close(cursor);
  }
  outfile_close(&aside, 0);
  return outfile_close(&out, !error && !out.error) ? out.error : error;
}
