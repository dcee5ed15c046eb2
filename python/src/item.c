/* item.c - the two events of a loop's item: fetching it, and the loop body.
 *
 * Both are written after the body, because nobody knows before whether the loop will be left; who knows the values of the fetch
 * keeps it at once. An item of a loop that was left early is recorded under other names (.cut). The loop of a node writes the
 * values that the node has after the body; the loop of a dft_fn writes for the first event those from before it.
 * SPDX-License-Identifier: MIT */
#include "item.h"

#define ARGS_FEW 15
#define FETCH_ARGS (BATCH_ARGS + 1)

static dft_key count_key = DFT_KEY("count");
static dft_key samples_key = DFT_KEY("samples");
static dft_key batch_keys[BATCH_ARGS] = {DFT_KEY("worker"), DFT_KEY("batch"), DFT_KEY("worker_pid")};

/* Asynchronous loops of one thread may fetch items at the same time. Each begin and each end takes a number. If another loop
 * took one in between, the two fetches may overlap. */
static __thread uint64_t turns __attribute__((tls_model("initial-exec")));

/* ---- Fetching an item ------------------------------------------------------------------------------------------------- */

void item_begin(Loop *loop, int is_inner) {
  State *state = loop->profile->state;
  if (loop->key && !loop->count) {
    Py_BEGIN_CRITICAL_SECTION(STATE_OWNER(state));
    arguments_clear(&state->args);
    arguments_clear(&state->last);
    Py_END_CRITICAL_SECTION();
  }
  loop->count++;
  loop->is_recorded = (char)(is_recording(state) && !is_inner);
  loop->fetch.id = 0;
  loop->batch[0] = -1;
  loop->sample_count = 0;
  if (!loop->is_recorded) return;
  if (UNLIKELY(loop->turn)) loop->turn = ++turns;
  if (UNLIKELY(mode_now() == MODE_REDIRECTED)) {
    loop->fetch_begin = event_clock();
    return;
  }
  event_mark(state);
  /* A span, not a region: if there is no item, there is no event, and nothing may have become its child. */
  if (loop->iter_label) dft_span_begin(&loop->iter_label->site, &loop->fetch);
}

static void fn_call(const Loop *loop, Arguments *call) {
  arguments_init(call);
  arguments_set_int(call, loop->key, loop->count);
}

static void fn_fetch_end(Loop *loop) {
  State *state = loop->profile->state;
  Arguments call;
  PyObject *relations = state_relations(state);
  fn_call(loop, &call);
  Py_BEGIN_CRITICAL_SECTION(STATE_OWNER(state));
  arguments_clear(&loop->values);
  arguments_copy(&loop->values, &state->args);
  arguments_copy(&state->last, &call);
  Py_END_CRITICAL_SECTION();
  arguments_copy(&loop->values, &call);
  arguments_clear(&call);
  if (UNLIKELY(relations != NULL)) arguments_set_relations(&loop->values, relations);
  Py_XDECREF(relations);
}

/* Asks which worker made the item; code of torch knows it. */
static void find_batch(Loop *loop) {
  PyObject *batches = new_ref_or_null(loop->batches);
  PyObject *found = PyObject_CallMethod(batches, "take", NULL);
  long long worker, batch, pid;
  if (found && PyTuple_Check(found) && PyArg_ParseTuple(found, "LLL", &worker, &batch, &pid)) {
    loop->batch[0] = worker;
    loop->batch[1] = batch;
    loop->batch[2] = pid;
  }
  if (PyErr_Occurred()) PyErr_Clear();
  Py_XDECREF(found);
  Py_DECREF(batches);
}

