/* eventcalls.c - the functions of the native module that record events by themselves, and their times.
 * SPDX-License-Identifier: MIT */
#include "eventcalls.h"

#include "arguments.h"
#include "label.h"
#include "text.h"

#define ARGS_FEW 16

PyDoc_STRVAR(get_time_doc, "get_time($module, /)\n--\n\nNow, in the unit of the trace since the epoch; 0 without one.");
static PyObject *get_time(PyObject *module, PyObject *ignored) {
  (void)module;
  (void)ignored;
  return PyLong_FromUnsignedLongLong(mode_now() == MODE_NATIVE ? dft_time() : 0);
}

PyDoc_STRVAR(ticks_doc, "_ticks($module, /)\n--\n\nNow, for _log_measured; 0 without a trace.");
static PyObject *ticks(PyObject *module, PyObject *ignored) {
  (void)module;
  (void)ignored;
  return PyLong_FromUnsignedLongLong(mode_now() == MODE_NATIVE && dft_time() ? dft_ticks() : 0);
}

PyDoc_STRVAR(around_doc, "_around($module, /)\n--\n\nThe innermost region of this thread; 0: none.");
static PyObject *around(PyObject *module, PyObject *ignored) {
  static dft_site site = DFT_SITE("around", "dftracer");
  dft_span span = {.struct_size = sizeof span};
  (void)module;
  (void)ignored;
  if (mode_now() == MODE_NATIVE) dft_span_begin(&site, &span);
  return PyLong_FromUnsignedLongLong(span.parent);
}

PyDoc_STRVAR(enter_event_doc, "enter_event($module, /)\n--\n\nPushes a level; returns the depth before it.");
static PyObject *enter_event(PyObject *module, PyObject *ignored) {
  (void)module;
  (void)ignored;
  return PyLong_FromLong(mode_now() == MODE_NATIVE ? dft_enter() : 0);
}

PyDoc_STRVAR(exit_event_doc, "exit_event($module, /)\n--\n\nPops a level.");
static PyObject *exit_event(PyObject *module, PyObject *ignored) {
  (void)module;
  (void)ignored;
  if (mode_now() == MODE_NATIVE) dft_exit();
  Py_RETURN_NONE;
}

/* A time, which may be a float; `otherwise` if it is not a number. */
static uint64_t time_from(PyObject *value, uint64_t otherwise) {
  PyObject *number = PyNumber_Long(value);
  int overflow;
  long long time = number ? PyLong_AsLongLongAndOverflow(number, &overflow) : 0;
  if (!number) PyErr_Clear();
  else otherwise = time > 0 ? (uint64_t)time : 0;
  Py_XDECREF(number);
  return otherwise;
}

/* Values by their types; see arguments_set_map. */
static void take_values(Arguments *set, PyObject *ints, PyObject *strings, PyObject *floats) {
  arguments_init(set);
  arguments_set_map(set, ints, DFT_INT);
  arguments_set_map(set, strings, DFT_STRING);
  arguments_set_map(set, floats, DFT_DOUBLE);
}

/* In `few`, if they fit; NULL: no memory. */
static dft_arg *arguments_list(const Arguments *set, dft_arg few[ARGS_FEW]) {
  dft_arg *list = set->count > ARGS_FEW ? PyMem_Malloc(set->count * sizeof *list) : few;
  if (list) arguments_fill(set, list);
  return list;
}

PyDoc_STRVAR(log_event_doc, "log_event($module, /, name, cat, start_time, duration, int_args={}, string_args={}, "
                            "float_args={}, relations={})\n--\n\nWrites one complete event with these times.");
