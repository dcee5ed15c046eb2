/* bookkeeping.h - events that have no record, and how a trace opens.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_BOOKKEEPING_H
#define DFT_BOOKKEEPING_H

#include "batch.h"

/* The next event of the opening; 0 when there is no other. */
int dft__bookkeeping_opening(dft_batch *batch, dft_event *event);

/* Begins such an event: values follow, and then dft__bookkeeping_finish. */
void dft__bookkeeping_event(dft_batch *batch, dft_event *event, uint64_t id, const char *name, uint32_t phase);
void dft__bookkeeping_finish(dft_batch *batch, dft_event *event);

/* The next id for an event that has no record. */
uint64_t dft__bookkeeping_id(dft_batch *batch);
/* A metadata event with a name and, unless it is empty, a value. The texts are not copied. */
void dft__bookkeeping_metadata(dft_batch *batch, dft_event *event, uint64_t id, const char *kind, dft_text name,
                               dft_text value);

#endif
