/* command_cat.c - dftracer cat: prints the lines of traces, optionally filtered and with hashes resolved.
 * SPDX-License-Identifier: MIT */
#include <string.h>
#include <unistd.h>

#include "jsontext.h"
#include "selection.h"
#include "standin.h"
#include "trouble.h"

static const option options[] = {
  SELECTION_OPTIONS{'r', "resolve", NULL, "print names of files, hosts and commands instead of their hashes"},
  {0, NULL, NULL, NULL},
};

const command command_cat;

/* Lines stay as they are, except on a terminal, which would obey what is in them. */
static void put(const char *text, size_t len) {
  static int is_terminal = -1;
  if (is_terminal < 0) is_terminal = isatty(STDOUT_FILENO);
  if (is_terminal) json_line(stdout, text, len);
  else fwrite(text, 1, len, stdout);
}

/* The place after the string that starts with the quote at `at`. */
static const char *skip_text(const char *at, const char *end) {
  for (at++; at < end && *at != '"'; at++) at += *at == '\\';
  return at < end ? at + 1 : end;
}

static int is_hash_key(const char *key, size_t len) {
  return (len >= 4 && memcmp(key + len - 4, "hash", 4) == 0) || (len == 3 && memcmp(key, "cwd", 3) == 0);
}

/* If the value at `at` is a known hash, prints its name and returns the place after it; otherwise NULL. */
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
    json_line(stdout, from, (size_t)(at + 1 - from));
    after = print_name(reader, at + 1, end);
    from = at = after ? after : at + 1;
  }
  json_line(stdout, from, (size_t)(end - from));
}

static int print_rows(const selection *wanted, int is_resolving, dft_reader *reader) {
  dft_cursor *cursor;
  const dft_rows *rows;
  dft_status status = dft_cursor_open(reader, DFT_ALL, &cursor);
  if (status != DFT_OK) return 0;
  while ((status = dft_cursor_next(cursor, &rows)) == DFT_OK && rows && !ferror(stdout)) {
    for (uint32_t i = 0; i < rows->count; i++) {
      if (!selection_takes(wanted, reader, rows, i)) continue;
      if (is_resolving) print_resolved(reader, rows->line[i]);
      else put(rows->line[i].text, rows->line[i].len);
      fputc('\n', stdout);
    }
  }
  dft_cursor_close(cursor);
  return status == DFT_OK;
}

static int run_cat(int argc, char **argv) {
  arguments given = {.command = &command_cat, .argc = argc, .argv = argv};
  dft_reader_options columns = {.struct_size = sizeof columns, .want = DFT_WANT_LINES};
  selection wanted = {.name_count = 0};
  dft_reader *reader;
  int key, is_good, status, is_resolving = 0;
  while ((key = arguments_next(&given)) > 0) {
    int taken = selection_option(&wanted, &given, key);
    if (taken < 0) return given.status;
    if (!taken) is_resolving = 1;
  }
  if (key < 0) return given.status;
  if (!given.count) return arguments_refuse(&given, "no trace given: FILE is missing");
  reader = standin_for_all("cat", argv + given.first, given.count)
             ? trouble_open("cat", &columns, argv + given.first, given.count)
             : NULL;
  if (!reader) return STATUS_FAILED;
  is_good = selection_prepare(&wanted, reader) && print_rows(&wanted, is_resolving, reader);
  if (!is_good) fprintf(stderr, "dftracer cat: out of memory\n");
  if (fflush(stdout) != 0) is_good = 0;
  trouble_print_all(stderr, "dftracer cat: ", reader, 10);
  status = is_good ? trouble_status(reader) : STATUS_FAILED;
  dft_reader_close(reader);
  return status;
}

const command command_cat = {
  .name = "cat",
  .arguments = "FILE...",
  .summary = "print the lines of traces",
  .text =
    "Prints the lines of traces unchanged, one JSON object per line, without brackets and commas. On a terminal, "
    "characters that it would obey are escaped. FILE is a trace, "
    "compressed or not, a folder, or the spool of a process that is running or has died; -: stdin. Of a file in "
    "Chrome's "
    "format, the events are printed one per line, with pairs of B and E as one event. Damaged lines are skipped and "
    "reported on stderr, and the exit status is 3.\n\n"
    "  dftracer cat --cat POSIX --resolve out | jq .args.fhash\n",
  .options = options,
  .run = run_cat,
};
