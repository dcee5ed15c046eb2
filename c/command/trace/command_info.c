/* command_info.c - dftracer info: describes traces: which process wrote them, when, and what they contain.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command/cli/arguments.h"
#include "command/cli/printable.h"
#include "command/cli/table.h"
#include "command/cli/terminal.h"
#include "jsontext.h"
#include "standin.h"
#include "tracefacts.h"
#include "trouble.h"

enum { OPTION_AS_JSON = OPTION_LONG + 1 };

static const option options[] = {
  {OPTION_AS_JSON, "json", NULL, "print JSON, one object per line and trace"},
  {0, NULL, NULL, NULL},
};

const command command_info;

/* ---- Printing ------------------------------------------------------------------------------------------------------- */

static const char *kind_of(const trace_facts *facts) {
  if (facts->is_chrome) return "chrome";
  return facts->source.kind == DFT_SOURCE_GZIP ? "gzip" : facts->source.kind == DFT_SOURCE_SPOOL ? "spool" : "plain";
}

#define STATE_ROOM (96 + 2 * FORMAT_BYTES)

/* "complete, 3 events dropped"; empty for a file in Chrome's format without problems, which does not say. */
static const char *describe_state(const trace_facts *facts, char out[STATE_ROOM]) {
  char number[FORMAT_BYTES];
  size_t len = 0;
  const char *state = tracefacts_is_left(facts) ? "the process died; publish its trace with 'dftracer recover FOLDER'"
                      : facts->is_recovered     ? "complete, recovered after the process died"
                      : facts->is_ended         ? "complete"
                      : facts->is_running       ? "running"
                      : facts->is_chrome        ? ""
                                                : "incomplete: it has no end";
  len += (size_t)snprintf(out, STATE_ROOM, "%s", state);
  if (facts->dropped)
    len += (size_t)snprintf(out + len, STATE_ROOM - len, ", %s event%s dropped", format_count(number, facts->dropped),
                            plural(facts->dropped));
  if (facts->source.problems)
    snprintf(out + len, STATE_ROOM - len, "%s%s problem%s", len ? ", " : "",
             format_count(number, facts->source.problems), plural(facts->source.problems));
  return out;
}

/* The worst of it in a word, for a table. */
static const char *state_word(const trace_facts *facts) {
  if (facts->source.problems) return "damaged";
  if (tracefacts_is_left(facts)) return "died";
  if (facts->is_running) return "running";
  if (!facts->is_ended) return facts->is_chrome ? "" : "incomplete";
  if (facts->dropped) return "dropped";
  return facts->is_recovered ? "recovered" : "complete";
}

static void print_text(const char *title, const char *text) {
  if (*text) printf("  %-10s %s\n", title, printable(text));
}

static void print_facts(const trace_facts *facts, dft_reader *reader) {
  char one[FORMAT_BYTES], two[FORMAT_BYTES], state[STATE_ROOM], when[64] = "";
  time_t start = (time_t)(facts->first / 1000000000);
  struct tm local;
  printf("%s\n", printable(facts->name));
  if (facts->rank >= 0) printf("  %-10s %d\n", "rank", facts->rank);
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
  printf("  %-10s %s %s", "size", format_bytes(one, (double)facts->bytes),
         facts->is_chrome ? "Chrome JSON" : kind_of(facts));
  if (facts->source.kind == DFT_SOURCE_GZIP) {
    printf(", %" PRIu64 " member%s, %s of text", facts->source.members, plural(facts->source.members),
           format_bytes(two, (double)facts->source.text_bytes));
  }
  if (!facts->is_chrome) printf(", %s line%s", format_count(one, facts->source.lines), plural(facts->source.lines));
  printf("\n");
  if (describe_state(facts, state)[0]) printf("  %-10s %s\n", "state", state);
}

static void print_field(const char *key, const char *text) {
  printf(", \"%s\": ", key);
  json_text(stdout, text, strlen(text));
}

