/* bound.c - __enter__ and __exit__ without a new bound method for every block.
 *
 * A with statement binds both methods anew each time, which costs more than the event. The second time an object is used so,
 * its bound methods are kept with it; objects made for one block never come to that, and leave nothing for the collector.
 * SPDX-License-Identifier: MIT */
#include "native.h"

typedef struct Bound {
  PyObject_HEAD PyObject *plain; /* the method as the type has it */
  PyMethodDef *method;
  int which;
} Bound;

static PyObject *bound_get(PyObject *self, PyObject *object, PyObject *type) {
  Bound *bound = (Bound *)self;
  Profile *profile = (Profile *)object;
  PyObject *method;
  (void)type;
  if (!object || object == Py_None) return Py_NewRef(bound->plain);
  if (LIKELY(profile->bound[bound->which] != NULL)) return Py_NewRef(profile->bound[bound->which]);
  method = PyCFunction_New(bound->method, object);
#ifndef Py_GIL_DISABLED
  if (method && profile->uses[bound->which]) profile->bound[bound->which] = Py_NewRef(method);
  profile->uses[bound->which] = 1;
#endif
  return method;
}

static int bound_traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(((Bound *)self)->plain);
  return 0;
}

static int bound_clear(PyObject *self) {
  Py_CLEAR(((Bound *)self)->plain);
  return 0;
}

static void bound_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  bound_clear(self);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

static PyType_Slot bound_slots[] = {
  {Py_tp_doc, "A method whose bound form is kept with its object."},
  {Py_tp_descr_get, bound_get},
  {Py_tp_traverse, bound_traverse},
  {Py_tp_clear, bound_clear},
  {Py_tp_dealloc, bound_dealloc},
  {0, NULL},
};

PyType_Spec bound_spec = {"dftracer.dftracer.Bound", sizeof(Bound), 0, TYPE_FLAGS_INTERNAL, bound_slots};

int bound_install(PyTypeObject *type, PyMethodDef *method, int which) {
  Bound *bound = PyObject_GC_New(Bound, native.bound);
  int failed;
  if (!bound) return -1;
  bound->plain = PyDescr_NewMethod(type, method);
  bound->method = method;
  bound->which = which;
  PyObject_GC_Track(bound);
  failed = !bound->plain || PyObject_SetAttrString((PyObject *)type, method->ml_name, (PyObject *)bound) < 0;
  Py_DECREF(bound);
  return failed ? -1 : 0;
}
