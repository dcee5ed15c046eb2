/* event.c - one event from its begin to its end: to the core, or to the object that replaces it.
 * SPDX-License-Identifier: MIT */
#include "event.h"

#define ARGS_FEW 16

static dft_key exc_key = DFT_KEY("exc");

/* ---- To the core ------------------------------------------------------------------------------------------------------- */

static void update_exception(dft_region region, PyObject *type) {
  dft_arg arg = {.key = &exc_key, .type = DFT_STRING};
  const char *dot;
  if (!PyType_Check(type)) return;
  arg.value.s.text = ((PyTypeObject *)type)->tp_name;
  dot = strrchr(arg.value.s.text, '.');
  if (dot) arg.value.s.text = dot + 1;
  arg.value.s.len = strlen(arg.value.s.text);
  dft_update_arg(region, &arg);
}

static void update_all(dft_region region, const Arguments *set) {
  for (uint32_t i = 0; i < set->count; i++) dft_update_arg(region, &set->items[i].arg);
}

static void relate_to(dft_region region, long relation, PyObject *given) {
  PyObject *ids = PyList_Check(given) ? PySequence_List(given) : NULL;
  for (Py_ssize_t i = 0; ids && i < PyList_GET_SIZE(ids); i++) {
    uint64_t id = PyLong_AsUnsignedLongLongMask(PyList_GET_ITEM(ids, i));
    if (PyErr_Occurred()) PyErr_Clear();
    dft_region_relate(region, (int32_t)relation, id);
  }
  Py_XDECREF(ids);
}

/* Keeps a pending exception, because the function may have raised one. The ids are taken off the state, and copied: an id that
 * is not an int runs code of the program, which may change them. */
static void relate_all(dft_region region, State *state) {
  PyObject *relations = state_take_relations(state), *pairs, *kind, *value, *trace;
  if (!relations) return;
  PyErr_Fetch(&kind, &value, &trace);
  pairs = PyDict_Items(relations);
  for (Py_ssize_t i = 0; pairs && i < PyList_GET_SIZE(pairs); i++) {
    PyObject *pair = PyList_GET_ITEM(pairs, i);
    long relation = PyLong_AsLong(PyTuple_GET_ITEM(pair, 0));
    if (PyErr_Occurred()) PyErr_Clear();
    else relate_to(region, relation, PyTuple_GET_ITEM(pair, 1));
  }
  Py_XDECREF(pairs);
  Py_DECREF(relations);
  PyErr_Clear();
  PyErr_Restore(kind, value, trace);
}

/* ---- Through Python, for mocks in tests of higher layers ---------------------------------------------------------------- */

/* Calls a method without arguments and leaves the exception state as it was. */
static uint64_t redirect_simple(const char *method) {
  PyObject *kind, *value, *trace, *result, *target = redirect_target();
  uint64_t number = 0;
  PyErr_Fetch(&kind, &value, &trace);
  result = target ? PyObject_CallMethod(target, method, NULL) : NULL;
  if (result && PyLong_Check(result)) number = PyLong_AsUnsignedLongLongMask(result);
  Py_XDECREF(result);
  Py_XDECREF(target);
  PyErr_Clear();
  PyErr_Restore(kind, value, trace);
  return number;
}

static uint64_t redirected_clock(void) {
  return redirect_simple("get_time");
}

static PyObject *merged(const State *state, const Arguments *call, uint32_t type) {
  PyObject *dict = PyDict_New();
  int failed;
  if (!dict) return NULL;
  Py_BEGIN_CRITICAL_SECTION(STATE_OWNER(state));
  failed = arguments_view(&state->args, type, dict) < 0;
  Py_END_CRITICAL_SECTION();
  if (failed || (call && arguments_view(call, type, dict) < 0)) Py_CLEAR(dict);
  return dict;
}

