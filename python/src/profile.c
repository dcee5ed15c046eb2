/* profile.c - what dft_fn and the nodes of the ai tree share: a label, values, a switch, blocks.
 * SPDX-License-Identifier: MIT */
#include "profile.h"

#include "block.h"
#include "ready.h"

/* ---- Life -------------------------------------------------------------------------------------------------------------- */

void profile_begin(Profile *profile) {
  State *state = &profile->own;
  profile->state = state;
  arguments_init(&state->args);
  arguments_init(&state->last);
  state->label = label_keep(label_unknown);
  state->enable = 1;
}

PyObject *profile_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  Profile *profile = (Profile *)type->tp_alloc(type, 0);
  (void)args;
  (void)keywords;
  if (!profile) return NULL;
  profile_begin(profile);
  return (PyObject *)profile;
}

int profile_setup(Profile *profile, Label *label, const Values *values, int enable) {
  State *state = profile->state;
  Label *old = state->label;
  if (!label) return -1;
  state->label = label;
  state->enable = (char)enable;
  state->start = event_clock();
  if (enable && native_enabled) arguments_set_values(&state->args, values);
  label_drop(old);
  return 0;
}

int profile_traverse(PyObject *self, visitproc visit, void *arg) {
  Profile *profile = (Profile *)self;
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(profile->owner);
  Py_VISIT(profile->dict);
  Py_VISIT(profile->own.relations);
  Py_VISIT(profile->bound[0]);
  Py_VISIT(profile->bound[1]);
  if (arguments_traverse(&profile->own.args, visit, arg)) return -1;
  return arguments_traverse(&profile->own.last, visit, arg);
}

int profile_clear(PyObject *self) {
  Profile *profile = (Profile *)self;
  Py_CLEAR(profile->dict);
  Py_CLEAR(profile->own.relations);
  Py_CLEAR(profile->bound[0]);
  Py_CLEAR(profile->bound[1]);
  if (profile->own.args.count) arguments_clear(&profile->own.args);
  if (profile->own.last.count) arguments_clear(&profile->own.last);
  if (profile->owner) { /* the node may be freed now: use the own, empty state */
    PyObject *owner = profile->owner;
    profile->owner = NULL;
    if (profile->state->view == self) profile->state->view = NULL;
    profile->state = &profile->own;
    Py_DECREF(owner);
  }
  return 0;
}

void profile_finish(PyObject *self) {
  Profile *profile = (Profile *)self;
  PyObject_GC_UnTrack(self);
  if (profile->owner && profile->state->view == self) profile->state->view = NULL;
  if (profile->weak) PyObject_ClearWeakRefs(self);
  profile_clear(self);
  label_drop(profile->own.label);
}

void profile_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  profile_finish(self);
  type->tp_free(self);
  Py_DECREF(type);
}

/* ---- Attributes ---------------------------------------------------------------------------------------------------------- */

static PyObject *get_cat(PyObject *self, void *ignored) {
  (void)ignored;
  return Py_NewRef(((Profile *)self)->state->label->cat);
}

static PyObject *get_name(PyObject *self, void *ignored) {
  (void)ignored;
  return Py_NewRef(((Profile *)self)->state->label->name);
}

static int relabel(PyObject *self, PyObject *name, PyObject *cat) {
  State *state = ((Profile *)self)->state;
  Label *label = label_new(name ? name : state->label->name, cat ? cat : state->label->cat);
  Label *old = state->label; /* read it last: a name that is not a str runs code of the program */
  if (!label) return -1;
  state->label = label;
  label_drop(old);
  return 0;
}

static int set_cat(PyObject *self, PyObject *value, void *ignored) {
  (void)ignored;
  return relabel(self, NULL, value);
}

static int set_name(PyObject *self, PyObject *value, void *ignored) {
  (void)ignored;
  return relabel(self, value, NULL);
}

static char *flag(PyObject *self, const void *which) {
  State *state = ((Profile *)self)->state;
  return which ? &state->flush : &state->enable;
}

static PyObject *get_flag(PyObject *self, void *which) {
  return PyBool_FromLong(*flag(self, which));
}

static int set_flag(PyObject *self, PyObject *value, void *which) {
  int truth = value ? PyObject_IsTrue(value) : 0;
  if (truth < 0) return -1;
  *flag(self, which) = (char)truth;
  return 0;
}

static uint32_t arguments_type[] = {DFT_INT, DFT_DOUBLE, DFT_STRING};

static PyObject *get_arguments(PyObject *self, void *type) {
  const State *state = ((Profile *)self)->state;
  PyObject *dict = PyDict_New();
  int failed = 0;
  if (!dict) return NULL;
  Py_BEGIN_CRITICAL_SECTION(self);
  failed = arguments_view(&state->args, *(uint32_t *)type, dict) < 0 ||
           arguments_view(&state->last, *(uint32_t *)type, dict) < 0;
  Py_END_CRITICAL_SECTION();
  if (failed) Py_CLEAR(dict);
  return dict;
}

