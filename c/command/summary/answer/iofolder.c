/* iofolder.c - where in the tree of folders I/O costs its time.
 *
 * Files are sorted by path: what is below a folder is one range. SPDX-License-Identifier: MIT */
#include "iofolder.h"

#include <stdlib.h>
#include <string.h>

static uint64_t cost_of(const io_stats *io, enum io_cost cost) {
  switch (cost) {
    case IO_COST_READ: return io->read.ns;
    case IO_COST_WRITE: return io->write.ns;
    case IO_COST_SYNC: return io->sync_ns;
    default: return io->other_ns - io->sync_ns;
  }
}

static uint64_t calls_of(const io_stats *io, enum io_cost cost) {
  switch (cost) {
    case IO_COST_READ: return io->read.count;
    case IO_COST_WRITE: return io->write.count;
    case IO_COST_SYNC: return io->syncs;
    default: return io->others - io->syncs;
  }
}

/* A file with a name, and its path. */
typedef struct named_file {
  uint32_t name, file;
} named_file;

/* Texts of a sorted state are in the order of bytes. */
static int by_path(const void *a, const void *b) {
  const named_file *one = a, *two = b;
  if (one->name != two->name) return one->name < two->name ? -1 : 1;
  return (one->file > two->file) - (one->file < two->file);
}

typedef struct file_range {
  uint32_t first, end;
} file_range;

/* Looks for a folder below that holds enough of the cost. 0: there is none. */
static int descend(const summary_state *state, const named_file *files, enum io_cost cost, uint64_t enough,
                   file_range *range, size_t *len) {
  file_range below;
  for (uint32_t i = range->first; i < range->end; i = below.end) {
    const dft_text path = state_text_of(state, files[i].name);
    const char *slash = memchr(path.text + *len, '/', path.len - *len);
    const size_t below_len = slash ? (size_t)(slash - path.text) + 1 : 0;
    uint64_t sum = cost_of(state_file_io(state, files[i].file), cost);
    below = (file_range){i, i + 1};
    for (; slash && below.end < range->end; below.end++) {
      const dft_text other = state_text_of(state, files[below.end].name);
      if (other.len < below_len || memcmp(other.text + *len, path.text + *len, below_len - *len) != 0) break;
      add_saturating(&sum, cost_of(state_file_io(state, files[below.end].file), cost));
    }
    if (!slash || sum < enough) continue;
    *range = below;
    *len = below_len;
    return 1;
  }
  return 0;
}

static void sum_range(io_folder *folder, const summary_state *state, const named_file *files, enum io_cost cost,
                      file_range range) {
  for (uint32_t i = range.first; i < range.end; i++) {
    const io_stats *io = state_file_io(state, files[i].file);
    if (!cost_of(io, cost)) continue;
    folder->file = folder->files++ ? 0 : files[i].file;
    folder->calls += calls_of(io, cost);
    add_saturating(&folder->cost_ns, cost_of(io, cost));
    add_saturating(&folder->read_bytes, io->read.bytes);
    add_saturating(&folder->write_bytes, io->write.bytes);
  }
}

static io_folder find_folder(const summary_state *state, const named_file *files, uint32_t count, enum io_cost cost) {
  io_folder folder = {.path = {"", 0}};
  file_range range = {0, count};
  uint64_t enough;
  size_t len = 0;
  for (uint32_t i = 1; i <= state->file_numbers.count; i++)
    add_saturating(&folder.all_ns, cost_of(state_file_io(state, i), cost));
  enough = folder.all_ns - folder.all_ns / 100 * (100 - FOLDER_SHARE) -
           folder.all_ns % 100 * (100 - FOLDER_SHARE) / 100; /* rounded up */
  while (folder.all_ns && descend(state, files, cost, enough, &range, &len)) continue;
  if (len > 1) folder.path = (dft_text){state_text_of(state, files[range.first].name).text, len};
  else range = (file_range){0, count};
  sum_range(&folder, state, files, cost, range);
  return folder;
}

int io_folders_find(io_folder folders[IO_COSTS], const summary_state *state) {
  named_file *files = calloc((size_t)state->file_numbers.count + 1, sizeof *files);
  uint32_t count = 0;
  if (!files) return 0;
  for (uint32_t i = 1; i <= state->file_numbers.count; i++) {
    if (state->files[i].name && io_stats_calls(state_file_io(state, i)))
      files[count++] = (named_file){state->files[i].name, i};
  }
  qsort(files, count, sizeof *files, by_path);
  for (int cost = 0; cost < IO_COSTS; cost++) folders[cost] = find_folder(state, files, count, (enum io_cost)cost);
  free(files);
  return 1;
}
