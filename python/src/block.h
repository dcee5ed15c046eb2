/* block.h - the blocks that this thread has entered.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_PYTHON_BLOCK_H
#define DFT_PYTHON_BLOCK_H

#include "event.h"

void block_enter(Profile *profile, void *frame);
/* Ends the innermost block of this profile and this frame; if there is none, the innermost one of this profile. */
void block_exit(Profile *profile, void *frame, PyObject *raised);
/* Nonzero while this thread is inside any block, even if the trace was finalized in the meantime. */
int block_is_any(void);
/* Exchanges `open` with the event of the block that block_exit would end; returns 0 if there is none. */
int block_exchange(Profile *profile, void *frame, Open *open);
/* Takes the open events of a category off this thread's stack without recording them; they begin anew when resumed. */
void block_suspend(const char *cat);
void block_resume(const char *cat);

/* The frame of the caller. Two blocks of one frame nest; blocks of two coroutines need not. It is only compared, never read. */
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

#endif