void item_fetched(Loop *loop) {
  if (!loop->is_recorded) return;
  if (UNLIKELY(mode_now() == MODE_REDIRECTED)) loop->fetch_end = event_clock();
  else if (loop->iter_label) dft_span_end(&loop->fetch, UNLIKELY(loop->turn) && loop->turn != turns++);
  loop->has_item = 1;
  if (loop->key) fn_fetch_end(loop);
  else if (UNLIKELY(loop->batches != NULL)) find_batch(loop);
  if (loop->has_item &&
      (loop->key || (loop->block_label && mode_now() == MODE_NATIVE))) /* it was not closed meanwhile */
    event_begin(&loop->block, loop->profile->state, loop->block_label);
}

void item_look(Loop *loop, PyObject *item) {
  PyObject *samples, *found;
  if (!loop->samples || !loop->is_recorded) return;
  samples = Py_NewRef(loop->samples);
  found = PyObject_CallFunction(samples, "OO", item, loop->count == loop->last ? Py_True : Py_False);
  if (found && PyLong_Check(found)) loop->sample_count = PyLong_AsLongLong(found);
  if (PyErr_Occurred()) PyErr_Clear();
  Py_XDECREF(found);
  Py_DECREF(samples);
}

/* ---- After the body ------------------------------------------------------------------------------------------------------ */

/* Gives a span that has ended another name. */
static void rename_span(dft_span *span, Label *label) {
  dft_span other = {.struct_size = sizeof other};
  dft_span_begin(&label->site, &other);
  if (!other.session) span->id = 0; /* such events are not recorded */
  span->site = other.site;
  span->named = &label->site;
}

/* The label for an item of a loop that was left. */
static Label *cut_label(const Label *label) {
  Label *cut = label ? label_derived(label, "cut", NULL) : NULL;
  if (!cut) PyErr_Clear();
  return cut;
}

/* The values of the node, and room for `more`; `count` is without these. NULL: there is no memory. */
static dft_arg *node_values(State *state, dft_arg few[], uint32_t more, uint32_t *count) {
  dft_arg *args = few;
  *count = state->args.count;
  if (*count > ARGS_FEW) args = PyMem_Malloc((*count + more) * sizeof *args);
  if (args) arguments_fill(&state->args, args);
  return args;
}

/* Arguments of the fetch alone; returns how many. */
static uint32_t fetch_values(const Loop *loop, dft_arg args[]) {
  uint32_t count = 0;
  for (; loop->batch[0] >= 0 && count < BATCH_ARGS; count++)
    args[count] = (dft_arg){.key = &batch_keys[count], .type = DFT_INT, .value.i = loop->batch[count]};
  if (loop->sample_count > 0)
    args[count++] = (dft_arg){.key = &samples_key, .type = DFT_INT, .value.i = loop->sample_count};
  return count;
}

/* Writes both events of a node's item. The block is taken off the stack before the other is recorded: they are siblings. */
static void node_item_native(Loop *loop, Label *iter_cut, Label *block_cut) {
  State *state = loop->profile->state;
  dft_arg few[ARGS_FEW + 1 + FETCH_ARGS], *args;
  uint32_t count;
  dft_span span = {.struct_size = sizeof span};
  if (loop->block.is_open) dft_region_take(loop->block.at, &span);
  if (loop->block_label) span.named = &loop->block_label->site;
  if (iter_cut && loop->fetch.id) rename_span(&loop->fetch, iter_cut);
  if (block_cut && span.id) rename_span(&span, block_cut);
  Py_BEGIN_CRITICAL_SECTION(STATE_OWNER(state));
  args = node_values(state, few, 1 + FETCH_ARGS, &count);
  if (args) {
    args[count++] = (dft_arg){.key = &count_key, .type = DFT_INT, .value.i = loop->count};
    dft_span_record(&loop->fetch, args, count + fetch_values(loop, args + count));
    dft_span_record(&span, args, count);
  }
  Py_END_CRITICAL_SECTION();
  if (args != few) PyMem_Free(args);
}

