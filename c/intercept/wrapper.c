/* wrapper.c - the wrappers that the rows of calls.inc make.
 * SPDX-License-Identifier: MIT */
#include "wrapper.h"

#define CALL(cat, action, type, name, params, args, subject, result, items) \
  DFT__WRAP(name, type, name, params, args, subject, result, items)
#define VARIANT(plain, type, symbol, params, args, subject, result, items) \
  DFT__WRAP(plain, type, symbol, params, args, subject, result, items)
#include "calls.inc"
