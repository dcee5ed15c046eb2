/* arguments.h - the arguments of an event, in the form in which the core takes them.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_PYTHON_ARGUMENTS_H
#define DFT_PYTHON_ARGUMENTS_H

#include "names.h"

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
/* Whether both have the argument, with different values. */
int arguments_differ(const Arguments *set, const Arguments *other, PyObject *key);
void arguments_remove(Arguments *set, PyObject *key);
/* Leaves `from` empty. */
void arguments_move(Arguments *set, Arguments *from);
/* Copies the four named ones alone. */
void arguments_copy_named(Arguments *set, const Arguments *from);
/* Sets one of the four named ones, by its place from NAMED_FIRST on. NULL and None mean: not given. */
void arguments_set_named(Arguments *set, int which, PyObject *value);
void arguments_set_values(Arguments *set, const Values *values);
/* Sets the entries of args={...}: int, bool and float as numbers, everything else as text. */
void arguments_set_dict(Arguments *set, PyObject *dict);
void arguments_set_int(Arguments *set, PyObject *key, int64_t value);
/* Sets the entries of any mapping from names to plain values or (tag, value); for the low-level calls. */
void arguments_set_map(Arguments *set, PyObject *map, uint32_t type);
/* Sets used, generated, ... from {relation: ids of entities}; leaves a pending exception alone. */
void arguments_set_relations(Arguments *set, PyObject *relations);
/* Adds {name: (tag, value)} of one type to `dict`. */
int arguments_view(const Arguments *set, uint32_t type, PyObject *dict);
/* Writes them as the core's calls take them; `out` has room for set->count. */
void arguments_fill(const Arguments *set, dft_arg *out);
/* To a list of (key, value, tag), and back; for pickling. */
PyObject *arguments_dump(const Arguments *set);
void arguments_load(Arguments *set, PyObject *list);

/* The (key, value) tuples of any mapping as a list; NULL with an exception if it is not a mapping. */
PyObject *pairs_of(PyObject *mapping);

#endif
