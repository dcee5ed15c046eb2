/* feed.h - hands out the events of a batch. Sinks pull them with dft_batch_next (dftracer/sink.h).
 * SPDX-License-Identifier: MIT */
#ifndef DFT_FEED_H
#define DFT_FEED_H

#include "batch.h"

/* Nonzero when a sink has pulled all that the batch hands out, and seen that. */
int dft__feed_is_over(const dft_batch *batch);

/* Nonzero when the spool holds an event of the program that no commit covers. */
int dft__feed_has_events(dft__spool *spool);

#endif
