/* loop.h - loops whose items are recorded. The iterable may be an asynchronous one.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_PYTHON_LOOP_H
#define DFT_PYTHON_LOOP_H

#include "state.h"

PyObject *loop_without_events(PyObject *iterable);
/* NULL as label: these events are not recorded. */
PyObject *loop_of_node(Profile *profile, PyObject *iterable, Label *iter_label, Label *block_label);
/* `key`: the name of the argument that counts the items. */
PyObject *loop_of_fn(Profile *profile, PyObject *iterable, Label *iter_label, Label *yield_label, PyObject *key);
/* Before these values are set: completes the loops of this thread that hold their last item, if it is of another epoch. */
void loop_epoch_begins(const Arguments *values);
/* In a forked child: they are its parent's. */
void loop_forget_ready(void);
/* native._fetching() */
PyObject *loop_fetching(PyObject *module, PyObject *ignored);
extern PyType_Spec loop_spec;

#endif
