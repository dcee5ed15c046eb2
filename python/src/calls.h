/* calls.h - the functions of the native module.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_PYTHON_CALLS_H
#define DFT_PYTHON_CALLS_H

#include "native.h"

extern PyMethodDef call_methods[];
/* Completes a trace that was opened here, at the very end of the interpreter. After an interrupt Python ends itself by the
 * signal, and no destructor runs. */
void finish_with_interpreter(void);

#endif
