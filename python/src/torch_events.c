/* torch_events.c - what torch.profiler measured, as events of category PP.
 *
 * A cycle may hold a hundred thousand entries, and the program waits meanwhile: so they are read here, attribute by
 * attribute, and not through torch's properties, which walk the tree of calls again for each of them.
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "native.h"

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
#define STREAM_TID (UINT32_C(1) << 23) /* above every thread of the kernel and every lane of the core */

/* What is told of an event. Each is read once, when it is in the cache. */
typedef struct Entry {
  PyObject *name;
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

/* An object and, where it has one, its dictionary, in which attributes are found in half the time. */
typedef struct Source {
  PyObject *object;
  PyObject *dict;
} Source;

/* One cycle. */
typedef struct Cycle {
  int64_t start_ns;
  int64_t unit_ns;
  double cpu_us; /* of all events without their children's, so that shares add up */
  double device_us;
  PyObject *device_type; /* the last one seen, and its number */
  int64_t device;
  uint32_t tid[THREADS_KNOWN]; /* of torch's own thread numbers, where an event told both */
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

/* ---- Attributes; one that is missing or no number is 0 ------------------------------------------------------------------- */

static PyObject *find(PyObject *dict, PyObject *name) {
#if PY_VERSION_HEX >= 0x030D0000
  PyObject *value = NULL;
  PyDict_GetItemRef(dict, name, &value);
#else
  PyObject *value = PyDict_GetItemWithError(dict, name);
  Py_XINCREF(value);
#endif
  return value;
}

static PyObject *get(const Source *source, enum attribute which) {
  PyObject *name = attribute_name[which];
  PyObject *value = source->dict ? find(source->dict, name) : NULL;
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
  int overflow;
  int64_t number = value && PyLong_Check(value) ? PyLong_AsLongLongAndOverflow(value, &overflow) : 0;
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

/* The number behind a member of an enumeration; asking torch's takes long, and most entries have the same. */
static int64_t get_device(Cycle *cycle, const Source *event) {
  PyObject *type = get(event, AT_device_type);
  if (type != cycle->device_type) {
    const Source member = {type, NULL};
    cycle->device = type && PyLong_Check(type) ? PyLong_AsLongLong(type) : get_int(&member, AT_value);
    Py_XINCREF(type);
    Py_XSETREF(cycle->device_type, type);
  }
  Py_XDECREF(type);
  return cycle->device;
}

/* How many dimensions all inputs have together. */
static int64_t get_input_size(const Source *event) {
  PyObject *shapes = get(event, AT_input_shapes);
  PyObject *list = shapes && shapes != Py_None ? PySequence_Fast(shapes, "") : NULL;
  int64_t sum = 0;
  for (Py_ssize_t i = 0; list && i < PySequence_Fast_GET_SIZE(list); i++) {
    Py_ssize_t rank = PyObject_Size(PySequence_Fast_GET_ITEM(list, i));
    if (rank > 0) sum += rank;
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

static int is_parent_async(const Source *event, int *has_parent) {
  PyObject *parent = get(event, AT_cpu_parent);
  const Source source = {parent, NULL};
  int is_async = 0;
  *has_parent = parent && parent != Py_None;
  if (*has_parent) is_async = get_truth(&source, AT_is_async);
  Py_XDECREF(parent);
  return is_async;
}

/* What has to be known of all before the first can be recorded: the time of all, and which thread of the kernel is which of
 * torch's, since entries about memory tell only the latter. */
static void count_in(Cycle *cycle, const Entry *entry, const Source *event) {
  int has_parent;
  if (entry->device != 0) return;
  if (entry->thread > 0 && entry->thread < THREADS_KNOWN && entry->resource != entry->thread)
    cycle->tid[entry->thread] = (uint32_t)entry->resource;
  if (!get_truth(event, AT_is_async)) cycle->cpu_us += elapsed_us(entry);
  if (!is_parent_async(event, &has_parent) && has_parent) cycle->cpu_us -= elapsed_us(entry);
}

static void survey(Cycle *cycle, Entry *entry, PyObject *object) {
  const Source event = {object, PyObject_GenericGetDict(object, NULL)};
  Source range;
  if (!event.dict) PyErr_Clear();
  range = (Source){get(&event, AT_time_range), NULL};
  entry->start_us = get_double(&range, AT_start);
  entry->end_us = get_double(&range, AT_end);
  Py_XDECREF(range.object);
  entry->name = get(&event, AT_name);
  entry->device = get_device(cycle, &event);
  entry->device_index = entry->device ? get_int(&event, AT_device_index) : 0;
  entry->device_us = cycle->device_us > 0 ? get_double(&event, AT_device_time_total) : 0;
  entry->thread = get_int(&event, AT_thread);
  entry->resource = get_int(&event, AT_device_resource_id);
  entry->cpu_memory = get_int(&event, AT_cpu_memory_usage);
  entry->device_memory = get_int(&event, AT_device_memory_usage);
  entry->is_remote = get_truth(&event, AT_is_remote);
  entry->input_size = get_input_size(&event);
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

/* Also gives up the entry's name. */
static void log_one(const Cycle *cycle, Entry *entry) {
  static dft_key keys[] = {
    DFT_KEY("device"),     DFT_KEY("cpu_memory"),        DFT_KEY("is_remote"),           DFT_KEY("device_memory_usage"),
    DFT_KEY("input_size"), DFT_KEY("total_cpu_percent"), DFT_KEY("total_device_percent")};
  int64_t start = (cycle->start_ns + (int64_t)(entry->start_us * 1000 + 0.5)) / cycle->unit_ns;
  int64_t end = (cycle->start_ns + (int64_t)(entry->end_us * 1000 + 0.5)) / cycle->unit_ns;
  dft_arg args[7] = {{0}};
  PyObject *text = entry->name ? text_from(entry->name) : NULL;
  Py_ssize_t len = 0;
  const char *name = text ? PyUnicode_AsUTF8AndSize(text, &len) : NULL;
  for (int i = 0; i < 7; i++) {
    args[i].key = &keys[i];
    args[i].type = i < 5 ? DFT_INT : DFT_DOUBLE;
  }
  args[0].value.i = entry->device;
  args[1].value.i = entry->cpu_memory;
  args[2].value.i = entry->is_remote;
  args[3].value.i = entry->device_memory;
  args[4].value.i = entry->input_size;
  args[5].value.d = entry->device == 0 ? share(elapsed_us(entry), cycle->cpu_us) : 0;
  args[6].value.d = share(entry->device_us, cycle->device_us);
  dft_log_event_n(name, (size_t)len, "PP", 2, start > 0 ? (uint64_t)start : 0,
                  end > start ? (uint64_t)(end - start) : 0, tid_of(cycle, entry), args, 7);
  Py_XDECREF(text);
  Py_CLEAR(entry->name);
}

PyObject *torch_events_log(PyObject *module, PyObject *args) {
  PyObject *events, *list;
  Py_ssize_t count;
  Entry *entries;
  Cycle cycle = {0};
  double units;
  long long start_ns;
  (void)module;
  if (!PyArg_ParseTuple(args, "OLdd:_log_torch", &events, &start_ns, &units, &cycle.device_us)) return NULL;
  if (mode_now() != MODE_NATIVE) Py_RETURN_NONE;
  if (make_attributes() < 0 || !(list = PySequence_List(events))) return NULL;
  cycle.start_ns = start_ns;
  cycle.unit_ns = units >= 1 && units <= 1e9 ? (int64_t)(1e9 / units) : 1000;
  count = PyList_GET_SIZE(list);
  entries = PyMem_New(Entry, count);
  for (Py_ssize_t i = 0; entries && i < count; i++) survey(&cycle, &entries[i], PyList_GET_ITEM(list, i));
  for (Py_ssize_t i = 0; entries && i < count; i++) log_one(&cycle, &entries[i]);
  PyMem_Free(entries);
  Py_XDECREF(cycle.device_type);
  Py_DECREF(list);
  Py_RETURN_NONE;
}