void item_keep_fetch(Loop *loop) {
  State *state = loop->profile->state;
  dft_arg few[ARGS_FEW + 1 + FETCH_ARGS], *args;
  uint32_t count;
  if (!loop->fetch.id || mode_now() != MODE_NATIVE) return;
  Py_BEGIN_CRITICAL_SECTION(STATE_OWNER(state));
  args = node_values(state, few, 1 + FETCH_ARGS, &count);
  if (args) {
    args[count++] = (dft_arg){.key = &count_key, .type = DFT_INT, .value.i = loop->count};
    dft_span_record(&loop->fetch, args, count + fetch_values(loop, args + count));
    loop->fetch.id = 0;
  }
  Py_END_CRITICAL_SECTION();
  if (args != few) PyMem_Free(args);
}

static void node_item_redirected(Loop *loop, Label *iter_cut, Label *block_cut) {
  State *state = loop->profile->state;
  Arguments call;
  PyObject *key = PyUnicode_FromString("count");
  uint64_t now = event_clock();
  if (!key) return;
  arguments_init(&call);
  arguments_set_int(&call, key, loop->count);
  if (loop->iter_label)
    event_redirect(state, iter_cut ? iter_cut : loop->iter_label, loop->fetch_begin, loop->fetch_end, &call);
  if (loop->block_label) event_redirect(state, block_cut ? block_cut : loop->block_label, loop->fetch_end, now, &call);
  arguments_clear(&call);
  Py_DECREF(key);
}

static void node_item_end(Loop *loop, Label *iter_cut, Label *block_cut) {
  if (mode_now() == MODE_NATIVE) node_item_native(loop, iter_cut, block_cut);
  else if (mode_now() == MODE_REDIRECTED) node_item_redirected(loop, iter_cut, block_cut);
  loop->block.is_open = 0;
}

static void fn_fetch_record(Loop *loop, Label *label) {
  Arguments *values = &loop->values;
  dft_arg *args;
  if (mode_now() == MODE_REDIRECTED) {
    event_redirect(loop->profile->state, label, loop->fetch_begin, loop->fetch_end, values);
    return;
  }
  args = PyMem_Malloc(values->count * sizeof *args);
  if (!args) return;
  arguments_fill(values, args);
  dft_span_record(&loop->fetch, args, values->count);
  PyMem_Free(args);
}

static void fn_item_end(Loop *loop, Label *iter_cut, Label *block_cut) {
  State *state = loop->profile->state;
  dft_span span = {.struct_size = sizeof span};
  Arguments call;
  if (iter_cut && loop->fetch.id) rename_span(&loop->fetch, iter_cut);
  fn_fetch_record(loop, iter_cut ? iter_cut : loop->iter_label);
  fn_call(loop, &call);
  if (block_cut && loop->block.is_open && !loop->block.is_redirected) {
    loop->block.is_open = 0;
    dft_region_take(loop->block.at, &span);
    if (span.id) rename_span(&span, block_cut);
    event_record(state, block_cut, 0, 0, &span, &call);
    state_drop_relations(state);
  } else {
    event_end(&loop->block, state, block_cut ? block_cut : loop->block_label, &call, NULL);
  }
  arguments_clear(&call);
}

void item_missing(Loop *loop) {
  State *state = loop->profile->state;
  dft_arg few[ARGS_FEW], *args;
  uint32_t count;
  if (!loop->is_recorded || mode_now() != MODE_NATIVE) return;
  dft_span_end(&loop->fetch, 0);
  if (!loop->fetch.id) return;
  rename_span(&loop->fetch, loop->end_label);
  Py_BEGIN_CRITICAL_SECTION(STATE_OWNER(state));
  args = node_values(state, few, 0, &count);
  if (args) dft_span_record(&loop->fetch, args, count);
  Py_END_CRITICAL_SECTION();
  if (args != few) PyMem_Free(args);
}

void item_end(Loop *loop, int is_cut) {
  Label *iter_cut = is_cut ? cut_label(loop->iter_label) : NULL;
  Label *block_cut = is_cut ? cut_label(loop->block_label) : NULL;
  (loop->key ? fn_item_end : node_item_end)(loop, iter_cut, block_cut);
  label_drop(iter_cut);
  label_drop(block_cut);
}