static PyObject *log_event(PyObject *module, PyObject *args, PyObject *keywords) {
  static char *names[] = {"name",        "cat",        "start_time", "duration", "int_args",
                          "string_args", "float_args", "relations",  NULL};
  PyObject *name, *cat, *start, *duration, *ints = NULL, *strings = NULL, *floats = NULL, *relations = NULL;
  PyObject *name_text, *cat_text;
  Arguments set;
  dft_arg few[ARGS_FEW], *out;
  (void)module;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOOO|OOOO:log_event", names, &name, &cat, &start, &duration, &ints,
                                   &strings, &floats, &relations))
    return NULL;
  if (mode_now() != MODE_NATIVE) Py_RETURN_NONE;
  take_values(&set, ints, strings, floats);
  if (relations && relations != Py_None) arguments_set_relations(&set, relations);
  name_text = text_from(name);
  cat_text = text_from(cat);
  out = arguments_list(&set, few);
  if (name_text && cat_text && out) {
    Py_ssize_t name_len, cat_len;
    const char *name_bytes = PyUnicode_AsUTF8AndSize(name_text, &name_len);
    const char *cat_bytes = PyUnicode_AsUTF8AndSize(cat_text, &cat_len);
    dft_log_event_n(name_bytes, (size_t)name_len, cat_bytes, (size_t)cat_len, time_from(start, dft_time()),
                    time_from(duration, 0), 0, out, set.count);
  }
  if (out != few) PyMem_Free(out);
  arguments_clear(&set);
  Py_XDECREF(name_text);
  Py_XDECREF(cat_text);
  Py_RETURN_NONE;
}

PyDoc_STRVAR(log_measured_doc,
             "_log_measured($module, name, cat, begin, end, ints={}, strings={}, floats={}, crosses=False, /)\n--\n\n"
             "Writes one complete event with times of _ticks. It encloses what was recorded between "
             "them,\nalso where the kernel's clock, that of get_time, is being adjusted. If it crosses regions of the "
             "thread,\nit goes onto a lane.");
static void record_on_lane(Label *label, uint64_t begin, uint64_t end, const dft_arg *args, uint32_t count) {
  dft_span span = {.struct_size = sizeof span};
  dft_span_begin(&label->site, &span);
  span.begin_ticks = begin;
  dft_span_end(&span, 1);
  span.end_ticks = end;
  dft_span_record(&span, args, count);
}

static PyObject *log_measured(PyObject *module, PyObject *args) {
  PyObject *name, *cat, *ints = NULL, *strings = NULL, *floats = NULL;
  unsigned long long begin, end;
  int crosses = 0;
  Arguments set;
  dft_arg few[ARGS_FEW], *out;
  Label *label;
  (void)module;
  if (!PyArg_ParseTuple(args, "OOKK|OOOp:_log_measured", &name, &cat, &begin, &end, &ints, &strings, &floats, &crosses))
    return NULL;
  if (mode_now() != MODE_NATIVE) Py_RETURN_NONE;
  label = label_new(name, cat);
  if (!label) return NULL;
  take_values(&set, ints, strings, floats);
  out = arguments_list(&set, few);
  if (out && crosses) record_on_lane(label, begin, end, out, set.count);
  else if (out) dft_record(&label->site, begin, end, out, set.count);
  if (out != few) PyMem_Free(out);
  arguments_clear(&set);
  label_drop(label);
  Py_RETURN_NONE;
}

PyDoc_STRVAR(log_counter_doc,
             "_log_counter($module, /, name, cat, value)\n--\n\nWrites the value that a quantity has now.");
static PyObject *log_counter(PyObject *module, PyObject *args, PyObject *keywords) {
  static char *names[] = {"name", "cat", "value", NULL};
  PyObject *name, *cat;
  double value;
  Text texts[2] = {{0}};
  (void)module;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOd:_log_counter", names, &name, &cat, &value)) return NULL;
  if (mode_now() == MODE_NATIVE && text_open(&texts[0], name) && text_open(&texts[1], cat))
    dft_counter_n(texts[0].text, texts[0].len, texts[1].text, texts[1].len, value);
  for (int i = 0; i < 2; i++) text_close(&texts[i]);
  Py_RETURN_NONE;
}

PyMethodDef event_call_methods[] = {
  {"get_time", get_time, METH_NOARGS, get_time_doc},
  {"_ticks", ticks, METH_NOARGS, ticks_doc},
  {"_around", around, METH_NOARGS, around_doc},
  {"enter_event", enter_event, METH_NOARGS, enter_event_doc},
  {"exit_event", exit_event, METH_NOARGS, exit_event_doc},
  {"log_event", WITH_KEYWORDS(log_event), log_event_doc},
  {"_log_measured", log_measured, METH_VARARGS, log_measured_doc},
  {"_log_counter", WITH_KEYWORDS(log_counter), log_counter_doc},
  {NULL},
};
