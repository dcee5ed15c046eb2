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

static void set_label(State *state, Label *label) {
  Label *old;
  Py_BEGIN_CRITICAL_SECTION(STATE_OWNER(state));
  old = state->label;
  state->label = label;
  Py_END_CRITICAL_SECTION();
  label_drop(old);
}

int profile_setup(Profile *profile, Label *label, const Values *values, int enable) {
  State *state = profile->state;
  if (!label) return -1;
  set_label(state, label);
  state->enable = (char)enable;
  state->start = event_clock();
  if (enable && native_enabled) {
    Py_BEGIN_CRITICAL_SECTION(STATE_OWNER(state));
    arguments_set_values(&state->args, values);
    Py_END_CRITICAL_SECTION();
  }
  return 0;
}

int profile_traverse(PyObject *self, visitproc visit, void *arg) {
  Profile *profile = (Profile *)self;
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(profile->owner);
  if (VIEW_IS_OWNED) Py_VISIT(profile->own.view);
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
  if (VIEW_IS_OWNED) Py_CLEAR(profile->own.view);
  Py_CLEAR(profile->bound[0]);
  Py_CLEAR(profile->bound[1]);
  if (profile->own.args.count) arguments_clear(&profile->own.args);
  if (profile->own.last.count) arguments_clear(&profile->own.last);
  if (profile->owner) { /* the node may be freed now: use the own, empty state */
    PyObject *owner = profile->owner;
    profile->owner = NULL;
    if (!VIEW_IS_OWNED && profile->state->view == self) profile->state->view = NULL;
    profile->state = &profile->own;
    Py_DECREF(owner);
  }
  return 0;
}

void profile_finish(PyObject *self) {
  Profile *profile = (Profile *)self;
  PyObject_GC_UnTrack(self);
  if (!VIEW_IS_OWNED && profile->owner && profile->state->view == self) profile->state->view = NULL;
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

PyObject *profile_label(PyObject *self, void *is_name) {
  Label *label = state_label(((Profile *)self)->state);
  PyObject *text = Py_NewRef(is_name ? label->name : label->cat);
  label_drop(label);
  return text;
}

static int relabel(PyObject *self, PyObject *name, PyObject *cat) {
  State *state = ((Profile *)self)->state;
  Label *old = state_label(state);
  Label *label = label_new(name ? name : old->name, cat ? cat : old->cat);
  label_drop(old);
  if (!label) return -1;
  set_label(state, label);
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
  Py_BEGIN_CRITICAL_SECTION(STATE_OWNER(state));
  failed = arguments_view(&state->args, *(uint32_t *)type, dict) < 0 ||
           arguments_view(&state->last, *(uint32_t *)type, dict) < 0;
  Py_END_CRITICAL_SECTION();
  if (failed) Py_CLEAR(dict);
  return dict;
}

static PyObject *get_relations(PyObject *self, void *ignored) {
  PyObject *relations = state_relations(((Profile *)self)->state);
  (void)ignored;
  return relations ? relations : PyDict_New();
}

static PyGetSetDef profile_attributes[] = {
  {"_cat", profile_label, set_cat, "category of its events", NULL},
  {"_name", profile_label, set_name, "name of its events", (void *)1},
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
  state_drop_relations(state);
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
    Py_BEGIN_CRITICAL_SECTION(STATE_OWNER(state));
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
    Open open = {0};
    if (block_exchange(profile, frame_now(), &open) && open.is_open) {
      event_end(&open, state, NULL, NULL, NULL);
    } else {
      uint64_t begin = state->start ? state->start : event_clock();
      event_record(state, NULL, begin, event_clock(), NULL, NULL);
    }
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
  state_drop_relations(state);
  if (is_recording(state)) {
    Open open = {0};
    void *frame = frame_now();
    if (block_exchange(profile, frame, &open)) {
      event_cancel(&open);
      event_begin(&open, state, NULL);
      block_exchange(profile, frame, &open);
      event_cancel(&open); /* what code of the program has put there; or the new one, if the block has ended */
    }
    state->start = event_clock();
  }
  return Py_NewRef(self);
}

PyDoc_STRVAR(get_time_doc, "get_time($self, /)\n--\n\nNow, in the unit of the trace; 0 without one.");
static PyObject *profile_get_time(PyObject *self, PyObject *ignored) {
  PyObject *target, *time;
  (void)self;
  (void)ignored;
  if (mode_now() == MODE_REDIRECTED && (target = redirect_target()) != NULL) {
    time = PyObject_CallMethod(target, "get_time", NULL);
    Py_DECREF(target);
    return time;
  }
  return PyLong_FromUnsignedLongLong(mode_now() == MODE_NATIVE ? dft_time() : 0);
}

/* ---- Entities ---------------------------------------------------------------------------------------------------------- */

/* The relations, made at their first use; with a reference of the caller's own. */
static PyObject *relations_made(State *state) {
  PyObject *relations = PyDict_New(), *there;
  Py_BEGIN_CRITICAL_SECTION(STATE_OWNER(state));
  if (!state->relations) state->relations = new_ref_or_null(relations);
  there = new_ref_or_null(state->relations);
  Py_END_CRITICAL_SECTION();
  Py_XDECREF(relations);
  return there;
}

PyDoc_STRVAR(relate_doc, "relate($self, /, relation, entity)\n--\n\nAdds an entity to the event; returns the object.");
static PyObject *profile_relate(PyObject *self, PyObject *args, PyObject *keywords) {
  static char *names[] = {"relation", "entity", NULL};
  State *state = ((Profile *)self)->state;
  PyObject *relations, *relation, *entity, *list = NULL, *none;
  long number;
  int failed = 1;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "lO:relate", names, &number, &entity)) return NULL;
  if (number < 0 || number >= 16 || !state->enable || !native_enabled || !is_true(entity)) return Py_NewRef(self);
  relations = relations_made(state);
  relation = PyLong_FromLong(number);
  none = PyList_New(0);
  if (relations && relation && none) list = dict_get_or_set(relations, relation, none);
  if (list) failed = PyList_Append(list, entity);
  Py_XDECREF(list);
  Py_XDECREF(none);
  Py_XDECREF(relation);
  Py_XDECREF(relations);
  return failed ? NULL : Py_NewRef(self);
}

/* ---- Pickling ---------------------------------------------------------------------------------------------------------- */

PyObject *profile_dump(PyObject *self, PyObject *children) {
  const Profile *profile = (Profile *)self;
  const State *state = profile->state;
  Label *label = state_label(state);
  PyObject *dict, *values, *dump;
  Py_BEGIN_CRITICAL_SECTION(self);
  dict = Py_NewRef(profile->dict ? profile->dict : Py_None);
  Py_END_CRITICAL_SECTION();
  Py_BEGIN_CRITICAL_SECTION(STATE_OWNER(state));
  values = arguments_dump(&state->args);
  Py_END_CRITICAL_SECTION();
  dump = Py_BuildValue("OOiNNO", label->name, label->cat, (int)state->enable, values, dict, children);
  label_drop(label);
  return dump;
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
