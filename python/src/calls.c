/* calls.c - the functions of the native module: low-level calls for layers written in Python.
 * SPDX-License-Identifier: MIT */
#include "calls.h"

#include <unistd.h>

#include "arguments.h"
#include "block.h"
#include "function.h"
#include "loop.h"
#include "text.h"
#include "torch_events.h"

static int is_ours;      /* the trace was opened here, not by a program that embeds the interpreter */
static int is_following; /* a child of a traced process that has not called initialize */
static int was_opened;   /* initialize was called, or what stands for it */

/* Whether the options name another file than the parent's, which a child uses by default. */
static int names_another(const dft_options *options) {
  const char *name = options->log_file;
  char current[4096], absolute[2 * 4096];
  if (!name || !is_following) return 0;
  dft_config_get("DFTRACER_LOG_FILE", current, sizeof current);
  while (name[0] == '.' && name[1] == '/') name += 2;
  if (name[0] != '/' && getcwd(absolute, 4096)) {
    size_t len = strlen(absolute);
    snprintf(absolute + len, sizeof absolute - len, "/%s", name);
    name = absolute;
  }
  return strcmp(current, name) != 0;
}

/* Calls a helper that prints, with a reference to `given` that it takes over. A layer of another origin has no such helper. */
static void tell(const char *name, PyObject *given) {
  Py_XDECREF(given ? helper_call(name, &given, 1) : NULL);
  Py_XDECREF(given);
  PyErr_Clear();
}

/* The program set the variable after the import. */
static void switch_on(PyObject *module) {
  native_enabled = 1;
  PyObject_SetAttrString(module, "_enabled", Py_True);
  tell("switched_on", PyLong_FromLong(native_silent));
}

/* ---- Lifecycle --------------------------------------------------------------------------------------------------------- */

PyDoc_STRVAR(initialize_doc, "initialize($module, /, log_file=None, data_dirs=None, process_id=-1)\n--\n\n"
                             "Opens the trace, or continues the one that is open.");
static PyObject *initialize(PyObject *module, PyObject *args, PyObject *keywords) {
  static char *names[] = {"log_file", "data_dirs", "process_id", NULL};
  PyObject *log_file = Py_None, *data_dirs = Py_None, *process_id = NULL, *log_bytes = NULL, *data_bytes = NULL;
  dft_options options = {.struct_size = sizeof options};
  dft_status status;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OOO:initialize", names, &log_file, &data_dirs, &process_id))
    return NULL;
  if ((log_file != Py_None && !PyUnicode_FSConverter(log_file, &log_bytes)) ||
      (data_dirs != Py_None && !PyUnicode_FSConverter(data_dirs, &data_bytes))) {
    Py_XDECREF(log_bytes);
    return NULL;
  }
  if (log_bytes) options.log_file = PyBytes_AS_STRING(log_bytes);
  if (data_bytes) options.data_dir = PyBytes_AS_STRING(data_bytes);
  Py_BEGIN_ALLOW_THREADS status = dft_start(&options); /* it reads the switch again */
  if (status == DFT_EACTIVE && names_another(&options)) {
    dft_stop();
    status = dft_start(&options);
  }
  if (status == DFT_OK) dft_bind_io();
  Py_END_ALLOW_THREADS is_following = 0;
  if (status == DFT_OK || status == DFT_EACTIVE) {
    if (status == DFT_EACTIVE && mode_now() == MODE_NATIVE && log_bytes)
      tell("tell_open", PyUnicode_DecodeFSDefault(options.log_file));
    mode_set(MODE_NATIVE);
    if (!native_enabled) switch_on(module);
  }
  if (status == DFT_OK) {
    native_marked = 0;
    is_ours = 1;
  }
  was_opened = 1;
  Py_XDECREF(log_bytes);
  Py_XDECREF(data_bytes);
  Py_RETURN_NONE;
}

PyDoc_STRVAR(finalize_doc, "finalize($module, /)\n--\n\nCompletes the trace. Safe to call twice.");
static PyObject *finalize(PyObject *module, PyObject *ignored) {
  (void)module;
  (void)ignored;
  if (mode_now() == MODE_NATIVE) {
    mode_set(MODE_OFF);
    Py_BEGIN_ALLOW_THREADS dft_stop();
    Py_END_ALLOW_THREADS
  }
  Py_RETURN_NONE;
}

void finish_with_interpreter(void) {
  if (is_ours) dft_stop();
}

