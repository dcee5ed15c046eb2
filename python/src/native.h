/* native.h - what the files of the extension module share: labels, values, profiles, entered blocks.
 *
 * The module stands on dft.h alone. Decorated function, block and loop are C types whose hot paths begin and end regions of
 * the core directly; everything that happens once (trees, names, processes) is Python, in the package beside.
 *
 * Threads   With the GIL every function here runs under it. Without it (free-threaded builds) an object's values are changed
 *           and read under its critical section; the entered blocks belong to the thread.
 * Errors    Tracing never raises into the program: a value that cannot be converted is recorded as text.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_PYTHON_NATIVE_H
#define DFT_PYTHON_NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <dftracer/dft.h>
#include <stddef.h>
#include <structmember.h>

#ifndef Py_BEGIN_CRITICAL_SECTION /* before 3.13 there is always a GIL */
#define Py_BEGIN_CRITICAL_SECTION(object) {
#define Py_END_CRITICAL_SECTION() }
#endif

#if PY_VERSION_HEX < 0x030A0000
static inline PyObject *Py_NewRef(PyObject *object) {
  Py_INCREF(object);
  return object;
}
#endif

#if PY_VERSION_HEX < 0x030D0000 /* it had this name before it was public */
#define PyObject_GetOptionalAttr _PyObject_LookupAttr
#endif

#ifdef Py_TPFLAGS_DISALLOW_INSTANTIATION
#define TYPE_FLAGS_INTERNAL (Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION)
#else /* before 3.10 */
#define TYPE_FLAGS_INTERNAL (Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC)
#endif

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* ---- The state of tracing in this process ---------------------------------------------------------------------------- */

enum mode {
  MODE_OFF,        /* no trace: switched off, not initialised yet, or finalized */
  MODE_NATIVE,     /* events go to the core */
  MODE_REDIRECTED, /* events go to the object that stands in place of the native module */
};

/* Read by every call; changed by initialize, finalize and redirect. */
extern int native_mode;
static inline int mode_now(void) {
  return __atomic_load_n(&native_mode, __ATOMIC_RELAXED);
}
/* DFTRACER_ENABLE as it was at the import. Without it objects keep no values and every call passes through. */
extern int native_enabled;
/* What the trace knows of being used, to tell at its end: 0 nothing, 1 functions, 2 nodes too. */
extern int native_marked;
/* A child of a traced process, before its first event: it has yet to find out whose work it does. */
extern int native_is_new_child;
void mark_used_layers(int is_node);
/* At the very end of the interpreter: after an interrupt Python ends itself by the signal, and no destructor runs. */
void finish_with_interpreter(void);

/* ---- Names that are compared all the time ---------------------------------------------------------------------------- */

#define NAME_LIST(X) X(fn) X(epoch) X(step) X(image_idx) X(image_size) X(args) X(enable)
enum name {
#define NAME_ENUM(name) NAME_##name,
  NAME_LIST(NAME_ENUM)
#undef NAME_ENUM
    NAME_COUNT,
};
#define NAMED_FIRST NAME_epoch
#define NAMED_COUNT 4 /* epoch, step, image_idx, image_size */
extern PyObject *native_name[NAME_COUNT];

/* What a call was given, borrowed; NULL where it was not. */
typedef struct Values {
  PyObject *at[NAME_COUNT];
} Values;

/* Positional arguments fill the places from `first` on, at most `most`. Sets an exception and returns -1 for others. */
int values_parse(Values *values, const char *function, int first, int most, PyObject *const *args, Py_ssize_t count,
                 PyObject *keywords);

/* ---- Labels: name and category, shared by a node and everything detached from it ------------------------------------- */

typedef struct Label {
  long refs;
  PyObject *name; /* as given */
  PyObject *cat;
  PyObject *name_text; /* as the core gets it: always encodable */
  PyObject *cat_text;
  dft_site site;
} Label;

Label *label_new(PyObject *name, PyObject *cat);
/* A label of the same category named <name>.<suffix>; `whole` replaces the name when it is not NULL. */
Label *label_derived(const Label *label, const char *suffix, PyObject *whole);
static inline long label_count(Label *label, int more) {
#ifdef Py_GIL_DISABLED
  return __atomic_add_fetch(&label->refs, more, __ATOMIC_ACQ_REL);
#else
  return label->refs += more;
#endif
}
static inline Label *label_keep(Label *label) {
  label_count(label, 1);
  return label;
}
void label_free(Label *label);
static inline void label_drop(Label *label) {
  if (label && !label_count(label, -1)) label_free(label);
}

/* ---- Arguments --------------------------------------------------------------------------------------------------------- */

