/* node.c - DFTracerAI: one kind of event of AI codes, with its children.
 *
 * A node is a decorator and a context manager, and wraps loops. Called with values, it returns a detached node that has them.
 * Values set on a node apply to its whole subtree.
 * SPDX-License-Identifier: MIT */
#include "node.h"

#include "block.h"
#include "function.h"
#include "loop.h"
#include "profile.h"

typedef struct Node {
  Profile base;
  vectorcallfunc call;
  PyObject *children; /* dict */
  PyObject *inert;    /* what its calls return while tracing is off */
} Node;

static PyObject *node_vectorcall(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords);

/* ---- Life -------------------------------------------------------------------------------------------------------------- */

static PyObject *node_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  Node *node = (Node *)profile_new(type, args, keywords);
  if (!node) return NULL;
  node->call = node_vectorcall;
  node->base.own.is_node = 1;
  return (PyObject *)node;
}

static int node_init(PyObject *self, PyObject *args, PyObject *keywords) {
  static char *names[] = {"cat", "name", "epoch", "step", "image_idx", "image_size", "enable", NULL};
  PyObject *cat, *name = NULL;
  Values values = {{NULL}};
  int enable = 1;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$OOOOOOp:DFTracerAI", names, &cat, &name, &values.at[NAME_epoch],
                                   &values.at[NAME_step], &values.at[NAME_image_idx], &values.at[NAME_image_size],
                                   &enable)) {
    return -1;
  }
  if (!keywords || !PyDict_GetItemString(keywords, "cat")) {
    PyErr_SetString(PyExc_TypeError, "DFTracerAI() missing required keyword argument 'cat'");
    return -1;
  }
  if (!name || name == Py_None || !is_true(name)) name = cat;
  if (!((Node *)self)->children && !(((Node *)self)->children = PyDict_New())) return -1;
  return profile_setup((Profile *)self, label_new(name, cat), &values, enable);
}

static int node_traverse(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(((Node *)self)->children);
  Py_VISIT(((Node *)self)->inert);
  return profile_traverse(self, visit, arg);
}

static int node_clear(PyObject *self) {
  Py_CLEAR(((Node *)self)->children);
  Py_CLEAR(((Node *)self)->inert);
  return profile_clear(self);
}

/* Nodes made for one block are short-lived: the memory of a few is kept. */
#define SPARES 8
static Node *spare[SPARES];
static int spares;

static Node *node_again(void) {
  Node *node = (Node *)PyObject_Init((PyObject *)spare[--spares], native.node);
  profile_begin(&node->base);
  node->base.uses[0] = node->base.uses[1] = 0;
  node->base.own.flush = 0;
  PyObject_GC_Track(node);
  return node;
}

static void node_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Py_CLEAR(((Node *)self)->children);
  Py_CLEAR(((Node *)self)->inert);
  profile_finish(self);
#ifndef Py_GIL_DISABLED
  if (LIKELY(type == native.node && spares < SPARES)) spare[spares++] = (Node *)self;
  else
#endif
    type->tp_free(self);
  Py_DECREF(type);
}

/* The dict of children, or NULL; with a reference of the caller's own. */
static PyObject *children_now(Node *node) {
  PyObject *children;
  Py_BEGIN_CRITICAL_SECTION((PyObject *)node);
  children = new_ref_or_null(node->children);
  Py_END_CRITICAL_SECTION();
  return children;
}

/* The same, made at its first use. */
static PyObject *children_of(Node *node) {
  PyObject *children = children_now(node), *fresh;
  if (children || !(fresh = PyDict_New())) return children;
  Py_BEGIN_CRITICAL_SECTION((PyObject *)node);
  if (!node->children) node->children = Py_NewRef(fresh);
  Py_END_CRITICAL_SECTION();
  Py_DECREF(fresh);
  return children_now(node);
}

static void replace_children(Node *node, PyObject *children) {
  PyObject *old;
  Py_BEGIN_CRITICAL_SECTION((PyObject *)node);
  old = node->children;
  node->children = Py_NewRef(children);
  Py_END_CRITICAL_SECTION();
  Py_XDECREF(old);
}

