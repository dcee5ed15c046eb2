/* sinkspec.h - sinks as DFTRACER_SINK names them: NAME, NAME:OPTIONS, /path/x.so or /path/x.so:OPTIONS, with commas between
 * them.
 *
 * The rest of the core knows sinks by what this file says of them, and none by its name.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_SINKSPEC_H
#define DFT_SINKSPEC_H

#include <dftracer/sink.h>

#include "spool/record.h"

/* Whether the sink has this member: its header may be older than ours. */
#define DFT__SINK_REACHES(sink, member) ((sink)->struct_size >= offsetof(dft_sink, member) + sizeof(sink)->member)
#define DFT__SINK_HAS(sink, member) (DFT__SINK_REACHES(sink, member) && (sink)->member != NULL)

/* The sink of one spec. NULL, and the reason in `why`, when there is none. `load` also asks the sink whether it can be used
 * with these options. */
const dft_sink *dft__sinkspec_find(const char *spec, char *why, size_t size);
const dft_sink *dft__sinkspec_load(const char *spec, char *why, size_t size);
/* What stands behind the name or path and a colon; "" when there is nothing. */
const char *dft__sinkspec_options(const char *spec);
/* Whether it names a shared object. */
int dft__sinkspec_is_outside(const char *spec);

/* The first of the specs whose sink has this name, copied to `spec`; then of the built-in sinks. NULL when there is none. Loads
 * the shared objects of all specs up to that one. */
const dft_sink *dft__sinkspec_named(const char *specs, const char *name, char *spec, size_t size);

/* A value of DFTRACER_SINK with absolute paths. */
void dft__sinkspec_list(const char *from, char *specs, size_t size);

/* Fills in the sinks of DFTRACER_SINK that can be used, in the order of their outputs; the default sink when there is none. Reports
 * those that cannot. */
void dft__sinkspec_choose(dft__header *header);

/* The suffixes under which built-in sinks publish, from 0 on; NULL behind the last. */
const char *dft__sinkspec_suffix(size_t index);
/* The length of the longest of them that the name ends with; 0: none. */
size_t dft__sinkspec_suffix_len(const char *name);

#endif
