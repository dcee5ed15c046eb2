/* eventcalls.h - the functions of the native module that record events by themselves, and their times.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_PYTHON_EVENTCALLS_H
#define DFT_PYTHON_EVENTCALLS_H

#include "native.h"

extern PyMethodDef event_call_methods[];

#endif
