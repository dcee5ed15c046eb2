/* jsonl_salvage.h - a trace whose spool is gone: what its lines hold.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_JSONL_SALVAGE_H
#define DFTRACER_JSONL_SALVAGE_H

#include <dftracer/sink.h>

/* Cuts off what is torn and adds an `end` that says spool_lost. */
dft_status dft__jsonl_salvage(const dft_sink_target *target, dft_salvaged *salvaged, char *why, size_t size);

#endif
