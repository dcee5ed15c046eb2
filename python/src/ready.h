/* ready.h - an awaitable that is already done.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_PYTHON_READY_H
#define DFT_PYTHON_READY_H

#include "native.h"

PyObject *ready_new(PyObject *value);
extern PyType_Spec ready_spec;

#endif