PyDoc_STRVAR(follow_doc, "_follow($module, /)\n--\n\nTurns recording on in a child of a traced process; the core opens "
                         "its trace at the first event.");
static PyObject *follow(PyObject *module, PyObject *ignored) {
  char folders[2];
  (void)module;
  (void)ignored;
  if (native_enabled && mode_now() == MODE_OFF) {
    is_following = is_ours = native_is_new_child = was_opened = 1;
    mode_set(MODE_NATIVE);
    /* To record I/O from the start, as in the parent, the trace must be open. */
    if (dft_config_get("DFTRACER_DATA_DIR", folders, sizeof folders) && dft_start(NULL) == DFT_OK) dft_bind_io();
  }
  Py_RETURN_NONE;
}

PyDoc_STRVAR(child_ends_doc,
             "_child_ends($module, pid, /)\n--\n\nThis process ends that child by a signal, on purpose.");
static PyObject *child_ends(PyObject *module, PyObject *pid) {
  unsigned long number = PyLong_AsUnsignedLong(pid);
  (void)module;
  if (PyErr_Occurred()) return NULL;
  dft_child_ends((uint32_t)number);
  Py_RETURN_NONE;
}

PyDoc_STRVAR(was_forgotten_doc,
             "_was_forgotten($module, /)\n--\n\nWhether the program has annotations, but opened no trace.");
static PyObject *was_forgotten(PyObject *module, PyObject *ignored) {
  (void)module;
  (void)ignored;
  return PyBool_FromLong(native_enabled && native_missed && !was_opened);
}

PyDoc_STRVAR(exchange_missed_doc, "_exchange_missed($module, value, /)\n--\n\nWhether an annotation was used while no "
                                  "trace was open; from now on, this value.");
static PyObject *exchange_missed(PyObject *module, PyObject *value) {
  int before = native_missed;
  (void)module;
  native_missed = is_true(value);
  return PyBool_FromLong(before);
}

PyDoc_STRVAR(redirect_doc, "_redirect($module, target, /)\n--\n\nSends events to target.log_event(...), or to the core "
                           "again with None.");
static PyObject *redirect(PyObject *module, PyObject *target) {
  static int before = MODE_OFF;
  PyObject *old;
  (void)module;
  if (mode_now() != MODE_REDIRECTED) before = mode_now();
  Py_BEGIN_CRITICAL_SECTION(native.module);
  old = native.redirect;
  native.redirect = target == Py_None ? NULL : Py_NewRef(target);
  Py_END_CRITICAL_SECTION();
  mode_set(target == Py_None ? before : MODE_REDIRECTED);
  if (target != Py_None) was_opened = 1;
  Py_XDECREF(old); /* runs code of the program */
  Py_RETURN_NONE;
}

/* ---- Pairs of texts ------------------------------------------------------------------------------------------------------ */

static int key_and_value(PyObject *args, PyObject *keywords, PyObject **key, PyObject **value) {
  static char *names[] = {"key", "value", NULL};
  return PyArg_ParseTupleAndKeywords(args, keywords, "OO", names, key, value);
}

typedef void (*pair_call)(const char *key, size_t key_len, const char *value, size_t value_len);

static PyObject *with_pair(PyObject *args, PyObject *keywords, pair_call call) {
  PyObject *key, *value;
  Text first, second;
  if (!key_and_value(args, keywords, &key, &value)) return NULL;
  if (mode_now() != MODE_NATIVE) Py_RETURN_NONE;
  if (text_open(&first, key)) {
    if (text_open(&second, value)) call(first.text, first.len, second.text, second.len);
    text_close(&second);
  }
  text_close(&first);
  Py_RETURN_NONE;
}

PyDoc_STRVAR(log_metadata_event_doc, "log_metadata_event($module, /, key, value)\n--\n\nWrites one metadata record.");
static PyObject *log_metadata_event(PyObject *module, PyObject *args, PyObject *keywords) {
  (void)module;
  return with_pair(args, keywords, dft_metadata_n);
}

PyDoc_STRVAR(set_app_metadata_string_doc, "set_app_metadata_string($module, /, key, value)\n--\n\n"
                                          "Sets a fact about the application; written at the end of the trace.");
static PyObject *set_app_metadata_string(PyObject *module, PyObject *args, PyObject *keywords) {
  (void)module;
  return with_pair(args, keywords, dft_app_metadata_string_n);
}

