/* cat.c - dftracer cat: the lines of traces, those that are wanted, with names in the place of hashes.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "jsontext.h"
#include "rowfilter.h"
#include "trouble.h"

static const option options[] = {
  FILTER_OPTIONS{'r', "resolve", NULL, "names of files, hosts and commands in the place of their hashes"},
  {0, NULL, NULL, NULL},
};

const command command_cat;

typedef struct printer {
  filter filter;
  int is_resolving;
} printer;

/* Behind the text that begins at `at`, which is a quote. */
static const char *skip_text(const char *at, const char *end) {
  for (at++; at < end && *at != '"'; at++) at += *at == '\\';
  return at < end ? at + 1 : end;
}

static int is_hash_key(const char *key, size_t len) {
  return (len >= 4 && memcmp(key + len - 4, "hash", 4) == 0) || (len == 3 && memcmp(key, "cwd", 3) == 0);
}

/* `at` stands before a value: prints its name when it is a hash that was defined. Returns what is behind it, or NULL. */
static const char *print_name(dft_reader *reader, const char *at, const char *end) {
  const char *stop = at;
  dft_text hash, name;
  if (at < end && *at == '"') {
    stop = skip_text(at, end);
    hash = (dft_text){at + 1, (size_t)(stop - at) - 2};
  } else {
    while (stop < end && *stop >= '0' && *stop <= '9') stop++;
    hash = (dft_text){at, (size_t)(stop - at)};
  }
  if (!hash.len || dft_reader_resolve(reader, hash.text, hash.len, &name) != DFT_OK) return NULL;
  json_text(stdout, name.text, name.len);
  return stop;
}

static void print_resolved(dft_reader *reader, dft_text line) {
  const char *at = line.text, *end = line.text + line.len, *from = at;
  while (at < end) {
    const char *key = at, *after;
    if (*at != '"') {
      at++;
      continue;
    }
    at = skip_text(at, end);
    if (at + 1 >= end || *at != ':' || !is_hash_key(key + 1, (size_t)(at - key) - 2)) continue;
    fwrite(from, 1, (size_t)(at + 1 - from), stdout);
    after = print_name(reader, at + 1, end);
    from = at = after ? after : at + 1;
  }
  fwrite(from, 1, (size_t)(end - from), stdout);
}

static int print_rows(const printer *of, dft_reader *reader) {
  dft_cursor *cursor;
  const dft_rows *rows;
  dft_status status = dft_cursor_open(reader, DFT_ALL, &cursor);
  if (status != DFT_OK) return 0;
  while ((status = dft_cursor_next(cursor, &rows)) == DFT_OK && rows && !ferror(stdout)) {
    for (uint32_t i = 0; i < rows->count; i++) {
      if (!filter_takes(&of->filter, reader, rows, i)) continue;
      if (of->is_resolving) print_resolved(reader, rows->line[i]);
      else fwrite(rows->line[i].text, 1, rows->line[i].len, stdout);
      fputc('\n', stdout);
    }
  }
  dft_cursor_close(cursor);
  return status == DFT_OK;
}

static int run_cat(int argc, char **argv) {
  arguments given = {.command = &command_cat, .argc = argc, .argv = argv};
  dft_reader_options wanted = {.struct_size = sizeof wanted, .want = DFT_WANT_LINES};
  printer of = {.is_resolving = 0};
  dft_reader *reader;
  int key, is_good;
  while ((key = arguments_next(&given)) > 0) {
    int taken = filter_option(&of.filter, &given, key);
    if (taken < 0) return given.status;
    if (!taken) of.is_resolving = 1;
  }
  if (key < 0) return given.status;
  if (!given.count) return arguments_refuse(&given, "which trace? FILE is missing");
  reader = trouble_open("cat", &wanted, argv + given.first, given.count);
  if (!reader) return STATUS_FAILED;
  is_good = filter_prepare(&of.filter, reader) && print_rows(&of, reader);
  if (!is_good) fprintf(stderr, "dftracer cat: no memory left\n");
  if (fflush(stdout) != 0) is_good = 0;
  if (trouble_print_all(stderr, "dftracer cat: ", reader, 10)) is_good = 0;
  dft_reader_close(reader);
  return is_good ? STATUS_DONE : STATUS_FAILED;
}

const command command_cat = {
  .name = "cat",
  .arguments = "FILE...",
  .summary = "the lines of traces, with filters",
  .text =
    "Prints events, one JSON object a line, as they stand in the traces: no brackets, no commas. FILE may be a trace, "
    "compressed or not, a folder, or the spool of a process that runs or died. Damaged lines are left out and told on "
    "stderr; the exit status is 1 then.\n\n"
    "  dftracer cat --cat POSIX --resolve out | jq .args.fhash\n",
  .options = options,
  .run = run_cat,
};
