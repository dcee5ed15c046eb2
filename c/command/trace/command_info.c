/* command_info.c - dftracer info: describes traces: which process wrote them, when, and what they contain.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command/cli/arguments.h"
#include "command/cli/printable.h"
#include "command/cli/terminal.h"
#include "jsontext.h"
#include "numbering.h"
#include "trouble.h"

enum { OPTION_AS_JSON = OPTION_LONG + 1 };

static const option options[] = {
  {OPTION_AS_JSON, "json", NULL, "print JSON, one object per trace"},
  {0, NULL, NULL, NULL},
};

const command command_info;

/* What the lines of one trace say. */
typedef struct trace_facts {
  dft_source source;
  uint64_t events, counters, metadata, threads;
  uint64_t pid;
  uint32_t host;
  int64_t first, last;
  uint64_t dropped;
  int is_ended, is_recovered;
  char command[4096], executable[512], version[64], date[64], folder[4096];
  numbering thread_numbers;
} trace_facts;

static void copy(char *out, size_t room, dft_text text) {
  size_t len = text.len < room ? text.len : room - 1;
  memcpy(out, text.text, len);
  out[len] = '\0';
}

/* Copies a text, a number, or the text that a hash stands for. */
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

static void take_start_or_end(trace_facts *facts, dft_reader *reader, const dft_rows *rows, uint32_t row, int is_end) {
  const struct {
    const char *key;
    char *out;
    size_t room;
  } texts[] = {{"cmd_hash", facts->command, sizeof facts->command},
               {"exec_hash", facts->executable, sizeof facts->executable},
               {"version", facts->version, sizeof facts->version},
               {"date", facts->date, sizeof facts->date},
               {"cwd", facts->folder, sizeof facts->folder}};
  facts->is_ended |= is_end;
  for (uint32_t i = rows->arg_first[row]; i < rows->arg_first[row + 1]; i++) {
    const dft_cell *cell = &rows->args[i];
    dft_text key = dft_reader_text(reader, DFT_KEYS, cell->key);
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
      if (strcmp(key.text, texts[k].key) == 0) copy_cell(reader, texts[k].out, texts[k].room, cell);
    }
    if (is_end && strcmp(key.text, "recovered") == 0) facts->is_recovered = 1;
    if (is_end && strcmp(key.text, "num_dropped") == 0 && cell->type == DFT_INT) facts->dropped = cell->value.u;
  }
}

static void take_row(trace_facts *facts, dft_reader *reader, const dft_rows *rows, uint32_t row) {
  int is_new;
  const char *name = dft_reader_text(reader, DFT_NAMES, rows->name[row]).text;
  if (rows->host[row]) facts->host = rows->host[row];
  facts->pid = rows->pid[row];
  if (rows->phase[row] == DFT_METADATA) {
    facts->metadata++;
    return;
  }
  if (rows->phase[row] == DFT_COUNTER) facts->counters++;
  if (rows->phase[row] != DFT_COMPLETE) return;
  if (rows->start_ns[row] < facts->first) facts->first = rows->start_ns[row];
  if (rows->start_ns[row] + rows->dur_ns[row] > facts->last) facts->last = rows->start_ns[row] + rows->dur_ns[row];
  numbering_of(&facts->thread_numbers, rows->pid[row], rows->tid[row], &is_new);
  if ((strcmp(name, "start") == 0 || strcmp(name, "end") == 0) &&
      strcmp(dft_reader_text(reader, DFT_CATS, rows->cat[row]).text, "dftracer") == 0) {
    take_start_or_end(facts, reader, rows, row, name[0] == 'e');
  } else {
    facts->events++;
  }
}

static int read_source(trace_facts *facts, dft_reader *reader, uint32_t index) {
  dft_cursor *cursor;
  const dft_rows *rows;
  dft_status status;
  facts->thread_numbers.limit = 1u << 20;
  facts->first = INT64_MAX;
  facts->last = INT64_MIN;
  status = dft_cursor_open(reader, index, &cursor);
  if (status != DFT_OK) return 0;
  while ((status = dft_cursor_next(cursor, &rows)) == DFT_OK && rows) {
    for (uint32_t i = 0; i < rows->count; i++) take_row(facts, reader, rows, i);
  }
  dft_cursor_close(cursor);
  facts->source.struct_size = sizeof facts->source;
  dft_reader_source(reader, index, &facts->source);
  facts->threads = facts->thread_numbers.count;
  numbering_free(&facts->thread_numbers);
  if (facts->first > facts->last) facts->first = facts->last = 0;
  return status == DFT_OK;
}

/* ---- Printing ------------------------------------------------------------------------------------------------------- */

static const char *kind_of(const trace_facts *facts) {
  return facts->source.kind == DFT_SOURCE_GZIP ? "gzip" : facts->source.kind == DFT_SOURCE_SPOOL ? "spool" : "plain";
}

static void print_text(const char *title, const char *text) {
  if (*text) printf("  %-10s %s\n", title, printable(text));
}

