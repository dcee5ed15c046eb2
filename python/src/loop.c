/* loop.c - the iterator around a loop, which records its items; see item.h.
 *
 * A loop that is left early records its current item when the iterator is freed. Loaders wrap loaders: of loops of category
 * dataloader that fetch within each other on a thread, the outermost records.
 * SPDX-License-Identifier: MIT */
#include "loop.h"

#include "item.h"

/* The outermost loader's loop that fetches on this thread. */
static __thread Loop *fetching __attribute__((tls_model("initial-exec")));

/* Loops that hold their last item. Frameworks know the length of a loader and do not ask for more, so such a loop may stay as it
 * is for long. It is complete at the latest when the next epoch begins. */
static Loop *ready;

static int is_at_last(const Loop *loop) {
  return loop->last && loop->count == loop->last; /* a loop with more items than expected: nobody knows */
}

static void make_ready(Loop *loop) {
#ifndef Py_GIL_DISABLED     /* there another thread may be about to free a loop that is found here */
  if (loop->thread) return; /* threads that share a loop may both come here */
  loop->next = ready;
  loop->thread = PyThread_get_thread_ident();
  ready = loop;
#else
  (void)loop;
#endif
}

static void take_ready(Loop *loop) {
  Loop **at = &ready;
  while (*at && *at != loop) at = &(*at)->next;
  if (*at) *at = loop->next;
  loop->thread = 0;
}

/* The body of the current item is done, or the loop is left; if it expects no more items, that is the same. */
static void finish(Loop *loop, int is_cut) {
  int has_item;
  if (loop->thread) take_ready(loop);
  Py_BEGIN_CRITICAL_SECTION((PyObject *)loop);
  has_item = loop->has_item != 0;
  loop->has_item = 0;
  Py_END_CRITICAL_SECTION();
  if (has_item) item_end(loop, is_cut && !is_at_last(loop));
}

static void begin(Loop *loop) {
  item_begin(loop, loop->is_loader && fetching);
}

static void fetched(Loop *loop) {
  item_fetched(loop);
  if (UNLIKELY(loop->has_item && is_at_last(loop))) make_ready(loop);
}

/* The iterator, or NULL; with a reference of the caller's own. The loop may be closed while its iterator runs. */
static PyObject *iterator_now(Loop *loop) {
  PyObject *iterator;
  Py_BEGIN_CRITICAL_SECTION((PyObject *)loop);
  iterator = new_ref_or_null(loop->iterator);
  Py_END_CRITICAL_SECTION();
  return iterator;
}

static PyObject *next_item(PyObject *iterator, PyObject *ignored) {
  iternextfunc next = Py_TYPE(iterator)->tp_iternext;
  (void)ignored;
  if (LIKELY(next)) return next(iterator);
  PyErr_Format(PyExc_TypeError, "'%.200s' object is not an iterator", Py_TYPE(iterator)->tp_name);
  return NULL;
}

/* Gets the next item by get(object, with). */
static PyObject *fetch(Loop *loop, PyObject *(*get)(PyObject *, PyObject *), PyObject *object, PyObject *with) {
  Loop *outer = fetching;
  PyObject *item;
  begin(loop);
  if (loop->is_loader && !outer) fetching = loop;
  item = get(object, with);
  fetching = outer;
  if (LIKELY(item)) {
    fetched(loop);
    item_look(loop, item);
  } else if (loop->end_label && (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_StopIteration))) {
    item_missing(loop);
  }
  return item;
}

static PyObject *loop_next(PyObject *self) {
  Loop *loop = (Loop *)self;
  PyObject *item, *iterator;
  if (UNLIKELY(!loop->iterator)) return NULL;
  finish(loop, 0);
  iterator = iterator_now(loop);
  if (UNLIKELY(!iterator)) return NULL;
  item = fetch(loop, next_item, iterator, NULL);
  Py_DECREF(iterator);
  return item;
}

void loop_forget_ready(void) {
  ready = NULL;
}

/* Whether the epoch of a loop's item is over. Programs may set the same epoch in every body. */
static int is_over(const Loop *loop, unsigned long thread, const Arguments *values) {
  return loop->thread == thread && arguments_differ(&loop->profile->state->args, values, native_name[NAME_epoch]);
}

void loop_epoch_begins(const Arguments *values) {
  const unsigned long thread = PyThread_get_thread_ident();
  Loop *loop = ready;
  while (loop) {
    if (!is_over(loop, thread, values)) {
      loop = loop->next;
      continue;
    }
    Py_INCREF(loop);
    finish(loop, 0);
    Py_DECREF(loop);
    loop = ready;
  }
}

/* ---- For Python code --------------------------------------------------------------------------------------------------- */

static void finish_whole(Loop *loop) {
  finish(loop, 0);
}

static void finish_cut(Loop *loop) {
  finish(loop, 1);
}

static void expect_no_more(Loop *loop) {
  loop->last = loop->count;
}

PyDoc_STRVAR(
  step_doc, "_step($self, what, /)\n--\n\n"
            "0: the fetch begins; 1: the item is there; 2: the body is done; 3: the loop is left; 4: this item is the\n"
            "last one, so to leave the loop is no cut.");