/* ---- Calls ------------------------------------------------------------------------------------------------------------- */

/* A node with these values only. Its switch is the given one, or that of the node. */
static PyObject *detached(Node *node, const Values *values) {
  State *state = node->base.state;
  PyObject *enable = values->at[NAME_enable];
  int is_on = enable && enable != Py_None ? PyObject_IsTrue(enable) : state->enable;
  Node *copy;
  if (is_on < 0) return NULL;
  if (!native_enabled && node->inert) return Py_NewRef(node->inert); /* it never changes again */
  copy = spares ? node_again() : (Node *)node_new(native.node, NULL, NULL);
  if (!copy) return NULL;
  profile_setup(&copy->base, state_label(state), values, is_on);
  if (!native_enabled) {
    Py_BEGIN_CRITICAL_SECTION((PyObject *)node);
    if (!node->inert) node->inert = Py_NewRef((PyObject *)copy);
    Py_END_CRITICAL_SECTION();
  }
  return (PyObject *)copy;
}

static PyObject *node_vectorcall(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords) {
  Values values;
  PyObject *function, *node, *result;
  if (values_parse(&values, "DFTracerAI", NAME_fn, NAME_enable, 1, args, PyVectorcall_NARGS(flags), keywords) < 0)
    return NULL;
  function = values.at[NAME_fn];
  if (!function || function == Py_None) return detached((Node *)self, &values);
  if (!keywords || PyTuple_GET_SIZE(keywords) == 0) return function_wrap(self, function, WRAP_NODE, NULL);
  node = detached((Node *)self, &values);
  result = node ? function_wrap(node, function, WRAP_NODE, NULL) : NULL;
  Py_XDECREF(node);
  return result;
}

/* ---- Hooks ------------------------------------------------------------------------------------------------------------- */

/* Writes the time as metadata <name>.<which> at once. */
static PyObject *mark_time(Profile *profile, const char *which) {
  State *state = profile->state;
  PyObject *time, *key, *done;
  Label *label;
  if (!is_recording(state)) Py_RETURN_NONE;
  if (mode_now() == MODE_NATIVE) event_mark(state);
  time = PyObject_CallMethod((PyObject *)profile, "get_time", NULL);
  label = state_label(state);
  key = PyUnicode_FromFormat("%U.%s", label->name_text, which);
  label_drop(label);
  Py_XSETREF(time, time ? PyObject_Str(time) : NULL);
  if (time && key) {
    PyObject *given[] = {key, time};
    done = helper_call("metadata", given, 2);
    Py_XDECREF(done);
  }
  Py_XDECREF(key);
  Py_XDECREF(time);
  if (PyErr_Occurred()) PyErr_Clear();
  Py_RETURN_NONE;
}

static int wants_metadata(PyObject *args, PyObject *keywords, int *metadata) {
  static char *names[] = {"metadata", NULL};
  *metadata = 0;
  return PyArg_ParseTupleAndKeywords(args, keywords, "|p", names, metadata);
}

PyDoc_STRVAR(start_doc,
             "start($self, /, metadata=False)\n--\n\nBegins an event; with metadata, writes the time at once.");
static PyObject *node_start(PyObject *self, PyObject *args, PyObject *keywords) {
  int metadata;
  if (!wants_metadata(args, keywords, &metadata)) return NULL;
  if (metadata) return mark_time((Profile *)self, "start");
  if (mode_now() != MODE_OFF) block_enter((Profile *)self, frame_now());
  else native_missed = 1;
  Py_RETURN_NONE;
}

PyDoc_STRVAR(stop_doc, "stop($self, /, metadata=False)\n--\n\nEnds the event; with metadata, writes the time at once.");
static PyObject *node_stop(PyObject *self, PyObject *args, PyObject *keywords) {
  int metadata;
  if (!wants_metadata(args, keywords, &metadata)) return NULL;
  if (metadata) return mark_time((Profile *)self, "end");
  if (mode_now() != MODE_OFF || block_is_any()) block_exit((Profile *)self, frame_now(), NULL);
  Py_RETURN_NONE;
}

