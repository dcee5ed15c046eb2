/* bound.h - __enter__ and __exit__ in a form that is bound cheaply.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_PYTHON_BOUND_H
#define DFT_PYTHON_BOUND_H

#include "native.h"

/* Gives the type block_methods[which]. */
int bound_install(PyTypeObject *type, int which);
extern PyType_Spec bound_spec, method_spec;

#endif
