/* bound.c - __enter__ and __exit__ without a new bound method for every block.
 *
 * A with statement binds both methods each time, which costs more than the event. From its second use on, an object keeps its
 * bound methods. Objects that are made for a single block never get there. Theirs come from a short list of spare methods,
 * so that they leave no garbage behind.
 * SPDX-License-Identifier: MIT */
#include "bound.h"

#include "profile.h"

typedef struct Bound {
  PyObject_HEAD PyObject *plain; /* the method as the type has it */
  int which;
} Bound;

typedef struct Method {
  PyObject_HEAD vectorcallfunc call;
  PyObject *object;
  int which;
} Method;

/* ---- The bound method -------------------------------------------------------------------------------------------------- */

#define SPARES 8
static Method *spare[SPARES];
static int spares;

static PyObject *call_enter(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords) {
  (void)args;
  if (LIKELY(!PyVectorcall_NARGS(flags) && !keywords)) return profile_enter(((Method *)self)->object, NULL);
  PyErr_SetString(PyExc_TypeError, "__enter__() takes no arguments");
  return NULL;
}

static PyObject *call_exit(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords) {
  if (LIKELY(!keywords)) return profile_exit(((Method *)self)->object, args, PyVectorcall_NARGS(flags));
  PyErr_SetString(PyExc_TypeError, "__exit__() takes no keyword arguments");
  return NULL;
}

static PyObject *method_new(PyObject *object, int which) {
  Method *method;
  if (LIKELY(spares)) method = (Method *)PyObject_Init((PyObject *)spare[--spares], native.method);
  else method = PyObject_GC_New(Method, native.method);
  if (!method) return NULL;
  method->call = which ? call_exit : call_enter;
  method->object = Py_NewRef(object);
  method->which = which;
  PyObject_GC_Track(method);
  return (PyObject *)method;
}

static int method_traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(((Method *)self)->object);
  return 0;
}

static void method_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Py_DECREF(((Method *)self)->object);
#ifndef Py_GIL_DISABLED
  if (LIKELY(spares < SPARES)) spare[spares++] = (Method *)self;
  else
#endif
    PyObject_GC_Del(self);
  Py_DECREF(type);
}

static PyObject *method_repr(PyObject *self) {
  const Method *method = (Method *)self;
  return PyUnicode_FromFormat("<bound method %s of %R>", block_methods[method->which].ml_name, method->object);
}

static PyObject *get_name(PyObject *self, void *ignored) {
  (void)ignored;
  return PyUnicode_FromString(block_methods[((Method *)self)->which].ml_name);
}

static PyGetSetDef method_attributes[] = {
  {"__name__", get_name, NULL, NULL, NULL},
  {NULL},
};

static PyMemberDef method_members[] = {
  {"__self__", T_OBJECT_EX, offsetof(Method, object), READONLY, NULL},
  {"__vectorcalloffset__", T_PYSSIZET, offsetof(Method, call), READONLY, NULL},
  {NULL},
};

static PyType_Slot method_slots[] = {
  {Py_tp_doc, "Enters or leaves a block."},
  {Py_tp_call, PyVectorcall_Call},
  {Py_tp_repr, method_repr},
  {Py_tp_traverse, method_traverse},
  {Py_tp_dealloc, method_dealloc},
  {Py_tp_getset, method_attributes},
  {Py_tp_members, method_members},
  {0, NULL},
};

PyType_Spec method_spec = {"dftracer.dftracer.Method", sizeof(Method), 0,
                           TYPE_FLAGS_INTERNAL | Py_TPFLAGS_HAVE_VECTORCALL, method_slots};

/* ---- The descriptor in the types ---------------------------------------------------------------------------------------- */

static PyObject *bound_get(PyObject *self, PyObject *object, PyObject *type) {
  Bound *bound = (Bound *)self;
  Profile *profile = (Profile *)object;
  (void)type;
  if (!object || object == Py_None) return Py_NewRef(bound->plain);
  if (UNLIKELY(
        !PyObject_TypeCheck(object, native.profile))) { /* a program may put the descriptor into a class of its own */
    PyErr_Format(PyExc_TypeError, "dftracer: expected a node or a dft_fn, not %.100s", Py_TYPE(object)->tp_name);
    return NULL;
  }
  if (LIKELY(profile->bound[bound->which] != NULL)) return Py_NewRef(profile->bound[bound->which]);
#ifndef Py_GIL_DISABLED
  if (profile->uses[bound->which]) { /* the interpreter calls this form the fastest */
    PyObject *method = PyCFunction_New(&block_methods[bound->which], object);
    if (method) Py_XSETREF(profile->bound[bound->which], Py_NewRef(method));
    return method;
  }
  profile->uses[bound->which] = 1;
#endif
  return method_new(object, bound->which);
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

int bound_install(PyTypeObject *type, int which) {
  Bound *bound = PyObject_GC_New(Bound, native.bound);
  PyMethodDef *method = &block_methods[which];
  int failed;
  if (!bound) return -1;
  bound->plain = PyDescr_NewMethod(type, method);
  bound->which = which;
  PyObject_GC_Track(bound);
  failed = !bound->plain || PyObject_SetAttrString((PyObject *)type, method->ml_name, (PyObject *)bound) < 0;
  Py_DECREF(bound);
  return failed ? -1 : 0;
}
