/* ready.c - an awaitable that is already done: __aenter__ and __aexit__ of a block return it.
 * SPDX-License-Identifier: MIT */
#include "ready.h"

typedef struct Ready {
  PyObject_HEAD PyObject *value;
} Ready;

PyObject *ready_new(PyObject *value) {
  Ready *ready = PyObject_GC_New(Ready, native.ready);
  if (!ready) return NULL;
  ready->value = Py_NewRef(value);
  PyObject_GC_Track(ready);
  return (PyObject *)ready;
}

static PyObject *ready_next(PyObject *self) {
  PyErr_SetObject(PyExc_StopIteration, ((Ready *)self)->value);
  return NULL;
}

static int ready_traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(((Ready *)self)->value);
  return 0;
}

static int ready_clear(PyObject *self) {
  Py_CLEAR(((Ready *)self)->value);
  return 0;
}

static void ready_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  ready_clear(self);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

static PyType_Slot ready_slots[] = {
  {Py_tp_doc, "An awaitable that is already done."},
  {Py_am_await, PyObject_SelfIter},
  {Py_tp_iter, PyObject_SelfIter},
  {Py_tp_iternext, ready_next},
  {Py_tp_traverse, ready_traverse},
  {Py_tp_clear, ready_clear},
  {Py_tp_dealloc, ready_dealloc},
  {0, NULL},
};

PyType_Spec ready_spec = {"dftracer.dftracer.Ready", sizeof(Ready), 0, TYPE_FLAGS_INTERNAL, ready_slots};
