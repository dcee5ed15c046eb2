/* function.c - a decorated function: it calls what it wraps and records each call.
 *
 * To the program it looks like the function: it binds as a method, has the same name, documentation and signature, and every
 * attribute of the function.
 * SPDX-License-Identifier: MIT */
#include "function.h"

#include "event.h"
#include "plain.h"
#include "profile.h"

typedef struct Function {
  PyObject_HEAD vectorcallfunc call;
  PyObject *wrapped;
  Profile *profile;
  Label *label; /* NULL: that of the profile, as it is at each call */
  PyObject *dict;
  PyObject *weak;
  enum wrap_kind kind;
  /* For a logged function: where to find the four named values. */
  PyObject *bound;                 /* borrowed: the object of a bound method */
  PyObject *fallback[NAMED_COUNT]; /* defaults */
  int16_t place[NAMED_COUNT];      /* of the positional parameter; -1: none */
  char is_keyword[NAMED_COUNT];    /* there is a parameter of this name */
  char has_self;
  char has_any;
} Function;

/* ---- Calls ------------------------------------------------------------------------------------------------------------- */

static PyObject *pass(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords) {
  return PyObject_Vectorcall(((Function *)self)->wrapped, args, flags, keywords);
}

/* Called after the garbage collector has cleared the object. */
static PyObject *call_dead(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords) {
  (void)self, (void)args, (void)flags, (void)keywords;
  PyErr_SetString(PyExc_ReferenceError, "dftracer: the decorated function was already freed");
  return NULL;
}

static PyObject *call_node(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords) {
  Function *function = (Function *)self;
  State *state = function->profile->state;
  PyObject *result;
  Open open;
  if (UNLIKELY(!is_recording(state))) return pass(self, args, flags, keywords);
  Py_INCREF(self); /* as a frame does: the call may drop the last reference, for example that of a property */
  event_open(&open, state, NULL);
  result = PyObject_Vectorcall(function->wrapped, args, flags, keywords);
  if (LIKELY(result && is_simple(&open, state))) event_close(&open);
  else event_end(&open, state, NULL, NULL, result ? NULL : PyErr_Occurred());
  Py_DECREF(self);
  return result;
}

/* The value of a parameter in this call, borrowed; NULL: none. */
static PyObject *value_of(const Function *function, int which, PyObject *const *args, Py_ssize_t count,
                          PyObject *keywords) {
  int place = function->place[which];
  Py_ssize_t named = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  if (place >= 0 && place < count) return args[place];
  for (Py_ssize_t i = 0; i < named; i++) {
    PyObject *keyword = PyTuple_GET_ITEM(keywords, i);
    if (keyword == native_name[NAMED_FIRST + which] ||
        PyUnicode_Compare(keyword, native_name[NAMED_FIRST + which]) == 0)
      return args[count + i];
  }
  return function->fallback[which];
}

/* Set while this thread collects values. Decorated functions that run meanwhile are not recorded: an attribute of the object
 * may be such a function, and recording it would start another collection. */
static __thread char is_looking __attribute__((tls_model("initial-exec")));

static void collect(Function *function, Arguments *call, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  PyObject *object = function->bound, *value;
  char was_looking = is_looking;
  if (!object && function->has_self && count) object = args[0];
  is_looking = 1;
  for (int i = 0; object && function->kind == WRAP_LOG && i < NAMED_COUNT; i++) {
    if (PyObject_GetOptionalAttr(object, native_name[NAMED_FIRST + i], &value) < 0) PyErr_Clear();
    arguments_set_named(call, i, value);
    Py_XDECREF(value);
  }
  for (int i = 0; function->has_any && i < NAMED_COUNT; i++) {
    if (!function->is_keyword[i]) continue;
    Py_BEGIN_CRITICAL_SECTION((PyObject *)function);
    value = value_of(function, i, args, count, keywords);
    Py_XINCREF(value);
    Py_END_CRITICAL_SECTION();
    arguments_set_named(call, i, value);
    Py_XDECREF(value);
  }
  is_looking = was_looking;
}