static void print_json(const trace_facts *facts, dft_reader *reader) {
  printf("{\"file\": ");
  json_text(stdout, facts->name, strlen(facts->name));
  print_field("kind", kind_of(facts));
  print_field("host", dft_reader_text(reader, DFT_HOSTS, facts->host).text);
  print_field("command", facts->command);
  print_field("executable", facts->executable);
  print_field("folder", facts->folder);
  print_field("version", facts->version);
  print_field("date", facts->date);
  if (facts->rank >= 0) printf(", \"rank\": %d", facts->rank);
  else printf(", \"rank\": null");
  printf(", \"pid\": %" PRIu64 ", \"threads\": %" PRIu64 ", \"events\": %" PRIu64 ", \"counters\": %" PRIu64
         ", \"metadata\": %" PRIu64 ", \"start_ns\": %" PRId64 ", \"end_ns\": %" PRId64 ", \"bytes\": %" PRIu64
         ", \"text_bytes\": %" PRIu64 ", \"members\": %" PRIu64 ", \"lines\": %" PRIu64 ", \"unit_ns\": %" PRIu64
         ", \"ended\": %s, \"recovered\": %s, \"dropped\": %" PRIu64 ", \"problems\": %" PRIu64
         ", \"state\": \"%s\"}\n",
         facts->pid, facts->threads, facts->events, facts->counters, facts->metadata, facts->first, facts->last,
         facts->bytes, facts->source.text_bytes, facts->source.members, facts->source.lines, facts->source.unit_ns,
         facts->is_ended ? "true" : "false", facts->is_recovered && !tracefacts_is_left(facts) ? "true" : "false",
         facts->dropped, facts->source.problems, state_word(facts));
}

/* ---- Many traces ---------------------------------------------------------------------------------------------------- */

#define COMMAND_SHOWN 60 /* characters, also where the table is as wide as it likes */

/* A line of the table. */
typedef struct trace_row {
  int32_t rank;
  uint32_t order, host;
  uint64_t pid, events, bytes;
  int64_t span_ns;
  const char *name, *state;
  char *command;
  char run_id[sizeof((trace_facts *)0)->run]; /* empty: not known */
  int64_t first, run_first;                   /* its first event; that of its run */
  uint32_t run;                               /* 1, 2, 3 ...; 0: not known */
} trace_row;

typedef struct trace_rows {
  trace_row *list;
  uint32_t count;
  uint64_t dropped; /* events */
  uint32_t left;    /* traces of processes that died, not recovered yet */
} trace_rows;

static void add_row(trace_rows *rows, const trace_facts *facts) {
  trace_row *row = &rows->list[rows->count];
  *row = (trace_row){.rank = facts->rank,
                     .order = rows->count,
                     .host = facts->host,
                     .pid = facts->pid,
                     .events = facts->events,
                     .bytes = facts->bytes,
                     .span_ns = facts->last - facts->first,
                     .first = facts->first,
                     .name = facts->name,
                     .state = state_word(facts),
                     .command = strdup(facts->command)};
  memcpy(row->run_id, facts->run, sizeof row->run_id);
  rows->dropped += facts->dropped;
  rows->left += (uint32_t)tracefacts_is_left(facts);
  rows->count++;
}

/* By run, the earliest first, then by rank; those without one come last. */
static int compare_rows(const void *left, const void *right) {
  const trace_row *a = left, *b = right;
  if (a->run_first != b->run_first) return a->run_first < b->run_first ? -1 : 1;
  if (strcmp(a->run_id, b->run_id) != 0) return strcmp(a->run_id, b->run_id);
  uint32_t first = (uint32_t)a->rank, second = (uint32_t)b->rank; /* -1 becomes the largest */
  if (first != second) return first < second ? -1 : 1;
  return a->order < b->order ? -1 : a->order > b->order;
}

static int by_run(const void *left, const void *right) {
  const trace_row *a = left, *b = right;
  int order = strcmp(a->run_id, b->run_id);
  return order ? order : a->first < b->first ? -1 : a->first > b->first;
}

/* Returns how many runs there are. They are numbered by time, as in the summary. */
static uint32_t sort_rows(trace_rows *rows) {
  trace_row *list = rows->list;
  uint32_t runs = 0;
  qsort(list, rows->count, sizeof *list, by_run);
  for (uint32_t i = 0; i < rows->count; i++) {
    const int is_same = i && strcmp(list[i].run_id, list[i - 1].run_id) == 0;
    list[i].run_first = is_same ? list[i - 1].run_first : *list[i].run_id ? list[i].first : INT64_MAX;
  }
  qsort(list, rows->count, sizeof *list, compare_rows);
  for (uint32_t i = 0; i < rows->count; i++) {
    if (!*list[i].run_id) continue;
    runs += !i || strcmp(list[i].run_id, list[i - 1].run_id) != 0;
    list[i].run = runs;
  }
  return runs;
}

static int has_several_hosts(const trace_rows *rows) {
  for (uint32_t i = 1; i < rows->count; i++) {
    if (rows->list[i].host != rows->list[0].host) return 1;
  }
  return 0;
}

/* What the words in the column `state` mean for the user. */
static void print_hints(const trace_rows *rows) {
  char text[FORMAT_BYTES];
  if (rows->left)
    printf("died, not recovered yet: %s trace%s; 'dftracer recover FOLDER' publishes %s\n",
           format_count(text, rows->left), plural(rows->left), rows->left == 1 ? "it" : "them");
  if (rows->dropped)
    printf("dropped for lack of space: %s event%s\n", format_count(text, rows->dropped), plural(rows->dropped));
}

