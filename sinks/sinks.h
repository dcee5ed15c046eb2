/* sinks.h - the sinks that are built into the library.
 *
 * A new sink is one folder here, one declaration below and one line in sinks.c.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SINKS_H
#define DFTRACER_SINKS_H

#include <dftracer/sink.h>

extern const dft_sink dft__sink_jsonl;
extern const dft_sink dft__sink_hdf5;
extern const dft_sink dft__sink_null;
extern const dft_sink dft__sink_memory;

/* All of them, the default first, ended by NULL. */
extern const dft_sink *const dft__sinks[];

/* There is much to encode: they get ready to be fast; aside: by a thread for which nobody waits. Never in a signal handler. */
void dft__sinks_prepare(void);
void dft__sinks_prepare_aside(void);

/* The built-in sink of this name; NULL when there is none. */
const dft_sink *dft__sink_find(const char *name, size_t len);

#endif
