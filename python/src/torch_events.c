/* torch_events.c - the entries of torch.profiler as events of category PP.
 *
 * A cycle may have a hundred thousand entries, and the program waits for this. So the entries are read here, attribute by
 * attribute. Torch's own properties would walk the tree of calls again for each entry.
 * SPDX-License-Identifier: MIT */
#include "torch_events.h"

#include <math.h>

#include "text.h"

#define ATTRIBUTE_LIST(X) \
  X(name)                 \
  X(time_range)           \
  X(start)                \
  X(end)                  \
  X(thread)               \
  X(device_resource_id)   \
  X(device_type)          \
  X(value)                \
  X(device_index)         \
  X(cpu_memory_usage) X(device_memory_usage) X(is_remote) X(is_async) X(input_shapes) X(cpu_parent) X(device_time_total)

enum attribute {
#define ATTRIBUTE_ENUM(name) AT_##name,
  ATTRIBUTE_LIST(ATTRIBUTE_ENUM)
#undef ATTRIBUTE_ENUM
    ATTRIBUTE_COUNT,
};
static PyObject *attribute_name[ATTRIBUTE_COUNT];

#define THREADS_KNOWN 256
#define STREAM_TID (UINT32_C(1) << 23) /* above all thread ids of the kernel and all lane numbers of the core */
#define ARGS 7
#define AHEAD 12

/* The data of one entry. Each attribute is read once, while it is in the cache. */
typedef struct Entry {
  PyObject *dict; /* valid until the entry is read */
  PyObject *name; /* one object for all entries of that name */
  double start_us;
  double end_us;
  double device_us;
  int64_t device;
  int64_t device_index;
  int64_t thread;   /* torch's number */
  int64_t resource; /* the kernel's thread id, or a stream of the device */
  int64_t cpu_memory;
  int64_t device_memory;
  int64_t input_size;
  int is_remote;
} Entry;

/* An object and, if it has one, its dictionary: a lookup there takes half the time. `places` holds where each attribute was
 * found last. One constructor made all entries, so it is usually at the same place in the next one. */
typedef struct Source {
  PyObject *object;
  PyObject *dict;
  Py_ssize_t *places;
} Source;

/* One cycle. */
typedef struct Cycle {
  int64_t start_ns;
  int64_t unit_ns;
  double cpu_us; /* of all events, each without its children, so that percentages add up */
  double device_us;
  int has_device; /* otherwise all entries belong to the CPU */
  int has_shapes;
  PyObject *names;  /* text -> the one object used for it */
  PyObject *parent; /* of the last entry, and whether it is asynchronous */
  int is_parent_async;
  Py_ssize_t places[ATTRIBUTE_COUNT];
  uint32_t tid[THREADS_KNOWN]; /* by torch's thread number, where an entry had both */
} Cycle;

static int make_attributes(void) {
  static const char *const words[] = {
#define ATTRIBUTE_WORD(name) #name,
    ATTRIBUTE_LIST(ATTRIBUTE_WORD)
#undef ATTRIBUTE_WORD
  };
  for (int i = 0; i < ATTRIBUTE_COUNT; i++) {
    if (!attribute_name[i] && !(attribute_name[i] = PyUnicode_InternFromString(words[i]))) return -1;
  }
  return 0;
}

/* ---- Attributes; a missing one, or one of the wrong type, is 0 ------------------------------------------------------------------- */

/* Searches the dictionary for the place of a name; returns the value there, or NULL. */
static PyObject *find(PyObject *dict, PyObject *name, Py_ssize_t *place) {
  PyObject *key, *value;
  Py_ssize_t next = 0;
  for (*place = 0; PyDict_Next(dict, &next, &key, &value); *place = next) {
    if (key == name) return value;
  }
  return NULL;
}

static PyObject *get(const Source *source, enum attribute which) {
  PyObject *name = attribute_name[which];
  PyObject *key, *value = NULL;
  if (source->dict) {
    Py_ssize_t next = source->places[which];
    Py_BEGIN_CRITICAL_SECTION(source->dict);
    if (!PyDict_Next(source->dict, &next, &key, &value) || key != name)
      value = find(source->dict, name, &source->places[which]);
    Py_XINCREF(value);
    Py_END_CRITICAL_SECTION();
  }
  if (!value && source->object) value = PyObject_GetAttr(source->object, name);
  if (!value) PyErr_Clear();
  return value;
}

static double get_double(const Source *source, enum attribute which) {
  PyObject *value = get(source, which);
  double number = value ? PyFloat_AsDouble(value) : 0;
  if (PyErr_Occurred()) PyErr_Clear();
  Py_XDECREF(value);
  return isfinite(number) ? number : 0;
}

static int64_t get_int(const Source *source, enum attribute which) {
  PyObject *value = get(source, which);
  int overflow = 0;
  int64_t number = value && PyLong_Check(value) ? PyLong_AsLongLongAndOverflow(value, &overflow) : 0;
  if (overflow) number = 0;
  if (PyErr_Occurred()) PyErr_Clear();
  Py_XDECREF(value);
  return number;
}

