/* chromelines.h - a file in Chrome's trace format, such as torch.profiler's, as lines that the reader can read.
 *
 * One line per event. A pair of B and E becomes one complete event. Times that count from baseTimeNanoseconds become times since
 * the epoch. Ids of processes and threads that are texts become numbers. Left out are the tracks on which torch.profiler marks
 * its own windows, because they are no processes. The rank is a line of metadata, as in our own traces. Memory is bounded by the
 * largest event and the depth of B.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_CHROMELINES_H
#define DFTRACER_CHROMELINES_H

/* Writes the lines to the descriptor of a file. If a part of the file cannot be read, a message for `command` says what, and
 * the lines end with one that the reader reports. `name` is that of the file in messages. Returns 0 or an errno. */
int chromelines_write(const char *command, const char *path, const char *name, int fd);

#endif
