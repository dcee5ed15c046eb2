/* memory.h - what the memory sink collected, for tests.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SINK_MEMORY_H
#define DFTRACER_SINK_MEMORY_H

#include <stddef.h>

/* Hands over the lines collected so far, one JSON object each, terminated; the collection is empty afterwards. The
 * caller frees. NULL when there are none. len may be NULL. Not to be called while a trace is open. */
char *dft__memory_take(size_t *len);

/* Forgets them. */
void dft__memory_reset(void);

#endif
