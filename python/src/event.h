/* event.h - one event from its begin to its end.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_PYTHON_EVENT_H
#define DFT_PYTHON_EVENT_H

#include "state.h"

/* An event between its begin and its end. */
typedef struct Open {
  uint64_t at; /* the region, or the time of native.redirect */
  char is_open;
  char is_redirected;
} Open;

static inline void event_mark(const State *state) {
  if (UNLIKELY(native_marked <= state->is_node)) mark_used_layers(state->is_node);
}
/* `label` NULL means that of the state, as it is then; else the caller holds it. */
void event_begin(Open *open, State *state, Label *label);
/* `call`: values of this call; may be NULL. `raised`: the type of the exception that ends it, or NULL. */
void event_end(Open *open, State *state, Label *label, const Arguments *call, PyObject *raised);

/* With a GIL nothing runs between the look at the label and its use. */
static inline dft_region event_region(const State *state, Label *label) {
#ifdef Py_GIL_DISABLED
  Label *own = label ? label_keep(label) : state_label(state);
  dft_region region = dft_region_begin(&own->site);
  label_drop(own);
  return region;
#else
  return dft_region_begin(label ? &label->site : &state->label->site);
#endif
}

/* The same two for the common case: events go to the core, and have no values. */
static inline void event_open(Open *open, State *state, Label *label) {
  if (UNLIKELY(mode_now() != MODE_NATIVE || native_marked <= state->is_node)) {
    event_begin(open, state, label);
    return;
  }
  open->is_open = 1;
  open->is_redirected = 0;
  open->at = event_region(state, label);
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

/* The time for event_record; in MODE_NATIVE it is in ticks. */
uint64_t event_clock(void);
/* Records an event with measured times. `span` is the core's measurement, which replaces the times; it may be NULL. */
void event_record(State *state, Label *label, uint64_t begin, uint64_t end, const dft_span *span,
                  const Arguments *call);
/* Records it through native.redirect. */
void event_redirect(State *state, Label *label, uint64_t begin, uint64_t end, const Arguments *call);

#endif
