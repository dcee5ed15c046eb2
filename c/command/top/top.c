/* top.c - dftracer top: what traced processes are doing now.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "command/cli/arguments.h"
#include "command/cli/terminal.h"
#include "live.h"

enum { KEY_ONCE = OPTION_LONG + 1 };

static const option options[] = {
  {'i', "interval", "SECONDS", "how long between two looks; default: 1"},
  {KEY_ONCE, "once", NULL, "one look, and the end; events a second are those of the quarter of a second it takes"},
  {'t', "threads", NULL, "a line for every thread with an open region, not only for the busiest"},
  {0, NULL, NULL, NULL},
};

const command command_top;

#define ONCE_NS 250000000
#define INTERVAL_LEAST_NS 50000000

/* A process now, and what it had recorded at the look before. */
typedef struct seen {
  live now;
  uint64_t events_before;
  double time_before; /* 0: not seen before */
  int is_found;
} seen;

typedef struct screen {
  seen *list;
  size_t count, room;
  double time;
  int with_threads, is_terminal, width;
} screen;

static volatile sig_atomic_t is_over;

static void end(int signal) {
  (void)signal;
  is_over = 1;
}

static double seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- Looking -------------------------------------------------------------------------------------------------------- */

static void look_at(const char *path, void *context) {
  screen *of = context;
  seen *at = NULL;
  live *now = malloc(sizeof *now);
  if (!now || !live_read(now, path)) {
    free(now);
    return;
  }
  for (size_t i = 0; i < of->count && !at; i++) {
    if (strcmp(of->list[i].now.path, path) == 0) at = &of->list[i];
  }
  if (!at && of->count == of->room) {
    size_t room = of->room ? 2 * of->room : 16;
    seen *more = realloc(of->list, room * sizeof *more);
    if (!more) {
      free(now);
      return;
    }
    of->list = more;
    of->room = room;
  }
  if (!at) {
    at = &of->list[of->count++];
    at->time_before = 0;
  } else {
    at->events_before = at->now.events;
    at->time_before = of->time;
  }
  at->now = *now;
  at->is_found = 1;
  free(now);
}

static int compare(const void *left, const void *right) {
  const live *a = &((const seen *)left)->now, *b = &((const seen *)right)->now;
  if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
  if (a->pid != b->pid) return a->pid < b->pid ? -1 : 1;
  return strcmp(a->path, b->path);
}

static int look(screen *of, char *folder) {
  size_t kept = 0;
  double now = seconds_now();
  for (size_t i = 0; i < of->count; i++) of->list[i].is_found = 0;
  if (!live_each(folder, look_at, of)) return 0;
  for (size_t i = 0; i < of->count; i++) {
    if (of->list[i].is_found) of->list[kept++] = of->list[i];
  }
  of->count = kept;
  of->time = now;
  if (kept) qsort(of->list, kept, sizeof *of->list, compare);
  return 1;
}

/* ---- Showing -------------------------------------------------------------------------------------------------------- */

static double rate_of(const screen *of, const seen *at) {
  double seconds = of->time - at->time_before;
  if (at->time_before <= 0 || seconds <= 0 || at->now.events < at->events_before) return 0;
  return (double)(at->now.events - at->events_before) / seconds;
}

/* Text cut to the rest of the line, at a character. */
static void put_rest(const screen *of, int column, const char *text) {
  int room = of->is_terminal ? of->width - column : INT_MAX;
  int len = 0;
  while (text[len] && len < room) len++;
  while (len > 0 && text[len] && ((unsigned char)text[len] & 0xc0) == 0x80) len--;
  printf("%.*s\n", len, text);
}

/* "step 1.2 s > forward 3.1 ms" */
static void describe(const live_thread *thread, char *out, size_t size) {
  size_t len = 0;
  out[0] = '\0';
  if (thread->depth > thread->count) len = (size_t)snprintf(out, size, "... > ");
  for (uint32_t i = 0; i < thread->count && len < size; i++) {
    char time[FORMAT_BYTES];
    len += (size_t)snprintf(out + len, size - len, "%s%s %s", i ? " > " : "", thread->regions[i].name,
                            format_duration(time, thread->regions[i].seconds));
  }
}