PyDoc_STRVAR(set_app_metadata_int_doc, "set_app_metadata_int($module, /, key, value)\n--\n\n"
                                       "Sets a fact about the application; written at the end of the trace.");
static PyObject *set_app_metadata_int(PyObject *module, PyObject *args, PyObject *keywords) {
  PyObject *key, *value, *number;
  Text text;
  int overflow = 0;
  long long plain;
  (void)module;
  if (!key_and_value(args, keywords, &key, &value)) return NULL;
  if (mode_now() != MODE_NATIVE) Py_RETURN_NONE;
  number = PyNumber_Long(value);
  plain = number ? PyLong_AsLongLongAndOverflow(number, &overflow) : 0;
  if (!number || overflow) {
    PyErr_Clear();
    Py_XDECREF(number);
    return with_pair(args, keywords, dft_app_metadata_string_n);
  }
  if (text_open(&text, key)) dft_app_metadata_int_n(text.text, text.len, plain);
  text_close(&text);
  Py_DECREF(number);
  Py_RETURN_NONE;
}

PyDoc_STRVAR(mark_used_doc, "mark_used($module, /, name)\n--\n\nMarks a layer as used; written at the end.");
static PyObject *mark_used(PyObject *module, PyObject *args, PyObject *keywords) {
  static char *names[] = {"name", NULL};
  PyObject *name;
  Text text;
  (void)module;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O:mark_used", names, &name)) return NULL;
  if (mode_now() != MODE_NATIVE) Py_RETURN_NONE;
  if (text_open(&text, name)) dft_mark_used_n(text.text, text.len);
  text_close(&text);
  Py_RETURN_NONE;
}

PyDoc_STRVAR(name_thread_doc, "_name_thread($module, name, /)\n--\n\nNames this thread in the trace.");
static PyObject *name_thread(PyObject *module, PyObject *name) {
  Text text;
  (void)module;
  if (mode_now() != MODE_NATIVE) Py_RETURN_NONE;
  if (text_open(&text, name)) dft_thread_name_n(text.text, text.len);
  text_close(&text);
  Py_RETURN_NONE;
}

PyDoc_STRVAR(suspend_doc,
             "_suspend($module, cat, /)\n--\n\nThe open blocks of a category on this thread begin anew at _resume.");
static PyObject *suspend(PyObject *module, PyObject *cat) {
  const char *text = PyUnicode_AsUTF8(cat);
  (void)module;
  if (!text) return NULL;
  block_suspend(text);
  Py_RETURN_NONE;
}

PyDoc_STRVAR(resume_doc, "_resume($module, cat, /)\n--\n\nEnds _suspend.");
static PyObject *resume(PyObject *module, PyObject *cat) {
  const char *text = PyUnicode_AsUTF8(cat);
  (void)module;
  if (!text) return NULL;
  block_resume(text);
  Py_RETURN_NONE;
}

PyDoc_STRVAR(get_config_doc,
             "get_config($module, /, key)\n--\n\nThe resolved value of a DFTRACER_* name; '' when unknown.");
static PyObject *get_config(PyObject *module, PyObject *args, PyObject *keywords) {
  static char *names[] = {"key", NULL};
  const char *key;
  char value[4096];
  size_t len;
  (void)module;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "s:get_config", names, &key)) return NULL;
  len = dft_config_get(key, value, sizeof value);
  if (len >= sizeof value) len = sizeof value - 1;
  return PyUnicode_DecodeUTF8(value, (Py_ssize_t)len, "surrogateescape");
}

/* ---- Entities ---------------------------------------------------------------------------------------------------------- */

PyDoc_STRVAR(declare_entity_doc, "declare_entity($module, /, type, key, store=0, uri='')\n--\n\n"
                                 "Declares a thing that events use or make; returns its id, 0 without a trace.");
static PyObject *declare_entity(PyObject *module, PyObject *args, PyObject *keywords) {
  static char *names[] = {"type", "key", "store", "uri", NULL};
  PyObject *type, *key, *uri = NULL;
  Text texts[3] = {{0}};
  uint64_t id = 0;
  int store = 0;
  (void)module;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|iO:declare_entity", names, &type, &key, &store, &uri))
    return NULL;
  if (mode_now() == MODE_NATIVE && text_open(&texts[0], type) && text_open(&texts[1], key) &&
      text_open(&texts[2], uri)) {
    id = dft_entity_declare_n(texts[0].text, texts[0].len, texts[1].text, texts[1].len, store, texts[2].text,
                              texts[2].len);
  }
  for (int i = 0; i < 3; i++) text_close(&texts[i]);
  return PyLong_FromUnsignedLongLong(id);
}

