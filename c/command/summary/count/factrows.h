/* factrows.h - what a trace says of itself: the arguments of its events start and end, and its metadata.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_FACTROWS_H
#define DFTRACER_FACTROWS_H

#include "analysis.h"

/* A number, or a text that is one: older tracers write "epoch":"1". */
int64_t cell_integer(const dft_cell *cell, int64_t otherwise);

/* A row of metadata. */
void fact_rows_metadata(analysis *shared, const dft_rows *rows, uint32_t row);
/* An event start or end: it counts whether or not it is in the time that was asked for. */
void fact_rows_bookkeeping(analysis *shared, tally *counts, trace_life *life, const dft_rows *rows, uint32_t row);

#endif
