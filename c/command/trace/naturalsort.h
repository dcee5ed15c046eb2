/* naturalsort.h - sorts records that consist of few sorted runs. Keeps the order of equal records.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_NATURALSORT_H
#define DFTRACER_NATURALSORT_H

#include "runmerge.h"

int natural_sort(void *records, uint32_t count, size_t record_bytes, record_compare *compare); /* 0: no memory */

#endif