/* Keeps the values of the call readable on the profile. */
static void remember(Profile *profile, Arguments *call) {
  Py_BEGIN_CRITICAL_SECTION(STATE_OWNER(profile->state));
  arguments_move(&profile->state->last, call);
  Py_END_CRITICAL_SECTION();
}

static PyObject *call_log(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords) {
  Function *function = (Function *)self;
  State *state = function->profile->state;
  PyObject *result;
  Arguments call;
  Open open;
  Py_INCREF(self); /* see call_node */
  if (UNLIKELY(!is_recording(state) || is_looking)) {
    result = pass(self, args, flags, keywords);
  } else {
    arguments_init(&call);
    if (function->has_any || function->has_self || function->bound)
      collect(function, &call, args, PyVectorcall_NARGS(flags), keywords);
    event_open(&open, state, function->label);
    result = PyObject_Vectorcall(function->wrapped, args, flags, keywords);
    if (LIKELY(result && !call.count && is_simple(&open, state))) event_close(&open);
    else event_end(&open, state, function->label, &call, result ? NULL : PyErr_Occurred());
    if (call.count) remember(function->profile, &call);
  }
  if (function->kind == WRAP_INIT && result) {
    Py_DECREF(result);
    result = Py_NewRef(Py_None);
  }
  Py_DECREF(self);
  return result;
}

/* ---- Where the named values are ------------------------------------------------------------------------------------------ */

static PyObject *attribute(PyObject *object, const char *name) {
  PyObject *value = PyObject_GetAttrString(object, name);
  if (!value) PyErr_Clear();
  return value;
}

static long number(PyObject *object, const char *name) {
  PyObject *value = attribute(object, name);
  int overflow = 0;
  long result = value && PyLong_Check(value) ? PyLong_AsLongAndOverflow(value, &overflow) : 0;
  Py_XDECREF(value);
  return overflow ? 0 : result;
}

/* The default of the parameter at `place` of `positional` ones, or of the keyword-only one. */
static PyObject *default_of(PyObject *function, PyObject *name, Py_ssize_t place, Py_ssize_t positional) {
  PyObject *value = NULL;
  PyObject *defaults = attribute(function, place < positional ? "__defaults__" : "__kwdefaults__");
  if (defaults && PyTuple_Check(defaults)) {
    Py_ssize_t at = place - (positional - PyTuple_GET_SIZE(defaults));
    if (at >= 0) value = Py_NewRef(PyTuple_GET_ITEM(defaults, at));
  } else if (defaults && PyDict_Check(defaults)) {
    value = dict_get(defaults, name);
    if (!value) PyErr_Clear();
  }
  Py_XDECREF(defaults);
  return value;
}

static void forget(Function *function) {
  function->has_any = function->has_self = 0;
  function->bound = NULL;
  for (int i = 0; i < NAMED_COUNT; i++) {
    function->place[i] = -1;
    function->is_keyword[i] = 0;
    Py_CLEAR(function->fallback[i]);
  }
}

static void plan(Function *function) {
  PyObject *target = function->wrapped;
  PyObject *code, *names;
  Py_ssize_t positional, all, shift = 0;
  forget(function);
  if (function->kind == WRAP_STATIC || function->kind == WRAP_NODE) return;
  if (PyMethod_Check(target)) {
    shift = 1;
    function->bound = PyMethod_GET_SELF(target);
    target = PyMethod_GET_FUNCTION(target);
  }
  code = attribute(target, "__code__");
  names = code ? attribute(code, "co_varnames") : NULL;
  if (names && PyTuple_Check(names)) {
    positional = number(code, "co_argcount");
    all = positional + number(code, "co_kwonlyargcount");
    for (Py_ssize_t at = 0; at < all && at < PyTuple_GET_SIZE(names); at++) {
      PyObject *name = PyTuple_GET_ITEM(names, at);
      if (!PyUnicode_Check(name)) continue; /* any callable may have such attributes */
      if (at == 0 && PyUnicode_CompareWithASCIIString(name, "self") == 0) function->has_self = !shift;
      for (int i = 0; i < NAMED_COUNT; i++) {
        if (PyUnicode_Compare(name, native_name[NAMED_FIRST + i]) != 0) continue;
        function->has_any = function->is_keyword[i] = 1;
        function->place[i] = at < positional ? (int16_t)(at - shift) : -1;
        Py_XSETREF(function->fallback[i], default_of(target, name, at, positional));
      }
    }
  }
  Py_XDECREF(names);
  Py_XDECREF(code);
  if (function->bound && function->kind != WRAP_LOG) function->bound = NULL;
}

