/* pathfilter.h - which paths are recorded: DFTRACER_DATA_DIR and DFTRACER_EXCLUDE_DIR.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_PATHFILTER_H
#define DFT_PATHFILTER_H

#include <stddef.h>

/* Whether a path is recorded, or only something below it may be. */
enum dft__wanted { DFT__WANTED_NOT = 0, DFT__WANTED_BELOW = 1, DFT__WANTED = 2 };
enum dft__wanted dft__filter_judge(const char *path, size_t len);
/* A quick first look at a path as the program wrote it. 0: neither the path nor anything below it is recorded.
 * Otherwise its length, or PATH_MAX when the length was not needed. */
size_t dft__filter_look(const char *path);
/* Reads the settings. Returns 0 when no path can be recorded. The caller holds the session's lock. */
int dft__filter_make(void);
/* Every path is recorded, apart from the excluded ones. */
int dft__filter_is_all(void);

#endif
