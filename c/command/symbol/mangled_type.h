/* mangled_type.h - types. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_MANGLED_TYPE_H
#define DFTRACER_MANGLED_TYPE_H

#include "mangled.h"

type_text mangled_type(mangled *name);
type_text mangled_substitution(mangled *name);
type_text mangled_template_parameter(mangled *name);
dft_text mangled_parameters(mangled *name); /* "(int, char)" */
static inline dft_text mangled_type_text(mangled *name) {
  type_text type = mangled_type(name);
  return JOIN(name, type.left, type.right);
}

#endif