static int get_truth(const Source *source, enum attribute which) {
  PyObject *value = get(source, which);
  int truth = value ? PyObject_IsTrue(value) : 0;
  if (truth < 0) PyErr_Clear();
  Py_XDECREF(value);
  return truth > 0;
}

/* The number behind a member of an enumeration. */
static int64_t get_device(const Source *event) {
  PyObject *type = get(event, AT_device_type);
  const Source member = {type, NULL, NULL};
  int64_t number = type && PyLong_Check(type) ? get_int(event, AT_device_type) : get_int(&member, AT_value);
  Py_XDECREF(type);
  return number;
}

/* Each entry has its own copy of the name: returns one object for all of them. */
static PyObject *get_name(const Cycle *cycle, const Source *event) {
  PyObject *name = get(event, AT_name);
  PyObject *text = name ? text_from(name) : NULL;
  PyObject *first = text ? dict_get_or_set(cycle->names, text, text) : NULL;
  if (!first) PyErr_Clear();
  Py_XDECREF(text);
  Py_XDECREF(name);
  return first;
}

/* The number of dimensions of all inputs together. */
static int64_t get_input_size(const Source *event) {
  PyObject *shapes = get(event, AT_input_shapes);
  PyObject *list = shapes && shapes != Py_None ? PySequence_Fast(shapes, "") : NULL;
  int64_t sum = 0;
  for (Py_ssize_t i = 0; list && i < PySequence_Fast_GET_SIZE(list); i++) {
    PyObject *shape = Py_NewRef(PySequence_Fast_GET_ITEM(list, i));
    Py_ssize_t rank = PyObject_Size(shape);
    if (rank > 0) sum += rank;
    Py_DECREF(shape);
  }
  if (PyErr_Occurred()) PyErr_Clear();
  Py_XDECREF(list);
  Py_XDECREF(shapes);
  return sum;
}

/* ---- A cycle ----------------------------------------------------------------------------------------------------------- */

static double elapsed_us(const Entry *entry) {
  return entry->end_us - entry->start_us;
}

/* Children of one parent follow each other, so the answer for the last parent is kept. */
static int is_child_of_sync(Cycle *cycle, const Source *event) {
  PyObject *parent = get(event, AT_cpu_parent);
  if (parent != cycle->parent) {
    const Source source = {parent, NULL, NULL};
    cycle->is_parent_async = !parent || parent == Py_None || get_truth(&source, AT_is_async);
    Py_XINCREF(parent);
    Py_XSETREF(cycle->parent, parent);
  }
  Py_XDECREF(parent);
  return !cycle->is_parent_async;
}

/* Collects what must be known before the first entry is recorded: the total time, and the kernel's thread id for each of
 * torch's thread numbers, because entries about memory have the latter only. */
static void count_in(Cycle *cycle, const Entry *entry, const Source *event) {
  if (entry->device != 0) return;
  if (entry->thread > 0 && entry->thread < THREADS_KNOWN && entry->resource > 0 && entry->resource != entry->thread)
    cycle->tid[entry->thread] = (uint32_t)entry->resource;
  if (!get_truth(event, AT_is_async)) cycle->cpu_us += elapsed_us(entry);
  if (is_child_of_sync(cycle, event)) cycle->cpu_us -= elapsed_us(entry);
}

/* Entries are scattered over more memory than a cache holds. While one is read, the next ones are prefetched in steps, because
 * each step needs what the step before has loaded. */
static void fetch_ahead(const Cycle *cycle, Entry *entries, PyObject *list, Py_ssize_t at) {
  Py_ssize_t count = PyList_GET_SIZE(list), step = at + AHEAD;
  if (step < count)
    __builtin_prefetch((const char *)PyList_GET_ITEM(list, step) - 24); /* with the words before the object */
  step = at + 8;
  if (step >= 0 && step < count) {
    PyObject *dict = entries[step].dict = PyObject_GenericGetDict(PyList_GET_ITEM(list, step), NULL);
    if (dict) __builtin_prefetch(dict);
    else PyErr_Clear();
  }
  step = at + 4;
  if (step >= 0 && step < count && entries[step].dict) {
    const char *keys = (const char *)((PyDictObject *)entries[step].dict)->ma_keys;
    for (int line = 0; line < 10; line++) __builtin_prefetch(keys + line * 64);
  }
  step = at + 2;
  if (step >= 0 && step < count && entries[step].dict) {
    static const enum attribute far[] = {AT_name, AT_time_range, AT_device_resource_id};
    for (int i = 0; i < 3; i++) {
      PyObject *key, *value;
      Py_ssize_t next = cycle->places[far[i]];
      if (PyDict_Next(entries[step].dict, &next, &key, &value)) __builtin_prefetch(value);
    }
  }
}

