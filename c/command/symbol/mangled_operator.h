/* mangled_operator.h - the codes of operators. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_MANGLED_OPERATOR_H
#define DFTRACER_MANGLED_OPERATOR_H

#include "mangled.h"

/* "+". *operands: how many it has in an expression; 0: it is written in another way. */
dft_text mangled_operator(mangled *name, int *operands);

#endif