PyDoc_STRVAR(declare_entity_type_doc, "declare_entity_type($module, /, type, role=0, description='')\n--\n\n"
                                      "Describes a type of entities.");
static PyObject *declare_entity_type(PyObject *module, PyObject *args, PyObject *keywords) {
  static char *names[] = {"type", "role", "description", NULL};
  PyObject *type, *description = NULL;
  Text texts[2] = {{0}};
  int role = 0;
  (void)module;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|iO:declare_entity_type", names, &type, &role, &description))
    return NULL;
  if (mode_now() == MODE_NATIVE && text_open(&texts[0], type) && text_open(&texts[1], description))
    dft_entity_type_n(texts[0].text, texts[0].len, role, texts[1].text, texts[1].len);
  for (int i = 0; i < 2; i++) text_close(&texts[i]);
  Py_RETURN_NONE;
}

PyDoc_STRVAR(relate_entities_doc,
             "relate_entities($module, /, relation, subject, object)\n--\n\nRelates two entities.");
static PyObject *relate_entities(PyObject *module, PyObject *args, PyObject *keywords) {
  static char *names[] = {"relation", "subject", "object", NULL};
  unsigned long long subject, object;
  int relation;
  (void)module;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "iKK:relate_entities", names, &relation, &subject, &object))
    return NULL;
  if (mode_now() == MODE_NATIVE) dft_entity_relate(relation, subject, object);
  Py_RETURN_NONE;
}

/* ---- For helpers.py -------------------------------------------------------------------------------------------------------- */

PyDoc_STRVAR(wrap_doc, "_wrap($module, profile, callable, kind=0, name=None, /)\n--\n\nDecorates a function.");
static PyObject *wrap(PyObject *module, PyObject *args) {
  PyObject *profile, *callable, *name = NULL;
  int kind = WRAP_NODE;
  (void)module;
  if (!PyArg_ParseTuple(args, "O!O|iO:_wrap", native.profile, &profile, &callable, &kind, &name)) return NULL;
  return function_wrap(profile, callable, (enum wrap_kind)kind, name);
}

PyMethodDef call_methods[] = {
  {"initialize", WITH_KEYWORDS(initialize), initialize_doc},
  {"finalize", finalize, METH_NOARGS, finalize_doc},
  {"get_config", WITH_KEYWORDS(get_config), get_config_doc},
  {"log_metadata_event", WITH_KEYWORDS(log_metadata_event), log_metadata_event_doc},
  {"set_app_metadata_int", WITH_KEYWORDS(set_app_metadata_int), set_app_metadata_int_doc},
  {"set_app_metadata_string", WITH_KEYWORDS(set_app_metadata_string), set_app_metadata_string_doc},
  {"mark_used", WITH_KEYWORDS(mark_used), mark_used_doc},
  {"declare_entity", WITH_KEYWORDS(declare_entity), declare_entity_doc},
  {"declare_entity_type", WITH_KEYWORDS(declare_entity_type), declare_entity_type_doc},
  {"relate_entities", WITH_KEYWORDS(relate_entities), relate_entities_doc},
  {"_name_thread", name_thread, METH_O, name_thread_doc},
  {"_follow", follow, METH_NOARGS, follow_doc},
  {"_redirect", redirect, METH_O, redirect_doc},
  {"_child_ends", child_ends, METH_O, child_ends_doc},
  {"_exchange_missed", exchange_missed, METH_O, exchange_missed_doc},
  {"_was_forgotten", was_forgotten, METH_NOARGS, was_forgotten_doc},
  {"_wrap", wrap, METH_VARARGS, wrap_doc},
  {"_suspend", suspend, METH_O, suspend_doc},
  {"_resume", resume, METH_O, resume_doc},
  {"_fetching", loop_fetching, METH_NOARGS,
   "_fetching($module, /)\n--\n\nThe loader's loop that fetches on this thread, the outermost, or None."},
  {"_log_torch", torch_events_log, METH_VARARGS,
   "_log_torch($module, events, start_ns, units, device_us, has_device, has_shapes, /)\n--\n\n"
   "Records what torch.profiler measured."},
  {NULL},
};
