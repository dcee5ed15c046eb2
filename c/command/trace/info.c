/* info.c - dftracer info: what a trace is, by whom, of when.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command/cli/arguments.h"
#include "command/cli/terminal.h"
#include "jsontext.h"
#include "numbering.h"
#include "trouble.h"

enum { OPTION_AS_JSON = OPTION_LONG + 1 };

static const option options[] = {
  {OPTION_AS_JSON, "json", NULL, "as JSON, one object a trace"},
  {0, NULL, NULL, NULL},
};

const command command_info;

/* What the lines of one trace say. */
typedef struct facts {
  dft_source source;
  uint64_t events, counters, metadata, threads;
  uint64_t pid;
  uint32_t host;
  int64_t first, last;
  uint64_t dropped;
  int is_ended, is_recovered;
  char command[4096], executable[512], version[64], date[64], folder[4096];
  numbering thread_numbers;
} facts;

static void copy(char *out, size_t room, dft_text text) {
  size_t len = text.len < room ? text.len : room - 1;
  memcpy(out, text.text, len);
  out[len] = '\0';
}

/* A text, a number, or what a hash means. */
static void copy_cell(dft_reader *reader, char *out, size_t room, const dft_cell *cell) {
  char digits[24];
  dft_text text = {cell->value.text, cell->len}, meaning;
  if (cell->type == DFT_INT || cell->type == DFT_UINT) {
    text = (dft_text){digits, (size_t)snprintf(digits, sizeof digits, "%" PRIu64, cell->value.u)};
  } else if (cell->type != DFT_STRING) {
    return;
  }
  if (dft_reader_resolve(reader, text.text, text.len, &meaning) == DFT_OK) text = meaning;
  copy(out, room, text);
}

static void take_start_or_end(facts *of, dft_reader *reader, const dft_rows *rows, uint32_t row, int is_end) {
  const struct {
    const char *key;
    char *out;
    size_t room;
  } texts[] = {{"cmd_hash", of->command, sizeof of->command},
               {"exec_hash", of->executable, sizeof of->executable},
               {"version", of->version, sizeof of->version},
               {"date", of->date, sizeof of->date},
               {"cwd", of->folder, sizeof of->folder}};
  of->is_ended |= is_end;
  for (uint32_t i = rows->arg_first[row]; i < rows->arg_first[row + 1]; i++) {
    const dft_cell *cell = &rows->args[i];
    dft_text key = dft_reader_text(reader, DFT_KEYS, cell->key);
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
      if (strcmp(key.text, texts[k].key) == 0) copy_cell(reader, texts[k].out, texts[k].room, cell);
    }
    if (is_end && strcmp(key.text, "recovered") == 0) of->is_recovered = 1;
    if (is_end && strcmp(key.text, "num_dropped") == 0 && cell->type == DFT_INT) of->dropped = cell->value.u;
  }
}

static void take_row(facts *of, dft_reader *reader, const dft_rows *rows, uint32_t row) {
  int is_new;
  const char *name = dft_reader_text(reader, DFT_NAMES, rows->name[row]).text;
  if (rows->host[row]) of->host = rows->host[row];
  of->pid = rows->pid[row];
  if (rows->phase[row] == DFT_METADATA) {
    of->metadata++;
    return;
  }
  if (rows->phase[row] == DFT_COUNTER) of->counters++;
  if (rows->phase[row] != DFT_COMPLETE) return;
  if (rows->start_ns[row] < of->first) of->first = rows->start_ns[row];
  if (rows->start_ns[row] + rows->dur_ns[row] > of->last) of->last = rows->start_ns[row] + rows->dur_ns[row];
  numbering_of(&of->thread_numbers, rows->pid[row], rows->tid[row], &is_new);
  if ((strcmp(name, "start") == 0 || strcmp(name, "end") == 0) &&
      strcmp(dft_reader_text(reader, DFT_CATS, rows->cat[row]).text, "dftracer") == 0) {
    take_start_or_end(of, reader, rows, row, name[0] == 'e');
  } else {
    of->events++;
  }
}

static int read_source(facts *of, dft_reader *reader, uint32_t index) {
  dft_cursor *cursor;
  const dft_rows *rows;
  dft_status status;
  of->thread_numbers.limit = 1u << 20;
  of->first = INT64_MAX;
  of->last = INT64_MIN;
  status = dft_cursor_open(reader, index, &cursor);
  if (status != DFT_OK) return 0;
  while ((status = dft_cursor_next(cursor, &rows)) == DFT_OK && rows) {
    for (uint32_t i = 0; i < rows->count; i++) take_row(of, reader, rows, i);
  }
  dft_cursor_close(cursor);
  of->source.struct_size = sizeof of->source;
  dft_reader_source(reader, index, &of->source);
  of->threads = of->thread_numbers.count;
  numbering_free(&of->thread_numbers);
  if (of->first > of->last) of->first = of->last = 0;
  return status == DFT_OK;
}

/* ---- Printing ------------------------------------------------------------------------------------------------------- */

static const char *kind_of(const facts *of) {
  return of->source.kind == DFT_SOURCE_GZIP ? "gzip" : of->source.kind == DFT_SOURCE_SPOOL ? "spool" : "plain";
}

static void print_text(const char *title, const char *text) {
  if (*text) printf("  %-10s %s\n", title, text);
}

