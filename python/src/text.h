/* text.h - Python objects as UTF-8 text for the core.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_PYTHON_TEXT_H
#define DFT_PYTHON_TEXT_H

#include "native.h"

/* A str that can be encoded, from any object. It leaves no exception set; NULL: out of memory. */
PyObject *text_from(PyObject *value);

typedef struct Text {
  PyObject *owner;
  const char *text;
  size_t len;
} Text;

/* NULL as `value` gives "". Returns 0 without memory. Call text_close in any case. */
int text_open(Text *text, PyObject *value);
/* Also clears an exception. */
void text_close(Text *text);

#endif
