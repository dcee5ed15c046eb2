/* mpiclocks.c - the clocks of nodes, from the MPI calls that were recorded.
 * SPDX-License-Identifier: MIT */
#include "mpiclocks.h"

#include <stdio.h>
#include <stdlib.h>

#include "command/cli/printable.h"
#include "command/cli/terminal.h"
#include "command/trace/inputs.h"
#include "mpifacts.h"

#define NODES_NAMED 4u /* in the report */

/* ---- Nodes ---------------------------------------------------------------------------------------------------------- */

/* The host that the first rows of a source name. Its text: numbers are those of another reader. */
static int is_another_host(dft_reader *reader, uint32_t source, uint32_t *known) {
  const dft_rows *rows;
  dft_cursor *cursor;
  int is_another = 0;
  if (dft_cursor_open(reader, source, &cursor) != DFT_OK) return 0;
  if (dft_cursor_next(cursor, &rows) == DFT_OK && rows) {
    for (uint32_t i = 0; i < rows->count && !is_another; i++) {
      if (!rows->host[i]) continue;
      if (!*known) *known = rows->host[i];
      is_another = rows->host[i] != *known;
    }
  }
  dft_cursor_close(cursor);
  return is_another;
}

int mpi_clocks_has_several(dft_reader *reader) {
  dft_reader *second = dft_reader_source_count(reader) > 1 ? inputs_reopen(reader) : NULL;
  uint32_t known = 0;
  int has_several = 0;
  for (uint32_t i = 0; second && !has_several && i < dft_reader_source_count(second); i++)
    has_several = is_another_host(second, i, &known);
  dft_reader_close(second);
  return has_several;
}

/* ---- Finding -------------------------------------------------------------------------------------------------------- */

static int read_source(mpi_series *calls, dft_reader *reader, uint32_t source) {
  const dft_rows *rows = NULL;
  dft_cursor *cursor;
  int is_good = 1;
  if (dft_cursor_open(reader, source, &cursor) != DFT_OK) return 0;
  while (is_good && (is_good = dft_cursor_next(cursor, &rows) == DFT_OK) && rows) is_good = mpi_series_add(calls, rows);
  dft_cursor_close(cursor);
  return is_good;
}

static int read_all(mpi_series *calls, dft_reader *reader, progress *shown) {
  for (uint32_t i = 0; i < dft_reader_source_count(reader); i++) {
    dft_source facts = {.struct_size = sizeof facts};
    if (!read_source(calls, reader, i)) return 0;
    if (dft_reader_source(reader, i, &facts) == DFT_OK) progress_add(shown, facts.bytes);
  }
  return 1;
}

/* Traces have whole microseconds, as a rule: a shift has, too. */
static int64_t whole_us(double ns) {
  return llround(ns / 1000) * 1000;
}

/* A clock that what was recorded does not contradict may well be better than an estimate from it. */
static int set_clocks(alignment *clocks, const clock_bounds *bounds, const mpi_series *calls) {
  const uint32_t count = dft_reader_text_count(calls->reader, DFT_HOSTS);
  clocks->nodes = calloc((size_t)count + 1, sizeof *clocks->nodes);
  clocks->fits = calloc((size_t)count + 1, sizeof *clocks->fits);
  clocks->is_seen = calloc((size_t)count + 1, sizeof *clocks->is_seen);
  if (!clocks->nodes || !clocks->fits || !clocks->is_seen) return 0;
  clocks->count = count;
  for (uint32_t i = 0; i < calls->source_count; i++) {
    const uint32_t host = calls->sources[i].host;
    const clock_fit fit = clock_bounds_fit(bounds, host);
    clocks->fits[host] = fit;
    clocks->is_seen[host] = 1;
    if (fit.knowledge != CLOCK_UNKNOWN && fit.is_off)
      clocks->nodes[host] = (node_clock){whole_us(fit.offset_ns), fit.at, fit.drift};
  }
  return 1;
}