/* ---- Loops --------------------------------------------------------------------------------------------------------------- */

PyDoc_STRVAR(iter_doc,
             "iter($self, /, iterator, *, include_block=True, include_iter=True, iter_name=None, block_name=None)"
             "\n--\n\nIterates over it; records each item (<name>.iter) and its body (<name>.block).");
static PyObject *node_iter(PyObject *self, PyObject *args, PyObject *keywords) {
  static char *names[] = {"iterator", "include_block", "include_iter", "iter_name", "block_name", NULL};
  Profile *profile = (Profile *)self;
  PyObject *iterable, *iter_name = NULL, *block_name = NULL, *result = NULL;
  Label *label, *first = NULL, *second = NULL;
  int block = 1, iter = 1;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$ppOO:iter", names, &iterable, &block, &iter, &iter_name,
                                   &block_name))
    return NULL;
  if (!native_enabled || (!block && !iter)) return loop_without_events(iterable);
  if (mode_now() == MODE_OFF) native_missed = 1;
  if (iter_name == Py_None || (iter_name && !is_true(iter_name))) iter_name = NULL;
  if (block_name == Py_None || (block_name && !is_true(block_name))) block_name = NULL;
  label = state_label(profile->state);
  if (iter) first = label_derived(label, "iter", iter_name);
  if (block && (first || !iter)) second = label_derived(label, "block", block_name);
  if ((first || !iter) && (second || !block)) result = loop_of_node(profile, iterable, first, second);
  label_drop(label);
  label_drop(first);
  label_drop(second);
  return result;
}

/* ---- The tree ---------------------------------------------------------------------------------------------------------- */

/* Calls `visit` for the node and its whole subtree. */
static void each(Node *node, void (*visit)(Node *, const void *), const void *with) {
  PyObject *children = NULL, *values = NULL;
  visit(node, with);
  if (Py_EnterRecursiveCall(" in a tree of nodes") == 0) { /* a program may have made a cycle */
    children = children_now(node);
    values = children ? PyDict_Values(children) : NULL;
    for (Py_ssize_t i = 0; values && i < PyList_GET_SIZE(values); i++) {
      PyObject *child = PyList_GET_ITEM(values, i);
      if (PyObject_TypeCheck(child, native.node)) each((Node *)child, visit, with);
    }
    Py_LeaveRecursiveCall();
  }
  Py_XDECREF(values);
  Py_XDECREF(children);
  if (PyErr_Occurred()) PyErr_Clear();
}

static void copy_values(Node *node, const void *values) {
  if (!node->base.state->enable) return;
  Py_BEGIN_CRITICAL_SECTION((PyObject *)node);
  arguments_copy(&node->base.state->args, values);
  Py_END_CRITICAL_SECTION();
}

PyDoc_STRVAR(update_doc, "update($self, /, epoch=None, step=None, image_idx=None, image_size=None, args=None)\n--\n\n"
                         "Sets values on the node and its whole subtree; returns the node.");
static PyObject *node_update(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  Values values;
  Arguments set;
  if (values_parse(&values, "update", NAME_epoch, NAME_args, 5, args, count, keywords) < 0) return NULL;
  if (native_enabled) {
    arguments_init(&set);
    arguments_set_values(&set, &values);
    if (values.at[NAME_epoch]) loop_epoch_begins(&set);
    each((Node *)self, copy_values, &set);
    arguments_clear(&set);
  }
  return Py_NewRef(self);
}

static void forget_values(Node *node, const void *names) {
  PyObject *keys = (PyObject *)(uintptr_t)names;
  Py_BEGIN_CRITICAL_SECTION((PyObject *)node);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(keys); i++)
    arguments_remove(&node->base.state->args, PyTuple_GET_ITEM(keys, i));
  Py_END_CRITICAL_SECTION();
}

PyDoc_STRVAR(forget_doc, "_forget($self, /, *names)\n--\n\nRemoves values from the node and its whole subtree.");
static PyObject *node_forget(PyObject *self, PyObject *names) {
  each((Node *)self, forget_values, names);
  Py_RETURN_NONE;
}

