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

/* Keeps a pending exception, because the function may have raised one. The ids are taken off the state first: an id that is
 * not an int runs code of the program, which may change them. */
static void relate_all(dft_region region, State *state) {
  PyObject *relations = state->relations, *relation, *ids, *kind, *value, *trace;
  Py_ssize_t place = 0;
  state->relations = NULL;
  PyErr_Fetch(&kind, &value, &trace);
  while (PyDict_Next(relations, &place, &relation, &ids)) {
    Py_INCREF(ids);
    for (Py_ssize_t i = 0; PyList_Check(ids) && i < PyList_GET_SIZE(ids); i++) {
      PyObject *id = Py_NewRef(PyList_GET_ITEM(ids, i));
      dft_region_relate(region, (int32_t)PyLong_AsLong(relation), PyLong_AsUnsignedLongLongMask(id));
      Py_DECREF(id);
    }
    Py_DECREF(ids);
  }
  Py_DECREF(relations);
  PyErr_Clear();
  PyErr_Restore(kind, value, trace);
}

/* ---- Through Python, for mocks in tests of higher layers ---------------------------------------------------------------- */

/* Calls a method without arguments and leaves the exception state as it was. */
static uint64_t redirect_simple(const char *method) {
  PyObject *kind, *value, *trace, *result;
  uint64_t number = 0;
  PyErr_Fetch(&kind, &value, &trace);
  result = native.redirect ? PyObject_CallMethod(native.redirect, method, NULL) : NULL;
  if (result && PyLong_Check(result)) number = PyLong_AsUnsignedLongLongMask(result);
  Py_XDECREF(result);
  PyErr_Clear();
  PyErr_Restore(kind, value, trace);
  return number;
}

static uint64_t redirected_clock(void) {
  return redirect_simple("get_time");
}

static PyObject *merged(const State *state, const Arguments *call, uint32_t type) {
  PyObject *dict = PyDict_New();
  if (dict && (arguments_view(&state->args, type, dict) < 0 || (call && arguments_view(call, type, dict) < 0)))
    Py_CLEAR(dict);
  return dict;
}

void event_redirect(State *state, Label *label, uint64_t begin, uint64_t end, const Arguments *call) {
  PyObject *kind, *value, *trace;
  PyObject *arguments, *method, *done = NULL;
  PyObject *relations;
  PyErr_Fetch(&kind, &value, &trace);
  relations = state->relations ? PyDict_Copy(state->relations) : PyDict_New();
  arguments = Py_BuildValue("{sOsOsKsKsNsNsNsO}", "name", label->name, "cat", label->cat, "start_time",
                            (unsigned long long)begin, "duration", (unsigned long long)(end - begin), "int_args",
                            merged(state, call, DFT_INT), "float_args", merged(state, call, DFT_DOUBLE), "string_args",
                            merged(state, call, DFT_STRING), "relations", relations ? relations : Py_None);
  method = native.redirect ? PyObject_GetAttrString(native.redirect, "log_event") : NULL;
  if (arguments && method) {
    PyObject *none = PyTuple_New(0);
    done = none ? PyObject_Call(method, none, arguments) : NULL;
    Py_XDECREF(none);
  }
  Py_XDECREF(done);
  Py_XDECREF(method);
  Py_XDECREF(arguments);
  Py_XDECREF(relations);
  if (PyErr_Occurred()) PyErr_Clear();
  PyErr_Restore(kind, value, trace);
}

/* ---- Begin and end --------------------------------------------------------------------------------------------------- */

void event_begin(Open *open, State *state, Label *label) {
  open->is_open = 1;
  open->is_redirected = 0;
  if (LIKELY(mode_now() == MODE_NATIVE)) {
    event_mark(state);
    open->at = dft_region_begin(&label->site);
    return;
  }
  open->is_redirected = 1;
  redirect_simple("enter_event");
  open->at = redirected_clock();
}

void event_end(Open *open, State *state, Label *label, const Arguments *call, PyObject *raised) {
  if (UNLIKELY(!open->is_open)) return;
  open->is_open = 0;
  if (UNLIKELY(open->is_redirected)) {
    event_redirect(state, label, open->at, redirected_clock(), call);
    redirect_simple("exit_event");
    Py_CLEAR(state->relations);
    return;
  }
  if (UNLIKELY(state->args.count)) {
    Py_BEGIN_CRITICAL_SECTION(STATE_OWNER(state));
    update_all(open->at, &state->args);
    Py_END_CRITICAL_SECTION();
  }
  if (call && call->count) update_all(open->at, call);
  if (UNLIKELY(state->relations != NULL)) relate_all(open->at, state);
  if (UNLIKELY(raised != NULL)) update_exception(open->at, raised);
  dft_region_close(open->at);
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
  uint32_t count;
  if (mode_now() == MODE_REDIRECTED) {
    event_redirect(state, label, begin, end, call);
    return;
  }
  event_mark(state);
  if (UNLIKELY(state->relations != NULL)) {
    arguments_init(&related);
    if (call) arguments_copy(&related, call);
    arguments_set_relations(&related, state->relations);
    call = &related;
  }
  Py_BEGIN_CRITICAL_SECTION(STATE_OWNER(state));
  count = state->args.count + (call ? call->count : 0);
  if (count > ARGS_FEW) args = PyMem_Malloc(count * sizeof *args);
  if (args) {
    arguments_fill(&state->args, args);
    if (call) arguments_fill(call, args + state->args.count);
    if (span) dft_span_record(span, args, count);
    else dft_record(&label->site, begin, end, args, count);
  }
  Py_END_CRITICAL_SECTION();
  if (args != few) PyMem_Free(args);
  if (UNLIKELY(call == &related)) arguments_clear(&related);
}
