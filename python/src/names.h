/* names.h - the keywords that many calls take, and their values in one call.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_PYTHON_NAMES_H
#define DFT_PYTHON_NAMES_H

#include "native.h"

#define NAME_LIST(X) X(fn) X(epoch) X(step) X(image_idx) X(image_size) X(args) X(enable)
enum name {
#define NAME_ENUM(name) NAME_##name,
  NAME_LIST(NAME_ENUM)
#undef NAME_ENUM
    NAME_COUNT,
};
#define NAMED_FIRST NAME_epoch
#define NAMED_COUNT 4 /* epoch, step, image_idx, image_size */

/* Interned strings, so that most comparisons are of pointers. */
extern PyObject *native_name[NAME_COUNT];
/* Makes them, once; returns -1 with an exception. */
int names_make(void);

/* The values of one call, borrowed; NULL: not given. */
typedef struct Values {
  PyObject *at[NAME_COUNT];
} Values;

/* Positional arguments fill the places from `first` on, at most `most`; keywords those up to `last`. For any other arguments
 * it sets an exception and returns -1. */
int values_parse(Values *values, const char *function, int first, int last, int most, PyObject *const *args,
                 Py_ssize_t count, PyObject *keywords);

#endif
