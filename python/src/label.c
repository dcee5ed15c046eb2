/* label.c - name and category of events, and the core's site for them.
 * SPDX-License-Identifier: MIT */
#include "label.h"

#include "text.h"

Label *label_unknown;

Label *label_new(PyObject *name, PyObject *cat) {
  Label *label = PyMem_RawCalloc(1, sizeof *label);
  if (!label) {
    PyErr_NoMemory();
    return NULL;
  }
  label->refs = 1;
  label->name = Py_NewRef(name);
  label->cat = Py_NewRef(cat);
  label->name_text = text_from(name);
  label->cat_text = text_from(cat);
  if (!label->name_text || !label->cat_text) {
    label_drop(label);
    PyErr_NoMemory();
    return NULL;
  }
  label->site.name = PyUnicode_AsUTF8(label->name_text);
  label->site.cat = PyUnicode_AsUTF8(label->cat_text);
  return label;
}

Label *label_derived(const Label *label, const char *suffix, PyObject *whole) {
  Label *derived;
  size_t len = strlen(label->site.name), more = strlen(suffix);
  int has_it = len > more && label->site.name[len - more - 1] == '.' &&
               strcmp(label->site.name + len - more, suffix) == 0;
  PyObject *name = whole    ? Py_NewRef(whole)
                   : has_it ? Py_NewRef(label->name_text)
                            : PyUnicode_FromFormat("%U.%s", label->name_text, suffix);
  if (!name) return NULL;
  derived = label_new(name, label->cat);
  Py_DECREF(name);
  return derived;
}

void label_free(Label *label) {
  Py_XDECREF(label->name);
  Py_XDECREF(label->cat);
  Py_XDECREF(label->name_text);
  Py_XDECREF(label->cat_text);
  PyMem_RawFree(label);
}

int label_make_unknown(void) {
  PyObject *word = PyUnicode_FromString("unknown");
  label_unknown = word ? label_new(word, word) : NULL;
  Py_XDECREF(word);
  return label_unknown ? 0 : -1;
}
