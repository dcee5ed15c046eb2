/* arguments.c - Python values as arguments of events.
 *
 * A value is converted when it is given, once, to int, float or str; anything that does not convert is recorded as text.
 * SPDX-License-Identifier: MIT */
#include "arguments.h"

#include "text.h"

static dft_key named_key[NAMED_COUNT] = {DFT_KEY("epoch"), DFT_KEY("step"), DFT_KEY("image_idx"),
                                         DFT_KEY("image_size")};

/* ---- The set --------------------------------------------------------------------------------------------------------- */

static void release(Argument *item) {
  Py_DECREF(item->key);
  Py_DECREF(item->value);
}

void arguments_clear(Arguments *set) {
  uint32_t count = set->count;
  Argument *items = set->items;
  Argument few[ARGUMENTS_OWN];
  if (items == set->own) items = memcpy(few, set->own, sizeof few);
  arguments_init(set);
  for (uint32_t i = 0; i < count; i++) release(&items[i]);
  if (items != few) PyMem_Free(items);
}

int arguments_traverse(const Arguments *set, visitproc visit, void *arg) {
  for (uint32_t i = 0; i < set->count; i++) Py_VISIT(set->items[i].value);
  return 0;
}

static Argument *find(const Arguments *set, PyObject *key) {
  for (uint32_t i = 0; i < set->count; i++) {
    if (set->items[i].key == key) return &set->items[i];
  }
  for (uint32_t i = 0; i < set->count; i++) {
    if (PyUnicode_Compare(set->items[i].key, key) == 0) return &set->items[i];
  }
  return NULL;
}

static Argument *grow(Arguments *set) {
  if (set->count == set->room) {
    uint32_t room = set->room * 2;
    Argument *items = PyMem_Malloc(room * sizeof *items);
    if (!items) return NULL;
    memcpy(items, set->items, set->count * sizeof *items);
    if (set->items != set->own) PyMem_Free(set->items);
    set->items = items;
    set->room = room;
  }
  return &set->items[set->count++];
}

/* Takes over the reference to `value`. NULL sets nothing. */
static void put(Arguments *set, PyObject *key, dft_key *known, PyObject *value, dft_arg arg, int tag) {
  Argument old, *item;
  if (!value) return;
  arg.key = known;
  if (!known) {
    Py_ssize_t len;
    arg.name = PyUnicode_AsUTF8AndSize(key, &len);
    arg.name_len = (size_t)len;
  }
  item = find(set, key);
  if (item) {
    old = *item;
    *item = (Argument){Py_NewRef(key), value, arg, tag};
    release(&old);
    return;
  }
  item = grow(set);
  if (!item) {
    Py_DECREF(value);
    return;
  }
  *item = (Argument){Py_NewRef(key), value, arg, tag};
}

void arguments_copy(Arguments *set, const Arguments *from) {
  for (uint32_t i = 0; i < from->count; i++) {
    const Argument *item = &from->items[i];
    put(set, item->key, item->arg.key, Py_NewRef(item->value), item->arg, item->tag);
  }
}

int arguments_differ(const Arguments *set, const Arguments *other, PyObject *key) {
  const Argument *one = find(set, key), *two = find(other, key);
  return one && two && PyObject_RichCompareBool(one->value, two->value, Py_NE) == 1;
}

void arguments_remove(Arguments *set, PyObject *key) {
  Argument *item = PyUnicode_Check(key) ? find(set, key) : NULL, old;
  if (!item) return;
  old = *item;
  set->count--;
  memmove(item, item + 1, (size_t)((char *)&set->items[set->count] - (char *)item));
  release(&old);
}

void arguments_move(Arguments *set, Arguments *from) {
  for (uint32_t i = 0; i < from->count; i++) {
    Argument *item = find(set, from->items[i].key), *other = &from->items[i], old;
    if (LIKELY(item != NULL)) {
      old = *item;
      *item = *other;
      *other = old;
    } else {
      put(set, other->key, other->arg.key, Py_NewRef(other->value), other->arg, other->tag);
    }
  }
  arguments_clear(from);
}

