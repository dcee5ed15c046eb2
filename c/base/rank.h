/* rank.h - rank, size and id of a launch, without MPI.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_RANK_H
#define DFT_RANK_H

#include <stddef.h>
#include <stdint.h>

/* From the launcher's variables, and DFTRACER_RANK; -1 where there are none. */
void dft__rank_find(int32_t *rank, int32_t *size);

/* Of a launch with several ranks: what its launcher calls it, cut to the size, and the length of that; 0 when there is no such
 * launch, or its variables do not tell it from the next one. */
size_t dft__rank_launch(char *text, size_t size);
/* And the variable that has its rank; NULL when there is no such launch. */
const char *dft__rank_variable(void);

#endif
