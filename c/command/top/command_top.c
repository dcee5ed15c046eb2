/* command_top.c - dftracer top: shows what traced processes are doing now.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "command/cli/arguments.h"
#include "command/cli/printable.h"
#include "command/cli/terminal.h"
#include "liveprocess.h"

enum { KEY_ONCE = OPTION_LONG + 1 };

static const option options[] = {
  {'i', "interval", "SECONDS", "time between two updates; default: 1"},
  {KEY_ONCE, "once", NULL, "print once and exit; events/s is measured over a quarter of a second"},
  {'t', "threads", NULL, "print a line for every thread with an open region, instead of one per process"},
  {0, NULL, NULL, NULL},
};

const command command_top;

#define ONCE_NS 250000000
#define INTERVAL_LEAST_NS 50000000

/* A process now, and what it had recorded at the previous update. */
typedef struct seen_process {
  live_process now;
  uint64_t events_before, read_before, write_before;
  double time_before; /* 0: not seen before */
  int is_found;
} seen_process;

typedef struct screen {
  seen_process *list;
  size_t count, room;
  double time; /* of the last update */
  int with_threads, is_terminal, width;
  int has_hosts; /* the processes are of several hosts */
} screen;

static volatile sig_atomic_t is_over;

static void stop(int signal) {
  (void)signal;
  is_over = 1;
}

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- Reading -------------------------------------------------------------------------------------------------------- */

/* The entry of the process with that spool; a new one when it was not seen before. NULL: no memory. */
static seen_process *find_process(screen *shown, const char *path) {
  seen_process *process;
  for (size_t i = 0; i < shown->count; i++) {
    if (strcmp(shown->list[i].now.path, path) == 0) return &shown->list[i];
  }
  if (shown->count == shown->room) {
    size_t room = shown->room ? 2 * shown->room : 16;
    seen_process *more = realloc(shown->list, room * sizeof *more);
    if (!more) return NULL;
    shown->list = more;
    shown->room = room;
  }
  process = &shown->list[shown->count++];
  memset(process, 0, sizeof *process);
  return process;
}

static void read_process(const char *path, void *context) {
  screen *shown = context;
  live_process *now = malloc(sizeof *now);
  seen_process *process = now && live_process_read(now, path) ? find_process(shown, path) : NULL;
  if (process) {
    int is_known = process->now.path[0] != '\0';
    process->events_before = process->now.events;
    process->read_before = process->now.read_bytes;
    process->write_before = process->now.write_bytes;
    process->time_before = is_known ? shown->time : 0;
    process->now = *now;
    process->is_found = 1;
  }
  free(now);
}

static int compare(const void *left, const void *right) {
  const live_process *a = &((const seen_process *)left)->now, *b = &((const seen_process *)right)->now;
  if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
  if (a->pid != b->pid) return a->pid < b->pid ? -1 : 1;
  return strcmp(a->path, b->path);
}

/* Zero, with errno, when the folder cannot be read. */
static int update(screen *shown, char *folder) {
  size_t kept = 0;
  double now = seconds_now();
  for (size_t i = 0; i < shown->count; i++) shown->list[i].is_found = 0;
  if (!live_process_each(folder, read_process, shown)) return 0;
  for (size_t i = 0; i < shown->count; i++) {
    if (shown->list[i].is_found) shown->list[kept++] = shown->list[i];
  }
  shown->count = kept;
  shown->time = now;
  if (kept) qsort(shown->list, kept, sizeof *shown->list, compare);
  shown->has_hosts = 0;
  for (size_t i = 1; i < kept; i++) shown->has_hosts |= strcmp(shown->list[i].now.host, shown->list[0].now.host) != 0;
  return 1;
}

/* ---- Printing ------------------------------------------------------------------------------------------------------- */

/* Per second, since the previous update. */
static double rate_of(const screen *shown, const seen_process *process, uint64_t before, uint64_t now) {
  double seconds = shown->time - process->time_before;
  if (process->time_before <= 0 || seconds <= 0 || now < before) return 0;
  return (double)(now - before) / seconds;
}

static double event_rate(const screen *shown, const seen_process *process) {
  return rate_of(shown, process, process->events_before, process->now.events);
}