static PyObject *get_relations(PyObject *self, void *ignored) {
  PyObject *relations = ((Profile *)self)->state->relations;
  (void)ignored;
  return relations ? Py_NewRef(relations) : PyDict_New();
}

static PyGetSetDef profile_attributes[] = {
  {"_cat", get_cat, set_cat, "category of its events", NULL},
  {"_name", get_name, set_name, "name of its events", NULL},
  {"_enable", get_flag, set_flag, "whether it records", NULL},
  {"_flush", get_flag, set_flag, "whether the event of this measurement was written", (void *)1},
  {"_arguments_int", get_arguments, NULL, "name -> (tag, value)", &arguments_type[0]},
  {"_arguments_float", get_arguments, NULL, "name -> (tag, value)", &arguments_type[1]},
  {"_arguments_string", get_arguments, NULL, "name -> (tag, value)", &arguments_type[2]},
  {"_relations", get_relations, NULL, "relation -> ids of entities", NULL},
  {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
  {NULL},
};

static PyMemberDef profile_members[] = {
  {"__dictoffset__", T_PYSSIZET, offsetof(Profile, dict), READONLY, NULL},
  {"__weaklistoffset__", T_PYSSIZET, offsetof(Profile, weak), READONLY, NULL},
  {NULL},
};

/* ---- Blocks ------------------------------------------------------------------------------------------------------------ */

PyDoc_STRVAR(enter_doc, "__enter__($self, /)\n--\n\nBegins an event.");
PyObject *profile_enter(PyObject *self, PyObject *ignored) {
  (void)ignored;
  if (LIKELY(mode_now() != MODE_OFF)) block_enter((Profile *)self, frame_now());
  return Py_NewRef(self);
}

static void leave(Profile *profile, PyObject *raised) {
  State *state = profile->state;
  if (LIKELY(mode_now() == MODE_OFF) && !block_is_any()) return;
  block_exit(profile, frame_now(), raised);
  if (UNLIKELY(state->relations != NULL)) Py_CLEAR(state->relations);
}

PyDoc_STRVAR(exit_doc, "__exit__($self, exc_type=None, exc_value=None, traceback=None, /)\n--\n\nRecords the event.");
PyObject *profile_exit(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  leave((Profile *)self, count && args[0] != Py_None ? args[0] : NULL);
  Py_RETURN_NONE;
}

PyDoc_STRVAR(aenter_doc, "__aenter__($self, /)\n--\n\nBegins an event.");
static PyObject *profile_aenter(PyObject *self, PyObject *ignored) {
  Py_DECREF(profile_enter(self, ignored));
  return ready_new(self);
}

PyDoc_STRVAR(aexit_doc, "__aexit__($self, exc_type=None, exc_value=None, traceback=None, /)\n--\n\nRecords the event.");
static PyObject *profile_aexit(PyObject *self, PyObject *const *args, Py_ssize_t count) {
  leave((Profile *)self, count && args[0] != Py_None ? args[0] : NULL);
  return ready_new(Py_None);
}

/* ---- Values and measurements ------------------------------------------------------------------------------------------- */

PyDoc_STRVAR(update_doc, "update($self, /, epoch=None, step=None, image_idx=None, image_size=None, args=None)\n--\n\n"
                         "Sets values of its events; returns the object.");
static PyObject *profile_update(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  State *state = ((Profile *)self)->state;
  Values values;
  if (values_parse(&values, "update", NAME_epoch, 5, args, count, keywords) < 0) return NULL;
  if (state->enable && native_enabled) {
    Py_BEGIN_CRITICAL_SECTION(self);
    arguments_set_values(&state->args, &values);
    Py_END_CRITICAL_SECTION();
  }
  return Py_NewRef(self);
}

PyDoc_STRVAR(flush_doc, "flush($self, /)\n--\n\nWrites the event now, from the last start to now.");
static PyObject *profile_flush(PyObject *self, PyObject *ignored) {
  Profile *profile = (Profile *)self;
  State *state = profile->state;
  (void)ignored;
  if (is_recording(state)) {
    Open *open = block_find(profile, frame_now());
    if (open && open->is_open) event_end(open, state, state->label, NULL, NULL);
    else event_record(state, state->label, state->start ? state->start : event_clock(), event_clock(), NULL, NULL);
  }
  if (state->enable && native_enabled) state->flush = 1;
  return Py_NewRef(self);
}

PyDoc_STRVAR(reset_doc, "reset($self, /)\n--\n\nStarts a new measurement; values stay.");
static PyObject *profile_reset(PyObject *self, PyObject *ignored) {
  Profile *profile = (Profile *)self;
  State *state = profile->state;
  (void)ignored;
  state->flush = 0;
  Py_CLEAR(state->relations);
  if (is_recording(state)) {
    Open *open = block_find(profile, frame_now());
    if (open) {
      event_cancel(open);
      event_begin(open, state, state->label);
    }
    state->start = event_clock();
  }
  return Py_NewRef(self);
}

PyDoc_STRVAR(get_time_doc, "get_time($self, /)\n--\n\nNow, in the unit of the trace; 0 without one.");
static PyObject *profile_get_time(PyObject *self, PyObject *ignored) {
  (void)self;
  (void)ignored;
  if (mode_now() == MODE_REDIRECTED) return PyObject_CallMethod(native.redirect, "get_time", NULL);
  return PyLong_FromUnsignedLongLong(mode_now() == MODE_NATIVE ? dft_time() : 0);
}

/* ---- Entities ---------------------------------------------------------------------------------------------------------- */

PyDoc_STRVAR(relate_doc, "relate($self, /, relation, entity)\n--\n\nAdds an entity to the event; returns the object.");
static PyObject *profile_relate(PyObject *self, PyObject *args, PyObject *keywords) {
  static char *names[] = {"relation", "entity", NULL};
  State *state = ((Profile *)self)->state;
  PyObject *relation, *entity, *list;
  long number;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "lO:relate", names, &number, &entity)) return NULL;
  if (number < 0 || number >= 16 || !state->enable || !native_enabled || PyObject_Not(entity)) return Py_NewRef(self);
  if (!state->relations && !(state->relations = PyDict_New())) return NULL;
  relation = PyLong_FromLong(number);
  list = relation ? PyDict_GetItemWithError(state->relations, relation) : NULL;
  if (list) Py_INCREF(list);
  else if (relation && !PyErr_Occurred() && (list = PyList_New(0)) &&
           PyDict_SetItem(state->relations, relation, list) < 0)
    Py_CLEAR(list);
  Py_XDECREF(relation);
  if (!list || PyList_Append(list, entity) < 0) {
    Py_XDECREF(list);
    return NULL;
  }
  Py_DECREF(list);
  return Py_NewRef(self);
}