static void print_rows(trace_rows *rows, dft_reader *reader) {
  static const table_column common[] = {{"rank", 'k'},     {"pid", 'k'},  {"command", 't'}, {"events", 'k'},
                                        {"duration", 'r'}, {"size", 'o'}, {"state", 'l'},   {"trace", 'p'}};
  const int has_host = has_several_hosts(rows), has_runs = sort_rows(rows) > 1;
  table_column columns[2 + 8];
  table sheet = {.columns = columns};
  char one[FORMAT_BYTES], two[FORMAT_BYTES], three[FORMAT_BYTES];
  uint64_t events = 0, bytes = 0;
  if (has_runs) columns[sheet.column_count++] = (table_column){"run", 'k'};
  if (has_host) columns[sheet.column_count++] = (table_column){"host", 't'};
  memcpy(columns + sheet.column_count, common, sizeof common);
  sheet.column_count += 8;
  for (uint32_t i = 0; i < rows->count; i++) {
    const trace_row *row = &rows->list[i];
    const char *host = dft_reader_text(reader, DFT_HOSTS, row->host).text;
    if (has_runs && row->run) table_format(&sheet, "%u", row->run);
    else if (has_runs) table_format(&sheet, "-");
    if (has_host) table_add(&sheet, host, strlen(host));
    if (row->rank >= 0) table_format(&sheet, "%d", row->rank);
    else table_format(&sheet, "-");
    table_format(&sheet, "%" PRIu64, row->pid);
    table_add_start(&sheet, row->command ? row->command : "?", COMMAND_SHOWN);
    table_format(&sheet, "%s", format_count(one, row->events));
    table_format(&sheet, "%s", format_duration(one, (double)row->span_ns / 1e9));
    table_format(&sheet, "%s", format_bytes(one, (double)row->bytes));
    table_format(&sheet, "%s", row->state);
    table_add(&sheet, row->name, strlen(row->name));
    events += row->events;
    bytes += row->bytes;
  }
  printf("%s trace%s, %s event%s, %s\n", format_count(one, rows->count), plural(rows->count), format_count(two, events),
         plural(events), format_bytes(three, (double)bytes));
  table_print(&sheet, stdout, 0);
  print_hints(rows);
}

/* ---- The command ---------------------------------------------------------------------------------------------------- */

/* 0: no memory. */
static int describe_all(dft_reader *reader, int is_json) {
  uint32_t count = dft_reader_source_count(reader);
  trace_facts *facts = malloc(sizeof *facts);
  trace_rows rows = {.list = calloc(count + 1, sizeof *rows.list)};
  int is_good = facts && rows.list;
  for (uint32_t i = 0; is_good && i < count; i++) {
    is_good = tracefacts_read(facts, reader, i);
    if (!is_good || tracefacts_is_refused(facts)) continue;
    if (is_json) print_json(facts, reader);
    else if (count > 1) add_row(&rows, facts);
    else print_facts(facts, reader);
  }
  if (rows.count) print_rows(&rows, reader);
  for (uint32_t i = 0; i < rows.count; i++) free(rows.list[i].command);
  free(rows.list);
  free(facts);
  return is_good;
}

static int run_info(int argc, char **argv) {
  arguments given = {.command = &command_info, .argc = argc, .argv = argv};
  dft_reader *reader;
  int key, status, is_good, is_json = 0;
  while ((key = arguments_next(&given)) > 0) is_json = 1;
  if (key < 0) return given.status;
  if (!given.count) return arguments_refuse(&given, "no trace given: FILE is missing");
  reader = standin_for_all("info", argv + given.first, given.count)
             ? trouble_open("info", NULL, argv + given.first, given.count)
             : NULL;
  if (!reader) return STATUS_FAILED;
  is_good = describe_all(reader, is_json);
  if (!is_good) fprintf(stderr, "dftracer info: out of memory\n");
  trouble_print_all(stderr, "dftracer info: ", reader, 10);
  if (fflush(stdout) != 0) is_good = 0;
  status = is_good ? trouble_status(reader) : STATUS_FAILED;
  dft_reader_close(reader);
  return status;
}

const command command_info = {
  .name = "info",
  .arguments = "FILE...",
  .summary = "describe traces: rank, host, command, events, time span, size",
  .text =
    "Describes a trace: the process that wrote it and its command as it was typed, the number of events and their "
    "time span, the size, and whether the trace is complete. Several traces are a table, sorted by rank. FILE is a "
    "trace, a folder, or a file in Chrome's format, such as torch.profiler's; -: stdin. Exit status 3: a trace is "
    "damaged, and the rest of it was read.\n",
  .options = options,
  .run = run_info,
};