void event_redirect(State *state, Label *label, uint64_t begin, uint64_t end, const Arguments *call) {
  PyObject *kind, *value, *trace;
  PyObject *arguments, *method, *done = NULL;
  PyObject *relations, *own = state_relations(state), *target = redirect_target();
  Label *kept = label ? label_keep(label) : state_label(state);
  PyErr_Fetch(&kind, &value, &trace);
  relations = own ? PyDict_Copy(own) : PyDict_New();
  arguments = Py_BuildValue("{sOsOsKsKsNsNsNsO}", "name", kept->name, "cat", kept->cat, "start_time",
                            (unsigned long long)begin, "duration", (unsigned long long)(end - begin), "int_args",
                            merged(state, call, DFT_INT), "float_args", merged(state, call, DFT_DOUBLE), "string_args",
                            merged(state, call, DFT_STRING), "relations", relations ? relations : Py_None);
  method = target ? PyObject_GetAttrString(target, "log_event") : NULL;
  if (arguments && method) {
    PyObject *none = PyTuple_New(0);
    done = none ? PyObject_Call(method, none, arguments) : NULL;
    Py_XDECREF(none);
  }
  Py_XDECREF(done);
  Py_XDECREF(method);
  Py_XDECREF(arguments);
  Py_XDECREF(relations);
  Py_XDECREF(own);
  Py_XDECREF(target);
  label_drop(kept);
  if (PyErr_Occurred()) PyErr_Clear();
  PyErr_Restore(kind, value, trace);
}

/* ---- Begin and end --------------------------------------------------------------------------------------------------- */

void event_begin(Open *open, State *state, Label *label) {
  open->is_open = 1;
  open->is_redirected = 0;
  if (LIKELY(mode_now() == MODE_NATIVE)) {
    event_mark(state);
    open->at = event_region(state, label);
    return;
  }
  open->is_redirected = 1;
  redirect_simple("enter_event");
  open->at = redirected_clock();
}

void event_end(Open *open, State *state, Label *label, const Arguments *call, PyObject *raised) {
  uint64_t at = open->at; /* code of the program may begin another event in `open` */
  if (UNLIKELY(!open->is_open)) return;
  open->is_open = 0;
  if (UNLIKELY(open->is_redirected)) {
    uint64_t end = redirected_clock();
    event_redirect(state, label, at, end, call);
    redirect_simple("exit_event");
    state_drop_relations(state);
    return;
  }
  if (UNLIKELY(state->args.count)) {
    Py_BEGIN_CRITICAL_SECTION(STATE_OWNER(state));
    update_all(at, &state->args);
    Py_END_CRITICAL_SECTION();
  }
  if (call && call->count) update_all(at, call);
  if (UNLIKELY(state->relations != NULL)) relate_all(at, state);
  if (UNLIKELY(raised != NULL)) update_exception(at, raised);
  dft_region_close(at);
}

void event_cancel(Open *open) {
  dft_span span = {.struct_size = sizeof span};
  if (!open->is_open) return;
  open->is_open = 0;
  if (open->is_redirected) redirect_simple("exit_event");
  else dft_region_take(open->at, &span);
}

/* ---- Measured times ---------------------------------------------------------------------------------------------------- */

uint64_t event_clock(void) {
  int mode = mode_now();
  return mode == MODE_NATIVE ? dft_ticks() : mode == MODE_REDIRECTED ? redirected_clock() : 0;
}

void event_record(State *state, Label *label, uint64_t begin, uint64_t end, const dft_span *span,
                  const Arguments *call) {
  dft_arg few[ARGS_FEW], *args = few;
  Arguments related;
  PyObject *relations;
  Label *kept;
  uint32_t count;
  if (mode_now() == MODE_REDIRECTED) {
    event_redirect(state, label, begin, end, call);
    return;
  }
  event_mark(state);
  relations = state_relations(state);
  if (UNLIKELY(relations != NULL)) {
    arguments_init(&related);
    if (call) arguments_copy(&related, call);
    arguments_set_relations(&related, relations);
    Py_DECREF(relations);
    call = &related;
  }
  kept = label ? label_keep(label) : state_label(state);
  Py_BEGIN_CRITICAL_SECTION(STATE_OWNER(state));
  count = state->args.count + (call ? call->count : 0);
  if (count > ARGS_FEW) args = PyMem_Malloc(count * sizeof *args);
  if (args) {
    arguments_fill(&state->args, args);
    if (call) arguments_fill(call, args + state->args.count);
    if (span) dft_span_record(span, args, count);
    else dft_record(&kept->site, begin, end, args, count);
  }
  Py_END_CRITICAL_SECTION();
  label_drop(kept);
  if (args != few) PyMem_Free(args);
  if (UNLIKELY(call == &related)) arguments_clear(&related);
}