/* ---- Making one -------------------------------------------------------------------------------------------------------- */

/* The qualified name of a function, of the function inside a partial, or of the type of a callable object. */
static PyObject *name_of(PyObject *callable) {
  PyObject *name = attribute(callable, "__qualname__");
  PyObject *inner;
  if (!name) name = attribute(callable, "__name__");
  if (name) return name;
  inner = attribute(callable, "func");
  if (!inner) return attribute((PyObject *)Py_TYPE(callable), "__qualname__");
  name = name_of(inner);
  Py_DECREF(inner);
  return name;
}

/* Copies what functools.wraps copies and the type would hide. All other attributes are looked up in the function. */
static int dress(Function *function) {
  static const char *const shown[] = {"__module__", "__name__", "__qualname__", "__doc__"};
  PyObject *own = attribute(function->wrapped, "__dict__");
  function->dict = PyDict_New();
  if (!function->dict || (own && PyDict_Check(own) && PyDict_Update(function->dict, own) < 0)) {
    Py_XDECREF(own);
    return -1;
  }
  Py_XDECREF(own);
  for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
    PyObject *value = attribute(function->wrapped, shown[i]);
    int failed = value && PyDict_SetItemString(function->dict, shown[i], value) < 0;
    Py_XDECREF(value);
    if (failed) return -1;
  }
  return PyDict_SetItemString(function->dict, "__wrapped__", function->wrapped);
}

static PyObject *function_new(PyObject *profile, PyObject *callable, enum wrap_kind kind, PyObject *name) {
  Function *function = (Function *)native.function->tp_alloc(native.function, 0);
  PyObject *own_name;
  Label *label;
  if (!function) return NULL;
  function->kind = kind;
  function->wrapped = Py_NewRef(callable);
  function->profile = (Profile *)Py_NewRef(profile);
  function->call = kind == WRAP_NODE ? call_node : call_log;
  if (!native_enabled && kind != WRAP_INIT) function->call = pass;
  if (kind != WRAP_NODE) {
    own_name = name && name != Py_None ? Py_NewRef(name) : name_of(callable);
    label = state_label(function->profile->state);
    if (own_name) function->label = label_new(own_name, label->cat);
    label_drop(label);
    Py_XDECREF(own_name);
    if (!function->label) goto fail;
  }
  plan(function);
  if (dress(function) < 0) goto fail;
  return (PyObject *)function;
fail:
  if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "dftracer: the function has no name");
  Py_DECREF(function);
  return NULL;
}

static int is_coroutine_function(PyObject *callable) {
  PyObject *target = PyMethod_Check(callable) ? PyMethod_GET_FUNCTION(callable) : callable;
  return PyFunction_Check(target) && ((PyCodeObject *)PyFunction_GET_CODE(target))->co_flags & CO_COROUTINE;
}

/* Wraps the function inside a staticmethod, classmethod or property, and makes a new one around it. */
static PyObject *wrap_inside(PyObject *profile, PyObject *outer, enum wrap_kind kind, PyObject *name) {
  int is_property = PyObject_TypeCheck(outer, &PyProperty_Type);
  PyObject *inner = PyObject_GetAttrString(outer, is_property ? "fget" : "__func__");
  PyObject *function = inner ? function_wrap(profile, inner, kind, name) : NULL;
  PyObject *again = !function     ? NULL
                    : is_property ? PyObject_CallMethod(outer, "getter", "O", function)
                                  : PyObject_CallOneArg((PyObject *)Py_TYPE(outer), function);
  Py_XDECREF(inner);
  Py_XDECREF(function);
  return again;
}

