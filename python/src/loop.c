/* loop.c - the iterator around a loop: one event for fetching an item, one for the loop body.
 *
 * Both are written after the body: before it, nobody knows whether the loop will be left. A loop that is left early records
 * its current item under other names (.cut) when the iterator is freed. The loop of a node writes the values that the node
 * has after the body; the loop of a dft_fn writes for the first event those from before it.
 *
 * Loaders wrap loaders: of loops of category dataloader that fetch within each other on a thread, the outermost records.
 * SPDX-License-Identifier: MIT */
#include "loop.h"

#include "event.h"

#define ARGS_FEW 15

static dft_key count_key = DFT_KEY("count");
#define BATCH_ARGS 3
static dft_key batch_keys[BATCH_ARGS] = {DFT_KEY("worker"), DFT_KEY("batch"), DFT_KEY("worker_pid")};

typedef struct Loop {
  PyObject_HEAD PyObject *iterator;
  Profile *profile;
  Label *iter_label;  /* NULL: not recorded */
  Label *block_label; /* likewise */
  Label *end_label; /* of the fetch that finds no item, or of the end of an iterator that is left; NULL: not recorded */
  PyObject *key;    /* of a dft_fn's loop: the name of its counter; NULL: a node's loop */
  PyObject *batches; /* tells which worker made an item, see batches.py; NULL: nobody knows */
  Arguments values;  /* of a dft_fn's loop: those of the item's first event */
  int64_t count;
  int64_t last;              /* the count of its last item; 0: unknown */
  struct Loop *next;         /* in `ready` */
  unsigned long thread;      /* in `ready`: that of its item; 0: it is not there */
  int64_t batch[BATCH_ARGS]; /* of the item; its first is -1: unknown */
  dft_span fetch;            /* fetching an item */
  uint64_t fetch_begin;      /* the same for native.redirect: its times */
  uint64_t fetch_end;
  Open block;
  uint64_t turn;    /* of an asynchronous loop; 0: not asynchronous */
  char is_recorded; /* this item */
  char has_item;
  char is_loader; /* its category is dataloader */
} Loop;

/* The outermost loader's loop that fetches on this thread. */
static __thread Loop *fetching __attribute__((tls_model("initial-exec")));

/* Asynchronous loops of one thread may fetch items at the same time. Each begin and each end takes a number. If another loop
 * took one in between, the two fetches may overlap. */
static __thread uint64_t turns __attribute__((tls_model("initial-exec")));

/* Loops that hold their last item. Frameworks know the length of a loader and do not ask for more, so such a loop may stay as it
 * is for long. It is complete at the latest when the next epoch begins. */
static Loop *ready;

static void make_ready(Loop *loop) {
#ifndef Py_GIL_DISABLED /* there another thread may be about to free a loop that is found here */
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
  loop->is_recorded = (char)(is_recording(state) && !(loop->is_loader && fetching));
  loop->fetch.id = 0;
  loop->batch[0] = -1;
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
  PyObject *relations = state_relations(state);
  fn_call(loop, &call);
  Py_BEGIN_CRITICAL_SECTION(STATE_OWNER(state));
  arguments_clear(&loop->values);
  arguments_copy(&loop->values, &state->args);
  arguments_copy(&state->last, &call);
  Py_END_CRITICAL_SECTION();
  arguments_copy(&loop->values, &call);
  arguments_clear(&call);
  if (UNLIKELY(relations != NULL)) arguments_set_relations(&loop->values, relations);
  Py_XDECREF(relations);
}

/* Asks which worker made the item; code of torch knows it. */
static void find_batch(Loop *loop) {
  PyObject *batches = new_ref_or_null(loop->batches);
  PyObject *found = PyObject_CallMethod(batches, "take", NULL);
  long long worker, batch, pid;
  if (found && PyTuple_Check(found) && PyArg_ParseTuple(found, "LLL", &worker, &batch, &pid)) {
    loop->batch[0] = worker;
    loop->batch[1] = batch;
    loop->batch[2] = pid;
  }
  if (PyErr_Occurred()) PyErr_Clear();
  Py_XDECREF(found);
  Py_DECREF(batches);
}

static void fetch_end(Loop *loop) {
  if (!loop->is_recorded) return;
  if (UNLIKELY(mode_now() == MODE_REDIRECTED)) loop->fetch_end = event_clock();
  else if (loop->iter_label) dft_span_end(&loop->fetch, UNLIKELY(loop->turn) && loop->turn != turns++);
  loop->has_item = 1;
  if (UNLIKELY(loop->last && loop->count == loop->last)) make_ready(loop);
  if (loop->key) fn_fetch_end(loop);
  else if (UNLIKELY(loop->batches != NULL)) find_batch(loop);
  if (loop->has_item &&
      (loop->key || (loop->block_label && mode_now() == MODE_NATIVE))) /* it was not closed meanwhile */
    event_begin(&loop->block, loop->profile->state, loop->block_label);
}

