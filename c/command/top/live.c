/* live.c - looks into spools.
 * SPDX-License-Identifier: MIT */
#include "live.h"

#include <dftracer/spool.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "command/run/launch.h"
#include "command/trace/suffix.h"
#include "spool/record.h"

typedef struct view {
  const char *base;
  size_t bytes; /* mapped */
  const dft__header *header;
  uint64_t now_ns;
} view;

/* ---- Parts of a spool ------------------------------------------------------------------------------------------------- */

static const void *at_offset(const view *of, uint64_t offset, size_t size) {
  return offset >= DFT__HEADER_BYTES && offset <= of->bytes && of->bytes - offset >= size ? of->base + offset : NULL;
}

static void copy_name(const view *of, uint32_t ref, char out[LIVE_TEXT]) {
  const dft__name *name = at_offset(of, (uint64_t)ref * 16, sizeof *name);
  uint32_t len = name ? name->len : 0;
  size_t kept = len < LIVE_TEXT - 1 ? len : LIVE_TEXT - 1;
  out[0] = '\0';
  if (!name || !at_offset(of, (uint64_t)ref * 16, sizeof *name + len)) return;
  for (size_t i = 0; i < kept; i++) out[i] = (unsigned char)name->text[i] < ' ' ? '?' : name->text[i];
  out[kept] = '\0';
}

static uint64_t count_records(const dft__chunk *chunk) {
  const dft__record *cells = (const dft__record *)(const void *)chunk;
  uint64_t status = chunk->status;
  uint32_t gen = dft__status_gen(status);
  uint32_t end = dft__cells_of(chunk->size_log);
  uint64_t count = 0;
  if (dft__status_state(status) == DFT__FREE) return 0;
  if (dft__status_state(status) == DFT__FULL && dft__status_end(status) < end) end = dft__status_end(status);
  for (uint32_t cell = chunk->consumed ? chunk->consumed : 1; cell < end;) {
    uint64_t head = cells[cell].head;
    int is_record = dft__head_gen(head) == gen && dft__head_kind(head) >= DFT__KIND_COMPLETE;
    uint32_t cells_of_it = is_record ? dft__head_cells(head) : 1;
    count += (uint64_t)(is_record && dft__head_kind(head) < DFT__KIND_COUNTER);
    cell += cells_of_it ? cells_of_it : 1;
  }
  return count;
}

static void read_thread(live *of, const view *from, const dft__thread *thread) {
  uint64_t area = thread->frames;
  uint32_t depth = thread->depth;
  const dft__frame *frames = at_offset(from, dft__area_offset(area), depth * sizeof *frames);
  live_thread *to = &of->threads[of->thread_count];
  if (!depth || depth > dft__area_room(area) || !frames) return;
  of->thread_count++;
  if (of->thread_count > LIVE_THREADS) return;
  to->tid = thread->tid;
  to->depth = depth;
  to->count = 0;
  for (uint32_t i = depth > LIVE_REGIONS ? depth - LIVE_REGIONS : 0; i < depth; i++) {
    live_region *region = &to->regions[to->count];
    uint64_t start = dft__epoch_ns(&from->header->clock, frames[i].start);
    if (!frames[i].id || !frames[i].site) continue;
    copy_name(from, frames[i].site, region->name);
    region->seconds = from->now_ns > start ? (double)(from->now_ns - start) * 1e-9 : 0;
    if (region->name[0]) to->count++;
  }
  if (!to->count) of->thread_count--;
}

static void read_chunks(live *of, const view *from) {
  const uint64_t page = UINT64_C(1) << DFT__CHUNK_LOG_MIN;
  for (uint64_t offset = DFT__HEADER_BYTES; offset + page <= from->bytes;) {
    const dft__chunk *chunk = (const dft__chunk *)(const void *)(from->base + offset);
    uint32_t log = chunk->size_log;
    if (chunk->magic != DFT__CHUNK_MAGIC || log < DFT__CHUNK_LOG_MIN || log > DFT__CHUNK_LOG_MAX ||
        offset + (UINT64_C(1) << log) > from->bytes) {
      offset += page;
      continue;
    }
    if (chunk->use == DFT__USE_RECORDS) of->waiting += count_records(chunk);
    if (chunk->use == DFT__USE_THREAD && dft__status_state(chunk->status) != DFT__FREE) {
      read_thread(of, from, (const dft__thread *)(const void *)(chunk + 1));
    }
    offset += UINT64_C(1) << log;
  }
}

/* ---- A spool ---------------------------------------------------------------------------------------------------------- */

static void read_header(live *of, const view *from) {
  const dft__header *header = from->header;
  const dft__commit *commit = &header->commit[header->commit_seq & 1];
  uint64_t opened = dft__epoch_ns(&header->clock, header->opened_ticks);
  char host[72] = "";
  gethostname(host, sizeof host - 1);
  snprintf(of->host, sizeof of->host, "%.*s", (int)sizeof of->host - 1, header->host);
  of->pid = header->pid;
  of->rank = header->rank;
  of->is_here = strcmp(host, of->host) == 0;
  of->is_alive = of->is_here && launch_start_ticks((pid_t)header->pid) == header->start_ticks;
  of->dropped = header->dropped;
  of->events = header->commit_seq ? commit->events : 0;
  of->written_bytes = header->commit_seq ? commit->bytes[0] : 0;
  of->age = from->now_ns > opened ? (double)(from->now_ns - opened) * 1e-9 : 0;
}

/* A claim points to a spool elsewhere when its own file system is not a local one. */
static int open_spool(const char *claim) {
  char path[PATH_MAX];
  return dft_spool_find(claim, path, sizeof path) ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
}

int live_read(live *of, const char *path) {
  int fd = open_spool(path);
  struct timespec now;
  struct stat facts;
  view from;
  void *map = MAP_FAILED;
  int is_fine = 0;
  memset(of, 0, sizeof *of);
  snprintf(of->path, sizeof of->path, "%s", path);
  if (fd < 0) return 0;
  if (fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size >= (off_t)DFT__HEADER_BYTES) {
    map = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_SHARED, fd, 0);
  }
  close(fd);
  if (map == MAP_FAILED) return 0;
  clock_gettime(CLOCK_REALTIME, &now);
  from.now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
  from.base = map;
  from.header = map;
  from.bytes = (size_t)facts.st_size;
  if (memcmp(from.header->magic, DFT__MAGIC, 8) == 0 && from.header->layout == DFT__LAYOUT) {
    uint64_t top = from.header->top, allocated = from.header->file_bytes;
    if (allocated < from.bytes) from.bytes = (size_t)allocated;
    if (top < from.bytes) from.bytes = (size_t)top;
    read_header(of, &from);
    read_chunks(of, &from);
    of->events += of->waiting;
    is_fine = 1;
  }
  munmap(map, (size_t)facts.st_size);
  return is_fine;
}

int live_each(char *folder, void (*call)(const char *spool, void *context), void *context) {
  char *paths[] = {folder, NULL};
  DIR *readable = opendir(folder); /* fts_open would not tell */
  FTS *walk = readable ? fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_COMFOLLOW, NULL) : NULL;
  FTSENT *entry;
  if (readable) closedir(readable);
  if (!walk) return 0;
  while ((entry = fts_read(walk)) != NULL) {
    if (entry->fts_info != FTS_F || !ends_with(entry->fts_name, DFT_SPOOL_SUFFIX)) continue;
    if (strcmp(entry->fts_parent->fts_name, DFT_SPOOL_FOLDER) == 0) call(entry->fts_path, context);
  }
  fts_close(walk);
  return 1;
}
