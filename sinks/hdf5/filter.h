/* filter.h - HDF5's filters shuffle and deflate, done here: the result is the chunk as it stands in the file.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_H5_FILTER_H
#define DFTRACER_H5_FILTER_H

#include <stddef.h>
#include <stdint.h>

/* Memory for one chunk on its way. */
typedef struct dft__h5_filter dft__h5_filter;

dft__h5_filter *dft__h5_filter_make(int level);
void dft__h5_filter_free(dft__h5_filter *filter);

/* Room for a chunk of values of this size. */
size_t dft__h5_filter_bound(size_t size);
/* DFT__H5_ROWS values of `size` bytes each become one chunk; its length, 0 when that failed. */
size_t dft__h5_filter_pack(dft__h5_filter *filter, const void *values, size_t size, uint8_t *out, size_t room);
/* The way back; zero when it is no such chunk. */
int dft__h5_filter_unpack(dft__h5_filter *filter, const uint8_t *packed, size_t len, size_t size, void *values);

#endif
