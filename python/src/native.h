/* native.h - the state of the extension module, and what all its files need from Python.
 *
 * The module uses dft.h alone. Decorated functions, blocks and loops are C types whose hot paths begin and end regions of
 * the core directly. Everything that happens once (trees, names, processes) is Python, in the package beside.
 *
 * Threads   With the GIL every function here runs under it. Without it (free-threaded builds) the values of an object are
 *           changed and read in its critical section. The entered blocks belong to the thread.
 * Python    Code of the program runs inside most calls of the interpreter: in str(), hash() and comparisons, when a reference is
 *           dropped, and before 3.12 whenever an object is made, because the garbage collector may start there. That code may
 *           rename, reset and close everything here. So nothing borrowed from an object of ours, and no pointer into its
 *           memory, is used after such a call.
 * Errors    Tracing never raises into the program: a value that cannot be converted is recorded as text.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_PYTHON_NATIVE_H
#define DFT_PYTHON_NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <dftracer/dft.h>
#include <stddef.h>
#include <structmember.h>

#ifndef Py_BEGIN_CRITICAL_SECTION /* before 3.13 there is always a GIL */
#define Py_BEGIN_CRITICAL_SECTION(object) {
#define Py_END_CRITICAL_SECTION() }
#endif

#if PY_VERSION_HEX < 0x030A0000
static inline PyObject *Py_NewRef(PyObject *object) {
  Py_INCREF(object);
  return object;
}
#endif

#if PY_VERSION_HEX < 0x030D0000 /* its name before it became public */
#define PyObject_GetOptionalAttr _PyObject_LookupAttr
#endif

static inline PyObject *new_ref_or_null(PyObject *object) {
  Py_XINCREF(object);
  return object;
}

/* A value of a dict, with a reference of the caller's own; NULL: not there, or an exception. */
static inline PyObject *dict_get(PyObject *dict, PyObject *key) {
#if PY_VERSION_HEX >= 0x030D0000
  PyObject *value;
  PyDict_GetItemRef(dict, key, &value);
  return value;
#else
  return new_ref_or_null(PyDict_GetItemWithError(dict, key));
#endif
}

/* The same; `first` becomes the value when there is none. NULL: an exception. */
static inline PyObject *dict_get_or_set(PyObject *dict, PyObject *key, PyObject *first) {
#if PY_VERSION_HEX >= 0x030D0000
  PyObject *value;
  PyDict_SetDefaultRef(dict, key, first, &value);
  return value;
#else
  return new_ref_or_null(PyDict_SetDefault(dict, key, first));
#endif
}

/* An object that cannot tell counts as false. */
static inline int is_true(PyObject *object) {
  int truth = PyObject_IsTrue(object);
  if (truth < 0) PyErr_Clear();
  return truth > 0;
}

#ifdef Py_TPFLAGS_DISALLOW_INSTANTIATION
#define TYPE_FLAGS_INTERNAL (Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION)
#else /* before 3.10 */
#define TYPE_FLAGS_INTERNAL (Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC)
#endif

/* Two columns of a method table. */
#define WITH_KEYWORDS(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

enum mode {
  MODE_OFF,        /* no trace: switched off, not initialised yet, or finalized */
  MODE_NATIVE,     /* events go to the core */
  MODE_REDIRECTED, /* events go to native.redirect */
};

typedef struct Native {
  PyObject *module;
  PyTypeObject *profile, *dft_fn, *node, *function, *loop, *ready, *bound, *method;
  PyObject *redirect; /* a Python object that replaces the core: log_event(...) and others; NULL: none */
} Native;
extern Native native;

/* Every call reads it; initialize, finalize and _redirect change it. */
extern int native_mode;
static inline int mode_now(void) {
  return __atomic_load_n(&native_mode, __ATOMIC_RELAXED);
}
static inline void mode_set(int mode) {
  __atomic_store_n(&native_mode, mode, __ATOMIC_RELAXED);
}

/* DFTRACER_ENABLE as it was at the import. If it was off, objects keep no values and every call passes through. */
extern int native_enabled;
/* Which layers the trace reports as used at its end: 0 none yet, 1 functions, 2 nodes too. */
extern int native_marked;
/* A child of a traced process, before its first event: it has yet to find out whether it is a worker. */
extern int native_is_new_child;

/* native.redirect, with a reference of the caller's own: it may be replaced while it runs. */
PyObject *redirect_target(void);

void mark_used_layers(int is_node);
/* Calls a function of the module dftracer.python.helpers, which is loaded at the first call. */
PyObject *helper_call(const char *name, PyObject *const *args, size_t count);

#endif
