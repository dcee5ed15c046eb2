/* native.c - the state of the extension module.
 * SPDX-License-Identifier: MIT */
#include "native.h"

Native native;
int native_mode;
int native_enabled;
int native_marked;
int native_is_new_child;

/* Calls name_worker at the first event, because multiprocessing does not know the purpose of the process any earlier. */
static void name_worker(void) {
  PyObject *kind, *value, *trace, *module;
  native_is_new_child = 0;
  PyErr_Fetch(&kind, &value, &trace);
  module = PyImport_ImportModule("dftracer.python.process");
  Py_XDECREF(module ? PyObject_CallMethod(module, "name_worker", NULL) : NULL);
  Py_XDECREF(module);
  PyErr_Clear();
  PyErr_Restore(kind, value, trace);
}

void mark_used_layers(int is_node) {
  if (native_is_new_child) name_worker();
  if (!native_marked) dft_mark_used("python_function");
  if (is_node) dft_mark_used("ai");
  native_marked = 1 + is_node;
}

PyObject *redirect_target(void) {
  PyObject *target;
  Py_BEGIN_CRITICAL_SECTION(native.module);
  target = new_ref_or_null(native.redirect);
  Py_END_CRITICAL_SECTION();
  return target;
}

PyObject *helper_call(const char *name, PyObject *const *args, size_t count) {
  PyObject *module = PyImport_ImportModule("dftracer.python.helpers");
  PyObject *function = module ? PyObject_GetAttrString(module, name) : NULL;
  PyObject *result = function ? PyObject_Vectorcall(function, args, count, NULL) : NULL;
  Py_XDECREF(function);
  Py_XDECREF(module);
  return result;
}
