/* delta.h - values of a column as differences: each minus the one before, in as few bytes as it needs.
 *
 * Small and fast; not the form of the HDF5 file. Bytes and doubles are copied as they are.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_H5_DELTA_H
#define DFTRACER_H5_DELTA_H

#include "schema.h"

#define DFT__H5_DELTA_MOST 10u /* bytes of one value */

/* Writes `count` values; returns the end. There is room for DFT__H5_DELTA_MOST bytes each. */
uint8_t *dft__h5_delta_put(uint8_t *at, uint32_t type, const void *values, size_t count);
/* Reads them; returns the end, or NULL when the bytes until `end` do not hold so many. */
const uint8_t *dft__h5_delta_get(const uint8_t *at, const uint8_t *end, uint32_t type, void *values, size_t count);

#endif