static void print_facts(const trace_facts *facts, dft_reader *reader) {
  char one[FORMAT_BYTES], two[FORMAT_BYTES], when[64] = "";
  time_t start = (time_t)(facts->first / 1000000000);
  struct tm local;
  printf("%s\n", printable(facts->source.path));
  print_text("host", dft_reader_text(reader, DFT_HOSTS, facts->host).text);
  print_text("command", facts->command);
  print_text("executable", facts->executable);
  print_text("folder", facts->folder);
  print_text("version", facts->version);
  print_text("date", facts->date);
  printf("  %-10s %" PRIu64 ", %s thread%s\n", "process", facts->pid, format_count(one, facts->threads),
         plural(facts->threads));
  printf("  %-10s %s", "events", format_count(one, facts->events));
  if (facts->counters) printf(", %s counter value%s", format_count(one, facts->counters), plural(facts->counters));
  printf(", %s metadata line%s\n", format_count(one, facts->metadata), plural(facts->metadata));
  if (facts->first > 1000000000000000000 && localtime_r(&start, &local))
    strftime(when, sizeof when, ", from %F %T", &local);
  printf("  %-10s %s%s\n", "span", format_duration(one, (double)(facts->last - facts->first) / 1e9), when);
  printf("  %-10s %s %s", "size", format_bytes(one, (double)facts->source.bytes), kind_of(facts));
  if (facts->source.kind == DFT_SOURCE_GZIP) {
    printf(", %" PRIu64 " member%s, %s of text", facts->source.members, plural(facts->source.members),
           format_bytes(two, (double)facts->source.text_bytes));
  }
  printf(", %s line%s\n", format_count(one, facts->source.lines), plural(facts->source.lines));
  printf("  %-10s %s%s", "state", facts->is_ended ? "complete" : "incomplete: it has no end",
         facts->is_recovered ? ", recovered after the process died" : "");
  if (facts->dropped) printf(", %s event%s dropped", format_count(one, facts->dropped), plural(facts->dropped));
  if (facts->source.problems)
    printf(", %s problem%s", format_count(one, facts->source.problems), plural(facts->source.problems));
  printf("\n");
}

static void print_field(const char *key, const char *text) {
  printf(", \"%s\": ", key);
  json_text(stdout, text, strlen(text));
}

static void print_json(const trace_facts *facts, dft_reader *reader) {
  printf("{\"file\": ");
  json_text(stdout, facts->source.path, strlen(facts->source.path));
  print_field("kind", kind_of(facts));
  print_field("host", dft_reader_text(reader, DFT_HOSTS, facts->host).text);
  print_field("command", facts->command);
  print_field("executable", facts->executable);
  print_field("folder", facts->folder);
  print_field("version", facts->version);
  print_field("date", facts->date);
  printf(", \"pid\": %" PRIu64 ", \"threads\": %" PRIu64 ", \"events\": %" PRIu64 ", \"counters\": %" PRIu64
         ", \"metadata\": %" PRIu64 ", \"start_ns\": %" PRId64 ", \"end_ns\": %" PRId64 ", \"bytes\": %" PRIu64
         ", \"text_bytes\": %" PRIu64 ", \"members\": %" PRIu64 ", \"lines\": %" PRIu64 ", \"unit_ns\": %" PRIu64
         ", \"ended\": %s, \"recovered\": %s, \"dropped\": %" PRIu64 ", \"problems\": %" PRIu64 "}\n",
         facts->pid, facts->threads, facts->events, facts->counters, facts->metadata, facts->first, facts->last,
         facts->source.bytes, facts->source.text_bytes, facts->source.members, facts->source.lines,
         facts->source.unit_ns, facts->is_ended ? "true" : "false", facts->is_recovered ? "true" : "false",
         facts->dropped, facts->source.problems);
}

static int run_info(int argc, char **argv) {
  arguments given = {.command = &command_info, .argc = argc, .argv = argv};
  dft_reader *reader;
  trace_facts *facts = calloc(1, sizeof *facts);
  int key, status, is_json = 0, is_good = facts != NULL;
  while ((key = arguments_next(&given)) > 0) is_json = 1;
  reader = key == 0 && given.count ? trouble_open("info", NULL, argv + given.first, given.count) : NULL;
  if (key < 0 || !given.count || !reader || !facts) {
    free(facts);
    dft_reader_close(reader);
    if (key < 0) return given.status;
    return given.count ? STATUS_FAILED : arguments_refuse(&given, "no trace given: FILE is missing");
  }
  for (uint32_t i = 0; is_good && i < dft_reader_source_count(reader); i++) {
    memset(facts, 0, sizeof *facts);
    is_good = read_source(facts, reader, i);
    if (facts->source.kind == DFT_SOURCE_PLAIN && !facts->source.rows && facts->source.problems)
      continue; /* not a trace */
    if (is_json) print_json(facts, reader);
    else print_facts(facts, reader);
  }
  if (!is_good) fprintf(stderr, "dftracer info: out of memory\n");
  trouble_print_all(stderr, "dftracer info: ", reader, 10);
  if (fflush(stdout) != 0) is_good = 0;
  status = is_good ? trouble_status(reader) : STATUS_FAILED;
  dft_reader_close(reader);
  free(facts);
  return status;
}

const command command_info = {
  .name = "info",
  .arguments = "FILE...",
  .summary = "describe a trace: host, command, events, time span, size",
  .text = "Describes each trace: the process that wrote it and its command, the number of events and their time span, "
          "the size, "
          "and whether the trace is complete. Exit status 3: a trace is damaged, and the rest of it was read.\n",
  .options = options,
  .run = run_info,
};
