/* label.h - name and category of events. A node and every node detached from it share one.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_PYTHON_LABEL_H
#define DFT_PYTHON_LABEL_H

#include "native.h"

typedef struct Label {
  long refs;
  PyObject *name; /* as given */
  PyObject *cat;
  PyObject *name_text; /* as the core gets it: always encodable */
  PyObject *cat_text;
  dft_site site;
} Label;

/* The label of objects that were never initialised. */
extern Label *label_unknown;
int label_make_unknown(void);

Label *label_new(PyObject *name, PyObject *cat);
/* A label of the same category named <name>.<suffix>; `whole` replaces the name when it is not NULL. */
Label *label_derived(const Label *label, const char *suffix, PyObject *whole);
static inline long label_count(Label *label, int more) {
#ifdef Py_GIL_DISABLED
  return __atomic_add_fetch(&label->refs, more, __ATOMIC_ACQ_REL);
#else
  return label->refs += more;
#endif
}
static inline Label *label_keep(Label *label) {
  label_count(label, 1);
  return label;
}
void label_free(Label *label);
static inline void label_drop(Label *label) {
  if (label && !label_count(label, -1)) label_free(label);
}

#endif
