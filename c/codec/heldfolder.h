/* heldfolder.h - a trace folder that an operation has in hand, so that nobody can put another one in its place.
 *
 * The path of a folder may lead elsewhere from one call to the next: who owns the folder above can replace it by a symbolic
 * link. So an operation opens the trace folder and the hidden folder in it once, checks them (spool/tracefolder.h), and holds
 * them. Meanwhile, on that thread, the functions below reach files that lie directly in one of the two through its descriptor.
 * They reach every other file by its path. They follow no link at the end of a path, and return what the system call does.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_HELDFOLDER_H
#define DFT_HELDFOLDER_H

#include <sys/stat.h>

typedef struct dft__held {
  const char *folder, *hidden; /* path, and name in it */
  int outer, inner;            /* descriptors of the two; -1: nothing can be reached there */
  const struct dft__held *before;
} dft__held;

/* From begin to end the folder is held on this thread. In between, another one may be held for a while. */
void dft__held_begin(dft__held *folder);
void dft__held_end(const dft__held *folder);

int dft__held_open(const char *path, int flags, mode_t mode);
int dft__held_stat(const char *path, struct stat *facts);
int dft__held_unlink(const char *path);
int dft__held_rmdir(const char *path);
int dft__held_rename(const char *from, const char *to);
/* Never replaces anything: -1 and EEXIST when the name is taken. */
int dft__held_rename_new(const char *from, const char *to);

/* The descriptor of the held folder that the file is in, and its name there; AT_FDCWD and its path when it is in none. For
 * programs that work on the file. */
int dft__held_place(const char *path, const char **name);

#endif
