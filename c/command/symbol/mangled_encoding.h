/* mangled_encoding.h - a whole symbol: a function, a variable, or what a compiler made for one. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_MANGLED_ENCODING_H
#define DFTRACER_MANGLED_ENCODING_H

#include "mangled.h"

dft_text mangled_encoding(mangled *name, enum parameter_use parameters);

#endif