/* ---- After the body ------------------------------------------------------------------------------------------------------ */

/* Gives a span that has ended another name. */
static void rename_span(dft_span *span, Label *label) {
  dft_span other = {.struct_size = sizeof other};
  dft_span_begin(&label->site, &other);
  if (!other.session) span->id = 0; /* such events are not recorded */
  span->site = other.site;
  span->named = &label->site;
}

/* The label for an item of a loop that was left. */
static Label *cut_label(const Label *label) {
  Label *cut = label ? label_derived(label, "cut", NULL) : NULL;
  if (!cut) PyErr_Clear();
  return cut;
}

/* The values of the node, and room for `more`; `count` is without these. NULL: there is no memory. */
static dft_arg *node_values(State *state, dft_arg few[], uint32_t more, uint32_t *count) {
  dft_arg *args = few;
  *count = state->args.count;
  if (*count > ARGS_FEW) args = PyMem_Malloc((*count + more) * sizeof *args);
  if (args) arguments_fill(&state->args, args);
  return args;
}

/* Writes both events of a node's item. The block is taken off the stack before the other is recorded: they are siblings. */
static void node_item_native(Loop *loop, Label *iter_cut, Label *block_cut) {
  State *state = loop->profile->state;
  dft_arg few[ARGS_FEW + 1 + BATCH_ARGS], *args;
  uint32_t count;
  dft_span span = {.struct_size = sizeof span};
  if (loop->block.is_open) dft_region_take(loop->block.at, &span);
  if (loop->block_label) span.named = &loop->block_label->site;
  if (iter_cut && loop->fetch.id) rename_span(&loop->fetch, iter_cut);
  if (block_cut && span.id) rename_span(&span, block_cut);
  Py_BEGIN_CRITICAL_SECTION(STATE_OWNER(state));
  args = node_values(state, few, 1 + BATCH_ARGS, &count);
  if (args) {
    args[count++] = (dft_arg){.key = &count_key, .type = DFT_INT, .value.i = loop->count};
    for (int i = 0; i < BATCH_ARGS; i++)
      args[count + (uint32_t)i] = (dft_arg){.key = &batch_keys[i], .type = DFT_INT, .value.i = loop->batch[i]};
    dft_span_record(&loop->fetch, args, loop->batch[0] < 0 ? count : count + BATCH_ARGS);
    dft_span_record(&span, args, count);
  }
  Py_END_CRITICAL_SECTION();
  if (args != few) PyMem_Free(args);
}

static void node_item_redirected(Loop *loop, Label *iter_cut, Label *block_cut) {
  State *state = loop->profile->state;
  Arguments call;
  PyObject *key = PyUnicode_FromString("count");
  uint64_t now = event_clock();
  if (!key) return;
  arguments_init(&call);
  arguments_set_int(&call, key, loop->count);
  if (loop->iter_label)
    event_redirect(state, iter_cut ? iter_cut : loop->iter_label, loop->fetch_begin, loop->fetch_end, &call);
  if (loop->block_label) event_redirect(state, block_cut ? block_cut : loop->block_label, loop->fetch_end, now, &call);
  arguments_clear(&call);
  Py_DECREF(key);
}

static void node_item_end(Loop *loop, Label *iter_cut, Label *block_cut) {
  if (mode_now() == MODE_NATIVE) node_item_native(loop, iter_cut, block_cut);
  else if (mode_now() == MODE_REDIRECTED) node_item_redirected(loop, iter_cut, block_cut);
  loop->block.is_open = 0;
}

static void fn_fetch_record(Loop *loop, Label *label) {
  Arguments *values = &loop->values;
  dft_arg *args;
  if (mode_now() == MODE_REDIRECTED) {
    event_redirect(loop->profile->state, label, loop->fetch_begin, loop->fetch_end, values);
    return;
  }
  args = PyMem_Malloc(values->count * sizeof *args);
  if (!args) return;
  arguments_fill(values, args);
  dft_span_record(&loop->fetch, args, values->count);
  PyMem_Free(args);
}

static void fn_item_end(Loop *loop, Label *iter_cut, Label *block_cut) {
  State *state = loop->profile->state;
  dft_span span = {.struct_size = sizeof span};
  Arguments call;
  if (iter_cut && loop->fetch.id) rename_span(&loop->fetch, iter_cut);
  fn_fetch_record(loop, iter_cut ? iter_cut : loop->iter_label);
  fn_call(loop, &call);
  if (block_cut && loop->block.is_open && !loop->block.is_redirected) {
    loop->block.is_open = 0;
    dft_region_take(loop->block.at, &span);
    if (span.id) rename_span(&span, block_cut);
    event_record(state, block_cut, 0, 0, &span, &call);
    state_drop_relations(state);
  } else {
    event_end(&loop->block, state, block_cut ? block_cut : loop->block_label, &call, NULL);
  }
  arguments_clear(&call);
}