static void print_people(const facts *of, dft_reader *reader) {
  char one[FORMAT_BYTES], two[FORMAT_BYTES], when[64] = "";
  time_t start = (time_t)(of->first / 1000000000);
  struct tm local;
  printf("%s\n", of->source.path);
  print_text("host", dft_reader_text(reader, DFT_HOSTS, of->host).text);
  print_text("command", of->command);
  print_text("executable", of->executable);
  print_text("folder", of->folder);
  print_text("version", of->version);
  print_text("date", of->date);
  printf("  %-10s %" PRIu64 ", %s thread%s\n", "process", of->pid, format_count(one, of->threads), plural(of->threads));
  printf("  %-10s %s", "events", format_count(one, of->events));
  if (of->counters) printf(", %s counter value%s", format_count(one, of->counters), plural(of->counters));
  printf(", %s metadata line%s\n", format_count(one, of->metadata), plural(of->metadata));
  if (of->first > 1000000000000000000 && localtime_r(&start, &local))
    strftime(when, sizeof when, ", from %F %T", &local);
  printf("  %-10s %s%s\n", "span", format_duration(one, (double)(of->last - of->first) / 1e9), when);
  printf("  %-10s %s %s", "size", format_bytes(one, (double)of->source.bytes), kind_of(of));
  if (of->source.kind == DFT_SOURCE_GZIP) {
    printf(", %" PRIu64 " member%s, %s of text", of->source.members, plural(of->source.members),
           format_bytes(two, (double)of->source.text_bytes));
  }
  printf(", %s line%s\n", format_count(one, of->source.lines), plural(of->source.lines));
  printf("  %-10s %s%s", "state", of->is_ended ? "complete" : "without an end",
         of->is_recovered ? ", recovered: the process died before it was written" : "");
  if (of->dropped) printf(", %s event%s dropped", format_count(one, of->dropped), plural(of->dropped));
  if (of->source.problems)
    printf(", %s problem%s", format_count(one, of->source.problems), plural(of->source.problems));
  printf("\n");
}

static void print_field(const char *key, const char *text) {
  printf(", \"%s\": ", key);
  json_text(stdout, text, strlen(text));
}

static void print_json(const facts *of, dft_reader *reader) {
  printf("{\"file\": ");
  json_text(stdout, of->source.path, strlen(of->source.path));
  print_field("kind", kind_of(of));
  print_field("host", dft_reader_text(reader, DFT_HOSTS, of->host).text);
  print_field("command", of->command);
  print_field("executable", of->executable);
  print_field("folder", of->folder);
  print_field("version", of->version);
  print_field("date", of->date);
  printf(", \"pid\": %" PRIu64 ", \"threads\": %" PRIu64 ", \"events\": %" PRIu64 ", \"counters\": %" PRIu64
         ", \"metadata\": %" PRIu64 ", \"start_ns\": %" PRId64 ", \"end_ns\": %" PRId64 ", \"bytes\": %" PRIu64
         ", \"text_bytes\": %" PRIu64 ", \"members\": %" PRIu64 ", \"lines\": %" PRIu64 ", \"unit_ns\": %" PRIu64
         ", \"ended\": %s, \"recovered\": %s, \"dropped\": %" PRIu64 ", \"problems\": %" PRIu64 "}\n",
         of->pid, of->threads, of->events, of->counters, of->metadata, of->first, of->last, of->source.bytes,
         of->source.text_bytes, of->source.members, of->source.lines, of->source.unit_ns,
         of->is_ended ? "true" : "false", of->is_recovered ? "true" : "false", of->dropped, of->source.problems);
}

static int run_info(int argc, char **argv) {
  arguments given = {.command = &command_info, .argc = argc, .argv = argv};
  dft_reader *reader;
  facts *of = calloc(1, sizeof *of);
  int key, is_json = 0, is_good = of != NULL;
  while ((key = arguments_next(&given)) > 0) is_json = 1;
  reader = key == 0 && given.count ? trouble_open("info", NULL, argv + given.first, given.count) : NULL;
  if (key < 0 || !given.count || !reader || !of) {
    free(of);
    dft_reader_close(reader);
    if (key < 0) return given.status;
    return given.count ? STATUS_FAILED : arguments_refuse(&given, "which trace? FILE is missing");
  }
  for (uint32_t i = 0; is_good && i < dft_reader_source_count(reader); i++) {
    memset(of, 0, sizeof *of);
    is_good = read_source(of, reader, i);
    if (of->source.kind == DFT_SOURCE_PLAIN && !of->source.rows && of->source.problems) continue; /* it is no trace */
    if (is_json) print_json(of, reader);
    else print_people(of, reader);
  }
  if (!is_good) fprintf(stderr, "dftracer info: no memory left\n");
  if (trouble_print_all(stderr, "dftracer info: ", reader, 10)) is_good = 0;
  if (fflush(stdout) != 0) is_good = 0;
  dft_reader_close(reader);
  free(of);
  return is_good ? STATUS_DONE : STATUS_FAILED;
}

const command command_info = {
  .name = "info",
  .arguments = "FILE...",
  .summary = "what a trace is: host, command, events, span, size",
  .text =
    "Says of each trace which process wrote it, when, with which command, how many events of which time it holds, how "
    "large it is, and whether it is complete.\n",
  .options = options,
  .run = run_info,
};
