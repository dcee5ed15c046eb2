/* test_events.c - rows of segment files as events: what was added comes back; damage ends it, and does no harm.
 * SPDX-License-Identifier: MIT */
#include <dftracer/h5.h>
#include <unistd.h>

#include "check.h"
#include "sinks/hdf5/rows.h"

#define EVENTS 40000u      /* more than two chunks */
#ifdef __SANITIZE_THREAD__ /* there is but one thread */
#define DAMAGES 20
#else
#define DAMAGES 200
#endif

static char path[] = "/tmp/dftracer-events-XXXXXX";

static dft_text text_of(const char *text) {
  return (dft_text){text, strlen(text)};
}

/* Of the number of the event: an old text beside a new one, numbers of every type. */
static dft_event make_event(uint64_t n, dft_value values[5], char own[32]) {
  snprintf(own, 32, "text %" PRIu64, n);
  values[0] = (dft_value){.key = text_of("n"), .type = DFT_INT, .value.i = -(int64_t)n};
  values[1] = (dft_value){.key = text_of("u"), .type = DFT_UINT, .value.u = UINT64_MAX - n};
  values[2] = (dft_value){.key = text_of("d"), .type = DFT_DOUBLE, .value.d = (double)n / 3};
  values[3] = (dft_value){.key = text_of("own"), .type = DFT_STRING, .value.s = text_of(own)};
  values[4] = (dft_value){.key = text_of("old"), .type = DFT_STRING, .value.s = text_of("")};
  return (dft_event){.id = n + 1,
                     .parent = -1,
                     .start = (int64_t)(n * 7),
                     .duration = (int64_t)(n % 5),
                     .level = 1 + (uint32_t)(n % 3),
                     .phase = DFT_COMPLETE,
                     .pid = 17,
                     .tid = 18,
                     .name = text_of(n % 2 ? "odd" : "even"),
                     .cat = text_of("test"),
                     .value_count = n % 6, /* none, one ... five of them */
                     .values = values};
}

static uint64_t write_rows(uint64_t most) {
  dft__h5_head head = {.schema = DFT__H5_SCHEMA, .level = 1};
  dft__h5_rows rows;
  uint64_t length = 0;
  CHECK_INT(dft__h5_segment_begin(path, 0), DFT_OK);
  CHECK_INT(dft__h5_rows_open(&rows, path, &head, 0), DFT_OK);
  for (uint64_t n = 0; n < EVENTS; n++) {
    dft_value values[5];
    char own[32];
    dft_event event = make_event(n, values, own);
    dft__h5_rows_add(&rows, &event);
    if (n % 1000 != 999) continue;
    CHECK_INT(dft__h5_rows_save(&rows, &length), DFT_OK);
    CHECK_INT(dft__h5_rows_roll(&rows, most), DFT_OK);
  }
  dft__h5_rows_close(&rows);
  CHECK_UINT(dft__h5_segment_length(path), length);
  return length;
}

static void check_event(const dft_event *event, uint64_t n) {
  dft_value values[5];
  char own[32];
  dft_event expected = make_event(n, values, own);
  CHECK_UINT(event->id, expected.id);
  CHECK_INT(event->start, expected.start);
  CHECK_INT(event->duration, expected.duration);
  CHECK_UINT(event->level, expected.level);
  CHECK_UINT(event->phase, expected.phase);
  CHECK_BYTES(event->name.text, event->name.len, expected.name.text, expected.name.len);
  CHECK_BYTES(event->cat.text, event->cat.len, "test", 4);
  CHECK_UINT(event->value_count, expected.value_count);
  for (uint32_t i = 0; i < event->value_count; i++) {
    const dft_value *value = &event->values[i];
    CHECK_UINT(value->type, values[i].type);
    CHECK_BYTES(value->key.text, value->key.len, values[i].key.text, values[i].key.len);
    if (value->type == DFT_STRING)
      CHECK_BYTES(value->value.s.text, value->value.s.len, values[i].value.s.text, values[i].value.s.len);
    else CHECK_UINT(value->value.u, values[i].value.u);
  }
}

static void what_was_added_comes_back(uint64_t length) {
  dft_h5_segments *segments;
  dft_event event;
  CHECK_INT(dft_h5_segments_open(path, &segments), DFT_OK);
  CHECK_INT(dft_h5_segments_read(segments, length), DFT_OK);
  for (uint64_t n = 0; n < EVENTS; n++) {
    CHECK_INT(dft_h5_segments_next(segments, &event, sizeof event), 1);
    check_event(&event, n);
  }
  CHECK_INT(dft_h5_segments_next(segments, &event, sizeof event), 0);
  dft_h5_segments_close(segments);
}

/* A later length finds the rest, as when a process went on writing. */
static void reading_goes_on_at_a_later_length(uint64_t length) {
  dft_h5_segments *segments;
  dft_event event;
  uint64_t n = 0;
  CHECK_INT(dft_h5_segments_open(path, &segments), DFT_OK);
  CHECK_INT(dft_h5_segments_read(segments, length - 5), DFT_EFORMAT);
  CHECK_INT(dft_h5_segments_read(segments, length), DFT_OK);
  while (dft_h5_segments_next(segments, &event, sizeof event) == 1) check_event(&event, n++);
  CHECK_UINT(n, EVENTS);
  dft_h5_segments_close(segments);
}

/* Any byte: the number of events that are handed out is bounded, and nothing is read beyond what there is. */
static void damage_does_no_harm(uint64_t length) {
  uint64_t state = 88172645463325252u;
  int ended = 0;
  for (int i = 0; i < DAMAGES; i++) {
    FILE *file = fopen(path, "r+");
    dft_h5_segments *segments;
    dft_event event;
    long at;
    int before, found = -1;
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    at = (long)(state % length);
    CHECK(file && fseek(file, at, SEEK_SET) == 0 && (before = fgetc(file)) != EOF);
    CHECK(fseek(file, at, SEEK_SET) == 0 && fputc((int)(state >> 40 & 255), file) != EOF && fflush(file) == 0);
    CHECK_INT(dft_h5_segments_open(path, &segments), DFT_OK);
    if (dft_h5_segments_read(segments, length) == DFT_OK) {
      while ((found = dft_h5_segments_next(segments, &event, sizeof event)) > 0) continue;
    }
    ended += found < 0;
    dft_h5_segments_close(segments);
    CHECK(fseek(file, at, SEEK_SET) == 0 && fputc(before, file) != EOF && fclose(file) == 0);
  }
  printf("%d of %d damages ended the events\n", ended, DAMAGES);
  CHECK(ended > DAMAGES / 10); /* chunks have checksums; many bytes are of tails that chunks have replaced */
}

int main(void) {
  int fd = mkstemp(path);
  uint64_t length;
  CHECK(fd >= 0 && close(fd) == 0);
  length = write_rows(100000);
  what_was_added_comes_back(length);
  dft__h5_segment_remove(path);
  length = write_rows(UINT64_MAX);
  what_was_added_comes_back(length);
  reading_goes_on_at_a_later_length(length);
  damage_does_no_harm(length);
  unlink(path);
  return 0;
}
