/* job.c - one rank of an HPC job whose work is sleeping, so that its truth is known: it measures itself (see truth.py).
 *
 * Usage: job WORD...; what it measured goes to the file truth-RANK. The words, in the order of the work:
 *
 *   KIND=NAME/CAT:MS[,MS...]   a region of that name and category that sleeps; a number for each rank, the last for all others
 *   comm=NAME/CAT@MS[,MS...]   the same, but the ranks meet first
 *   -:MS[,MS...]               sleeps in no region
 *   N*[ ... ]                  N times what is between
 *   KIND=[ ... ]               what is between is one interval of that kind
 *
 * KIND is a kind of truth.py. Regions of category POSIX are calls on a file: they have a path and a result.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <dftracer/dft.h>

#define BYTES_OF_A_CALL (4 << 20)

static int rank;
static int is_inside; /* of an interval that KIND=[ began */
static FILE *truth;

static long long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void note(const char *kind, const char *name, long long begin_ns) {
  if (!is_inside) fprintf(truth, "%s %s %lld %lld\n", kind, name, begin_ns, now_ns());
}

/* Of numbers with commas: the one of this rank. */
static void sleep_for(const char *milliseconds) {
  char *end;
  double value = strtod(milliseconds, &end);
  struct timespec time;
  for (int i = 0; i < rank && *end == ','; i++) value = strtod(end + 1, &end);
  time.tv_sec = (time_t)(value / 1000);
  time.tv_nsec = (long)((value - (double)time.tv_sec * 1000) * 1e6);
  nanosleep(&time, NULL);
}

/* Returns when every rank is here: each writes a byte to each other one. */
static void meet(void) {
  const char *text = getenv("MEETING");
  char *end, byte = 0;
  int own = (int)strtol(text, &end, 10), others = 0;
  for (; *end; others++) {
    if (write((int)strtol(end, &end, 10), &byte, 1) != 1) exit(1);
  }
  for (int i = 0; i < others; i++) {
    if (read(own, &byte, 1) != 1) exit(1);
  }
}

static void add_call(void) {
  static const char path[] = "/data/field.bin";
  dft_arg file = {.name = "fhash", .name_len = 5, .type = DFT_PATH, .value.s = {path, sizeof path - 1}};
  dft_update_arg(0, &file);
  dft_update_int("ret", BYTES_OF_A_CALL);
}

/* KIND=NAME/CAT:MS or KIND=NAME/CAT@MS */
static void do_region(char *word) {
  char *name = strchr(word, '='), *cat = strchr(word, '/'), *time = strpbrk(word, ":@");
  long long begin_ns, inside_ns;
  int is_meeting;
  if (!name || !cat || !time) exit(2);
  is_meeting = *time == '@';
  *name++ = *cat++ = *time++ = 0;
  begin_ns = now_ns();
  dft_region_begin_named(name, cat);
  if (strcmp(cat, "POSIX") == 0) add_call();
  inside_ns = now_ns();
  if (is_meeting) meet();
  sleep_for(time);
  note("inside", name, inside_ns);
  dft_region_end();
  note(word, name, begin_ns);
}

static char **do_words(char **word);

static char **repeat(char **first, long times) {
  char **after = first;
  for (long i = 0; i < times; i++) after = do_words(first);
  return after;
}

/* Does the words up to the ] or the end, and returns what follows. */
static char **do_words(char **word) {
  while (*word && strcmp(*word, "]") != 0) {
    char copy[200], *equals;
    snprintf(copy, sizeof copy, "%s", *word++);
    if (strstr(copy, "*[")) {
      word = repeat(word, strtol(copy, NULL, 10));
    } else if ((equals = strstr(copy, "=["))) {
      long long begin_ns = now_ns();
      *equals = 0;
      is_inside++;
      word = do_words(word);
      is_inside--;
      note(copy, "phase", begin_ns);
    } else if (copy[0] == '-') {
      sleep_for(copy + 2);
    } else {
      do_region(copy);
    }
  }
  return *word ? word + 1 : word;
}

int main(int argc, char **argv) {
  char path[40];
  long long begin_ns;
  if (argc < 2 || !getenv("RANK") || !getenv("MEETING")) return 2;
  rank = atoi(getenv("RANK"));
  snprintf(path, sizeof path, "truth-%d", rank);
  truth = fopen(path, "w");
  if (!truth) return 2;
  meet();                                /* or a rank that starts late would be the imbalance of the first collective */
  dft_region_begin_named("open", "job"); /* the first event opens the trace, which takes its time on a busy machine */
  dft_region_end();
  begin_ns = now_ns();
  do_words(argv + 1);
  note("whole", "job", begin_ns);
  return fclose(truth) != 0;
}
