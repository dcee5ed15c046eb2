/* mangled_name.h - names: simple, nested, local to a function. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_MANGLED_NAME_H
#define DFTRACER_MANGLED_NAME_H

#include "mangled.h"

/* What follows a name depends on it. */
typedef struct name_facts {
  int is_template; /* ends with arguments of a template */
  int is_special;  /* a constructor, destructor or conversion: has no return type */
  dft_text suffix; /* " const &": of the function */
} name_facts;

dft_text mangled_name(mangled *name, name_facts *facts); /* of a function or a variable */
dft_text mangled_simple_name(mangled *name);
type_text mangled_class_type(mangled *name);

#endif
