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
  PyObject *view;      /* of a node: its profiler, borrowed. It is made on demand, and holds the node */
  uint64_t start;      /* of a measurement without a block: ticks, or the time of native.redirect */
  char enable;
  char flush;
  char is_node;
} State;

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
#define STATE_OWNER(state) ((PyObject *)((char *)(state)-offsetof(Profile, own)))

static inline int is_recording(const State *state) {
  return mode_now() != MODE_OFF && state->enable;
}

#endif
