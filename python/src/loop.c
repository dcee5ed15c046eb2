/* loop.c - the iterator around a loop: one event for fetching an item, one for the loop body.
 *
 * The loop of a node writes both after the body, with the values that the node has then. The loop of a dft_fn writes the first
 * one before the body. A loop that is left early records its current item when the iterator is freed.
 * SPDX-License-Identifier: MIT */
#include "loop.h"

#include "event.h"

#define ARGS_FEW 15

static dft_key count_key = DFT_KEY("count");

typedef struct Loop {
  PyObject_HEAD PyObject *iterator;
  Profile *profile;
  Label *iter_label;  /* NULL: not recorded */
  Label *block_label; /* likewise */
  PyObject *key;      /* of a dft_fn's loop: the name of its counter; NULL: a node's loop */
  int64_t count;
  dft_span fetch;       /* fetching an item */
  uint64_t fetch_begin; /* the same for native.redirect: its times */
  uint64_t fetch_end;
  Open block;
  uint64_t turn;    /* of an asynchronous loop; 0: not asynchronous */
  char is_recorded; /* this item */
  char has_item;
} Loop;

/* Asynchronous loops of one thread may fetch items at the same time. Each begin and each end takes a number. If another loop
 * took one in between, the two fetches may overlap. */
static __thread uint64_t turns __attribute__((tls_model("initial-exec")));

/* ---- Fetching an item ------------------------------------------------------------------------------------------------- */

static void fetch_begin(Loop *loop) {
  State *state = loop->profile->state;
  if (loop->key && !loop->count) {
    Py_BEGIN_CRITICAL_SECTION(STATE_OWNER(state));
    arguments_clear(&state->args);
    arguments_clear(&state->last);
    Py_END_CRITICAL_SECTION();
  }
  loop->count++;
  loop->is_recorded = (char)is_recording(state);
  loop->fetch.id = 0;
  if (!loop->is_recorded) return;
  if (UNLIKELY(loop->turn)) loop->turn = ++turns;
  if (UNLIKELY(mode_now() == MODE_REDIRECTED)) {
    loop->fetch_begin = event_clock();
    return;
  }
  event_mark(state);
  /* A span, not a region: if there is no item, there is no event, and nothing may have become its child. */
  if (loop->iter_label) dft_span_begin(&loop->iter_label->site, &loop->fetch);
}

static void fn_call(const Loop *loop, Arguments *call) {
  arguments_init(call);
  arguments_set_int(call, loop->key, loop->count);
}

static void fn_fetch_end(Loop *loop) {
  State *state = loop->profile->state;
  Arguments call;
  fn_call(loop, &call);
  event_record(state, loop->iter_label, loop->fetch_begin, loop->fetch_end, &loop->fetch, &call);
  Py_BEGIN_CRITICAL_SECTION(STATE_OWNER(state));
  arguments_copy(&state->last, &call);
  Py_END_CRITICAL_SECTION();
  arguments_clear(&call);
}

static void fetch_end(Loop *loop) {
  if (!loop->is_recorded) return;
  if (UNLIKELY(mode_now() == MODE_REDIRECTED)) loop->fetch_end = event_clock();
  else if (loop->iter_label) dft_span_end(&loop->fetch, UNLIKELY(loop->turn) && loop->turn != turns++);
  loop->has_item = 1;
  if (loop->key) fn_fetch_end(loop);
  if (loop->has_item &&
      (loop->key || (loop->block_label && mode_now() == MODE_NATIVE))) /* it was not closed meanwhile */
    event_begin(&loop->block, loop->profile->state, loop->block_label);
}

/* ---- After the body ------------------------------------------------------------------------------------------------------ */

/* Writes both events of a node's item. The block is taken off the stack before the other is recorded: they are siblings. */
static void node_item_native(Loop *loop) {
  State *state = loop->profile->state;
  dft_arg few[ARGS_FEW + 1], *args = few;
  uint32_t count;
  dft_span span = {.struct_size = sizeof span};
  if (loop->block.is_open) dft_region_take(loop->block.at, &span);
  if (loop->block_label) span.named = &loop->block_label->site;
  Py_BEGIN_CRITICAL_SECTION(STATE_OWNER(state));
  count = state->args.count;
  if (count > ARGS_FEW) args = PyMem_Malloc((count + 1) * sizeof *args);
  if (args) {
    arguments_fill(&state->args, args);
    args[count] = (dft_arg){.key = &count_key, .type = DFT_INT, .value.i = loop->count};
    dft_span_record(&loop->fetch, args, count + 1);
    dft_span_record(&span, args, count + 1);
  }
  Py_END_CRITICAL_SECTION();
  if (args != few) PyMem_Free(args);
}