static void survey(Cycle *cycle, Entry *entry, PyObject *object) {
  const Source event = {object, entry->dict, cycle->places};
  const Source range = {get(&event, AT_time_range), NULL, NULL};
  entry->start_us = get_double(&range, AT_start);
  entry->end_us = get_double(&range, AT_end);
  Py_XDECREF(range.object);
  entry->name = get_name(cycle, &event);
  entry->device = cycle->has_device ? get_device(&event) : 0;
  entry->device_index = entry->device ? get_int(&event, AT_device_index) : 0;
  entry->device_us = cycle->device_us > 0 ? get_double(&event, AT_device_time_total) : 0;
  entry->thread = get_int(&event, AT_thread);
  entry->resource = get_int(&event, AT_device_resource_id);
  entry->cpu_memory = get_int(&event, AT_cpu_memory_usage);
  entry->device_memory = get_int(&event, AT_device_memory_usage);
  entry->is_remote = get_truth(&event, AT_is_remote);
  entry->input_size = cycle->has_shapes ? get_input_size(&event) : 0;
  count_in(cycle, entry, &event);
  Py_XDECREF(event.dict);
}

static uint32_t tid_of(const Cycle *cycle, const Entry *entry) {
  if (entry->device != 0) {
    uint32_t index = (uint32_t)entry->device_index & 0xff;
    return STREAM_TID | index << 12 | ((uint32_t)entry->resource & 0xfff);
  }
  if (entry->resource > 0 && entry->resource != entry->thread) return (uint32_t)entry->resource;
  return entry->thread > 0 && entry->thread < THREADS_KNOWN ? cycle->tid[entry->thread] : 0;
}

static double share(double part, double whole) {
  return whole > 0 ? part * 100 / whole : 0;
}

static void name_args(dft_arg args[ARGS]) {
  static dft_key keys[ARGS] = {
    DFT_KEY("device"),     DFT_KEY("cpu_memory"),        DFT_KEY("is_remote"),           DFT_KEY("device_memory_usage"),
    DFT_KEY("input_size"), DFT_KEY("total_cpu_percent"), DFT_KEY("total_device_percent")};
  for (int i = 0; i < ARGS; i++) args[i] = (dft_arg){.key = &keys[i], .type = i < 5 ? DFT_INT : DFT_DOUBLE};
}

/* Also drops the entry's name. */
static void log_one(const Cycle *cycle, Entry *entry, dft_arg args[ARGS]) {
  int64_t start = (cycle->start_ns + (int64_t)(entry->start_us * 1000 + 0.5)) / cycle->unit_ns;
  int64_t end = (cycle->start_ns + (int64_t)(entry->end_us * 1000 + 0.5)) / cycle->unit_ns;
  Py_ssize_t len = 0;
  const char *name = entry->name ? PyUnicode_AsUTF8AndSize(entry->name, &len) : NULL;
  args[0].value.i = entry->device;
  args[1].value.i = entry->cpu_memory;
  args[2].value.i = entry->is_remote;
  args[3].value.i = entry->device_memory;
  args[4].value.i = entry->input_size;
  args[5].value.d = entry->device == 0 ? share(elapsed_us(entry), cycle->cpu_us) : 0;
  args[6].value.d = share(entry->device_us, cycle->device_us);
  dft_log_event_n(name, (size_t)len, "PP", 2, start > 0 ? (uint64_t)start : 0,
                  end > start ? (uint64_t)(end - start) : 0, tid_of(cycle, entry), args, ARGS);
  Py_CLEAR(entry->name);
}

PyObject *torch_events_log(PyObject *module, PyObject *args) {
  PyObject *events, *list;
  Py_ssize_t count;
  Entry *entries;
  Cycle cycle = {0};
  dft_arg values[ARGS];
  double units;
  long long start_ns;
  (void)module;
  if (!PyArg_ParseTuple(args, "OLddpp:_log_torch", &events, &start_ns, &units, &cycle.device_us, &cycle.has_device,
                        &cycle.has_shapes))
    return NULL;
  if (mode_now() != MODE_NATIVE) Py_RETURN_NONE;
  if (make_attributes() < 0 || !(list = PySequence_List(events))) return NULL;
  cycle.names = PyDict_New();
  cycle.start_ns = start_ns;
  cycle.is_parent_async = 1;
  cycle.unit_ns = units >= 1 && units <= 1e9 ? (int64_t)(1e9 / units) : 1000;
  count = PyList_GET_SIZE(list);
  entries = cycle.names ? PyMem_New(Entry, count) : NULL;
  name_args(values);
  for (Py_ssize_t i = -AHEAD; entries && i < count; i++) {
    fetch_ahead(&cycle, entries, list, i);
    if (i >= 0) survey(&cycle, &entries[i], PyList_GET_ITEM(list, i));
  }
  for (Py_ssize_t i = 0; entries && i < count; i++) log_one(&cycle, &entries[i], values);
  PyMem_Free(entries);
  Py_XDECREF(cycle.names);
  Py_XDECREF(cycle.parent);
  Py_DECREF(list);
  Py_RETURN_NONE;
}