/* Prints as many whole characters as fit into the rest of the line. */
static void put_rest(const screen *shown, int column, const char *text) {
  int room = shown->is_terminal ? shown->width - column : INT_MAX;
  int len = 0;
  while (text[len] && len < room) len++;
  while (len > 0 && text[len] && ((unsigned char)text[len] & 0xc0) == 0x80) len--;
  printf("%.*s\n", len, text);
}

/* The innermost region says most: outer ones are left out if the line is too short. */
static void put_regions(const screen *shown, int column, const char *text) {
  static const char mark[] = "... > ";
  char cut[1024 + sizeof mark];
  int room = shown->is_terminal ? shown->width - column : INT_MAX;
  const char *inner = text, *next;
  while ((int)(strlen(inner) + (inner == text ? 0 : strlen(mark))) > room && (next = strstr(inner, " > ")) != NULL)
    inner = next + 3;
  snprintf(cut, sizeof cut, "%s%s", inner == text ? "" : mark, inner);
  put_rest(shown, column, cut);
}

/* "step 1.2 s > forward 3.1 ms" */
static void describe(const live_thread *thread, char *out, size_t size) {
  size_t len = 0;
  out[0] = '\0';
  if (thread->depth > thread->count) len = (size_t)snprintf(out, size, "... > ");
  for (uint32_t i = 0; i < thread->count && len < size; i++) {
    char time[FORMAT_BYTES];
    len += (size_t)snprintf(out + len, size - len, "%s%s %s", i ? " > " : "", printable(thread->regions[i].name),
                            format_duration(time, thread->regions[i].seconds));
  }
}

/* "read 1.2 GiB/s, write 0 B/s, last read data/x 3.1 ms ago": what there is to say without regions. */
static void describe_io(const screen *shown, const seen_process *process, char *out, size_t size) {
  const live_process *now = &process->now;
  char one[FORMAT_BYTES], two[FORMAT_BYTES];
  size_t len = 0;
  out[0] = '\0';
  if (now->has_traffic)
    len = (size_t)snprintf(out, size, "read %s/s, write %s/s",
                           format_bytes(one, rate_of(shown, process, process->read_before, now->read_bytes)),
                           format_bytes(two, rate_of(shown, process, process->write_before, now->write_bytes)));
  if (now->call[0] && len < size)
    snprintf(out + len, size - len, "%slast %s %s %s ago", len ? ", " : "", printable(now->call), printable(now->file),
             format_duration(one, now->call_seconds));
  if (!out[0]) snprintf(out, size, "no open region");
}

static void show_process(const screen *shown, const seen_process *process) {
  char rank[16] = "-", events[FORMAT_BYTES], rate[FORMAT_BYTES], waiting[FORMAT_BYTES], doing[1024];
  const live_process *now = &process->now;
  uint32_t thread_count = now->thread_count < LIVE_THREADS ? now->thread_count : LIVE_THREADS;
  int column, now_column;
  if (now->rank >= 0) snprintf(rank, sizeof rank, "%d", now->rank);
  column = printf("%8u %5s %-12.12s ", now->pid, rank, *now->program ? printable(now->program) : "-");
  if (shown->has_hosts) column += printf("%-12.12s ", printable(now->host));
  column += printf("%11s %9s %7s ", format_count(events, now->events),
                   format_count(rate, (uint64_t)event_rate(shown, process)), format_count(waiting, now->waiting));
  now_column = column;
  if (now->dropped) column += printf("%llu dropped! ", (unsigned long long)now->dropped);
  if (now->is_alive < 0) column += printf("(not known to be alive) ");
  if (!now->is_alive) put_rest(shown, column, "dead; run 'dftracer recover' to publish its trace");
  else if (!thread_count) {
    describe_io(shown, process, doing, sizeof doing);
    put_rest(shown, column, doing);
  }
  for (uint32_t i = 0; i < thread_count && now->is_alive; i++) {
    describe(&now->threads[i], doing, sizeof doing);
    if (i) column = printf("%*s%8u: ", now_column - 10, "", now->threads[i].tid);
    put_regions(shown, column, doing);
    if (!shown->with_threads) break;
  }
}

