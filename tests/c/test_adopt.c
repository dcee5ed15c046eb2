/* test_adopt.c - c/session/adopt.c: the image after an exec goes on in the spool of the one before, or leaves a spoiled one alone.
 * SPDX-License-Identifier: MIT */
#include "session/session.h"

#include "record/thread.h"
#include "spool/intern.h"
/* after the core's, whose names its own would shadow */
#include "session.h"

enum { EVENTS = 5 };

static dft_site step = DFT_SITE("step", "test");

/* ---- The two images ------------------------------------------------------------------------------------------------- */

static void record(const char *image) {
  for (int i = 0; i < EVENTS; i++) {
    dft_region_begin(&step);
    dft_update_string("image", image);
    dft_region_end();
  }
}

static dft__header *header(void) {
  return dft__session.spool->header;
}

static dft__thread *thread(void) {
  return dft__self.thread;
}

static void nothing(void) {
}
static void regions_overlap(void) {
  dft_region earlier = dft_region_begin_named("earlier", "test");
  dft_region_begin_named("later", "test");
  dft_region_close(earlier);
}
static void names_lead_nowhere(void) {
  DFT__SET(header()->bucket[7], 0x0fffffff);
}
static void names_go_in_a_circle(void) {
  for (uint32_t i = 0; i < DFT__BUCKETS; i++) {
    uint32_t ref = DFT__GET(header()->bucket[i]);
    if (ref) DFT__SET(((dft__name *)(dft__session.spool->base + (uint64_t)ref * 16))->next, ref);
  }
}
static void new_names_go_astray(void) {
  DFT__SET(header()->name_cursor, dft__area(UINT64_C(1) << 38, 4000));
}
static void the_stack_is_elsewhere(void) {
  DFT__SET(thread()->frames, dft__area(UINT64_C(1) << 38, DFT__THREAD_FRAMES));
}
static void the_stack_is_too_deep(void) {
  DFT__SET(thread()->depth, 100000);
}
static void arguments_begin_behind_their_end(void) {
  DFT__SET(((dft__frame *)(thread() + 1))->args, 4096);
}
static void records_go_astray(void) {
  DFT__SET(thread()->cursor, dft__cursor(UINT32_MAX, 16, 5));
}
static void the_top_is_beyond_the_map(void) {
  DFT__SET(header()->top, UINT64_C(1) << 40);
}
static void the_map_has_another_size(void) {
  header()->map_bytes = UINT64_C(1) << 40;
}
static void facts_were_told(void) {
  dft_app_metadata_int("key", 1);
}
static void a_setting_differs(void) {
  setenv("DFTRACER_COMPRESSION_LEVEL", "3", 1);
}

/* How the image before leaves its spool, and how many traces come of it. Where the damage is such that the spool is none any
 * more, or its events cannot be found, those of the new image count. */
static const struct manner {
  const char *name;
  void (*spoil)(void);
  int traces;
} manners[] = {
#define MANNER(spoil, traces) \
  { #spoil, spoil, traces }
  MANNER(nothing, 1),
  MANNER(regions_overlap, 1),
  MANNER(names_lead_nowhere, 2),
  MANNER(names_go_in_a_circle, 2),
  MANNER(new_names_go_astray, 2),
  MANNER(the_stack_is_elsewhere, 2),
  MANNER(the_stack_is_too_deep, 2),
  MANNER(arguments_begin_behind_their_end, 2),
  MANNER(records_go_astray, 2),
  MANNER(the_top_is_beyond_the_map, 2),
  MANNER(the_map_has_another_size, 2),
  MANNER(facts_were_told, 2),
  MANNER(a_setting_differs, 2),
};

static int first_image(const char *self, const struct manner *manner) {
  record("first");
  dft_region_begin_named("around", "test");
  dft_update_int("number", 7);
  manner->spoil();
  execl(self, self, "second", (char *)NULL);
  return 1;
}

/* ---- What is left of them ------------------------------------------------------------------------------------------- */

typedef struct sum {
  int traces;
  size_t first, second, around, ends;
} sum;

static void add_trace(sum *all, const char *path) {
  trace in = read_trace(path);
  all->traces++;
  for (size_t i = 0; i < in.count; i++) {
    const event *one = &in.events[i];
    if (strcmp(one->name, "step") == 0) {
      *(strcmp(arg_text(one, "image"), "first") == 0 ? &all->first : &all->second) += 1;
    } else if (strcmp(one->name, "around") == 0) {
      CHECK_INT(arg_int(one, "open"), 1);
      all->around++;
    }
  }
  all->ends += count_name(&in, "end");
  free_trace(&in);
}

static void check_manner(const char *self, const struct manner *manner) {
  sum all = {0};
  struct dirent *entry;
  DIR *entries;
  int status;
  pid_t child = fork();
  if (!child) {
    execl(self, self, "first", manner->name, (char *)NULL);
    _exit(1);
  }
  CHECK(waitpid(child, &status, 0) == child);
  if (status != 0) fprintf(stderr, "  %s\n", manner->name);
  CHECK_INT(status, 0);
  entries = opendir("out");
  while (entries && (entry = readdir(entries)) != NULL) {
    char path[512];
    snprintf(path, sizeof path, "out/%s", entry->d_name);
    if (strstr(entry->d_name, ".pfw")) add_trace(&all, path);
  }
  if (entries) closedir(entries);
  if (all.traces != manner->traces) fprintf(stderr, "  %s\n", manner->name);
  CHECK_INT(all.traces, manner->traces);
  CHECK_INT(all.ends, all.traces);
  CHECK_INT(all.second, EVENTS);
  CHECK(!exists("out/.dftracer"));
  remove_tree("out");
  /* What damage hides from recovery is no business of this test. */
  if (manner->traces == 2 && manner->spoil != facts_were_told && manner->spoil != a_setting_differs) return;
  CHECK_INT(all.first, EVENTS);
  CHECK_INT(all.around, 1);
}

static char self[4096];

static void every_manner_of_leaving_is_survived(void) {
  setenv("DFTRACER_ENABLE", "1", 1);
  setenv("DFTRACER_TRACE_COMPRESSION", "0", 1);
  setenv("DFTRACER_LOG_FILE", "out/trace", 1);
  for (size_t i = 0; i < sizeof manners / sizeof manners[0]; i++) check_manner(self, &manners[i]);
}

int main(int argc, char **argv) {
  CHECK(realpath(argv[0], self) != NULL);
  for (size_t i = 0; argc > 2 && i < sizeof manners / sizeof manners[0]; i++) {
    if (strcmp(argv[2], manners[i].name) == 0) return first_image(self, &manners[i]);
  }
  if (argc > 1) {
    record("second");
    return 0;
  }
  RUN(every_manner_of_leaving_is_survived);
  return failed_cases;
}
