/* fn.c - dft_fn: blocks, logged functions and loops under names that the program chooses.
 * SPDX-License-Identifier: MIT */
#include "fn.h"

#include "function.h"
#include "loop.h"
#include "profile.h"
#include "text.h"

/* The name of the function that makes the object. */
static PyObject *caller_name(void) {
  PyFrameObject *frame = PyEval_GetFrame();
  PyCodeObject *code = frame ? PyFrame_GetCode(frame) : NULL;
  PyObject *name = code ? PyObject_GetAttrString((PyObject *)code, "co_name") : PyUnicode_FromString("<module>");
  Py_XDECREF(code);
  return name;
}

static int fn_init(PyObject *self, PyObject *args, PyObject *keywords) {
  static char *names[] = {"cat", "name", "epoch", "step", "image_idx", "image_size", "enable", NULL};
  PyObject *cat, *name = NULL;
  Values values = {{NULL}};
  int enable = 1, failed;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|OOOOOp:dft_fn", names, &cat, &name, &values.at[NAME_epoch],
                                   &values.at[NAME_step], &values.at[NAME_image_idx], &values.at[NAME_image_size],
                                   &enable)) {
    return -1;
  }
  if (name == Py_None) name = NULL;
  name = name && is_true(name) ? Py_NewRef(name) : caller_name();
  if (!name) return -1;
  failed = profile_setup((Profile *)self, label_new(name, cat), &values, enable);
  Py_DECREF(name);
  return failed;
}

/* ---- Decorators -------------------------------------------------------------------------------------------------------- */

/* f.log(function), f.log() and f.log(name="n"): the last two return a decorator. */
static PyObject *decorate(PyObject *self, PyObject *args, PyObject *keywords, enum wrap_kind kind) {
  static char *names[] = {"func", "name", NULL}, *names_init[] = {"init", "name", NULL};
  PyObject *function = NULL, *name = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OO", kind == WRAP_INIT ? names_init : names, &function, &name))
    return NULL;
  if (function && PyUnicode_Check(function) && !name) { /* f.log("n") */
    name = function;
    function = NULL;
  }
  if (!function || function == Py_None) {
    PyObject *kind_number = PyLong_FromLong(kind);
    PyObject *given[] = {self, kind_number, name ? name : Py_None};
    PyObject *decorator = kind_number ? helper_call("decorator", given, 3) : NULL;
    Py_XDECREF(kind_number);
    return decorator;
  }
  return function_wrap(self, function, kind, name);
}

PyDoc_STRVAR(log_doc,
             "log($self, /, func=None, name=None)\n--\n\nDecorator: one event per call, with the function's name.");
static PyObject *fn_log(PyObject *self, PyObject *args, PyObject *keywords) {
  return decorate(self, args, keywords, WRAP_LOG);
}

PyDoc_STRVAR(log_init_doc, "log_init($self, /, init=None, name=None)\n--\n\nThe same for constructors.");
static PyObject *fn_log_init(PyObject *self, PyObject *args, PyObject *keywords) {
  return decorate(self, args, keywords, WRAP_INIT);
}

PyDoc_STRVAR(log_static_doc, "log_static($self, /, func=None, name=None)\n--\n\nThe same for static methods.");
static PyObject *fn_log_static(PyObject *self, PyObject *args, PyObject *keywords) {
  return decorate(self, args, keywords, WRAP_STATIC);
}

/* ---- Loops --------------------------------------------------------------------------------------------------------------- */

PyDoc_STRVAR(iter_doc, "iter($self, /, func, name='loop', iter_name='step')\n--\n\n"
                       "Iterates over func; records each item (<name>.iter) and its body (<name>.yield).");
