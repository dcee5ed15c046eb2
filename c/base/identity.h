/* identity.h - which process this is, and whether the one that left a spool is still alive.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_IDENTITY_H
#define DFT_IDENTITY_H

#include <stddef.h>
#include <stdint.h>

/* One process. Process ids are reused; together with the rest they are unique. */
typedef struct dft__identity {
  uint32_t pid;
  uint32_t ppid;
  uint64_t start_ticks;    /* field 22 of /proc/PID/stat */
  uint64_t pid_namespace;  /* inode of /proc/self/ns/pid; 0: unknown */
  uint64_t time_namespace; /* inode of /proc/self/ns/time, which shifts start_ticks; 0: unknown, or an old kernel */
  uint64_t image;          /* another one after each exec; the same in forked children */
  char boot_id[40];
  char host[72];
} dft__identity;

/* Of the calling process. What cannot be found out stays empty. */
void dft__identity_own(dft__identity *identity);

/* The same in a forked child, from its parent's: host and image stay. */
void dft__identity_renew(dft__identity *identity);
/* How long the process has existed, also before an exec; 0: unknown. */
uint64_t dft__identity_age_ns(const dft__identity *identity);

/* Only what is proved counts. A host name proves nothing: two clusters may have a node of the same name. */
enum dft__life {
  DFT__ALIVE,
  DFT__DEAD,
  DFT__UNKNOWN, /* of another node, boot or container, or the system did not answer */
};

/* `own` is the caller's. A spool of the caller's own pid is not judged here: it says ALIVE. */
enum dft__life dft__identity_life(const dft__identity *identity, const dft__identity *own);

/* What /proc says of a process. */
typedef struct dft__process {
  uint32_t pid, parent, group, session;
  int32_t terminal; /* 0: none */
  char state;
  uint64_t start_ticks;
  uint64_t taken_signals; /* ignored or caught; bit 0: signal 1 */
} dft__process;

/* Of a file /proc/PID/stat; 0 when it cannot be read, for whatever reason. */
int dft__process_read(const char *path, dft__process *process);

/* Reads a small file, such as those of /proc, and terminates it; returns its length, 0 when it cannot be read. */
size_t dft__read_file(const char *path, char *text, size_t size);

#endif