static void set_enable(Node *node, const void *on) {
  node->base.state->enable = on != NULL;
}

PyDoc_STRVAR(enable_doc, "enable($self, /)\n--\n\nSwitches the node and its whole subtree on.");
static PyObject *node_enable(PyObject *self, PyObject *ignored) {
  (void)ignored;
  each((Node *)self, set_enable, self);
  Py_RETURN_NONE;
}

PyDoc_STRVAR(disable_doc, "disable($self, /)\n--\n\nSwitches the node and its whole subtree off.");
static PyObject *node_disable(PyObject *self, PyObject *ignored) {
  (void)ignored;
  each((Node *)self, set_enable, NULL);
  Py_RETURN_NONE;
}

/* The child under `key`. The first use makes it, with the named values and the switch of the node. Keys and names may run code
 * of the program, which may replace the dict of children. */
static PyObject *child_named(Node *node, PyObject *key, PyObject *name) {
  State *state = node->base.state;
  PyObject *children = children_of(node), *child = NULL;
  Values none = {{NULL}};
  Label *own, *label;
  if (!children) return NULL;
  child = dict_get(children, key);
  if (!child && !PyErr_Occurred()) {
    own = state_label(state);
    label = label_new(name, own->cat);
    label_drop(own);
    child = label ? node_new(native.node, NULL, NULL) : NULL;
    if (child) {
      profile_setup((Profile *)child, label, &none, state->enable);
      Py_BEGIN_CRITICAL_SECTION(STATE_OWNER(state));
      if (state->enable) arguments_copy_named(&((Profile *)child)->state->args, &state->args);
      Py_END_CRITICAL_SECTION();
      if (PyDict_SetItem(children, key, child) < 0) Py_CLEAR(child);
    } else {
      label_drop(label);
    }
  }
  Py_DECREF(children);
  return child;
}

static PyObject *derived(Node *node, PyObject *name) {
  Label *label = state_label(node->base.state);
  PyObject *whole = PyUnicode_FromFormat("%U.%S", label->name_text, name);
  PyObject *child = whole ? child_named(node, whole, whole) : NULL;
  Py_XDECREF(whole);
  label_drop(label);
  return child;
}

PyDoc_STRVAR(derive_doc, "derive($self, /, name)\n--\n\nThe child named <name>.<given>, the same one on every call.");
static PyObject *node_derive(PyObject *self, PyObject *args, PyObject *keywords) {
  static char *names[] = {"name", NULL};
  PyObject *name;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O:derive", names, &name)) return NULL;
  return derived((Node *)self, name);
}

PyDoc_STRVAR(create_children_doc, "create_children($self, /, names)\n--\n\n"
                                  "Makes children from {attribute: event name}, as attributes of the node.");
static PyObject *node_create_children(PyObject *self, PyObject *args, PyObject *keywords) {
  static char *parameters[] = {"names", NULL};
  PyObject *names, *items;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O:create_children", parameters, &names)) return NULL;
  items = pairs_of(names);
  if (!items) return NULL;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items); i++) {
    PyObject *pair = PyList_GET_ITEM(items, i);
    PyObject *child = child_named((Node *)self, PyTuple_GET_ITEM(pair, 0), PyTuple_GET_ITEM(pair, 1));
    int failed = !child || PyObject_SetAttr(self, PyTuple_GET_ITEM(pair, 0), child) < 0;
    Py_XDECREF(child);
    if (failed) {
      Py_DECREF(items);
      return NULL;
    }
  }
  Py_DECREF(items);
  Py_RETURN_NONE;
}

/* ---- Pickling ---------------------------------------------------------------------------------------------------------- */

static PyObject *node_getstate(PyObject *self, PyObject *ignored) {
  PyObject *children = children_now((Node *)self);
  PyObject *dump = profile_dump(self, children ? children : Py_None);
  (void)ignored;
  Py_XDECREF(children);
  return dump;
}

static PyObject *node_setstate(PyObject *self, PyObject *given) {
  PyObject *children;
  if (profile_load(self, given, &children) < 0) return NULL;
  if (PyDict_Check(children)) replace_children((Node *)self, children);
  Py_RETURN_NONE;
}

