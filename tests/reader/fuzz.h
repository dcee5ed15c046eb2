/* fuzz.h - what fuzz targets share. A target defines LLVMFuzzerTestOneInput and calls fuzz_read.
 *
 * With clang a target becomes a fuzzer:
 *   clang -g -O1 -fsanitize=fuzzer,address -DDFT_FUZZER -D_GNU_SOURCE -DDFT__INFLATE_ISAL -Ic/include -Ic \
 *     tests/reader/fuzz_line.c c/reader/{,row/}[a-z]*.c c/codec/{line,number,escape,inflate_isal,inflate_zlib}.c \
 *     -lisal -lz -lpthread -ldftracer_core
 * and is run with its corpus: ./a.out tests/reader/corpus/line. Otherwise main below replays the files it is given, each as
 * it is and then changed in many ways, the same ones every time. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_TESTS_FUZZ_H
#define DFTRACER_TESTS_FUZZ_H

#include <dftracer/reader.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Puts the bytes into a file of this name, reads it as a trace with small limits, and looks at every row. */
static void fuzz_read(const char *suffix, const uint8_t *data, size_t size) {
  static char path[128];
  const char *paths[] = {path};
  dft_reader_options options = {.struct_size = sizeof options,
                                .want = DFT_WANT_ARGS | DFT_WANT_LINES,
                                .line_bytes = 4096,
                                .member_bytes = 1 << 20,
                                .nesting = 8,
                                .text_bytes = 64 << 10};
  volatile uint64_t sum = 0;
  dft_reader *reader;
  dft_cursor *cursor;
  const dft_rows *rows;
  int fd;
  if (!path[0]) snprintf(path, sizeof path, "/tmp/dftracer-fuzz-%d%s", (int)getpid(), suffix);
  fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
  close(fd);
  if (dft_reader_open(&options, paths, 1, &reader) == DFT_OK && dft_cursor_open(reader, DFT_ALL, &cursor) == DFT_OK) {
    while (dft_cursor_next(cursor, &rows) == DFT_OK && rows) {
      for (uint32_t i = 0; i < rows->count; i++) {
        sum += rows->id[i] + rows->line[i].len + (uint64_t)rows->line[i].text[rows->line[i].len - 1];
        sum += dft_reader_text(reader, DFT_NAMES, rows->name[i]).len;
        if (rows->dur_ns[i] > 0 && rows->start_ns[i] > INT64_MAX - rows->dur_ns[i]) abort(); /* ends always fit */
        for (uint32_t k = rows->arg_first[i]; k < rows->arg_first[i + 1]; k++) {
          const dft_cell *cell = &rows->args[k];
          int is_text = cell->type == DFT_STRING || cell->type == DFT_RAW;
          if (is_text && cell->len) sum += (uint64_t)cell->value.text[0] + (uint64_t)cell->value.text[cell->len - 1];
        }
      }
    }
    dft_cursor_close(cursor);
  }
  for (dft_problem problem = {.struct_size = sizeof problem};
       dft_reader_problem(reader, (uint32_t)sum % 1000, &problem) == DFT_OK;) {
    sum += problem.line + problem.byte;
    break;
  }
  dft_reader_close(reader);
  unlink(path);
}

#ifndef DFT_FUZZER
static uint32_t fuzz_state = 1;
static uint32_t fuzz_random(uint32_t below) {
  fuzz_state = fuzz_state * 1664525u + 1013904223u;
  return (fuzz_state >> 8) % below;
}

static void fuzz_change(uint8_t *data, size_t *size) {
  static const uint8_t special[] = {0, '"', '\\', '{', '}', '[', ']', ',', ':', '\n', 0x1f, 0x8b, 0xff, 0x80, '9', '-'};
  for (uint32_t times = 1 + fuzz_random(4); times && *size; times--) {
    size_t at = fuzz_random((uint32_t)*size);
    switch (fuzz_random(5)) {
      case 0: data[at] ^= (uint8_t)(1u << fuzz_random(8)); break;
      case 1: data[at] = special[fuzz_random(sizeof special)]; break;
      case 2: *size = at; break;
      case 3: /* a piece of it somewhere else */
        for (size_t i = at, from = fuzz_random((uint32_t)*size); i < *size && i < at + 16 && from < *size;)
          data[i++] = data[from++];
        break;
      default: data[at] = (uint8_t)fuzz_random(256);
    }
  }
}

int main(int argc, char **argv) {
  int changes = argc > 1 ? atoi(argv[1]) : 0;
  static uint8_t data[4 << 20], changed[sizeof data];
  for (int i = 2; i < argc; i++) {
    FILE *file = fopen(argv[i], "rb");
    size_t size = file ? fread(data, 1, sizeof data, file) : 0;
    if (!file) return 2;
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
    for (int k = 0; k < changes; k++) {
      size_t changed_size = size;
      for (size_t b = 0; b < size; b++) changed[b] = data[b];
      fuzz_change(changed, &changed_size);
      LLVMFuzzerTestOneInput(changed, changed_size);
    }
  }
  return 0;
}
#endif
#endif