static void node_item_redirected(Loop *loop) {
  State *state = loop->profile->state;
  Arguments call;
  PyObject *key = PyUnicode_FromString("count");
  uint64_t now = event_clock();
  if (!key) return;
  arguments_init(&call);
  arguments_set_int(&call, key, loop->count);
  if (loop->iter_label) event_redirect(state, loop->iter_label, loop->fetch_begin, loop->fetch_end, &call);
  if (loop->block_label) event_redirect(state, loop->block_label, loop->fetch_end, now, &call);
  arguments_clear(&call);
  Py_DECREF(key);
}

static void node_item_end(Loop *loop) {
  if (mode_now() == MODE_NATIVE) node_item_native(loop);
  else if (mode_now() == MODE_REDIRECTED) node_item_redirected(loop);
  loop->block.is_open = 0;
}

static void fn_body_end(Loop *loop) {
  Arguments call;
  if (!loop->block.is_open) return;
  fn_call(loop, &call);
  event_end(&loop->block, loop->profile->state, loop->block_label, &call, NULL);
  arguments_clear(&call);
}

static void finish(Loop *loop) {
  int has_item;
  Py_BEGIN_CRITICAL_SECTION((PyObject *)loop);
  has_item = loop->has_item != 0;
  loop->has_item = 0;
  Py_END_CRITICAL_SECTION();
  if (!has_item) return;
  if (loop->key) fn_body_end(loop);
  else node_item_end(loop);
}

/* The iterator, or NULL; with a reference of the caller's own. The loop may be closed while its iterator runs. */
static PyObject *iterator_now(Loop *loop) {
  PyObject *iterator;
  Py_BEGIN_CRITICAL_SECTION((PyObject *)loop);
  iterator = new_ref_or_null(loop->iterator);
  Py_END_CRITICAL_SECTION();
  return iterator;
}

static PyObject *next_item(PyObject *iterator) {
  iternextfunc next = Py_TYPE(iterator)->tp_iternext;
  if (LIKELY(next)) return next(iterator);
  PyErr_Format(PyExc_TypeError, "'%.200s' object is not an iterator", Py_TYPE(iterator)->tp_name);
  return NULL;
}

static PyObject *loop_next(PyObject *self) {
  Loop *loop = (Loop *)self;
  PyObject *item, *iterator;
  if (UNLIKELY(!loop->iterator)) return NULL;
  finish(loop);
  iterator = iterator_now(loop);
  if (UNLIKELY(!iterator)) return NULL;
  fetch_begin(loop);
  item = next_item(iterator);
  if (LIKELY(item)) fetch_end(loop);
  Py_DECREF(iterator);
  return item;
}

/* ---- By hand: helpers.async_loop ------------------------------------------------------------------------------------------ */

PyDoc_STRVAR(step_doc, "_step($self, what, /)\n--\n\n"
                       "0: the fetch begins; 1: the item is there; 2: the body is done.");
static PyObject *loop_step(PyObject *self, PyObject *what) {
  static void (*const steps[])(Loop *) = {fetch_begin, fetch_end, finish};
  long number = PyLong_AsLong(what);
  if (!((Loop *)self)->profile) Py_RETURN_NONE; /* the garbage collector has cleared it */
  if (number >= 0 && number < 3) steps[number]((Loop *)self);
  else if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "the step must be 0, 1 or 2");
  if (PyErr_Occurred()) return NULL;
  Py_RETURN_NONE;
}

/* ---- Life -------------------------------------------------------------------------------------------------------------- */

PyDoc_STRVAR(close_doc, "close($self, /)\n--\n\nRecords the current item and ends the loop.");
static PyObject *loop_close(PyObject *self, PyObject *ignored) {
  Loop *loop = (Loop *)self;
  PyObject *iterator;
  (void)ignored;
  finish(loop);
  Py_BEGIN_CRITICAL_SECTION(self);
  iterator = loop->iterator;
  loop->iterator = NULL;
  Py_END_CRITICAL_SECTION();
  Py_XDECREF(iterator);
  Py_RETURN_NONE;
}