/* ---- Attributes ---------------------------------------------------------------------------------------------------------- */

static PyObject *get_init(PyObject *self, void *ignored) {
  PyObject *name = PyUnicode_FromString("init");
  PyObject *child = name ? derived((Node *)self, name) : NULL;
  (void)ignored;
  Py_XDECREF(name);
  return child;
}

static PyObject *get_children(PyObject *self, void *ignored) {
  (void)ignored;
  return children_of((Node *)self);
}

static int set_children(PyObject *self, PyObject *value, void *ignored) {
  (void)ignored;
  if (!value || !PyDict_Check(value)) {
    PyErr_SetString(PyExc_TypeError, "_children must be a dict");
    return -1;
  }
  replace_children((Node *)self, value);
  return 0;
}

/* A dft_fn that shares the state of the node. */
static PyObject *get_profiler(PyObject *self, void *ignored) {
  State *state = ((Node *)self)->base.state;
  PyObject *there;
  Profile *view;
  (void)ignored;
  if (state->view && !VIEW_IS_OWNED) return Py_NewRef(state->view);
  view = (Profile *)profile_new(native.dft_fn, NULL, NULL);
  if (!view) return NULL;
  view->owner = Py_NewRef(self);
  view->state = state;
  Py_BEGIN_CRITICAL_SECTION(self);
  if (!state->view) state->view = VIEW_IS_OWNED ? Py_NewRef((PyObject *)view) : (PyObject *)view;
  there = Py_NewRef(state->view);
  Py_END_CRITICAL_SECTION();
  Py_DECREF(view);
  return there;
}

static PyGetSetDef node_attributes[] = {
  {"cat", profile_label, NULL, "category of its events", NULL},
  {"name", profile_label, NULL, "name of its events", (void *)1},
  {"init", get_init, NULL, "the child for constructors, <name>.init", NULL},
  {"profiler", get_profiler, NULL, "its dft_fn", NULL},
  {"_children", get_children, set_children, "children by attribute or whole name", NULL},
  {NULL},
};

static PyMemberDef node_members[] = {
  {"__vectorcalloffset__", T_PYSSIZET, offsetof(Node, call), READONLY, NULL},
  {NULL},
};

static PyMethodDef node_methods[] = {
  {"start", WITH_KEYWORDS(node_start), start_doc},
  {"stop", WITH_KEYWORDS(node_stop), stop_doc},
  {"iter", WITH_KEYWORDS(node_iter), iter_doc},
  {"update", (PyCFunction)(void (*)(void))node_update, METH_FASTCALL | METH_KEYWORDS, update_doc},
  {"_forget", node_forget, METH_VARARGS, forget_doc},
  {"enable", node_enable, METH_NOARGS, enable_doc},
  {"disable", node_disable, METH_NOARGS, disable_doc},
  {"derive", WITH_KEYWORDS(node_derive), derive_doc},
  {"create_children", WITH_KEYWORDS(node_create_children), create_children_doc},
  {"__getstate__", node_getstate, METH_NOARGS, NULL},
  {"__setstate__", node_setstate, METH_O, NULL},
  {NULL},
};

static PyType_Slot node_slots[] = {
  {Py_tp_doc,
   "DFTracerAI(*, cat, name=None, epoch=None, step=None, image_idx=None, image_size=None, enable=True)\n--\n\n"
   "One kind of event: decorator, block and loop, with children."},
  {Py_tp_new, node_new},
  {Py_tp_init, node_init},
  {Py_tp_call, PyVectorcall_Call},
  {Py_tp_dealloc, node_dealloc},
  {Py_tp_traverse, node_traverse},
  {Py_tp_clear, node_clear},
  {Py_tp_methods, node_methods},
  {Py_tp_getset, node_attributes},
  {Py_tp_members, node_members},
  {0, NULL},
};

PyType_Spec node_spec = {"dftracer.dftracer.DFTracerAI", sizeof(Node), 0,
                         Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
                         node_slots};
