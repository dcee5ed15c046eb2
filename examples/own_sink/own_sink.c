/* own_sink.c - a complete external sink: CSV, with one line per event and without the arguments.
 *
 *   cmake -S examples/own_sink -B build/own_sink -DCMAKE_PREFIX_PATH=<where dftracer is installed>
 *   cmake --build build/own_sink
 *   DFTRACER_ENABLE=1 DFTRACER_SINK=$PWD/build/own_sink/own_sink.so ./program       # trace-*.csv
 *   DFTRACER_SINK=jsonl,$PWD/build/own_sink/own_sink.so:separator=;                 # beside JSON lines, with an option
 *
 * dftracer/sink.h is the contract. `encode` may run on any thread, several at once, so it works in its scratch memory only;
 * `append` runs one at a time and reports the new length of the file. After a crash, `open` gets the last of these lengths.
 * SPDX-License-Identifier: MIT */
#include <dftracer/sink.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SCRATCH_BYTES ((size_t)1 << 20)
#define LINE_MOST 8192

typedef struct csv {
  uint64_t length; /* committed */
  char separator;
  char path[];
} csv;

static const char *csv_check(const char *options) {
  if (!*options || (strncmp(options, "separator=", 10) == 0 && strlen(options) == 11)) return NULL;
  return "its only option is separator=C, a single character";
}

static dft_status csv_open(const dft_sink_target *target, void **state) {
  size_t path_bytes = strlen(target->path) + 1;
  csv *own = malloc(sizeof *own + path_bytes);
  int fd = open(target->path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  int is_fine = own && fd >= 0 && ftruncate(fd, (off_t)target->resume_bytes) == 0;
  if (fd >= 0) close(fd); /* keep no descriptor open: the application may close any of them */
  if (!is_fine) return free(own), DFT_EIO;
  own->length = target->resume_bytes;
  own->separator = target->options[0] ? target->options[10] : ',';
  memcpy(own->path, target->path, path_bytes);
  *state = own;
  return DFT_OK;
}

/* In quotes, quotes doubled, cut at 1000 bytes. */
static char *put_text(char *at, dft_text text) {
  *at++ = '"';
  for (size_t i = 0; i < text.len && i < 1000; i++) {
    if (text.text[i] == '"') *at++ = '"';
    *at++ = text.text[i];
  }
  *at++ = '"';
  return at;
}

static dft_status csv_encode(void *state, dft_batch *batch, dft_bytes *bytes) {
  const csv *own = state;
  char *at = bytes->scratch;
  const char *end = at + SCRATCH_BYTES - LINE_MOST;
  dft_event event;
  char s = own->separator;
  if (dft_batch_is_first(batch)) at += sprintf(at, "ts%cdur%cpid%ctid%cphase%ccat%cname\n", s, s, s, s, s, s);
  /* An event that was pulled must be kept. So make sure that there is room before pulling the next one. */
  while (at < end && dft_batch_next(batch, &event, sizeof event)) {
    at += sprintf(at, "%" PRId64 "%c%" PRId64 "%c%u%c%u%c%c%c", event.start, s, event.duration, s, event.pid, s,
                  event.tid, s, (char)event.phase, s);
    at = put_text(at, event.cat);
    *at++ = s;
    at = put_text(at, event.name);
    *at++ = '\n';
  }
  bytes->data = bytes->scratch;
  bytes->len = (size_t)(at - (char *)bytes->scratch);
  return DFT_OK;
}

static dft_status csv_append(void *state, dft_batch *batch, const dft_bytes *bytes, uint64_t *committed_bytes) {
  csv *own = state;
  int fd = open(own->path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  ssize_t written = fd < 0 ? -1 : pwrite(fd, bytes->data, bytes->len, (off_t)own->length);
  int is_closed = fd >= 0 && close(fd) == 0;
  (void)batch;
  if (!is_closed || written != (ssize_t)bytes->len) return DFT_EIO; /* the events that were not committed come again */
  own->length += bytes->len;
  *committed_bytes = own->length;
  return DFT_OK;
}

static dft_status csv_close(void *state, int complete) {
  (void)complete;
  free(state);
  return DFT_OK;
}

DFT_API extern const dft_sink dft_sink_plugin;
const dft_sink dft_sink_plugin = {
  .struct_size = sizeof(dft_sink),
  .name = "csv",
  .summary = "comma-separated values, one line per event",
  .suffix = ".csv",
  .scratch_bytes = SCRATCH_BYTES,
  .open = csv_open,
  .encode = csv_encode,
  .append = csv_append,
  .close = csv_close,
  .check = csv_check,
};