PyObject *function_wrap(PyObject *profile, PyObject *callable, enum wrap_kind kind, PyObject *name) {
  PyObject *function;
  if (kind & WRAP_INNER) return function_new(profile, callable, kind & ~WRAP_INNER, name);
  if (PyObject_TypeCheck(callable, &PyStaticMethod_Type) || PyObject_TypeCheck(callable, &PyClassMethod_Type) ||
      PyObject_TypeCheck(callable, &PyProperty_Type)) {
    return wrap_inside(profile, callable, kind, name);
  }
  if (!PyCallable_Check(callable)) {
    PyErr_Format(PyExc_TypeError, "dftracer: expected a function, not %.100s", Py_TYPE(callable)->tp_name);
    return NULL;
  }
  if (!native_enabled && kind != WRAP_INIT && PyFunction_Check(callable)) return plain_function(callable);
  function = function_new(profile, callable, kind, name);
  if (function && is_coroutine_function(callable)) {
    /* The time is spent in awaiting, so a Python coroutine function goes around it. */
    PyObject *args[] = {function, callable};
    PyObject *outer = helper_call("coroutine", args, 2);
    Py_DECREF(function);
    return outer;
  }
  return function;
}

PyDoc_STRVAR(block_doc, "_block($self, /, *args, **kwargs)\n--\n\nA block with the values of such a call.");
static PyObject *function_block(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  Function *function = (Function *)self;
  State *state = function->profile->state;
  Profile *block;
  Values none = {{NULL}};
  Arguments call;
  if (function->kind == WRAP_NODE) return Py_NewRef((PyObject *)function->profile);
  block = (Profile *)profile_new(native.dft_fn, NULL, NULL);
  if (!block) return NULL;
  profile_setup(block, label_keep(function->label), &none, state->enable && !is_looking);
  Py_BEGIN_CRITICAL_SECTION(STATE_OWNER(state));
  arguments_copy(&block->state->args, &state->args);
  Py_END_CRITICAL_SECTION();
  if (is_recording(block->state)) collect(function, &block->state->args, args, count, keywords);
  arguments_init(&call);
  arguments_copy(&call, &block->state->args);
  remember(function->profile, &call);
  return (PyObject *)block;
}

/* ---- The type ---------------------------------------------------------------------------------------------------------- */

static PyObject *function_get(PyObject *self, PyObject *object, PyObject *type) {
  (void)type;
  if (!object || object == Py_None) return Py_NewRef(self);
  return PyMethod_New(self, object);
}

static PyObject *function_getattro(PyObject *self, PyObject *name) {
  PyObject *value = PyObject_GenericGetAttr(self, name);
  if (value || !PyErr_ExceptionMatches(PyExc_AttributeError) || !((Function *)self)->wrapped) return value;
  PyErr_Clear();
  return PyObject_GetAttr(((Function *)self)->wrapped, name);
}

static int is_function(PyObject *object) {
  return object && (PyFunction_Check(object) || Py_TYPE(object) == native.function);
}

/* Attributes that decide how the function runs are set on the function itself. */
static int function_setattro(PyObject *self, PyObject *name, PyObject *value) {
  static const char *const running[] = {"__code__", "__defaults__", "__kwdefaults__"};
  Function *function = (Function *)self;
  int is_plain = PyUnicode_Check(name) && is_function(function->wrapped);
  for (size_t i = 0; is_plain && i < sizeof running / sizeof *running; i++) {
    if (PyUnicode_CompareWithASCIIString(name, running[i]) != 0) continue;
    if (PyObject_SetAttr(function->wrapped, name, value) < 0) return -1;
    Py_BEGIN_CRITICAL_SECTION(self);
    plan(function);
    Py_END_CRITICAL_SECTION();
    return 0;
  }
  return PyObject_GenericSetAttr(self, name, value);
}

/* A class makes class or static methods of plain functions with these names, but not of other objects. */
PyDoc_STRVAR(set_name_doc, "__set_name__($self, owner, name, /)\n--\n\nCalled when its class is created.");
static PyObject *function_set_name(PyObject *self, PyObject *args) {
  PyObject *owner, *name, *method;
  int is_class_method, failed;
  if (!PyArg_ParseTuple(args, "OU:__set_name__", &owner, &name)) return NULL;
  is_class_method = PyUnicode_CompareWithASCIIString(name, "__init_subclass__") == 0 ||
                    PyUnicode_CompareWithASCIIString(name, "__class_getitem__") == 0;
  if (!is_class_method && PyUnicode_CompareWithASCIIString(name, "__new__") != 0) Py_RETURN_NONE;
  if (!is_function(((Function *)self)->wrapped)) Py_RETURN_NONE;
  method = is_class_method ? PyClassMethod_New(self) : PyStaticMethod_New(self);
  failed = !method || PyObject_SetAttr(owner, name, method) < 0;
  Py_XDECREF(method);
  if (failed) return NULL;
  Py_RETURN_NONE;
}