static void finish(Loop *loop, int is_cut) {
  int has_item;
  Label *iter_cut, *block_cut;
  if (loop->thread) take_ready(loop);
  if (loop->last && loop->count >= loop->last) is_cut = 0;
  Py_BEGIN_CRITICAL_SECTION((PyObject *)loop);
  has_item = loop->has_item != 0;
  loop->has_item = 0;
  Py_END_CRITICAL_SECTION();
  if (!has_item) return;
  iter_cut = is_cut ? cut_label(loop->iter_label) : NULL;
  block_cut = is_cut ? cut_label(loop->block_label) : NULL;
  (loop->key ? fn_item_end : node_item_end)(loop, iter_cut, block_cut);
  label_drop(iter_cut);
  label_drop(block_cut);
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

/* The fetch found no item: the loader has ended, and may have waited for its workers. */
static void fetch_over(Loop *loop) {
  State *state = loop->profile->state;
  dft_arg few[ARGS_FEW], *args;
  uint32_t count;
  if (!loop->is_recorded || mode_now() != MODE_NATIVE) return;
  dft_span_end(&loop->fetch, 0);
  if (!loop->fetch.id) return;
  rename_span(&loop->fetch, loop->end_label);
  Py_BEGIN_CRITICAL_SECTION(STATE_OWNER(state));
  args = node_values(state, few, 0, &count);
  if (args) dft_span_record(&loop->fetch, args, count);
  Py_END_CRITICAL_SECTION();
  if (args != few) PyMem_Free(args);
}

/* Gets the next item by get(object, with). */
static PyObject *fetch(Loop *loop, PyObject *(*get)(PyObject *, PyObject *), PyObject *object, PyObject *with) {
  Loop *outer = fetching;
  PyObject *item;
  fetch_begin(loop);
  if (loop->is_loader && !outer) fetching = loop;
  item = get(object, with);
  fetching = outer;
  if (LIKELY(item)) fetch_end(loop);
  else if (loop->end_label && (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_StopIteration))) fetch_over(loop);
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

void loop_epoch_begins(void) {
  unsigned long thread = PyThread_get_thread_ident();
  Loop *loop = ready;
  while (loop) {
    if (loop->thread != thread) {
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

PyDoc_STRVAR(step_doc, "_step($self, what, /)\n--\n\n"
                       "0: the fetch begins; 1: the item is there; 2: the body is done; 3: the loop is left.");
static PyObject *loop_step(PyObject *self, PyObject *what) {
  static void (*const steps[])(Loop *) = {fetch_begin, fetch_end, finish_whole, finish_cut};
  long number = PyLong_AsLong(what);
  if (!((Loop *)self)->profile) Py_RETURN_NONE; /* the garbage collector has cleared it */
  if (number >= 0 && number < 4) steps[number]((Loop *)self);
  else if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "the step must be 0, 1, 2 or 3");
  if (PyErr_Occurred()) return NULL;
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

PyDoc_STRVAR(expect_doc, "_expect($self, items, /)\n--\n\nSo many items are to come; 0: unknown.");
static PyObject *loop_expect(PyObject *self, PyObject *items) {
  long long number = PyLong_AsLongLong(items);
  if (PyErr_Occurred()) return NULL;
  ((Loop *)self)->last = number > 0 ? ((Loop *)self)->count + number : 0;
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
  return arguments_traverse(&loop->values, visit, arg);
}

static int loop_clear(PyObject *self) {
  Loop *loop = (Loop *)self;
  Py_CLEAR(loop->iterator);
  Py_CLEAR(loop->profile);
  Py_CLEAR(loop->batches);
  arguments_clear(&loop->values);
  return 0;
}

/* A loader that was left ends its workers when nobody holds its iterator any longer. */
static void end_iterator(Loop *loop) {
  PyObject *iterator = loop->iterator;
  fetch_begin(loop);
  loop->iterator = NULL;
  Py_DECREF(iterator);
  fetch_over(loop);
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
  {"close", loop_close, METH_NOARGS, close_doc}, {"_step", loop_step, METH_O, step_doc},
  {"_turn", loop_turn, METH_VARARGS, turn_doc},  {"_watch", loop_watch, METH_VARARGS, watch_doc},
  {"_expect", loop_expect, METH_O, expect_doc},  {NULL},
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
