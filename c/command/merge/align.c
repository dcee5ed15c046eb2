/* align.c - finds by how much the clocks of nodes are moved.
 * SPDX-License-Identifier: MIT */
#include "align.h"

#include <stdio.h>
#include <stdlib.h>

#include "command/cli/printable.h"
#include "command/trace/jsontext.h"
#include "mpiclocks.h"

#define MARKS_MOST 256

/* What is known of a node. */
typedef struct node {
  int64_t first_ns;
  uint64_t pid; /* whose marks are taken */
  uint32_t count;
  int64_t marks[MARKS_MOST]; /* ends of the chosen events */
} node;

typedef struct nodes {
  node **list; /* indexed by the host's number; NULL: not seen */
  uint32_t room;
  const char *name; /* of the chosen events; NULL: align the first events */
} nodes;

static node *node_at(nodes *all, uint32_t host) {
  if (host >= all->room) {
    uint32_t room = host + 64;
    node **more = realloc(all->list, room * sizeof(node *));
    if (!more) return NULL;
    memset(more + all->room, 0, (room - all->room) * sizeof(node *));
    all->list = more;
    all->room = room;
  }
  if (!all->list[host]) {
    all->list[host] = calloc(1, sizeof(node));
    if (all->list[host]) all->list[host]->first_ns = INT64_MAX;
  }
  return all->list[host];
}

static int add_rows(nodes *all, dft_reader *reader, const dft_rows *rows) {
  for (uint32_t i = 0; i < rows->count; i++) {
    node *seen;
    if (rows->phase[i] != 'X' || !rows->host[i]) continue;
    seen = node_at(all, rows->host[i]);
    if (!seen) return 0;
    if (rows->start_ns[i] < seen->first_ns) seen->first_ns = rows->start_ns[i];
    if (all->name && seen->count < MARKS_MOST && (!seen->count || seen->pid == rows->pid[i])) {
      dft_text name = dft_reader_text(reader, DFT_NAMES, rows->name[i]);
      if (name.len != strlen(all->name) || memcmp(name.text, all->name, name.len) != 0) continue;
      seen->pid = rows->pid[i];
      seen->marks[seen->count++] = rows->start_ns[i] + rows->dur_ns[i];
    }
  }
  return 1;
}

static int read_all(nodes *all, dft_reader *reader, progress *shown) {
  for (uint32_t source = 0; source < dft_reader_source_count(reader); source++) {
    dft_source facts = {.struct_size = sizeof facts};
    dft_cursor *cursor;
    const dft_rows *rows = NULL;
    int is_fine = 1;
    if (dft_cursor_open(reader, source, &cursor) != DFT_OK) return 0;
    while (is_fine && (is_fine = dft_cursor_next(cursor, &rows) == DFT_OK) && rows)
      is_fine = add_rows(all, reader, rows);
    dft_cursor_close(cursor);
    if (!is_fine) return 0;
    if (dft_reader_source(reader, source, &facts) == DFT_OK) progress_add(shown, facts.bytes);
  }
  return 1;
}

static int compare(const void *left, const void *right) {
  int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
  return (a > b) - (a < b);
}

/* The median of the differences between the marks of two nodes. */
static int64_t shift_of(const node *first, node *other) {
  int64_t differences[MARKS_MOST];
  uint32_t count = first->count < other->count ? first->count : other->count;
  qsort(other->marks, other->count, sizeof other->marks[0], compare);
  for (uint32_t i = 0; i < count; i++) differences[i] = first->marks[i] - other->marks[i];
  qsort(differences, count, sizeof differences[0], compare);
  return count % 2 ? differences[count / 2] : differences[count / 2 - 1] / 2 + differences[count / 2] / 2;
}

static int compute(alignment *clocks, nodes *all, dft_reader *reader) {
  node *first = NULL;
  clocks->nodes = calloc(all->room + 1, sizeof *clocks->nodes);
  if (!clocks->nodes) return 0;
  clocks->count = all->room;
  for (uint32_t host = 0; host < all->room; host++) {
    node *other = all->list[host];
    if (!other) continue;
    if (all->name && !other->count) {
      dft_text name = dft_reader_text(reader, DFT_HOSTS, host);
      fprintf(stderr, "dftracer merge: node %s has no event \"%s\"; its clock is not moved\n",
              printable_n(name.text, name.len), printable(all->name));
      continue;
    }
    if (!first) {
      first = other;
      qsort(first->marks, first->count, sizeof first->marks[0], compare);
    } else {
      clocks->nodes[host].shift_ns = all->name ? shift_of(first, other) : first->first_ns - other->first_ns;
    }
  }
  return 1;
}

const char *align_choose(dft_reader *reader, const char *method) {
  return strcmp(method, "auto") == 0 && !mpi_clocks_has_several(reader) ? "clock" : method;
}

static int align_by_events(alignment *clocks, dft_reader *reader, const char *name, progress *shown) {
  nodes all = {.name = name};
  int is_fine = read_all(&all, reader, shown) && compute(clocks, &all, reader);
  for (uint32_t i = 0; i < all.room; i++) free(all.list[i]);
  free(all.list);
  return is_fine;
}

int align_find(alignment *clocks, dft_reader *reader, const char *method, progress *shown) {
  int is_fine;
  *clocks = (alignment){.method = method};
  if (strcmp(method, "clock") == 0) return 1;
  if (strcmp(method, "auto") == 0) is_fine = mpi_clocks_find(clocks, reader, shown);
  else if (strcmp(method, "start") == 0) is_fine = align_by_events(clocks, reader, NULL, shown);
  else if (strncmp(method, "event:", 6) == 0 && method[6]) is_fine = align_by_events(clocks, reader, method + 6, shown);
  else {
    fprintf(stderr, "dftracer merge: --align: \"%s\" is not one of: auto clock start event:NAME\n", printable(method));
    return 0;
  }
  if (!is_fine) fprintf(stderr, "dftracer merge: out of memory\n");
  return is_fine;
}

void align_free(alignment *clocks) {
  free(clocks->nodes);
  free(clocks->fits);
  free(clocks->is_seen);
  *clocks = (alignment){0};
}

static void begin_member(FILE *out, const char *what, dft_reader *reader, uint32_t host) {
  char key[320];
  snprintf(key, sizeof key, "%s %s", what, dft_reader_text(reader, DFT_HOSTS, host).text);
  fputc(',', out);
  json_text(out, key, strlen(key));
}

char *align_facts(const alignment *clocks, dft_reader *reader) {
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);
  if (!out) return NULL;
  fputs(",\"clocks\":", out);
  json_text(out, clocks->method, strlen(clocks->method));
  for (uint32_t host = 0; host < clocks->count; host++) {
    const node_clock *clock = &clocks->nodes[host];
    if (clock->shift_ns) {
      begin_member(out, "moved_ns", reader, host);
      fprintf(out, ":%lld", (long long)clock->shift_ns);
    }
    if (clock->drift != 0) {
      begin_member(out, "drift_ppm", reader, host);
      fprintf(out, ":%.3f", clock->drift * 1e6);
    }
    if (clocks->fits && clocks->is_seen[host] && host != clocks->first &&
        clocks->fits[host].knowledge == CLOCK_BOUNDED) {
      begin_member(out, "bound_ns", reader, host);
      fprintf(out, ":%.0f", mpi_clocks_bound(clocks, host));
    }
  }
  fclose(out);
  return text;
}
