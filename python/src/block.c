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
  own->block[own->count++] = (Block){profile, frame, open};
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
  if (!block) {
    if (state->enable) dft_region_unmatched(&state->label->site); /* stop without start, or on another thread */
    return;
  }
  left = *block;
  stack->count--;
  memmove(block, block + 1, (size_t)((char *)&stack->block[stack->count] - (char *)block));
  if (LIKELY(!raised && left.open.is_open && is_simple(&left.open, state))) event_close(&left.open);
  else event_end(&left.open, state, NULL, NULL, raised);
  Py_DECREF(left.profile);
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