static void show_process(const screen *of, const seen *at) {
  char rank[16] = "-", events[FORMAT_BYTES], rate[FORMAT_BYTES], waiting[FORMAT_BYTES], doing[512];
  const live *now = &at->now;
  uint32_t told = now->thread_count < LIVE_THREADS ? now->thread_count : LIVE_THREADS;
  int column;
  if (now->rank >= 0) snprintf(rank, sizeof rank, "%d", now->rank);
  column = printf("%8u %5s %-12.12s %14s %11s %9s ", now->pid, rank, now->host, format_count(events, now->events),
                  format_count(rate, (uint64_t)rate_of(of, at)), format_count(waiting, now->waiting));
  if (now->dropped) column += printf("%llu dropped! ", (unsigned long long)now->dropped);
  if (now->is_here && !now->is_alive) put_rest(of, column, "dead: dftracer recover publishes it");
  else if (!told) put_rest(of, column, "no open region");
  for (uint32_t i = 0; i < told && (!now->is_here || now->is_alive); i++) {
    describe(&now->threads[i], doing, sizeof doing);
    if (i) column = printf("%*s%8u: ", 64 - 10, "", now->threads[i].tid);
    put_rest(of, column, doing);
    if (!of->with_threads) break;
  }
}

static void show(const screen *of, const char *folder) {
  char events[FORMAT_BYTES], clock[32] = "";
  double rate = 0;
  uint32_t dead = 0;
  time_t now = time(NULL);
  struct tm local;
  size_t rows = of->count;
  for (size_t i = 0; i < of->count; i++) {
    rate += rate_of(of, &of->list[i]);
    dead += of->list[i].now.is_here && !of->list[i].now.is_alive;
  }
  if (localtime_r(&now, &local)) strftime(clock, sizeof clock, "%H:%M:%S", &local);
  if (of->is_terminal) printf("\033[H\033[J");
  printf("%s  %s: %zu process%s", clock, folder, of->count - dead, of->count - dead == 1 ? "" : "es");
  if (dead) printf(", %u dead", dead);
  printf(", %s events/s\n", format_count(events, (uint64_t)rate));
  if (!of->count) printf("no process is recording there; those that are begin to show with their first event\n");
  if (of->count)
    printf("%8s %5s %-12s %14s %11s %9s %s\n", "pid", "rank", "host", "events", "events/s", "waiting", "now");
  if (of->is_terminal) {
    size_t room = (size_t)terminal_height(stdout);
    if (rows + 3 > room) rows = room > 4 ? room - 4 : 1;
  }
  for (size_t i = 0; i < rows; i++) show_process(of, &of->list[i]);
  if (rows < of->count) printf("and %zu more\n", of->count - rows);
  fflush(stdout);
}

static void rest(int64_t ns) {
  struct timespec pause = {ns / 1000000000, ns % 1000000000};
  nanosleep(&pause, NULL);
}

static int run_top(int argc, char **argv) {
  arguments given = {.command = &command_top, .argc = argc, .argv = argv};
  screen of = {.is_terminal = isatty(STDOUT_FILENO)};
  struct sigaction ending = {.sa_handler = end};
  int64_t interval_ns = 1000000000;
  char *folder;
  int is_once = 0, is_fine;
  int key;
  while ((key = arguments_next(&given)) > 0) {
    if (key == 'i' && !arguments_time(&given, &interval_ns)) return given.status;
    if (key == KEY_ONCE) is_once = 1;
    if (key == 't') of.with_threads = 1;
  }
  if (key < 0) return given.status;
  if (given.count > 1) return arguments_refuse(&given, "one folder, please");
  folder = given.count ? argv[given.first] : ".";
  if (is_once) of.is_terminal = 0;
  sigaction(SIGINT, &ending, NULL);
  sigaction(SIGTERM, &ending, NULL);
  is_fine = look(&of, folder);
  if (is_fine && is_once && of.count) {
    rest(ONCE_NS);
    look(&of, folder);
  }
  while (is_fine && !is_over) {
    of.width = terminal_width(stdout);
    show(&of, folder);
    if (is_once || ferror(stdout)) break;
    rest(interval_ns < INTERVAL_LEAST_NS ? INTERVAL_LEAST_NS : interval_ns);
    is_fine = look(&of, folder);
  }
  if (!is_fine) fprintf(stderr, "dftracer top: %s: %s\n", folder, strerror(errno));
  free(of.list);
  return is_fine ? STATUS_DONE : STATUS_FAILED;
}

const command command_top = {
  .name = "top",
  .arguments = "[DIR]",
  .summary = "what traced processes are doing now",
  .text =
    "Shows the processes that trace into DIR (default: this folder) or below it, from their spools and without "
    "touching "
    "them: events recorded so far and in a second, those that wait to be written, and the regions that are open now, "
    "with the time they have been open. On a terminal it is shown anew every second until Ctrl-C; elsewhere plain "
    "lines follow each other.\n\n"
    "  dftracer top traces\n"
    "  dftracer top --once --threads traces      # where is it stuck?\n",
  .options = options,
  .run = run_top,
};
