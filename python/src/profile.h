/* profile.h - the base type of dft_fn and of the nodes of the ai tree.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_PYTHON_PROFILE_H
#define DFT_PYTHON_PROFILE_H

#include "state.h"

PyObject *profile_new(PyTypeObject *type, PyObject *args, PyObject *keywords);
/* Gives a new object its label (taken over), values and switch. NULL as label means that an exception is set: returns -1. */
int profile_setup(Profile *profile, Label *label, const Values *values, int enable);
void profile_dealloc(PyObject *self);
/* For types that keep the memory of dead objects: fills a new one, and empties a dead one. What profile_begin does not set
 * is zero. */
void profile_begin(Profile *profile);
void profile_finish(PyObject *self);
int profile_traverse(PyObject *self, visitproc visit, void *arg);
int profile_clear(PyObject *self);

/* For pickling: the state as a tuple whose last item is `children`, and back. profile_load returns -1 with an exception; it
 * sets `children` to a borrowed reference. */
PyObject *profile_dump(PyObject *self, PyObject *children);
int profile_load(PyObject *self, PyObject *given, PyObject **children);

/* Its name or its category, as the program gave it; for a table of attributes. */
PyObject *profile_label(PyObject *self, void *is_name);

PyObject *profile_enter(PyObject *self, PyObject *ignored);
PyObject *profile_exit(PyObject *self, PyObject *const *args, Py_ssize_t count);
/* __enter__ and __exit__; bound.c gives them to the type. */
extern PyMethodDef block_methods[2];
extern PyType_Spec profile_spec;

#endif
