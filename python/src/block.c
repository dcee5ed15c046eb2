/* block.c - the blocks that this thread has entered.
 *
 * One node serves all threads and all nested uses, so the data of each entry is kept here, on one stack per thread. A block
 * is usually left in the frame that entered it; only start/stop and exit stacks use different frames. So the search looks for
 * the frame first. This keeps interleaved coroutines apart.
 * SPDX-License-Identifier: MIT */
#include "block.h"

#include <pthread.h>

typedef struct Block {
  Profile *profile; /* owned */
  void *frame;
  Open open;
  int is_suspended;
} Block;

typedef struct Stack {
  uint32_t count;
  uint32_t room;
  Block block[];
} Stack;

static __thread Stack *stack __attribute__((tls_model("initial-exec")));
static pthread_key_t at_thread_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_key(void) {
  pthread_key_create(&at_thread_end, PyMem_RawFree);
}

static Stack *grow(void) {
  uint32_t room = stack ? stack->room * 2 : 16;
  Stack *larger = PyMem_RawRealloc(stack, sizeof *larger + room * sizeof larger->block[0]);
  if (!larger) return NULL;
  if (!stack) {
    larger->count = 0;
    pthread_once(&once, make_key);
  }
  larger->room = room;
  stack = larger;
  pthread_setspecific(at_thread_end, larger);
  return larger;
}

/* The event begins first: that may run code of the program, which enters blocks and so moves the stack. */
void block_enter(Profile *profile, void *frame) {
  Stack *own;
  State *state = profile->state;
  Open open = {0};
  if (LIKELY(state->enable)) event_open(&open, state, NULL);
  own = stack;
  if (UNLIKELY(!own || own->count == own->room)) own = grow();
  if (UNLIKELY(!own)) {
    event_cancel(&open);
    return;
  }
  Py_INCREF(profile);
  own->block[own->count++] = (Block){profile, frame, open, 0};
  if (!state->is_node) state->start = open.is_redirected ? open.at : dft_ticks(); /* of what a second flush writes */
}

int block_is_any(void) {
  return stack && stack->count;
}

static Block *find(const Profile *profile, const void *frame) {
  Block *nearest = NULL;
  for (uint32_t i = stack ? stack->count : 0; i--;) {
    Block *block = &stack->block[i];
    if (block->profile->state != profile->state) continue;
    if (LIKELY(block->frame == frame)) return block;
    if (!nearest) nearest = block;
  }
  return nearest;
}

void block_exit(Profile *profile, void *frame, PyObject *raised) {
  Block *block = find(profile, frame);
  Block left;
  State *state = profile->state;
  if (!block) return;
  left = *block;
  stack->count--;
  memmove(block, block + 1, (size_t)((char *)&stack->block[stack->count] - (char *)block));
  if (UNLIKELY(left.is_suspended)) event_begin(&left.open, state, NULL);
  if (LIKELY(!raised && left.open.is_open && is_simple(&left.open, state))) event_close(&left.open);
  else event_end(&left.open, state, NULL, NULL, raised);
  Py_DECREF(left.profile);
}

static int has_category(const Block *block, const char *cat) {
  return strcmp(block->profile->state->label->site.cat, cat) == 0;
}

/* From the innermost: regions end in the order of the stack. */
void block_suspend(const char *cat) {
  for (uint32_t i = stack ? stack->count : 0; i--;) {
    Block *block = &stack->block[i];
    if (!block->open.is_open || block->open.is_redirected || !has_category(block, cat)) continue;
    event_cancel(&block->open);
    block->is_suspended = 1;
  }
}

void block_resume(const char *cat) {
  for (uint32_t i = 0; stack && i < stack->count; i++) {
    Block *block = &stack->block[i];
    if (!block->is_suspended || !has_category(block, cat)) continue;
    block->is_suspended = 0;
    event_begin(&block->open, block->profile->state, NULL);
  }
}

int block_exchange(Profile *profile, void *frame, Open *open) {
  Block *block = find(profile, frame);
  Open before;
  if (!block) return 0;
  before = block->open;
  block->open = *open;
  *open = before;
  return 1;
}
