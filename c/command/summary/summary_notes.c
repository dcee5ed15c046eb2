/* summary_notes.c - the summary for people: what one has to know to judge the numbers.
 * SPDX-License-Identifier: MIT */
#include "summary_notes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command/cli/printable.h"
#include "command/cli/table.h"
#include "command/cli/terminal.h"
#include "command/trace/trouble.h"

#define PROBLEMS_SHOWN 10u

void summary_print_problems(FILE *out, const char *before, const summary_state *state) {
  uint64_t told = 0;
  uint32_t shown = 0, refused = 0;
  for (uint32_t i = 0; shown < PROBLEMS_SHOWN && i < state->problem_count; i++, told++) {
    const state_problem *problem = &state->problems[i];
    const char *path = state_text_of(state, problem->path).text;
    dft_problem told_problem = {.kind = problem->kind,
                                .byte = problem->byte,
                                .line = problem->line,
                                .error = (int32_t)problem->error,
                                .message = dft_problem_text(problem->kind),
                                .detail = path};
    if (problem->is_refusal && problem->path == refused) continue;
    if (problem->is_refusal) fprintf(out, "%s%s: %s\n", before, printable(path), trouble_refusal(path));
    else trouble_print_at(out, before, problem->has_source ? path : NULL, &told_problem);
    if (problem->is_refusal) {
      refused = problem->path;
      told += problem->beyond;
    }
    shown++;
  }
  if (state->all_problems > told)
    fprintf(out, "%s%" PRIu64 " more problem%s\n", before, state->all_problems - told,
            plural(state->all_problems - told));
}

#define SITES_SHOWN 10u

static void print_sites(FILE *out, const char *one, const char *many, const site_list *list) {
  char text[FORMAT_BYTES];
  if (!list->events) return;
  fprintf(out, "%s %s", format_count(text, list->events), list->events == 1 ? one : many);
  if (list->processes > 1) fprintf(out, ", in %s processes", format_count(text, list->processes));
  for (uint32_t i = 0; i < list->count && i < SITES_SHOWN; i++)
    fprintf(out, "%s%s", i ? ", " : ": ", printable(list->sites[i].site));
  if (list->count > SITES_SHOWN) fprintf(out, " and others");
  fprintf(out, "\n");
}

static void print_losses(FILE *out, const summary_state *state, uint64_t unfinished) {
  static const char open_ones[] = "; regions that were open then count up to the last event";
  char text[FORMAT_BYTES];
  unfinished -= state->running < unfinished ? state->running : unfinished; /* they have a note of their own */
  if (unfinished)
    fprintf(out, "%s trace%s no end, because the process still runs or the file was cut%s\n",
            format_count(text, unfinished), unfinished == 1 ? " has" : "s have", open_ones);
  if (state->dropped)
    fprintf(out, "%s event%s dropped while tracing, because there was no space left\n",
            format_count(text, state->dropped), state->dropped == 1 ? " was" : "s were");
  if (state->recovered)
    fprintf(out, "%s trace%s recovered after the process died%s\n", format_count(text, state->recovered),
            state->recovered == 1 ? " was" : "s were", open_ones);
  if (state->left)
    fprintf(out, "%s process%s died, and the trace%s not recovered yet: run 'dftracer recover FOLDER'\n",
            format_count(text, state->left), state->left == 1 ? "" : "es", state->left == 1 ? " is" : "s are");
  if (state->running)
    fprintf(out, "%s process%s still running: the numbers are those of now\n", format_count(text, state->running),
            state->running == 1 ? " is" : "es are");
}

/* One line for each note. */
static void print_notes(FILE *out, const summary_answer *answer) {
  const summary_state *state = answer->state;
  const job_facts *facts = &answer->facts;
  char text[FORMAT_BYTES];
  const uint64_t unknown = io_stats_unknown(&answer->io);
  const uint64_t mapped = answer->io.mapped_bytes;
  print_losses(out, state, facts->unfinished);
  print_sites(out, "region was ended that had not begun", "regions were ended that had not begun", &facts->unmatched);
  print_sites(out, "region never ended", "regions never ended", &facts->open);
  if (facts->orphans)
    fprintf(out, "the trainer of %s worker%s is not among the traces: the steps of what they loaded are unknown\n",
            format_count(text, facts->orphans), plural(facts->orphans));
  if (unknown)
    fprintf(out, "the bytes of %s transfer%s are unknown: the trace does not tell them\n", format_count(text, unknown),
            plural(unknown));
  if (mapped)
    fprintf(out, "%s of files were mapped into memory: what was read and written there is not seen\n",
            format_bytes(text, (double)mapped));
  if (state->others) fprintf(out, "%s records of other kinds were not counted\n", format_count(text, state->others));
  summary_print_problems(out, "", state);
}

/* A line that is too long continues below, further to the right. */
static void print_wrapped(FILE *out, char *lines) {
  char *rest = NULL;
  for (char *line = strtok_r(lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    fprintf(out, "  ");
    if (strlen(line) + 2 <= (size_t)table_room(out)) fprintf(out, "%s\n", line);
    else terminal_wrap(out, line, 2, 4, table_room(out));
  }
}

void summary_notes(FILE *out, const summary_answer *answer) {
  char *lines = NULL;
  size_t size = 0;
  FILE *text = open_memstream(&lines, &size);
  if (!text) return;
  print_notes(text, answer);
  fclose(text);
  if (size) table_heading(out, "Notes", "");
  if (lines) print_wrapped(out, lines);
  free(lines);
}