static PyObject *function_repr(PyObject *self) {
  return PyUnicode_FromFormat("<traced %R>", ((Function *)self)->wrapped);
}

/* Pickles by name, as functions do. Around a bound method, and for picklers that send functions by value, by its parts. */
static PyObject *function_reduce(PyObject *self, PyObject *ignored) {
  Function *function = (Function *)self;
  PyObject *rewrap, *result, *given[2] = {self};
  int kind = (int)function->kind + (is_coroutine_function(function->wrapped) ? WRAP_INNER : 0);
  (void)ignored;
  rewrap = PyObject_GetAttrString(native.module, "_wrap");
  if (!rewrap) return NULL;
  given[1] = Py_BuildValue("N(OOiO)", rewrap, function->profile, function->wrapped, kind,
                           function->label ? function->label->name : Py_None);
  if (!given[1] || PyMethod_Check(function->wrapped)) return given[1];
  result = helper_call("reduced", given, 2);
  Py_DECREF(given[1]);
  return result;
}

static int function_traverse(PyObject *self, visitproc visit, void *arg) {
  Function *function = (Function *)self;
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(function->wrapped);
  Py_VISIT(function->profile);
  Py_VISIT(function->dict);
  for (int i = 0; i < NAMED_COUNT; i++) Py_VISIT(function->fallback[i]);
  return 0;
}

static int function_clear(PyObject *self) {
  Function *function = (Function *)self;
  function->call = call_dead;
  function->bound = NULL;
  Py_CLEAR(function->wrapped);
  Py_CLEAR(function->dict);
  for (int i = 0; i < NAMED_COUNT; i++) Py_CLEAR(function->fallback[i]);
  return 0;
}

static void function_dealloc(PyObject *self) {
  Function *function = (Function *)self;
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (function->weak) PyObject_ClearWeakRefs(self);
  function_clear(self);
  Py_CLEAR(function->profile);
  label_drop(function->label);
  type->tp_free(self);
  Py_DECREF(type);
}

static PyMethodDef function_methods[] = {
  {"_block", (PyCFunction)(void (*)(void))function_block, METH_FASTCALL | METH_KEYWORDS, block_doc},
  {"__reduce__", function_reduce, METH_NOARGS, NULL},
  {"__set_name__", function_set_name, METH_VARARGS, set_name_doc},
  {NULL},
};

static PyGetSetDef function_attributes[] = {
  {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
  {NULL},
};

static PyMemberDef function_members[] = {
  {"__dictoffset__", T_PYSSIZET, offsetof(Function, dict), READONLY, NULL},
  {"__weaklistoffset__", T_PYSSIZET, offsetof(Function, weak), READONLY, NULL},
  {"__vectorcalloffset__", T_PYSSIZET, offsetof(Function, call), READONLY, NULL},
  {NULL},
};

static PyType_Slot function_slots[] = {
  {Py_tp_doc, "A function whose calls are recorded."},
  {Py_tp_call, PyVectorcall_Call},
  {Py_tp_descr_get, function_get},
  {Py_tp_getattro, function_getattro},
  {Py_tp_setattro, function_setattro},
  {Py_tp_repr, function_repr},
  {Py_tp_dealloc, function_dealloc},
  {Py_tp_traverse, function_traverse},
  {Py_tp_clear, function_clear},
  {Py_tp_methods, function_methods},
  {Py_tp_getset, function_attributes},
  {Py_tp_members, function_members},
  {0, NULL},
};

PyType_Spec function_spec = {"dftracer.dftracer.Function", sizeof(Function), 0,
                             TYPE_FLAGS_INTERNAL | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
                             function_slots};
