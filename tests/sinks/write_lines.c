/* write_lines.c - events from stdin to lines on stdout, for test_lines.py, which says how they are packed there.
 * SPDX-License-Identifier: MIT */
#include "check.h"
#include "codec/line.h"

#define MOST_INPUT ((size_t)64 << 20)
#define MOST_VALUES 64
#define MOST_LINE ((size_t)1 << 20)

static char *next; /* in the input */

static void take(void *to, size_t len) {
  memcpy(to, next, len);
  next += len;
}

static dft_text take_text(void) {
  uint32_t len;
  dft_text text;
  take(&len, sizeof len);
  text = (dft_text){next, len};
  next += len;
  return text;
}

static dft_value take_value(void) {
  dft_value value = {.key = take_text()};
  take(&value.type, sizeof value.type);
  take(&value.cut_from, sizeof value.cut_from);
  if (value.type == DFT_STRING || value.type == DFT_PATH) value.value.s = take_text();
  else take(&value.value.u, sizeof value.value.u);
  return value;
}

static dft_event take_event(dft_value values[MOST_VALUES]) {
  dft_event event = {.values = values};
  take(&event.id, sizeof event.id);
  take(&event.parent, sizeof event.parent);
  take(&event.start, sizeof event.start);
  take(&event.duration, sizeof event.duration);
  take(&event.level, sizeof event.level);
  take(&event.phase, sizeof event.phase);
  take(&event.pid, sizeof event.pid);
  take(&event.tid, sizeof event.tid);
  event.name = take_text();
  event.cat = take_text();
  take(&event.value_count, sizeof event.value_count);
  CHECK(event.value_count <= MOST_VALUES);
  for (uint32_t i = 0; i < event.value_count; i++) values[i] = take_value();
  return event;
}

int main(int argc, char **argv) {
  char *input = malloc(MOST_INPUT);
  char *line = malloc(MOST_LINE);
  dft_value values[MOST_VALUES];
  size_t input_len;
  CHECK(input && line && argc == 2);
  input_len = fread(input, 1, MOST_INPUT, stdin);
  for (next = input; next < input + input_len;) {
    dft_event event = take_event(values);
    size_t len = dft__line_encode(line, MOST_LINE, &event, argv[1]);
    CHECK(len && fwrite(line, 1, len, stdout) == len);
  }
  free(input);
  free(line);
  return 0;
}