void arguments_copy_named(Arguments *set, const Arguments *from) {
  for (int i = 0; i < NAMED_COUNT; i++) {
    const Argument *item = find(from, native_name[NAMED_FIRST + i]);
    if (item) put(set, item->key, item->arg.key, Py_NewRef(item->value), item->arg, item->tag);
  }
}

void arguments_fill(const Arguments *set, dft_arg *out) {
  for (uint32_t i = 0; i < set->count; i++) out[i] = set->items[i].arg;
}

/* ---- Values ---------------------------------------------------------------------------------------------------------- */

static void put_text(Arguments *set, PyObject *key, dft_key *known, PyObject *value, int tag) {
  dft_arg arg = {.type = DFT_STRING};
  PyObject *text = text_from(value);
  Py_ssize_t len = 0;
  if (!text) return;
  arg.value.s.text = PyUnicode_AsUTF8AndSize(text, &len);
  arg.value.s.len = (size_t)len;
  put(set, key, known, text, arg, tag);
}

/* Returns 0 if the number does not fit. */
static int put_int(Arguments *set, PyObject *key, dft_key *known, PyObject *number, int tag) {
  dft_arg arg = {.type = DFT_INT};
  int overflow;
  arg.value.i = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (overflow > 0) {
    arg.type = DFT_UINT;
    arg.value.u = PyLong_AsUnsignedLongLong(number);
  }
  if (overflow < 0 || PyErr_Occurred()) {
    PyErr_Clear();
    return 0;
  }
  put(set, key, known, PyBool_Check(number) ? PyLong_FromLong(number == Py_True) : Py_NewRef(number), arg, tag);
  return 1;
}

static void put_double(Arguments *set, PyObject *key, dft_key *known, PyObject *number, int tag) {
  dft_arg arg = {.type = DFT_DOUBLE};
  arg.value.d = PyFloat_AS_DOUBLE(number);
  put(set, key, known, Py_NewRef(number), arg, tag);
}

/* Returns 0 if it is not an int, bool or float, or does not fit. */
static int put_number(Arguments *set, PyObject *key, PyObject *value, int tag) {
  if (!PyFloat_Check(value)) return PyLong_Check(value) && put_int(set, key, NULL, value, tag);
  put_double(set, key, NULL, value, tag);
  return 1;
}

/* The number in a tensor or array of no dimensions, or in a scalar of NumPy; NULL: it is none of these. */
static PyObject *scalar_in(PyObject *value) {
  PyObject *dimensions = PyUnicode_Check(value) || value == Py_None ? NULL : PyObject_GetAttrString(value, "ndim");
  int is_scalar = dimensions && PyLong_CheckExact(dimensions) && PyLong_AsLong(dimensions) == 0;
  PyObject *item = is_scalar ? PyObject_CallMethod(value, "item", NULL) : NULL;
  Py_XDECREF(dimensions);
  PyErr_Clear();
  return item;
}

/* int, bool, float and what holds one of these as numbers, everything else as text. */
static void put_any(Arguments *set, PyObject *key, PyObject *value, int tag) {
  PyObject *scalar;
  if (put_number(set, key, value, tag)) return;
  scalar = scalar_in(value);
  if (!scalar || !put_number(set, key, scalar, tag)) put_text(set, key, NULL, value, tag);
  Py_XDECREF(scalar);
}

void arguments_set_named(Arguments *set, int which, PyObject *value) {
  PyObject *key = native_name[NAMED_FIRST + which];
  dft_key *known = &named_key[which];
  PyObject *number;
  int is_float = NAMED_FIRST + which == NAME_image_size;
  if (!value || value == Py_None) return;
  if (LIKELY(!is_float && PyLong_CheckExact(value)) && put_int(set, key, known, value, 0)) return;
  number = is_float ? PyNumber_Float(value) : PyNumber_Long(value);
  if (!number) PyErr_Clear();
  else if (is_float) put_double(set, key, known, number, 0);
  if (!number || (!is_float && !put_int(set, key, known, number, 0))) put_text(set, key, known, value, 0);
  Py_XDECREF(number);
}

