/* sink_flaky.c - a sink from outside whose disk is dead while the file that DFT_TEST_DEAD names exists, and takes
 * DFT_TEST_SLOW_MS for each write.
 *
 * It writes the number of each event called `step`, one a line.
 * SPDX-License-Identifier: MIT */
#include <dftracer/sink.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct flaky {
  uint64_t length;
  char path[4096];
} flaky;

static int is_dead(void) {
  const char *flag = getenv("DFT_TEST_DEAD");
  return flag && access(flag, F_OK) == 0;
}

static dft_status flaky_open(const dft_sink_target *target, void **state) {
  flaky *own = calloc(1, sizeof *own);
  int fd = open(target->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (!own || fd < 0 || ftruncate(fd, (off_t)target->resume_bytes) != 0) {
    free(own);
    return DFT_EIO;
  }
  close(fd);
  own->length = target->resume_bytes;
  snprintf(own->path, sizeof own->path, "%s", target->path);
  *state = own;
  return DFT_OK;
}

static dft_status flaky_encode(void *state, dft_batch *batch, dft_bytes *bytes) {
  char *text = bytes->scratch;
  size_t len = 0;
  dft_event event;
  (void)state;
  while (len < (1u << 20) && dft_batch_next(batch, &event, sizeof event)) {
    if (event.name.len != 4 || memcmp(event.name.text, "step", 4) != 0) continue;
    for (uint32_t i = 0; i < event.value_count; i++) {
      if (event.values[i].key.len == 1)
        len += (size_t)snprintf(text + len, 32, "%lld\n", (long long)event.values[i].value.i);
    }
  }
  bytes->data = text;
  bytes->len = len;
  return DFT_OK;
}

static dft_status flaky_append(void *state, dft_batch *batch, const dft_bytes *bytes, uint64_t *committed_bytes) {
  const char *slow = getenv("DFT_TEST_SLOW_MS");
  flaky *own = state;
  int fd;
  ssize_t written;
  (void)batch;
  if (is_dead()) return DFT_EIO;
  if (slow) usleep((useconds_t)atoi(slow) * 1000);
  fd = open(own->path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return DFT_EIO;
  written = pwrite(fd, bytes->data, bytes->len, (off_t)own->length);
  close(fd);
  if (written != (ssize_t)bytes->len) return DFT_EIO;
  own->length += bytes->len;
  *committed_bytes = own->length;
  return DFT_OK;
}

static dft_status flaky_close(void *state, int complete) {
  (void)complete;
  free(state);
  return DFT_OK;
}

DFT_API extern const dft_sink dft_sink_plugin;
const dft_sink dft_sink_plugin = {
  .struct_size = sizeof(dft_sink),
  .name = "flaky",
  .summary = "numbers of events, on a disk that may die",
  .suffix = ".numbers",
  .scratch_bytes = 2u << 20,
  .open = flaky_open,
  .encode = flaky_encode,
  .append = flaky_append,
  .close = flaky_close,
};
