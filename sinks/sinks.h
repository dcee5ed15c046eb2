/* sinks.h - the sinks that are built into the library.
 *
 * A new sink is a folder beside this file and a row below.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SINKS_H
#define DFTRACER_SINKS_H

#include <dftracer/sink.h>

/* One row a sink, the default first. A row NAME stands for the const dft_sink dft__sink_NAME. */
#define DFT__SINK_LIST(ROW) \
  ROW(jsonl)                \
  ROW(hdf5)                 \
  ROW(null)                 \
  ROW(memory)

#define DFT__SINK_DECLARE(name) extern const dft_sink dft__sink_##name;
DFT__SINK_LIST(DFT__SINK_DECLARE)

/* All of them, ended by NULL. */
extern const dft_sink *const dft__sinks[];

#endif