void arguments_set_values(Arguments *set, const Values *values) {
  for (int i = 0; i < NAMED_COUNT; i++) {
    if (values->at[NAMED_FIRST + i]) arguments_set_named(set, i, values->at[NAMED_FIRST + i]);
  }
  if (values->at[NAME_args] && values->at[NAME_args] != Py_None) arguments_set_dict(set, values->at[NAME_args]);
}

void arguments_set_int(Arguments *set, PyObject *key, int64_t value) {
  dft_arg arg = {.type = DFT_INT, .value.i = value};
  put(set, key, NULL, PyLong_FromLongLong(value), arg, 0);
}

/* Takes (tag, value) from a TagValue or a pair; returns 0 if it is neither. */
static int untag(PyObject *value, int *tag, PyObject **plain) {
  PyObject *pair = NULL;
  if (PyTuple_CheckExact(value) && PyTuple_GET_SIZE(value) == 2) pair = Py_NewRef(value);
  else if (strcmp(Py_TYPE(value)->tp_name, "TagValue") == 0) pair = PyObject_CallMethod(value, "value", NULL);
  if (!pair || !PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2) {
    PyErr_Clear();
    Py_XDECREF(pair);
    return 0;
  }
  *tag = (int)PyLong_AsLong(PyTuple_GET_ITEM(pair, 0));
  if (PyErr_Occurred()) PyErr_Clear();
  *plain = Py_NewRef(PyTuple_GET_ITEM(pair, 1));
  Py_DECREF(pair);
  return 1;
}

/* Other mappings go through a dict, because their items() need not return pairs. */
PyObject *pairs_of(PyObject *mapping) {
  PyObject *dict, *pairs;
  if (PyDict_CheckExact(mapping)) return PyDict_Items(mapping);
  dict = PyDict_New();
  pairs = dict && PyDict_Update(dict, mapping) == 0 ? PyDict_Items(dict) : NULL;
  Py_XDECREF(dict);
  return pairs;
}

void arguments_set_dict(Arguments *set, PyObject *dict) {
  PyObject *items = pairs_of(dict);
  if (!items) {
    PyErr_Clear();
    return;
  }
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items); i++) {
    PyObject *pair = PyList_GET_ITEM(items, i);
    PyObject *key = text_from(PyTuple_GET_ITEM(pair, 0));
    PyObject *value = PyTuple_GET_ITEM(pair, 1), *plain;
    int tag;
    if (key && !PyTuple_CheckExact(value) && untag(value, &tag, &plain)) { /* its tag is dropped */
      put_any(set, key, plain, 0);
      Py_DECREF(plain);
    } else if (key) {
      put_any(set, key, value, 0);
    }
    Py_XDECREF(key);
  }
  Py_DECREF(items);
}

/* A number of the wrong kind is converted if nothing is lost; otherwise it becomes text. */
static void put_typed(Arguments *set, PyObject *key, PyObject *value, uint32_t type, int tag) {
  PyObject *number;
  if (value == Py_None) return;
  if (type == DFT_STRING) {
    put_text(set, key, NULL, value, tag);
    return;
  }
  if (type == DFT_INT && (PyLong_Check(value) || PyFloat_Check(value))) {
    put_any(set, key, value, tag);
    return;
  }
  number = type == DFT_INT ? PyNumber_Long(value) : PyNumber_Float(value);
  if (!number) PyErr_Clear();
  put_any(set, key, number ? number : value, tag);
  Py_XDECREF(number);
}