static PyObject *fn_iter(PyObject *self, PyObject *args, PyObject *keywords) {
  static char *names[] = {"func", "name", "iter_name", NULL};
  Profile *profile = (Profile *)self;
  PyObject *iterable, *name = NULL, *key = NULL, *base, *result = NULL;
  Label *own, *first, *label = NULL, *second = NULL;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|OU:iter", names, &iterable, &name, &key)) return NULL;
  if (!native_enabled) return loop_without_events(iterable);
  if (mode_now() == MODE_OFF) native_missed = 1;
  base = name ? Py_NewRef(name) : PyUnicode_FromString("loop");
  key = key ? text_from(key) : Py_NewRef(native_name[NAME_step]);
  own = state_label(profile->state);
  first = base && key ? label_new(base, own->cat) : NULL;
  label_drop(own);
  if (first) {
    label = label_derived(first, "iter", NULL);
    second = label_derived(first, "yield", NULL);
  }
  if (label && second) result = loop_of_fn(profile, iterable, label, second, key);
  label_drop(first);
  label_drop(label);
  label_drop(second);
  Py_XDECREF(base);
  Py_XDECREF(key);
  if (!result && !PyErr_Occurred()) PyErr_NoMemory();
  return result;
}

/* ---- Rare calls, through Python: they use the dftracer object, which may have a replacement ---------------------------- */

static PyObject *through_helper(const char *name, PyObject *self, PyObject *args, PyObject *keywords) {
  PyObject *more = keywords ? Py_NewRef(keywords) : PyDict_New();
  PyObject *given[] = {self, args, more};
  PyObject *result = more ? helper_call(name, given, 3) : NULL;
  Py_XDECREF(more);
  return result;
}

PyDoc_STRVAR(log_metadata_doc, "log_metadata($self, /, key, value)\n--\n\nWrites a metadata record.");
static PyObject *fn_log_metadata(PyObject *self, PyObject *args, PyObject *keywords) {
  return through_helper("log_metadata", self, args, keywords);
}

PyDoc_STRVAR(relate_entity_doc, "relate_entity($self, /, relation, type, key, store=0, uri='')\n--\n\n"
                                "Declares an entity and relates the event to it; returns its id.");
static PyObject *fn_relate_entity(PyObject *self, PyObject *args, PyObject *keywords) {
  return through_helper("relate_entity", self, args, keywords);
}

PyDoc_STRVAR(uses_doc, "uses($self, /, type, key, store=0, uri='')\n--\n\nThe event uses this entity; returns its id.");
static PyObject *fn_uses(PyObject *self, PyObject *args, PyObject *keywords) {
  return through_helper("uses", self, args, keywords);
}

PyDoc_STRVAR(generates_doc,
             "generates($self, /, type, key, store=0, uri='')\n--\n\nThe event makes this entity; returns its id.");
static PyObject *fn_generates(PyObject *self, PyObject *args, PyObject *keywords) {
  return through_helper("generates", self, args, keywords);
}

static PyMethodDef fn_methods[] = {
  {"log", WITH_KEYWORDS(fn_log), log_doc},
  {"log_init", WITH_KEYWORDS(fn_log_init), log_init_doc},
  {"log_static", WITH_KEYWORDS(fn_log_static), log_static_doc},
  {"iter", WITH_KEYWORDS(fn_iter), iter_doc},
  {"log_metadata", WITH_KEYWORDS(fn_log_metadata), log_metadata_doc},
  {"relate_entity", WITH_KEYWORDS(fn_relate_entity), relate_entity_doc},
  {"uses", WITH_KEYWORDS(fn_uses), uses_doc},
  {"generates", WITH_KEYWORDS(fn_generates), generates_doc},
  {NULL},
};

static PyType_Slot fn_slots[] = {
  {Py_tp_doc, "dft_fn(cat, name=None, epoch=None, step=None, image_idx=None, image_size=None, enable=True)\n--\n\n"
              "Records blocks, functions and loops under a category and a name."},
  {Py_tp_new, profile_new},
  {Py_tp_init, fn_init},
  {Py_tp_dealloc, profile_dealloc},
  {Py_tp_traverse, profile_traverse},
  {Py_tp_clear, profile_clear},
  {Py_tp_methods, fn_methods},
  {0, NULL},
};

PyType_Spec dft_fn_spec = {"dftracer.dftracer.dft_fn", sizeof(Profile), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, fn_slots};
