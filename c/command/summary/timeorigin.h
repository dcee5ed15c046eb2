/* timeorigin.h - what --from and --to count from: the start of the run that a trace belongs to.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_TIMEORIGIN_H
#define DFTRACER_TIMEORIGIN_H

#include <dftracer/reader.h>

/* By number of a source. Reads the traces, because only then it is known which runs they are of. The caller frees it. NULL: no
 * memory, or no room for the spill. */
int64_t *time_origins(dft_reader *reader, int threads);

#endif
