/* sinks.c - the table of built-in sinks, made of the rows in sinks.h.
 * SPDX-License-Identifier: MIT */
#include "sinks.h"

#define ADDRESS(name) &dft__sink_##name,
const dft_sink *const dft__sinks[] = {DFT__SINK_LIST(ADDRESS) NULL};
