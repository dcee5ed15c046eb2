/* test_cut.c - a trace cut off at 10,000 places, and damaged at others: never a crash, always every complete line.
 *
 * What is complete is told by zlib, fed byte by byte. SPDX-License-Identifier: MIT */
#include <dftracer/reader.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include "check.h"

enum { LINES = 700, MEMBER_LINES = 64, GZIP_CUTS = 8000, PLAIN_CUTS = 2000, FLIPS = 1500 };

typedef struct bytes {
  unsigned char *data;
  size_t len;
} bytes;

static char folder[] = "/tmp/dftracer-cut-XXXXXX";
static char path[64];
static uint32_t seed = 1;

static uint32_t next_random(void) {
  seed = seed * 1664525u + 1013904223u;
  return seed >> 8;
}

static void append(bytes *to, const void *data, size_t len) {
  to->data = realloc(to->data, to->len + len);
  CHECK(to->data);
  memcpy(to->data + to->len, data, len);
  to->len += len;
}

static bytes make_text(void) {
  bytes text = {NULL, 0};
  append(&text, "[\n", 2);
  for (int i = 0; i < LINES; i++) {
    char line[512];
    int len = snprintf(
      line, sizeof line,
      "{\"id\":%d,\"name\":\"n%u \\u00e4\\\"\",\"cat\":\"c\",\"pid\":7,\"tid\":%u,\"ts\":%u,\"dur\":%u,"
      "\"ph\":\"X\",\"args\":{\"p_idx\":-1,\"level\":1,\"text\":\"%x%x\",\"d\":0.5}}\n",
      i + 1, next_random() % 9, next_random() % 5, next_random(), next_random(), next_random(), next_random());
    append(&text, line, (size_t)len);
  }
  return text;
}

static void compress_member(bytes *to, const unsigned char *text, size_t len) {
  unsigned char out[64 << 10];
  z_stream stream = {0};
  CHECK(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  stream.next_in = (Bytef *)(uintptr_t)text;
  stream.avail_in = (uInt)len;
  stream.next_out = out;
  stream.avail_out = sizeof out;
  CHECK_INT(deflate(&stream, Z_FINISH), Z_STREAM_END);
  append(to, out, sizeof out - stream.avail_out);
  deflateEnd(&stream);
}

static bytes make_gzip(const bytes *text) {
  bytes packed = {NULL, 0};
  size_t start = 0;
  int lines = 0;
  for (size_t i = 0; i < text->len; i++) {
    lines += text->data[i] == '\n';
    if (i + 1 == text->len || (text->data[i] == '\n' && lines == MEMBER_LINES)) {
      compress_member(&packed, text->data + start, i + 1 - start);
      start = i + 1;
      lines = 0;
    }
  }
  return packed;
}

/* Rows among the first `len` bytes of text; a last line counts when only its line end is missing. */
static uint32_t rows_in(const bytes *text, size_t len) {
  uint32_t lines = 0;
  for (size_t i = 0; i < len; i++) lines += text->data[i] == '\n';
  if (len && len < text->len && text->data[len] == '\n' && text->data[len - 1] == '}') lines++;
  return lines ? lines - 1 : 0; /* the first line is the bracket */
}

/* How much text can be had from each number of bytes. */
static size_t *text_by_length(const bytes *packed, const bytes *text) {
  size_t *had = calloc(packed->len + 1, sizeof *had);
  unsigned char out[64 << 10];
  z_stream stream = {0};
  size_t total = 0;
  CHECK(had && inflateInit2(&stream, 15 + 16) == Z_OK);
  for (size_t i = 0; i < packed->len; i++) {
    int result;
    stream.next_in = packed->data + i;
    stream.avail_in = 1;
    do {
      stream.next_out = out;
      stream.avail_out = sizeof out;
      result = inflate(&stream, Z_SYNC_FLUSH);
      total += sizeof out - stream.avail_out;
    } while (result == Z_OK && stream.avail_out == 0);
    if (result == Z_STREAM_END) inflateReset(&stream);
    had[i + 1] = total;
  }
  inflateEnd(&stream);
  CHECK_UINT(total, text->len);
  return had;
}

/* A cut between two members leaves a sound file. */
static int is_member_end(const bytes *packed, const bytes *text, const size_t *had, size_t len) {
  return len + 2 < packed->len && packed->data[len] == 0x1f && packed->data[len + 1] == 0x8b &&
         text->data[had[len] - 1] == '\n';
}

static void save(const unsigned char *data, size_t len) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  CHECK(fd >= 0);
  CHECK_INT(write(fd, data, len), (ssize_t)len);
  close(fd);
}

