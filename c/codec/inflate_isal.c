/* inflate_isal.c - gzip members by ISA-L, two to three times as fast as zlib.
 * SPDX-License-Identifier: MIT */
#include "inflate.h"

#ifdef DFT__INFLATE_ISAL
#include <isa-l/igzip_lib.h>
#include <limits.h>

static void begin(void *opaque) {
  struct inflate_state *state = opaque;
  isal_inflate_init(state);
  state->crc_flag = ISAL_GZIP;
}

static enum dft__inflated run(void *opaque, dft__flow *flow) {
  struct inflate_state *state = opaque;
  uint32_t in = flow->in_len > INT_MAX ? INT_MAX : (uint32_t)flow->in_len;
  uint32_t room = flow->room > INT_MAX ? INT_MAX : (uint32_t)flow->room;
  int result;
  state->next_in = (uint8_t *)(uintptr_t)flow->in;
  state->avail_in = in;
  state->next_out = flow->out;
  state->avail_out = room;
  result = isal_inflate(state);
  flow->in = state->next_in;
  flow->in_len -= in - state->avail_in;
  flow->out = state->next_out;
  flow->room -= room - state->avail_out;
  if (result != ISAL_DECOMP_OK && result != ISAL_END_INPUT && result != ISAL_OUT_OVERFLOW) return DFT__INFLATE_BAD;
  return state->block_state == ISAL_BLOCK_FINISH ? DFT__INFLATE_END : DFT__INFLATE_GOES_ON;
}

static void end(void *opaque) {
  (void)opaque;
}

const dft__inflater dft__inflater_fast = {"isal", sizeof(struct inflate_state), begin, run, end};
#endif
