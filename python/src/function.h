/* function.h - decorated functions.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_PYTHON_FUNCTION_H
#define DFT_PYTHON_FUNCTION_H

#include "native.h"

enum wrap_kind { WRAP_NODE, WRAP_LOG, WRAP_INIT, WRAP_STATIC };
#define WRAP_INNER 8 /* added to a kind: the part inside the Python function around a coroutine function */

/* Wraps a function, or the one inside a staticmethod, classmethod or property. name: the event's name, or NULL. */
PyObject *function_wrap(PyObject *profile, PyObject *callable, enum wrap_kind kind, PyObject *name);
extern PyType_Spec function_spec;

#endif