/* Reads the file and returns how many rows there were; those of a sound file must be in order. */
static uint32_t read_back(uint64_t *problems, int is_sound) {
  const char *paths[] = {path};
  dft_reader *reader;
  dft_cursor *cursor;
  const dft_rows *rows;
  uint64_t last = 0;
  uint32_t count = 0;
  CHECK_INT(dft_reader_open(NULL, paths, 1, &reader), DFT_OK);
  CHECK_INT(dft_cursor_open(reader, DFT_ALL, &cursor), DFT_OK);
  while (dft_cursor_next(cursor, &rows) == DFT_OK && rows) {
    for (uint32_t i = 0; i < rows->count; i++) {
      CHECK(!is_sound || rows->id[i] > last);
      last = rows->id[i];
      count++;
    }
  }
  dft_cursor_close(cursor);
  *problems = dft_reader_problem_count(reader, 0);
  dft_reader_close(reader);
  return count;
}

static void every_complete_line_of_a_cut_member_is_read(const bytes *text, const bytes *packed) {
  size_t *had = text_by_length(packed, text);
  for (int i = 0; i < GZIP_CUTS; i++) {
    size_t len = 1 + (size_t)((double)packed->len * i / GZIP_CUTS);
    uint64_t problems;
    uint32_t rows;
    save(packed->data, len);
    rows = read_back(&problems, 1);
    if (rows != rows_in(text, had[len])) fprintf(stderr, "cut at %zu\n", len);
    CHECK_UINT(rows, rows_in(text, had[len]));
    if (had[len] < text->len && !is_member_end(packed, text, had, len)) CHECK(problems > 0);
  }
  free(had);
}

static void every_complete_line_of_a_cut_plain_file_is_read(const bytes *text) {
  for (int i = 0; i < PLAIN_CUTS; i++) {
    size_t len = 1 + (size_t)((double)(text->len - 1) * i / PLAIN_CUTS);
    uint64_t problems;
    save(text->data, len);
    CHECK_UINT(read_back(&problems, 1), rows_in(text, len));
    /* What is left of a line is told of; an empty rest, or a line without its end, is not. */
    CHECK_INT(problems != 0,
              text->data[len - 1] != '\n' && len > 1 && !(text->data[len] == '\n' && text->data[len - 1] == '}'));
  }
}

/* One byte is wrong: the members before and behind are read all the same, and the damage is told. */
static void damage_costs_one_member(const bytes *packed) {
  bytes copy = {NULL, 0};
  append(&copy, packed->data, packed->len);
  for (int i = 0; i < FLIPS; i++) {
    size_t at = (size_t)((double)packed->len * i / FLIPS);
    uint64_t problems;
    uint32_t rows;
    copy.data[at] ^= (unsigned char)(1 + next_random() % 255);
    save(copy.data, copy.len);
    rows = read_back(&problems, 0);
    if (rows < LINES - MEMBER_LINES) fprintf(stderr, "damaged at %zu: %u rows\n", at, rows);
    CHECK(rows >= LINES - MEMBER_LINES);
    CHECK(rows <= LINES);
    if (rows < LINES) CHECK(problems > 0);
    copy.data[at] = packed->data[at];
  }
  free(copy.data);
}

static void anything_at_all_is_read_without_a_crash(void) {
  for (int i = 0; i < 300; i++) {
    unsigned char noise[2000];
    uint64_t problems;
    size_t len = 1 + next_random() % sizeof noise;
    for (size_t k = 0; k < len; k++) noise[k] = (unsigned char)next_random();
    if (i % 2) memcpy(noise, "\x1f\x8b\x08", len < 3 ? len : 3);
    save(noise, len);
    CHECK_UINT(read_back(&problems, 1), 0);
    CHECK(problems > 0);
  }
}

/* It is opened again for each part of it. */
static void what_is_removed_meanwhile_is_reported(const bytes *text) {
  const char *paths[] = {path};
  bytes large = {NULL, 0};
  dft_reader *reader;
  dft_cursor *cursor;
  const dft_rows *rows;
  dft_problem problem = {.struct_size = sizeof problem};
  while (large.len < 5u << 20) append(&large, text->data, text->len);
  save(large.data, large.len);
  free(large.data);
  CHECK_INT(dft_reader_open(NULL, paths, 1, &reader), DFT_OK);
  CHECK_INT(dft_cursor_open(reader, DFT_ALL, &cursor), DFT_OK);
  CHECK_INT(dft_cursor_next(cursor, &rows), DFT_OK);
  unlink(path);
  while (rows) CHECK_INT(dft_cursor_next(cursor, &rows), DFT_OK);
  CHECK_INT(dft_reader_problem(reader, 0, &problem), DFT_OK);
  CHECK_INT(problem.error, ENOENT);
  dft_cursor_close(cursor);
  dft_reader_close(reader);
}

int main(void) {
  bytes text = make_text(), packed = make_gzip(&text);
  uint64_t problems;
  CHECK(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/t.pfw.gz", folder);
  save(packed.data, packed.len);
  CHECK_UINT(read_back(&problems, 1), LINES);
  CHECK_UINT(problems, 0);
  every_complete_line_of_a_cut_member_is_read(&text, &packed);
  every_complete_line_of_a_cut_plain_file_is_read(&text);
  damage_costs_one_member(&packed);
  anything_at_all_is_read_without_a_crash();
  what_is_removed_meanwhile_is_reported(&text);
  rmdir(folder);
  free(text.data);
  free(packed.data);
  return 0;
}
