/* functionname.h - names of functions, from the symbol tables of the files that hold them.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_FUNCTIONNAME_H
#define DFT_FUNCTIONNAME_H

#include <dftracer/sink.h>

/* The name that an event shows. For a site that is an address it is the symbol, or FILE+0xADDRESS when there is none, or when
 * the file changed after `opened_ns` (since the epoch); other names stay as they are. Never calls malloc. */
dft_text dft__function_name(dft_text name, int64_t opened_ns);

#endif
