/* main.c - h5join: makes HDF5 files. The only program of dftracer that is linked to libhdf5; the library runs it.
 *
 *   h5join join SEGMENTS LENGTH OUT     a new file OUT from the first LENGTH bytes of a segment file
 *   h5join split FILE SEGMENTS          a segment file of an HDF5 file of one process
 *   h5join virtual OUT FILE...          a new file OUT that shows the tables of many as one, without a copy
 *
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "codec/gzip.h"
#include "h5.h"

/* ---- The first walk: how much there is ---------------------------------------------------------------------------- */

static void count_names(job *own) {
  const dft__h5_record *record = &own->walk.record;
  uint8_t *bytes = need_memory(malloc(record->bytes + 1));
  uint64_t at = 0;
  if (record->first != own->name_count || !dft__h5_walk_read(&own->walk, bytes, record->bytes))
    fail("%s is damaged: names", own->from);
  for (uint32_t i = 0; i < record->count; i++) {
    uint32_t len;
    if (record->bytes - at < sizeof len) fail("%s is damaged: names", own->from);
    memcpy(&len, bytes + at, sizeof len);
    at += sizeof len;
    if (len > record->bytes - at) fail("%s is damaged: names", own->from);
    if (name_bytes(bytes + at, len) > own->name_width) own->name_width = name_bytes(bytes + at, len);
    at += len;
  }
  own->name_count += record->count;
  free(bytes);
}

static void keep_process(job *own) {
  const dft__h5_record *record = &own->walk.record;
  dft__h5_process *process;
  if (record->what > own->process_count || record->bytes != sizeof *process)
    fail("%s is damaged: processes", own->from);
  if (record->what == own->process_count) {
    own->processes = need_memory(realloc(own->processes, (own->process_count + 1) * sizeof *process));
    own->process_count++;
  }
  process = &own->processes[record->what];
  if (!dft__h5_walk_read(&own->walk, process, sizeof *process)) fail("%s cannot be read", own->from);
  process->unit[sizeof process->unit - 1] = '\0';
  process->host[sizeof process->host - 1] = '\0';
  process->host_hash[sizeof process->host_hash - 1] = '\0';
  process->source[sizeof process->source - 1] = '\0';
}

static void read_head(job *own) {
  if (dft__h5_walk_next(&own->walk) <= 0 || own->walk.record.kind != DFT__H5_HEAD ||
      own->walk.record.bytes != sizeof own->head || !dft__h5_walk_read(&own->walk, &own->head, sizeof own->head))
    fail("%s is not a segment file", own->from);
  if (own->head.schema != DFT__H5_SCHEMA) fail("%s is of another version of dftracer", own->from);
}

static void count(job *own) {
  int found;
  read_head(own);
  if (!dft__h5_tables_make(&own->tables, NULL, own->head.level, own->head.is_job)) fail("no memory");
  while ((found = dft__h5_walk_next(&own->walk)) > 0) {
    if (own->walk.record.kind == DFT__H5_NAMES) count_names(own);
    else if (own->walk.record.kind == DFT__H5_PROCESS) keep_process(own);
    else if (own->walk.record.kind == DFT__H5_CHUNK && !dft__h5_tables_take_chunk(&own->tables, &own->walk.record))
      fail("%s is damaged: chunks", own->from);
  }
  if (found < 0) fail("%s is damaged", own->from);
  own->walk.next = 0;
  while (dft__h5_walk_next(&own->walk) > 0) {
    if (own->walk.record.kind == DFT__H5_TAIL && !dft__h5_tables_take_tail(&own->tables, &own->walk))
      fail("%s is damaged: tails", own->from);
  }
  if (!own->process_count) {
    own->processes = need_memory(calloc(1, sizeof own->processes[0]));
    own->processes[0].rank = -1;
    own->process_count = 1;
  }
  if (!own->processes[0].unit[0]) memcpy(own->processes[0].unit, "US", 3);
}

/* Ranks of the rows that fill no chunk; those of whole chunks are filled in when they are copied. */
static void fill_last_ranks(job *own) {
  if (!own->head.is_job) return;
  memcpy(own->tables.data[DFT__H5_EVENTS_rank], own->tables.data[DFT__H5_EVENTS_process], (size_t)DFT__H5_ROWS * 4);
  fill_ranks(own, own->tables.data[DFT__H5_EVENTS_rank]);
}

/* ---- Main --------------------------------------------------------------------------------------------------------- */

/* A file of that name is what an h5join left that was killed with its program, perhaps at this very moment. */
static hid_t create(const char *path, hid_t access) {
  for (int tries = 0; tries < 10; tries++) {
    hid_t file;
    remove(path);
    file = H5Fcreate(path, H5F_ACC_EXCL, H5P_DEFAULT, access);
    if (file >= 0) return file;
    usleep(1000);
  }
  remove(path);
  return need(H5Fcreate(path, H5F_ACC_EXCL, H5P_DEFAULT, access), path);
}

static void join(const char *from, const char *length, const char *to) {
  job own = {.from = from, .to = to};
  hid_t access;
  char *end;
  uint64_t bytes = strtoull(length, &end, 10);
  if (*end || !dft__h5_walk_open(&own.walk, from, bytes)) fail("%s: %s", from, strerror(errno));
  count(&own);
  fill_last_ranks(&own);
  access = need(H5Pcreate(H5P_FILE_ACCESS), to);
#if H5_VERSION_GE(1, 10, 7)
  H5Pset_file_locking(access, 0, 1); /* nobody else knows the name, and not every file system has locks */
#endif
  own.file = create(to, access);
  remove_on_failure(to);
  own.layout = own.head.is_table ? "table" : "columns";
  write_facts(&own);
  if (own.head.is_table) write_tables(&own);
  else write_columns(&own);
  write_names(&own);
  write_processes(&own);
  need(H5Fclose(own.file), to);
  H5Pclose(access);
  dft__h5_walk_close(&own.walk);
  dft__h5_tables_free(&own.tables);
  free(own.processes);
}

/* The library has blocked every signal, and left them so for exec. */
static void take_signals(void) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  signal(SIGXFSZ, SIG_IGN); /* a file too large is an error, told in a message */
  signal(SIGPIPE, SIG_IGN);
}

/* A row of segments is open as a whole. */
static void take_descriptors(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int argc, char **argv) {
  take_signals();
  take_descriptors();
  dft__gzip_load();
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  if (argc == 5 && strcmp(argv[1], "join") == 0) {
    join(argv[2], argv[3], argv[4]);
  } else if (argc == 4 && strcmp(argv[1], "split") == 0) {
    split(argv[2], argv[3]);
  } else if (argc >= 4 && strcmp(argv[1], "virtual") == 0) {
    write_virtual(argv[2], argv + 3, argc - 3);
  } else {
    puts("usage: h5join join SEGMENTS LENGTH OUT | h5join split FILE SEGMENTS | h5join virtual OUT FILE...");
    return 2;
  }
  return 0;
}