static void show(const screen *shown, const char *folder) {
  char events[FORMAT_BYTES], clock[32] = "";
  double rate = 0;
  uint32_t dead = 0, unknown = 0;
  time_t now = time(NULL);
  struct tm local;
  size_t rows = shown->count;
  for (size_t i = 0; i < shown->count; i++) {
    rate += event_rate(shown, &shown->list[i]);
    dead += !shown->list[i].now.is_alive;
    unknown += shown->list[i].now.is_alive < 0;
  }
  if (localtime_r(&now, &local)) strftime(clock, sizeof clock, "%H:%M:%S", &local);
  if (shown->is_terminal) printf("\033[H\033[J");
  printf("%s  %s: %zu %s", clock, printable(folder), shown->count - dead, process_word(shown->count - dead));
  if (unknown) printf(" (%u not known to be alive)", unknown);
  if (dead) printf(", %u dead", dead);
  printf(", %s events/s\n", format_count(events, (uint64_t)rate));
  if (!shown->count) printf("no process is recording there; a process appears with its first event\n");
  if (shown->count)
    printf("%8s %5s %-12s %s%11s %9s %7s %s\n", "pid", "rank", "program", shown->has_hosts ? "host         " : "",
           "events", "events/s", "waiting", "now");
  if (shown->is_terminal) {
    size_t room = (size_t)terminal_height(stdout);
    if (rows + 3 > room) rows = room > 4 ? room - 4 : 1;
  }
  for (size_t i = 0; i < rows; i++) show_process(shown, &shown->list[i]);
  if (rows < shown->count) printf("and %zu more\n", shown->count - rows);
  fflush(stdout);
}

static void pause_for(int64_t ns) {
  struct timespec pause = {ns / 1000000000, ns % 1000000000};
  nanosleep(&pause, NULL);
}

static int run_top(int argc, char **argv) {
  arguments given = {.command = &command_top, .argc = argc, .argv = argv};
  screen shown = {.is_terminal = isatty(STDOUT_FILENO)};
  struct sigaction stopping = {.sa_handler = stop};
  int64_t interval_ns = 1000000000;
  char *folder;
  int is_once = 0, is_fine;
  int key;
  while ((key = arguments_next(&given)) > 0) {
    if (key == 'i' && !arguments_time(&given, &interval_ns)) return given.status;
    if (key == KEY_ONCE) is_once = 1;
    if (key == 't') shown.with_threads = 1;
  }
  if (key < 0) return given.status;
  if (given.count > 1) return arguments_refuse(&given, "only one folder can be watched");
  folder = given.count ? argv[given.first] : ".";
  if (is_once) shown.is_terminal = 0;
  if (interval_ns < INTERVAL_LEAST_NS) interval_ns = INTERVAL_LEAST_NS;
  sigaction(SIGINT, &stopping, NULL);
  sigaction(SIGTERM, &stopping, NULL);
  is_fine = update(&shown, folder);
  if (is_fine && is_once && shown.count) {
    pause_for(ONCE_NS);
    update(&shown, folder);
  }
  while (is_fine && !is_over) {
    shown.width = terminal_width(stdout);
    show(&shown, folder);
    if (is_once || ferror(stdout)) break;
    pause_for(interval_ns);
    is_fine = update(&shown, folder);
  }
  if (!is_fine) fprintf(stderr, "dftracer top: %s: %s\n", printable(folder), strerror(errno));
  free(shown.list);
  return is_fine ? STATUS_DONE : STATUS_FAILED;
}

const command command_top = {
  .name = "top",
  .arguments = "[DIR]",
  .summary = "show what traced processes are doing now",
  .text = "Shows the processes that trace into DIR or a folder below it (default: the current folder): the events "
          "recorded so "
          "far, the events per second, the events not yet written, and the open regions with the time they have been "
          "open. For a process without an open region it shows the bytes per second that its calls read and write, as "
          "the kernel counts them, and its latest I/O call that waits to be written, with the file. It "
          "only reads their spools and does not disturb them. On a terminal the display is updated every second until "
          "Ctrl-C. "
          "Elsewhere it prints plain lines.\n\n"
          "  dftracer top traces\n"
          "  dftracer top --once --threads traces      # where is it stuck?\n",
  .options = options,
  .run = run_top,
};
