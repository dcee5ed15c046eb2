/* state.h - the data of dft_fn and of the nodes of the ai tree: label, values, switch.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_PYTHON_STATE_H
#define DFT_PYTHON_STATE_H

#include "arguments.h"
#include "label.h"

typedef struct State {
  Label *label;
  Arguments args;
  Arguments last;      /* the values of the last call of a logged function: readable, not recorded again */
  PyObject *relations; /* dict: relation -> list of entity ids; NULL: none */
  PyObject *view;      /* of a node: its profiler, made on demand. It holds the node, see VIEW_IS_OWNED */
  uint64_t start;      /* of a measurement without a block: ticks, or the time of native.redirect */
  char enable;
  char flush;
  char is_node;
} State;

/* A node borrows its profiler, which clears the pointer when it dies. Without a GIL another thread could take the pointer at that
 * moment, so there the node owns it, and the garbage collector frees the two. */
#ifdef Py_GIL_DISABLED
#define VIEW_IS_OWNED 1
#else
#define VIEW_IS_OWNED 0
#endif

typedef struct Profile {
  PyObject_HEAD State *state; /* &own, or that of `owner` */
  PyObject *owner;            /* the node whose profiler this is; NULL: none */
  PyObject *dict;
  PyObject *weak;
  PyObject *bound[2]; /* its __enter__ and __exit__, from the second use on */
  char uses[2];
  State own;
} Profile;

/* The object whose critical section guards the values of a state. */
#define STATE_OWNER(state) ((PyObject *)((char *)(uintptr_t)(state)-offsetof(Profile, own)))

/* The label, with a reference of the caller's own. */
static inline Label *state_label(const State *state) {
  Label *label;
  Py_BEGIN_CRITICAL_SECTION(STATE_OWNER(state));
  label = label_keep(state->label);
  Py_END_CRITICAL_SECTION();
  return label;
}

/* The relations, with a reference of the caller's own; NULL: none. */
static inline PyObject *state_relations(const State *state) {
  PyObject *relations;
  Py_BEGIN_CRITICAL_SECTION(STATE_OWNER(state));
  relations = new_ref_or_null(state->relations);
  Py_END_CRITICAL_SECTION();
  return relations;
}

/* The same, and the state has none from then on: of two threads that end events, one gets them. */
static inline PyObject *state_take_relations(State *state) {
  PyObject *relations;
  Py_BEGIN_CRITICAL_SECTION(STATE_OWNER(state));
  relations = state->relations;
  state->relations = NULL;
  Py_END_CRITICAL_SECTION();
  return relations;
}

static inline void state_drop_relations(State *state) {
  if (UNLIKELY(state->relations != NULL)) Py_XDECREF(state_take_relations(state));
}

static inline int is_recording(const State *state) {
  return mode_now() != MODE_OFF && state->enable;
}

#endif
