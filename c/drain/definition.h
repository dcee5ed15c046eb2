/* definition.h - definitions of paths: the events that say which path a hash stands for.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_DEFINITION_H
#define DFT_DEFINITION_H

#include "batch.h"

/* Takes over the list of paths without a definition. */
void dft__definition_take(dft_batch *batch);
/* Gives them back: the batch was not written. */
void dft__definition_return(dft_batch *batch);

/* Another trace begins in this spool, so every path needs a definition again. No batch is on its way. */
void dft__definition_repeat(dft__spool *spool);

/* The next definition of that list; 0 when there is no other. */
int dft__definition_next(dft_batch *batch, dft_event *event);
/* The next definition of a path that came as text with the held event; 0 when there is no other. */
int dft__definition_of_text(dft_batch *batch, dft_event *event);

#endif