static int is_asynchronous(PyObject *iterable) {
  const PyAsyncMethods *methods = Py_TYPE(iterable)->tp_as_async;
  return UNLIKELY(!Py_TYPE(iterable)->tp_iter) && methods && methods->am_aiter;
}

PyObject *loop_without_events(PyObject *iterable) {
  return is_asynchronous(iterable) ? Py_TYPE(iterable)->tp_as_async->am_aiter(iterable) : PyObject_GetIter(iterable);
}

static PyObject *loop_new(Profile *profile, PyObject *iterable, Label *first, Label *second, PyObject *key) {
  Loop *loop;
  PyObject *iterator = loop_without_events(iterable);
  if (!iterator) return NULL;
  loop = PyObject_GC_New(Loop, native.loop);
  if (!loop) {
    Py_DECREF(iterator);
    return NULL;
  }
  memset((char *)loop + sizeof(PyObject), 0, sizeof *loop - sizeof(PyObject));
  loop->iterator = iterator;
  loop->profile = (Profile *)Py_NewRef((PyObject *)profile);
  loop->iter_label = first ? label_keep(first) : NULL;
  loop->block_label = second ? label_keep(second) : NULL;
  loop->key = key ? Py_NewRef(key) : NULL;
  loop->fetch.struct_size = sizeof loop->fetch;
  PyObject_GC_Track(loop);
  if (is_asynchronous(iterable)) {
    PyObject *given[] = {(PyObject *)loop, iterator};
    PyObject *outer;
    loop->turn = 1;
    outer = helper_call("async_loop", given, 2);
    Py_DECREF(loop);
    return outer;
  }
  return (PyObject *)loop;
}

PyObject *loop_of_node(Profile *profile, PyObject *iterable, Label *iter_label, Label *block_label) {
  return loop_new(profile, iterable, iter_label, block_label, NULL);
}

PyObject *loop_of_fn(Profile *profile, PyObject *iterable, Label *iter_label, Label *yield_label, PyObject *key) {
  return loop_new(profile, iterable, iter_label, yield_label, key);
}

static int loop_traverse(PyObject *self, visitproc visit, void *arg) {
  Loop *loop = (Loop *)self;
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(loop->iterator);
  Py_VISIT(loop->profile);
  return 0;
}

static int loop_clear(PyObject *self) {
  Loop *loop = (Loop *)self;
  Py_CLEAR(loop->iterator);
  Py_CLEAR(loop->profile);
  return 0;
}

static void loop_finalize(PyObject *self) {
  PyObject *kind, *value, *trace;
  PyErr_Fetch(&kind, &value, &trace);
  if (((Loop *)self)->profile) finish((Loop *)self);
  PyErr_Restore(kind, value, trace);
}

static void loop_dealloc(PyObject *self) {
  Loop *loop = (Loop *)self;
  PyTypeObject *type = Py_TYPE(self);
  if (PyObject_CallFinalizerFromDealloc(self) < 0) return;
  PyObject_GC_UnTrack(self);
  loop_clear(self);
  label_drop(loop->iter_label);
  label_drop(loop->block_label);
  Py_CLEAR(loop->key);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

/* Other attributes are those of the iterator inside: programs use more of torch's iterators than their items. */
static PyObject *loop_attribute(PyObject *self, PyObject *name) {
  PyObject *value = PyObject_GenericGetAttr(self, name), *iterator;
  if (value || !PyErr_ExceptionMatches(PyExc_AttributeError) || !(iterator = iterator_now((Loop *)self))) return value;
  PyErr_Clear();
  value = PyObject_GetAttr(iterator, name);
  Py_DECREF(iterator);
  return value;
}

static PyMethodDef loop_methods[] = {
  {"close", loop_close, METH_NOARGS, close_doc},
  {"_step", loop_step, METH_O, step_doc},
  {NULL},
};

static PyType_Slot loop_slots[] = {
  {Py_tp_doc, "An iterator that records each item and the loop body."},
  {Py_tp_iter, PyObject_SelfIter},
  {Py_tp_iternext, loop_next},
  {Py_tp_methods, loop_methods},
  {Py_tp_getattro, loop_attribute},
  {Py_tp_traverse, loop_traverse},
  {Py_tp_clear, loop_clear},
  {Py_tp_finalize, loop_finalize},
  {Py_tp_dealloc, loop_dealloc},
  {0, NULL},
};

PyType_Spec loop_spec = {"dftracer.dftracer.Loop", sizeof(Loop), 0, TYPE_FLAGS_INTERNAL, loop_slots};
