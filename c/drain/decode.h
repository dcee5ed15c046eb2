/* decode.h - one record of the spool as one event.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_DECODE_H
#define DFT_DECODE_H

#include "batch.h"

/* Decodes the record at this cell. Zero when it is not a record; the caller then skips the cell. Sets *cells to the length. */
int dft__decode_record(dft_batch *batch, const dft__chunk *chunk, uint32_t cell, uint32_t end, uint32_t gen,
                       dft_event *event, uint32_t *cells);

/* Fills in name and category of a site; leaves them alone when the reference is bad. */
void dft__decode_site(dft_batch *batch, uint32_t site, dft_event *event);

/* Adds `len` bytes of items to the values of the batch. Checks everything, because the memory may be damaged. */
void dft__decode_items(dft_batch *batch, const uint8_t *items, uint32_t len, dft_event *event);

/* Adds a value of our own. Texts are not copied. */
void dft__add_text(dft_batch *batch, const char *key, const char *text, size_t len);
void dft__add_number(dft_batch *batch, const char *key, uint32_t type, uint64_t number);

/* The name of a site or text; "" when the reference is bad. */
dft_text dft__text_at(const dft__spool *spool, uint32_t ref);

#endif