typedef struct Argument {
  PyObject *key;   /* str */
  PyObject *value; /* int, float or str: what was recorded, and the owner of the text in arg */
  dft_arg arg;
  int tag;
} Argument;

#define ARGUMENTS_OWN 2
typedef struct Arguments {
  Argument *items;
  uint32_t count;
  uint32_t room;
  Argument own[ARGUMENTS_OWN];
} Arguments;

static inline void arguments_init(Arguments *set) {
  set->items = set->own;
  set->count = 0;
  set->room = ARGUMENTS_OWN;
}
void arguments_clear(Arguments *set);
int arguments_traverse(const Arguments *set, visitproc visit, void *arg);
void arguments_copy(Arguments *set, const Arguments *from);
/* Leaves `from` empty. */
void arguments_move(Arguments *set, Arguments *from);
/* The four named ones alone. */
void arguments_copy_named(Arguments *set, const Arguments *from);
/* One of the four named ones, by its place from NAMED_FIRST on; NULL and None are not given. */
void arguments_set_named(Arguments *set, int which, PyObject *value);
void arguments_set_values(Arguments *set, const Values *values);
/* The (key, value) tuples of any mapping as a list; NULL with an exception where it is none. */
PyObject *pairs_of(PyObject *mapping);
/* Entries of args={...}, by the rule for free values. */
void arguments_set_dict(Arguments *set, PyObject *dict);
void arguments_set_int(Arguments *set, PyObject *key, int64_t value);
/* {name: (tag, value)} of one type, added to `dict`. */
int arguments_view(const Arguments *set, uint32_t type, PyObject *dict);
/* Any mapping of names to plain values or (tag, value); for the low-level calls. */
void arguments_set_map(Arguments *set, PyObject *map, uint32_t type);
/* {relation: ids of entities} as used, generated, ...; leaves a pending exception alone. */
void arguments_set_relations(Arguments *set, PyObject *relations);
/* As the core's calls take them; `out` has room for `count` more. */
void arguments_fill(const Arguments *set, dft_arg *out);
/* As a list of (key, value, tag), and back; for pickling. */
PyObject *arguments_dump(const Arguments *set);
void arguments_load(Arguments *set, PyObject *list);
/* A str that can be encoded, from any object; never fails with an exception set, NULL only without memory. */
PyObject *text_from(PyObject *value);

extern dft_key native_key_count;

/* ---- Profiles: what dft_fn and the nodes of the ai tree have in common ------------------------------------------------- */

typedef struct State {
  Label *label;
  Arguments args;
  Arguments last;      /* what the last call of a logged function had; readable, not recorded again */
  PyObject *relations; /* dict: relation -> list of entity ids; NULL: none */
  uint64_t start;      /* of a measurement without a block: ticks, or the stand-in's time */
  char enable;
  char flush;
  char is_node;
} State;

typedef struct Profile {
  PyObject_HEAD State *state; /* &own, or that of `owner` */
  PyObject *owner;            /* the node whose profiler this is; NULL: none */
  PyObject *dict;
  PyObject *weak;
  PyObject *bound[2]; /* its __enter__ and __exit__, once they were used before */
  char uses[2];
  State own;
} Profile;

typedef struct Node {
  Profile base;
  vectorcallfunc call;
  PyObject *children; /* dict */
  PyObject *view;     /* its profiler, borrowed: made on demand, and it holds the node */
  PyObject *inert;    /* with tracing off, what its calls return */
} Node;

/* An event between its begin and its end. */
typedef struct Open {
  uint64_t at; /* the region, or the stand-in's time */
  char is_open;
  char is_redirected;
} Open;

static inline void event_mark(const State *state) {
  if (UNLIKELY(native_marked <= state->is_node)) mark_used_layers(state->is_node);
}
void event_begin(Open *open, State *state, Label *label);
/* `call` may be NULL: values of this call. `raised`: the type of the exception that ends it, or NULL. */
void event_end(Open *open, State *state, Label *label, const Arguments *call, PyObject *raised);
/* The same where nothing is unusual: events go to the core, and have no values. */
static inline void event_open(Open *open, State *state, Label *label) {
  if (UNLIKELY(mode_now() != MODE_NATIVE || native_marked <= state->is_node)) {
    event_begin(open, state, label);
    return;
  }
  open->is_open = 1;
  open->is_redirected = 0;
  open->at = dft_region_begin(&label->site);
}
static inline int is_simple(const Open *open, const State *state) {
  return !open->is_redirected && !state->args.count && !state->relations;
}
static inline void event_close(Open *open) {
  open->is_open = 0;
  dft_region_close(open->at);
}
/* Takes the event off the stack without recording it. */
void event_cancel(Open *open);
/* The same two for measured times; in MODE_NATIVE they are ticks. `span` may be NULL: the core's measurement, which it
 * then records in place of the times. */
