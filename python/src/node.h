/* node.h - the type DFTracerAI.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_PYTHON_NODE_H
#define DFT_PYTHON_NODE_H

#include "native.h"

extern PyType_Spec node_spec;

#endif
