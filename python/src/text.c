/* text.c - Python objects as UTF-8 text for the core.
 * SPDX-License-Identifier: MIT */
#include "text.h"

PyObject *text_from(PyObject *value) {
  /* An exact str: a subclass of it may run code of the program when it is hashed or compared. */
  PyObject *text = PyUnicode_Check(value) ? PyUnicode_FromObject(value) : PyObject_Str(value);
  PyObject *bytes;
  if (!text) {
    PyErr_Clear();
    text = PyUnicode_FromFormat("<%s>", Py_TYPE(value)->tp_name);
    if (!text) PyErr_Clear();
    return text;
  }
  if (PyUnicode_AsUTF8AndSize(text, NULL)) return text;
  /* Lone surrogates cannot be encoded: they become escapes. */
  PyErr_Clear();
  bytes = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
  Py_DECREF(text);
  text = bytes ? PyUnicode_FromEncodedObject(bytes, "utf-8", "replace") : NULL;
  Py_XDECREF(bytes);
  if (!text) PyErr_Clear();
  return text;
}

int text_open(Text *text, PyObject *value) {
  Py_ssize_t len = 0;
  text->owner = value ? text_from(value) : PyUnicode_FromString("");
  text->text = text->owner ? PyUnicode_AsUTF8AndSize(text->owner, &len) : NULL;
  text->len = (size_t)len;
  return text->text != NULL;
}

void text_close(Text *text) {
  Py_XDECREF(text->owner);
  if (PyErr_Occurred()) PyErr_Clear();
}