uint64_t event_clock(void);
void event_record(State *state, Label *label, uint64_t begin, uint64_t end, const dft_span *span,
                  const Arguments *call);
/* Through the object in place of the native module. */
void event_redirect(State *state, Label *label, uint64_t begin, uint64_t end, const Arguments *call);

extern PyType_Spec bound_spec, method_spec, profile_spec, dft_fn_spec, node_spec, function_spec, loop_spec, ready_spec;
extern PyMethodDef call_methods[];

typedef struct Native {
  PyObject *module;
  PyTypeObject *profile, *dft_fn, *node, *function, *loop, *ready, *bound, *method;
  PyObject *redirect; /* log_event(...) and friends; NULL: none */
} Native;
extern Native native;

static inline int is_profile(PyObject *object) {
  return PyObject_TypeCheck(object, native.profile);
}
static inline int is_recording(const State *state) {
  return mode_now() != MODE_OFF && state->enable;
}

/* ---- Entered blocks of this thread --------------------------------------------------------------------------------- */

void block_enter(Profile *profile, void *frame);
/* Ends the innermost block of this profile, that of this frame before all others. */
void block_exit(Profile *profile, void *frame, PyObject *raised);
/* Nonzero while this thread is inside of any; also when the trace was finalized meanwhile. */
int block_is_any(void);
/* The open event of the innermost block, or NULL. */
Open *block_find(Profile *profile, void *frame);

/* Who called: two blocks of one frame nest, those of two coroutines need not. Only compared, never looked into. */
static inline void *frame_now(void) {
#if PY_VERSION_HEX >= 0x030F0000
  return (void *)PyEval_GetFrame();
#elif PY_VERSION_HEX >= 0x030D0000
  return PyThreadState_Get()->current_frame;
#elif PY_VERSION_HEX >= 0x030B0000
  return PyThreadState_Get()->cframe->current_frame;
#else
  return PyThreadState_Get()->frame;
#endif
}

/* ---- Functions and loops ------------------------------------------------------------------------------------------- */

enum wrap_kind { WRAP_NODE, WRAP_LOG, WRAP_INIT, WRAP_STATIC };
#define WRAP_INNER 8 /* added to a kind: what stands inside of the function around a coroutine function */

/* Wraps a function, or what a staticmethod, classmethod or property holds. name: NULL or the event's name. */
PyObject *function_wrap(PyObject *profile, PyObject *callable, enum wrap_kind kind, PyObject *name);
/* With tracing off: a function of Python that runs the code of this one. */
PyObject *plain_function(PyObject *function);
/* Calls a function of the module dftracer.python.helpers, which is loaded when it is needed first. */
PyObject *helper_call(const char *name, PyObject *const *args, size_t count);

/* Around an iterable, which may be an asynchronous one. */
PyObject *loop_without_events(PyObject *iterable);
PyObject *loop_of_node(Profile *profile, PyObject *iterable, Label *iter_label, Label *block_label);
PyObject *loop_of_fn(Profile *profile, PyObject *iterable, Label *iter_label, Label *yield_label, PyObject *key);
/* __enter__ and __exit__. */
extern PyMethodDef block_methods[2];
PyObject *profile_enter(PyObject *self, PyObject *ignored);
PyObject *profile_exit(PyObject *self, PyObject *const *args, Py_ssize_t count);
/* Gives the type one of the two, in a form that is bound cheaply. */
int bound_install(PyTypeObject *type, int which);
/* An awaitable that is done. */
PyObject *ready_new(PyObject *value);

/* _log_torch(events, start_ns, units_per_second, device_us, has_device, has_shapes): records the entries of torch.profiler. */
PyObject *torch_events_log(PyObject *module, PyObject *args);

/* ---- Methods of profiles that the types share ------------------------------------------------------------------------ */

extern Label *label_unknown; /* of objects that were never initialised */
PyObject *profile_new(PyTypeObject *type, PyObject *args, PyObject *keywords);
/* Gives a new object its label (taken over), values and switch. NULL as label: an exception is set, and -1 returned. */
int profile_setup(Profile *profile, Label *label, const Values *values, int enable);
void profile_dealloc(PyObject *self);
/* The parts of making and unmaking one between which the memory may be kept. What profile_begin does not set is zero. */
void profile_begin(Profile *profile);
void profile_finish(PyObject *self);
int profile_traverse(PyObject *self, visitproc visit, void *arg);
int profile_clear(PyObject *self);

#endif
