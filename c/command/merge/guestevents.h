/* guestevents.h - the events of other profilers, such as torch.profiler, in a timeline. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_GUESTEVENTS_H
#define DFTRACER_GUESTEVENTS_H

#include "timeline.h"

/* Adds a file in Chrome's format, the guest with this number (1, 2 ...). Its events go to the track of the process with the
 * same rank and pid, if there is one. Zero, after a message, when the file cannot be read completely. */
int guestevents_add(timeline *merged, const char *command, const char *path, uint32_t number);

#endif
