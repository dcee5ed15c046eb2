/* plain.h - a decorated function while tracing is off.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_PYTHON_PLAIN_H
#define DFT_PYTHON_PLAIN_H

#include "native.h"

/* A Python function that runs the code of this one. */
PyObject *plain_function(PyObject *function);

#endif
