/* sink_finish.c - a sink from outside that holds up the drain, and tells the test what it saw and when. It writes nothing.
 * SPDX-License-Identifier: MIT */
#include "sink_finish.h"

#include <dlfcn.h>
#include <string.h>

static finish_seen *seen; /* of the test */

/* Signals are blocked here, and the thread may be the drain's. */
static void hold_up(void) {
  const struct timespec pause = {0, 1000000};
  if (seen->pause_ns) {
    nanosleep(&(struct timespec){0, (long)seen->pause_ns}, NULL);
  } else if (!atomic_exchange(&seen->is_called, 1)) {
    uint64_t begun_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < 20000 && dft_is_active(); i++) nanosleep(&pause, NULL);
    while (now_ns(CLOCK_THREAD_CPUTIME_ID) < begun_ns + 2000000) continue;
    seen->cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - begun_ns;
    seen->held_until_ns = now_ns(CLOCK_REALTIME);
  }
}

static void take_end(const dft_event *end) {
  seen->end_ns = (uint64_t)end->start;
  for (size_t i = 0; i < end->value_count; i++) {
    const dft_value *value = &end->values[i];
    if (value->key.len == 9 && memcmp(value->key.text, "finish_ns", 9) == 0) seen->finish_ns = (uint64_t)value->value.i;
    if (value->key.len == 9 && memcmp(value->key.text, "assist_ns", 9) == 0) seen->assist_ns = (uint64_t)value->value.i;
    if (value->key.len == 12 && memcmp(value->key.text, "drain_cpu_ns", 12) == 0)
      seen->drain_cpu_ns = (uint64_t)value->value.i;
  }
}

static dft_status finish_open(const dft_sink_target *target, void **state) {
  (void)target;
  *state = NULL;
  seen = dlsym(RTLD_DEFAULT, "finish_in_test");
  return seen ? DFT_OK : DFT_EIO;
}

static dft_status finish_append(void *state, dft_batch *batch, const dft_bytes *bytes, uint64_t *committed_bytes) {
  dft_event event;
  uint64_t begun_ns;
  (void)state, (void)bytes;
  hold_up();
  begun_ns = now_ns(CLOCK_REALTIME);
  while (dft_batch_next(batch, &event, sizeof event)) {
    if (event.name.len == 3 && memcmp(event.name.text, "end", 3) == 0) {
      take_end(&event);
      seen->last_append_ns = begun_ns;
    }
  }
  *committed_bytes = 0;
  return DFT_OK;
}

static dft_status finish_close(void *state, int complete) {
  (void)state, (void)complete;
  return DFT_OK;
}

DFT_API extern const dft_sink dft_sink_plugin;
const dft_sink dft_sink_plugin = {
  .struct_size = sizeof(dft_sink),
  .name = "finish",
  .summary = "holds up the drain",
  .open = finish_open,
  .append = finish_append,
  .close = finish_close,
};
