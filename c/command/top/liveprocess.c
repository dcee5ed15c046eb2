/* liveprocess.c - looks into the spools of running processes.
 * SPDX-License-Identifier: MIT */
#include "liveprocess.h"

#include <dftracer/spool.h>
#include <dirent.h>
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

#include "command/trace/suffix.h"
#include "spool/record.h"

typedef struct spool_view {
  const char *base;
  size_t bytes; /* in use */
  const dft__header *header;
  uint64_t now_ns;
} spool_view;

/* ---- Parts of a spool ------------------------------------------------------------------------------------------------- */

static const void *at_offset(const spool_view *spool, uint64_t offset, size_t size) {
  return offset >= DFT__HEADER_BYTES && offset <= spool->bytes && spool->bytes - offset >= size ? spool->base + offset
                                                                                                : NULL;
}

static const dft__name *name_at(const spool_view *spool, uint64_t ref) {
  return ref <= UINT32_MAX ? at_offset(spool, ref * 16, sizeof(dft__name)) : NULL;
}

static void copy_name(const spool_view *spool, uint64_t ref, char *out, size_t room) {
  const dft__name *name = name_at(spool, ref);
  uint32_t len = name ? name->len : 0;
  size_t kept = len < room - 1 ? len : room - 1;
  out[0] = '\0';
  if (!name || !at_offset(spool, ref * 16, sizeof *name + len)) return;
  for (size_t i = 0; i < kept; i++) out[i] = (unsigned char)name->text[i] < ' ' ? '?' : name->text[i];
  out[kept] = '\0';
}

/* Keeps the latest I/O call. Its first argument is the reference of its path. */
static void note_call(live_process *process, const spool_view *spool, const dft__record *record, uint64_t *latest) {
  const dft__name *site = name_at(spool, record->site);
  char cat[8];
  dft__item item;
  uint64_t file;
  memcpy(&item, record->args, sizeof item);
  memcpy(&file, record->args + sizeof item, sizeof file);
  if (record->end < *latest || dft__item_type(&item) != DFT_PATH || dft__item_is_text(&item) || !site) return;
  copy_name(spool, site->cat, cat, sizeof cat);
  if (strcmp(cat, "POSIX") != 0 && strcmp(cat, "STDIO") != 0) return;
  *latest = record->end;
  copy_name(spool, record->site, process->call, sizeof process->call);
  copy_name(spool, file, process->file, sizeof process->file);
}

static uint64_t count_records(live_process *process, const spool_view *spool, const dft__chunk *chunk,
                              uint64_t *latest) {
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
    if (is_record && dft__head_kind(head) == DFT__KIND_COMPLETE) note_call(process, spool, &cells[cell], latest);
    cell += cells_of_it ? cells_of_it : 1;
  }
  return count;
}

static void read_thread(live_process *process, const spool_view *spool, const dft__thread *thread) {
  uint64_t area = thread->frames;
  uint32_t depth = thread->depth;
  const dft__frame *frames = at_offset(spool, dft__area_offset(area), depth * sizeof *frames);
  live_thread *shown = &process->threads[process->thread_count];
  if (!depth || depth > dft__area_room(area) || !frames) return;
  process->thread_count++;
  if (process->thread_count > LIVE_THREADS) return;
  shown->tid = thread->tid;
  shown->depth = depth;
  shown->count = 0;
  for (uint32_t i = depth > LIVE_REGIONS ? depth - LIVE_REGIONS : 0; i < depth; i++) {
    live_region *region = &shown->regions[shown->count];
    uint64_t start = dft__epoch_ns(&spool->header->clock, frames[i].start);
    if (!frames[i].id || !frames[i].site) continue;
    copy_name(spool, frames[i].site, region->name, sizeof region->name);
    region->seconds = spool->now_ns > start ? (double)(spool->now_ns - start) * 1e-9 : 0;
    if (region->name[0]) shown->count++;
  }
  if (!shown->count) process->thread_count--;
}

static void read_chunks(live_process *process, const spool_view *spool) {
  const uint64_t page = UINT64_C(1) << DFT__CHUNK_LOG_MIN;
  uint64_t latest = 0, ended;
  for (uint64_t offset = DFT__HEADER_BYTES; offset + page <= spool->bytes;) {
    const dft__chunk *chunk = (const dft__chunk *)(const void *)(spool->base + offset);
    uint32_t log = chunk->size_log;
    if (chunk->magic != DFT__CHUNK_MAGIC || log < DFT__CHUNK_LOG_MIN || log > DFT__CHUNK_LOG_MAX ||
        offset + (UINT64_C(1) << log) > spool->bytes) {
      offset += page;
      continue;
    }
    if (chunk->use == DFT__USE_RECORDS) process->waiting += count_records(process, spool, chunk, &latest);
    if (chunk->use == DFT__USE_THREAD && dft__status_state(chunk->status) != DFT__FREE) {
      read_thread(process, spool, (const dft__thread *)(const void *)(chunk + 1));
    }
    offset += UINT64_C(1) << log;
  }
  ended = dft__epoch_ns(&spool->header->clock, latest);
  process->call_seconds = spool->now_ns > ended ? (double)(spool->now_ns - ended) * 1e-9 : 0;
}

