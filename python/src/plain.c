/* plain.c - a decorated function while tracing is off: a copy that runs the same code directly.
 *
 * It never records, even if a trace is opened later: initialize reports that. Like a wrapper it is a separate function: it
 * has __wrapped__, and attributes that the program sets on it do not reach the original.
 * SPDX-License-Identifier: MIT */
#include "plain.h"

/* What functools.wraps copies, and the parts of a signature that the constructor does not take. */
static const char *const copied[] = {
  "__module__",   "__qualname__", "__doc__", "__kwdefaults__", "__type_params__",
#if PY_VERSION_HEX >= 0x030E0000
  "__annotate__",
#else
  "__annotations__",
#endif
};

static int copy_attribute(PyObject *to, PyObject *from, const char *name) {
  PyObject *value = PyObject_GetAttrString(from, name);
  int failed;
  if (!value) { /* of a later Python */
    PyErr_Clear();
    return 0;
  }
  failed = PyObject_SetAttrString(to, name, value);
  Py_DECREF(value);
  return failed;
}

static int dress(PyObject *copy, PyObject *function) {
  PyObject *own = PyObject_GenericGetDict(copy, NULL);
  PyObject *more = PyObject_GenericGetDict(function, NULL);
  int failed = !own || !more || PyDict_Update(own, more) < 0;
  Py_XDECREF(own);
  Py_XDECREF(more);
  for (size_t i = 0; !failed && i < sizeof copied / sizeof *copied; i++) {
    failed = copy_attribute(copy, function, copied[i]);
  }
  return failed ? failed : PyObject_SetAttrString(copy, "__wrapped__", function);
}

PyObject *plain_function(PyObject *function) {
  PyObject *defaults = PyFunction_GET_DEFAULTS(function), *closure = PyFunction_GET_CLOSURE(function);
  PyObject *name = PyObject_GetAttrString(function, "__name__");
  PyObject *copy = !name
                     ? NULL
                     : PyObject_CallFunctionObjArgs((PyObject *)&PyFunction_Type, PyFunction_GET_CODE(function),
                                                    PyFunction_GET_GLOBALS(function), name,
                                                    defaults ? defaults : Py_None, closure ? closure : Py_None, NULL);
  Py_XDECREF(name);
  if (copy && dress(copy, function) < 0) Py_CLEAR(copy);
  return copy;
}
