/* fn.h - the type dft_fn.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_PYTHON_FN_H
#define DFT_PYTHON_FN_H

#include "native.h"

extern PyType_Spec dft_fn_spec;

#endif