void arguments_set_map(Arguments *set, PyObject *map, uint32_t type) {
  PyObject *items = map && map != Py_None ? pairs_of(map) : NULL;
  if (!items) {
    PyErr_Clear();
    return;
  }
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(items); i++) {
    PyObject *pair = PyList_GET_ITEM(items, i);
    PyObject *key = text_from(PyTuple_GET_ITEM(pair, 0));
    PyObject *value = PyTuple_GET_ITEM(pair, 1), *plain;
    int tag = 0;
    if (key && untag(value, &tag, &plain)) {
      put_typed(set, key, plain, type, tag);
      Py_DECREF(plain);
    } else if (key) {
      put_typed(set, key, value, type, tag);
    }
    Py_XDECREF(key);
  }
  Py_DECREF(items);
}

void arguments_set_relations(Arguments *set, PyObject *relations) {
  static const char *const words[] = {"used", "generated", "invalidated", "updated"};
  PyObject *kind, *value, *trace, *items;
  PyErr_Fetch(&kind, &value, &trace);
  items = pairs_of(relations);
  for (Py_ssize_t i = 0; items && i < PyList_GET_SIZE(items); i++) {
    PyObject *pair = PyList_GET_ITEM(items, i), *ids, *text, *map;
    long relation = PyLong_AsLong(PyTuple_GET_ITEM(pair, 0));
    if (relation < 0 || relation > 3) {
      PyErr_Clear();
      continue;
    }
    ids = PySequence_List(PyTuple_GET_ITEM(pair, 1));
    text = PyUnicode_FromString("");
    for (Py_ssize_t j = 0; ids && text && j < PyList_GET_SIZE(ids); j++) {
      char hex[32];
      PyObject *more;
      snprintf(hex, sizeof hex, "%s%016llx", j ? "," : "", PyLong_AsUnsignedLongLongMask(PyList_GET_ITEM(ids, j)));
      more = PyUnicode_FromFormat("%U%s", text, hex);
      Py_SETREF(text, more);
    }
    map = ids && text ? Py_BuildValue("{sO}", words[relation], text) : NULL;
    if (map) arguments_set_dict(set, map);
    Py_XDECREF(map);
    Py_XDECREF(text);
    Py_XDECREF(ids);
  }
  Py_XDECREF(items);
  PyErr_Clear();
  PyErr_Restore(kind, value, trace);
}

int arguments_view(const Arguments *set, uint32_t type, PyObject *dict) {
  for (uint32_t i = 0; i < set->count; i++) {
    const Argument *item = &set->items[i];
    uint32_t own = item->arg.type == DFT_UINT ? DFT_INT : item->arg.type;
    PyObject *key, *value, *pair;
    int failed;
    if (own != type) continue;
    key = Py_NewRef(item->key);
    value = Py_NewRef(item->value);
    pair = Py_BuildValue("iO", item->tag, value);
    failed = !pair || PyDict_SetItem(dict, key, pair) < 0;
    Py_XDECREF(pair);
    Py_DECREF(value);
    Py_DECREF(key);
    if (failed) return -1;
  }
  return 0;
}

PyObject *arguments_dump(const Arguments *set) {
  PyObject *list = PyList_New(0);
  for (uint32_t i = 0; list && i < set->count; i++) {
    const Argument *item = &set->items[i];
    PyObject *key = Py_NewRef(item->key), *value = Py_NewRef(item->value);
    PyObject *row = Py_BuildValue("NNi", key, value, item->tag);
    if (!row || PyList_Append(list, row) < 0) Py_CLEAR(list);
    Py_XDECREF(row);
  }
  return list;
}

void arguments_load(Arguments *set, PyObject *list) {
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
    PyObject *row = Py_NewRef(PyList_GET_ITEM(list, i)), *key, *value, *text = NULL;
    int tag;
    if (PyArg_ParseTuple(row, "UOi", &key, &value, &tag)) text = text_from(key);
    else PyErr_Clear();
    if (text) put_any(set, text, value, tag);
    Py_XDECREF(text);
    Py_DECREF(row);
  }
}