int mpi_clocks_find(alignment *clocks, dft_reader *reader, progress *shown) {
  clock_bounds bounds = {0};
  mpi_series calls;
  uint32_t first;
  int is_good = mpi_series_init(&calls, reader) && read_all(&calls, reader, shown);
  first = is_good ? mpi_facts_first_host(&calls) : 0;
  if (is_good && !first) clocks->method = "clock";
  if (is_good && first)
    is_good = mpi_facts_add(&bounds, &calls) && clock_bounds_solve(&bounds, first) &&
              set_clocks(clocks, &bounds, &calls);
  if (is_good && first) clocks->first = first;
  clock_bounds_free(&bounds);
  mpi_series_free(&calls);
  return is_good;
}

/* ---- Reporting ------------------------------------------------------------------------------------------------------ */

static int is_moved(const alignment *clocks, uint32_t host) {
  return clocks->nodes[host].shift_ns || clocks->nodes[host].drift != 0;
}

double mpi_clocks_bound(const alignment *clocks, uint32_t host) {
  const clock_fit *fit = &clocks->fits[host];
  return fit->bound_ns + (is_moved(clocks, host) ? 500 : fabs(fit->offset_ns)); /* shifts are rounded */
}

static const char *name_of(dft_reader *reader, uint32_t host) {
  dft_text name = dft_reader_text(reader, DFT_HOSTS, host);
  return printable_n(name.text, name.len);
}

/* How wrong the clock of a node was. */
static void report_moved(const alignment *clocks, dft_reader *reader, uint32_t host) {
  const node_clock *node = &clocks->nodes[host];
  char offset[FORMAT_BYTES], bound[FORMAT_BYTES];
  fprintf(stderr, "dftracer merge: the clock of %s was %s %s", name_of(reader, host),
          format_duration(offset, fabs((double)node->shift_ns) / 1e9), node->shift_ns < 0 ? "ahead" : "behind");
  if (node->drift != 0)
    fprintf(stderr, " and ran %.3g ppm too %s", fabs(node->drift) * 1e6, node->drift < 0 ? "fast" : "slow");
  format_duration(bound, mpi_clocks_bound(clocks, host) / 1e9);
  if (clocks->fits[host].knowledge == CLOCK_BOUNDED) fprintf(stderr, "; it is corrected to within %s\n", bound);
  else fprintf(stderr, "; it was also set while the job ran, and after the correction is off by %s or more\n", bound);
}

/* Nodes of which the same is said in one line. */
typedef struct node_share {
  uint32_t count, first;
  double bound_ns;
} node_share;

static void add_node(node_share *share, uint32_t host, double bound_ns) {
  if (!share->count++) share->first = host;
  if (bound_ns > share->bound_ns) share->bound_ns = bound_ns;
}

void mpi_clocks_report(const alignment *clocks, dft_reader *reader) {
  node_share kept = {0}, unknown = {0}, more = {0};
  uint32_t named = 0;
  char bound[FORMAT_BYTES];
  for (uint32_t host = 1; clocks->fits && host < clocks->count; host++) {
    if (host == clocks->first || !clocks->is_seen[host]) continue;
    if (clocks->fits[host].knowledge == CLOCK_UNKNOWN) add_node(&unknown, host, 0);
    else if (!is_moved(clocks, host)) add_node(&kept, host, mpi_clocks_bound(clocks, host));
    else if (named++ < NODES_NAMED) report_moved(clocks, reader, host);
    else add_node(&more, host, mpi_clocks_bound(clocks, host));
  }
  if (more.count)
    fprintf(stderr, "dftracer merge: the clocks of %u more node%s are corrected to within %s\n", more.count,
            plural(more.count), format_duration(bound, more.bound_ns / 1e9));
  if (kept.count)
    fprintf(stderr,
            "dftracer merge: the MPI calls do not contradict the clock%s of %u other node%s, and bound %s to %s\n",
            plural(kept.count), kept.count, plural(kept.count), kept.count == 1 ? "it" : "them",
            format_duration(bound, kept.bound_ns / 1e9));
  if (unknown.count)
    fprintf(stderr, "dftracer merge: no MPI call bounds the clock%s of %u node%s (such as %s); not moved\n",
            plural(unknown.count), unknown.count, plural(unknown.count), name_of(reader, unknown.first));
}