/* ---- A spool ---------------------------------------------------------------------------------------------------------- */

static void read_header(live_process *process, const spool_view *spool) {
  const dft__header *header = spool->header;
  const dft__commit *commit = &header->commit[header->commit_seq & 1];
  uint64_t opened = dft__epoch_ns(&header->clock, header->opened_ticks);
  snprintf(process->host, sizeof process->host, "%.*s", (int)sizeof process->host - 1, header->host);
  process->pid = header->pid;
  process->rank = header->rank;
  process->dropped = header->dropped;
  process->events = header->commit_seq ? commit->events : 0;
  process->written_bytes = header->commit_seq ? commit->bytes[0] : 0;
  process->age = spool->now_ns > opened ? (double)(spool->now_ns - opened) * 1e-9 : 0;
}

static void read_program(live_process *process) {
  char path[64];
  FILE *file;
  snprintf(path, sizeof path, "/proc/%u/comm", process->pid);
  file = process->is_alive == 1 ? fopen(path, "re") : NULL;
  if (file && fgets(process->program, sizeof process->program, file))
    process->program[strcspn(process->program, "\n")] = '\0';
  if (file) fclose(file);
}

/* What the kernel counts. A process of another user, or one that has ended, has no numbers. */
static void read_traffic(live_process *process) {
  char path[64], line[128];
  unsigned long long bytes;
  int found = 0;
  FILE *file;
  snprintf(path, sizeof path, "/proc/%u/io", process->pid);
  file = process->is_alive == 1 ? fopen(path, "re") : NULL;
  while (file && fgets(line, sizeof line, file)) {
    if (sscanf(line, "rchar: %llu", &bytes) == 1) process->read_bytes = bytes, found++;
    if (sscanf(line, "wchar: %llu", &bytes) == 1) process->write_bytes = bytes, found++;
  }
  if (file) fclose(file);
  process->has_traffic = found == 2;
  process->write_bytes -= process->write_bytes < process->written_bytes ? process->write_bytes : process->written_bytes;
}

/* A claim points to a spool elsewhere when its own file system is not local. */
static int open_spool(const char *claim) {
  char path[PATH_MAX];
  return dft_spool_find(claim, path, sizeof path) ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
}

/* Maps the spool read-only; NULL when it cannot be. */
static void *map_spool(const char *path, size_t *bytes) {
  int fd = open_spool(path);
  struct stat facts;
  void *map = MAP_FAILED;
  if (fd < 0) return NULL;
  if (fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size >= (off_t)DFT__HEADER_BYTES) {
    *bytes = (size_t)facts.st_size;
    map = mmap(NULL, *bytes, PROT_READ, MAP_SHARED, fd, 0);
  }
  close(fd);
  return map == MAP_FAILED ? NULL : map;
}

int live_process_read(live_process *process, const char *path) {
  size_t mapped = 0;
  void *map = map_spool(path, &mapped);
  spool_view spool = {.base = map, .bytes = mapped, .header = map};
  struct timespec now;
  int is_spool;
  memset(process, 0, sizeof *process);
  snprintf(process->path, sizeof process->path, "%s", path);
  if (!map) return 0;
  clock_gettime(CLOCK_REALTIME, &now);
  spool.now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
  is_spool = memcmp(spool.header->magic, DFT__MAGIC, 8) == 0 && spool.header->layout == DFT__LAYOUT;
  if (is_spool) {
    uint64_t top = spool.header->top, allocated = spool.header->file_bytes;
    if (allocated < spool.bytes) spool.bytes = (size_t)allocated;
    if (top < spool.bytes) spool.bytes = (size_t)top;
    read_header(process, &spool);
    process->is_alive = dft_spool_is_alive(path);
    read_program(process);
    read_traffic(process);
    read_chunks(process, &spool);
    process->events += process->waiting;
  }
  munmap(map, mapped);
  return is_spool;
}

int live_process_each(char *folder, void (*call)(const char *spool, void *context), void *context) {
  char *paths[] = {folder, NULL};
  DIR *readable = opendir(folder); /* fts_open would not fail */
  FTS *walk = readable ? fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_COMFOLLOW, NULL) : NULL;
  FTSENT *entry;
  if (readable) closedir(readable);
  if (!walk) return 0;
  while ((entry = fts_read(walk)) != NULL) {
    if (entry->fts_info != FTS_F || !ends_with(entry->fts_name, DFT_SPOOL_SUFFIX)) continue;
    if (dft_spool_is_folder(entry->fts_parent->fts_name)) call(entry->fts_path, context);
  }
  fts_close(walk);
  return 1;
}
