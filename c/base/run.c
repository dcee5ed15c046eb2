/* run.c - which run this process belongs to.
 * SPDX-License-Identifier: MIT */
#include "run.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "hash.h"
#include "monotonic.h"
#include "rank.h"

#define ANCESTORS_MOST 4096
#define ENVIRONMENT_MOST (8 << 20) /* bytes of it that are read; Linux has at most 6 MiB */

/* ---- Environments ------------------------------------------------------------------------------------------------------- */

/* How far the variable that is being read agrees with a name. */
typedef struct match {
  const char *name;
  size_t at;
  int is_over; /* it is another one */
} match;

/* Takes the next byte of an environment. Nonzero when it completes NAME=. */
static int take(match *own, char byte) {
  if (!byte) {
    own->at = 0;
    own->is_over = 0;
    return 0;
  }
  if (own->is_over) return 0;
  if (!own->name[own->at]) {
    own->is_over = 1;
    return byte == '=';
  }
  own->is_over = own->name[own->at++] != byte;
  return 0;
}

/* Whether the process was started with one of two variables. Zero when that cannot be found out. */
static int was_given(uint32_t pid, const char *name, const char *other) {
  char bytes[4096], path[64];
  match matches[] = {{name, 0, 0}, {other, 0, 0}};
  size_t total = 0;
  int fd, is_found = 0;
  ssize_t got = 0;
  snprintf(path, sizeof path, "/proc/%u/environ", pid);
  fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  while (fd >= 0 && !is_found && total < ENVIRONMENT_MOST && (got = read(fd, bytes, sizeof bytes)) > 0) {
    for (ssize_t i = 0; i < got; i++) is_found |= take(&matches[0], bytes[i]) | take(&matches[1], bytes[i]);
    total += (size_t)got;
  }
  if (fd >= 0) close(fd);
  return is_found;
}

/* ---- Ancestors ---------------------------------------------------------------------------------------------------------- */

static int read_parent(const dft__process *process, dft__process *parent) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%u/stat", process->parent);
  return process->parent && dft__process_read(path, parent);
}

/* Shells put each job that is typed into a group of its own, and must not be stopped as jobs are. What they start in scripts stays
 * in their group, or leaves it itself, as timeout does. */
static int is_job_of(const dft__process *process, const dft__process *parent) {
  return parent->terminal && process->session == parent->session && process->group != parent->group &&
         parent->taken_signals >> (SIGTSTP - 1) & 1;
}

/* A traced Python program may have switched tracing on itself: its children know that it is traced. */
static int is_traced(const dft__process *process) {
  return process->pid == (uint64_t)dft__config_number(DFT__PARENT) ||
         was_given(process->pid, "DFTRACER_ENABLE", "DFTRACER_CONFIGURATION");
}

/* From this process up. */
static void find_launcher(dft__process *process, const char *rank) {
  dft__process parent;
  for (int i = 0; i < ANCESTORS_MOST && read_parent(process, &parent); i++) {
    *process = parent;
    if (!was_given(process->pid, rank, rank)) return;
  }
}

static void find_first(dft__process *process) {
  dft__process parent;
  for (int i = 0; i < ANCESTORS_MOST && read_parent(process, &parent); i++) {
    if (is_job_of(process, &parent) || !is_traced(&parent)) return;
    *process = parent;
  }
}

/* ---- The id ------------------------------------------------------------------------------------------------------------- */

static void put_hash(char *id, size_t size, uint64_t hash) {
  char text[17];
  dft__hex(text, hash);
  snprintf(id, size, "%s", text);
}

/* Zero when there is no text. One that is too long is replaced by its hash. */
static int put_text(char *id, size_t size, const char *text, size_t len) {
  if (len < size) memcpy(id, text, len + 1);
  else put_hash(id, size, dft__hash(text, len, 0));
  return len != 0;
}

static uint64_t hash_of_ancestor(const dft__identity *own) {
  const char *rank = dft__rank_variable();
  dft__process process = {0};
  uint64_t facts[3];
  if (!dft__process_read("/proc/self/stat", &process))
    process = (dft__process){.pid = own->pid, .start_ticks = dft__clock_ns()};
  else if (rank) find_launcher(&process, rank);
  if (!rank || is_traced(&process)) find_first(&process); /* a script that makes its own ranks is a part of their run */
  facts[0] = process.pid;
  facts[1] = process.start_ticks;
  facts[2] = own->pid_namespace;
  return dft__hash((const char *)facts, sizeof facts, dft__hash(own->boot_id, strlen(own->boot_id), 0));
}

void dft__run_find(char *id, size_t size, const dft__identity *own) {
  static uint64_t ancestor; /* the same in forked children */
  const char *given = dft__config_text(DFT__RUN_ID);
  char launch[512] = "";
  size_t len = dft__rank_launch(launch, sizeof launch);
  if (put_text(id, size, given, strlen(given)) || put_text(id, size, launch, len)) return;
  if (!ancestor) ancestor = hash_of_ancestor(own);
  put_hash(id, size, ancestor);
}
