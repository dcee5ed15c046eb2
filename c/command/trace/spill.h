/* spill.h - what does not fit in memory: one file in $TMPDIR, else in /tmp, that has no name and vanishes with the process.
 * From any thread. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SPILL_H
#define DFTRACER_SPILL_H

#include <stddef.h>
#include <stdint.h>

#define SPILL_NOWHERE (-1)

/* Writes the bytes to *place, where as many were written before; SPILL_NOWHERE: to a new place, which *place then is. 0: the
 * file cannot be written. */
int spill_write(int64_t *place, const void *bytes, size_t len);
int spill_read(int64_t place, void *bytes, size_t len); /* 0: the file cannot be read */

/* Memory that is held before anything is spilled. All that can spill shares one limit. */
#define SPILL_LIMIT (64u << 20)
void spill_set_limit(uint64_t bytes);
void spill_hold(uint64_t bytes); /* counts memory as held */
void spill_release(uint64_t bytes);
/* Whether `more` may be held as well, of `share` times the limit. */
int spill_is_within(uint64_t more, double share);

/* The errno of the first failure; 0: there was none. */
int spill_error(void);
/* Another such file, for the caller alone. -1, with errno: there is none. */
int spill_new_file(void);
/* The folder that these files are in. */
const char *spill_folder(void);

#endif
