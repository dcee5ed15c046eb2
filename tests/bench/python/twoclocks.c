/* twoclocks.c - a bare context manager in C: one clock read when it is entered, one when it is left. What a traced block is
 * held against.
 * SPDX-License-Identifier: MIT */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <time.h>

typedef struct TwoClocks {
  PyObject_HEAD struct timespec begin;
  struct timespec end;
} TwoClocks;

static PyObject *enter(PyObject *self, PyObject *ignored) {
  (void)ignored;
  clock_gettime(CLOCK_MONOTONIC, &((TwoClocks *)self)->begin);
  Py_INCREF(self);
  return self;
}

static PyObject *leave(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  (void)args;
  (void)count;
  clock_gettime(CLOCK_MONOTONIC, &((TwoClocks *)self)->end);
  Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
  {"__enter__", enter, METH_NOARGS, NULL},
  {"__exit__", (PyCFunction)(void (*)(void))leave, METH_FASTCALL, NULL},
  {NULL},
};

static PyType_Slot slots[] = {{Py_tp_methods, methods}, {0, NULL}};
static PyType_Spec spec = {"twoclocks.TwoClocks", sizeof(TwoClocks), 0, Py_TPFLAGS_DEFAULT, slots};

static int execute(PyObject *module) {
  PyObject *type = PyType_FromSpec(&spec);
  int failed = !type || PyObject_SetAttrString(module, "TwoClocks", type) < 0;
  Py_XDECREF(type);
  return failed ? -1 : 0;
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, execute}, {0, NULL}};
static PyModuleDef def = {PyModuleDef_HEAD_INIT, .m_name = "twoclocks", .m_slots = module_slots};

PyMODINIT_FUNC PyInit_twoclocks(void);

PyMODINIT_FUNC PyInit_twoclocks(void) {
  return PyModuleDef_Init(&def);
}
