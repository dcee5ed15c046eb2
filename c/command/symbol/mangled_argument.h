/* mangled_argument.h - arguments of templates: types, values, and expressions. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_MANGLED_ARGUMENT_H
#define DFTRACER_MANGLED_ARGUMENT_H

#include "mangled.h"

dft_text mangled_template_arguments(mangled *name, int are_of_function); /* "<int, 3>" */
dft_text mangled_expression(mangled *name);

#endif
