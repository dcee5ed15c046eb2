/* rank.h - rank and size of the job, without MPI.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_RANK_H
#define DFT_RANK_H

#include <stdint.h>

/* From the launcher's variables, and DFTRACER_RANK; -1 where there are none. */
void dft__rank_find(int32_t *rank, int32_t *size);

#endif
