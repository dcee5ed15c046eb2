/* functionname.h - names of functions, from the symbol tables of the files that hold them.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_FUNCTIONNAME_H
#define DFT_FUNCTIONNAME_H

#include <dftracer/sink.h>

/* The name that an event shows for the name of its site: the symbol, or FILE+0xADDRESS where there is none; others as they
 * are. Files that changed after `opened_ns` (since the epoch) are not those that ran. Allocates nothing with malloc. */
dft_text dft__function_name(dft_text name, int64_t opened_ns);

#endif