static PyObject *loop_step(PyObject *self, PyObject *what) {
  static void (*const steps[])(Loop *) = {begin, fetched, finish_whole, finish_cut, expect_no_more};
  long number = PyLong_AsLong(what);
  if (!((Loop *)self)->profile) Py_RETURN_NONE; /* the garbage collector has cleared it */
  if (number >= 0 && number < 5) steps[number]((Loop *)self);
  else if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "the step must be 0, 1, 2, 3 or 4");
  if (PyErr_Occurred()) return NULL;
  Py_RETURN_NONE;
}

PyDoc_STRVAR(
  keep_doc,
  "_keep($self, /)\n--\n\n"
  "Records the fetch of the item in hand now, with the values that there are; its block follows when it is done.");
static PyObject *loop_keep_fetch(PyObject *self, PyObject *ignored) {
  Loop *loop = (Loop *)self;
  (void)ignored;
  if (loop->profile && loop->has_item && !loop->key) item_keep_fetch(loop);
  Py_RETURN_NONE;
}

PyDoc_STRVAR(turn_doc, "_turn($self, function, argument, /)\n--\n\n"
                       "Calls function(argument) for the next item, in place of the loop's own iterator.");
static PyObject *loop_turn(PyObject *self, PyObject *args) {
  PyObject *function, *argument;
  if (!PyArg_ParseTuple(args, "OO", &function, &argument)) return NULL;
  if (!((Loop *)self)->profile) return PyObject_CallOneArg(function, argument);
  finish((Loop *)self, 0);
  return fetch((Loop *)self, PyObject_CallOneArg, function, argument);
}

PyDoc_STRVAR(watch_doc, "_watch($self, end, batches, /)\n--\n\n"
                        "end: a node for the end of the loader; batches: its take() tells who made an item. Or None.");
static PyObject *loop_watch(PyObject *self, PyObject *args) {
  Loop *loop = (Loop *)self;
  PyObject *end, *batches;
  if (!PyArg_ParseTuple(args, "OO", &end, &batches)) return NULL;
  if (PyObject_TypeCheck(end, native.node) && !loop->end_label) loop->end_label = state_label(((Profile *)end)->state);
  if (batches != Py_None) Py_XSETREF(loop->batches, Py_NewRef(batches));
  Py_RETURN_NONE;
}

PyDoc_STRVAR(expect_doc, "_expect($self, items, samples=None, /)\n--\n\n"
                         "So many items are to come; 0: unknown. samples(item, is_last) counts the samples of one.");
static PyObject *loop_expect(PyObject *self, PyObject *args) {
  Loop *loop = (Loop *)self;
  long long number;
  PyObject *samples = Py_None;
  if (!PyArg_ParseTuple(args, "L|O", &number, &samples)) return NULL;
  loop->last = number > 0 ? loop->count + number : 0;
  Py_XSETREF(loop->samples, samples == Py_None ? NULL : Py_NewRef(samples));
  Py_RETURN_NONE;
}

PyObject *loop_fetching(PyObject *module, PyObject *ignored) {
  (void)module;
  (void)ignored;
  return Py_NewRef(fetching ? (PyObject *)fetching : Py_None);
}

/* ---- Life -------------------------------------------------------------------------------------------------------------- */

PyDoc_STRVAR(close_doc, "close($self, /)\n--\n\nRecords the current item and ends the loop.");
static PyObject *loop_close(PyObject *self, PyObject *ignored) {
  Loop *loop = (Loop *)self;
  PyObject *iterator;
  (void)ignored;
  finish(loop, 1);
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

static char is_loader_label(const Label *label) {
  return label && strcmp(label->site.cat, "dataloader") == 0;
}

/* If workers of torch make the items, each fetch tells which one. */
static void find_workers(Loop *loop) {
  PyObject *batches = helper_call("batches_of", &loop->iterator, 1);
  if (!batches) PyErr_Clear();
  else if (batches != Py_None) loop->batches = Py_NewRef(batches);
  Py_XDECREF(batches);
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
  arguments_init(&loop->values);
  loop->is_loader = is_loader_label(first ? first : second);
  PyObject_GC_Track(loop);
  if (loop->is_loader && !key) find_workers(loop);
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
  Py_VISIT(loop->batches);
  Py_VISIT(loop->samples);
  return arguments_traverse(&loop->values, visit, arg);
}

static int loop_clear(PyObject *self) {
  Loop *loop = (Loop *)self;
  if (loop->thread) take_ready(loop); /* it got an item after the garbage collector had finished it */
  Py_CLEAR(loop->iterator);
  Py_CLEAR(loop->profile);
  Py_CLEAR(loop->batches);
  Py_CLEAR(loop->samples);
  arguments_clear(&loop->values);
  return 0;
}

/* A loader that was left ends its workers when nobody holds its iterator any longer. */
static void end_iterator(Loop *loop) {
  PyObject *iterator = loop->iterator;
  begin(loop);
  loop->iterator = NULL;
  Py_DECREF(iterator);
  item_missing(loop);
}

static void loop_finalize(PyObject *self) {
  Loop *loop = (Loop *)self;
  PyObject *kind, *value, *trace;
  PyErr_Fetch(&kind, &value, &trace);
  if (loop->profile && loop->has_item) {
    finish(loop, 1);
    if (loop->end_label && loop->iterator) end_iterator(loop);
  }
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
  label_drop(loop->end_label);
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
  {"_turn", loop_turn, METH_VARARGS, turn_doc},
  {"_watch", loop_watch, METH_VARARGS, watch_doc},
  {"_expect", loop_expect, METH_VARARGS, expect_doc},
  {"_keep", loop_keep_fetch, METH_NOARGS, keep_doc},
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