/* ---- Pickling ---------------------------------------------------------------------------------------------------------- */

PyObject *profile_dump(PyObject *self, PyObject *children) {
  const Profile *profile = (Profile *)self;
  const State *state = profile->state;
  return Py_BuildValue("OOiNOO", state->label->name, state->label->cat, (int)state->enable,
                       arguments_dump(&state->args), profile->dict ? profile->dict : Py_None, children);
}

int profile_load(PyObject *self, PyObject *given, PyObject **children) {
  Profile *profile = (Profile *)self;
  PyObject *name, *cat, *list, *dict;
  Values none = {{NULL}};
  int enable;
  if (!PyTuple_Check(given)) {
    PyErr_SetString(PyExc_TypeError, "the state must be a tuple");
    return -1;
  }
  if (!PyArg_ParseTuple(given, "OOiO!OO", &name, &cat, &enable, &PyList_Type, &list, &dict, children)) return -1;
  if (profile_setup(profile, label_new(name, cat), &none, enable) < 0) return -1;
  arguments_load(&profile->state->args, list);
  if (PyDict_Check(dict)) {
    PyObject *own = PyObject_GenericGetDict(self, NULL);
    int failed = !own || PyDict_Update(own, dict) < 0;
    Py_XDECREF(own);
    if (failed) return -1;
  }
  return 0;
}

static PyObject *profile_getstate(PyObject *self, PyObject *ignored) {
  (void)ignored;
  return profile_dump(self, Py_None);
}

static PyObject *profile_setstate(PyObject *self, PyObject *given) {
  PyObject *children;
  if (profile_load(self, given, &children) < 0) return NULL;
  Py_RETURN_NONE;
}

PyMethodDef block_methods[2] = {
  {"__enter__", profile_enter, METH_NOARGS, enter_doc},
  {"__exit__", (PyCFunction)(void (*)(void))profile_exit, METH_FASTCALL, exit_doc},
};

static PyMethodDef profile_methods[] = {
  {"__aenter__", profile_aenter, METH_NOARGS, aenter_doc},
  {"__aexit__", (PyCFunction)(void (*)(void))profile_aexit, METH_FASTCALL, aexit_doc},
  {"update", (PyCFunction)(void (*)(void))profile_update, METH_FASTCALL | METH_KEYWORDS, update_doc},
  {"flush", profile_flush, METH_NOARGS, flush_doc},
  {"reset", profile_reset, METH_NOARGS, reset_doc},
  {"get_time", profile_get_time, METH_NOARGS, get_time_doc},
  {"relate", (PyCFunction)(void (*)(void))profile_relate, METH_VARARGS | METH_KEYWORDS, relate_doc},
  {"__getstate__", profile_getstate, METH_NOARGS, NULL},
  {"__setstate__", profile_setstate, METH_O, NULL},
  {NULL},
};

static PyType_Slot profile_slots[] = {
  {Py_tp_doc, "What dft_fn and the nodes of the ai tree have in common."},
  {Py_tp_new, profile_new},
  {Py_tp_dealloc, profile_dealloc},
  {Py_tp_traverse, profile_traverse},
  {Py_tp_clear, profile_clear},
  {Py_tp_methods, profile_methods},
  {Py_tp_getset, profile_attributes},
  {Py_tp_members, profile_members},
  {0, NULL},
};

PyType_Spec profile_spec = {"dftracer.dftracer.Profile", sizeof(Profile), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, profile_slots};
