/* rows.c - prints what the reader gives, one row a line, for tests that compare it with something else.
 *
 * Usage: rows THREADS [LIMIT=N]... PATH...; LIMIT is line_bytes, member_bytes, nesting or text_bytes. Texts are printed in hex. After the rows, problems: kind, source, byte, line.
 * SPDX-License-Identifier: MIT */
#include <dftracer/reader.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static dft_reader *reader;
static pthread_mutex_t output = PTHREAD_MUTEX_INITIALIZER;

static void put_hex(dft_text text) {
  for (size_t i = 0; i < text.len; i++) printf("%02x", (unsigned char)text.text[i]);
}

static void put_text(uint32_t dictionary, uint32_t number) {
  printf("\t");
  put_hex(dft_reader_text(reader, dictionary, number));
}

static void put_cell(const dft_cell *cell) {
  printf("\t");
  put_hex(dft_reader_text(reader, DFT_KEYS, cell->key));
  switch (cell->type) {
    case DFT_INT: printf("=i%" PRId64, cell->value.i); break;
    case DFT_UINT: printf("=i%" PRIu64, cell->value.u); break;
    case DFT_DOUBLE: printf("=d%.17g", cell->value.d); break;
    case DFT_BOOL: printf("=b%" PRId64, cell->value.i); break;
    case DFT_STRING:
    case DFT_RAW:
      printf(cell->type == DFT_RAW ? "=r" : "=s");
      put_hex((dft_text){cell->value.text, cell->len});
      break;
    default: printf("=?");
  }
}

static void put_row(const dft_rows *rows, uint32_t i) {
  printf("%u\t%c\t%" PRIu64 "\t%" PRId64 "\t%" PRId64 "\t%" PRIu64 "\t%" PRIu64 "\t%u\t%" PRId64, rows->source,
         rows->phase[i], rows->id[i], rows->start_ns[i], rows->dur_ns[i], rows->pid[i], rows->tid[i], rows->level[i],
         rows->parent[i]);
  put_text(DFT_NAMES, rows->name[i]);
  put_text(DFT_CATS, rows->cat[i]);
  printf("\t");
  put_hex(dft_reader_hash(reader, DFT_HOSTS, rows->host[i]));
  printf("\t");
  put_hex(dft_reader_hash(reader, DFT_FILES, rows->file[i]));
  for (uint32_t k = rows->arg_first[i]; k < rows->arg_first[i + 1]; k++) put_cell(&rows->args[k]);
  printf("\n");
}

static void *work(void *unused) {
  dft_cursor *cursor;
  const dft_rows *rows;
  (void)unused;
  if (dft_cursor_open(reader, DFT_ALL, &cursor) != DFT_OK) exit(3);
  while (dft_cursor_next(cursor, &rows) == DFT_OK && rows) {
    pthread_mutex_lock(&output);
    for (uint32_t i = 0; i < rows->count; i++) put_row(rows, i);
    pthread_mutex_unlock(&output);
  }
  dft_cursor_close(cursor);
  return NULL;
}

static int set_limit(dft_reader_options *options, const char *text) {
  unsigned long long number;
  if (sscanf(text, "line_bytes=%llu", &number) == 1) options->line_bytes = number;
  else if (sscanf(text, "member_bytes=%llu", &number) == 1) options->member_bytes = number;
  else if (sscanf(text, "nesting=%llu", &number) == 1) options->nesting = (uint32_t)number;
  else if (sscanf(text, "text_bytes=%llu", &number) == 1) options->text_bytes = (uint32_t)number;
  else return 0;
  return 1;
}

int main(int argc, char **argv) {
  dft_reader_options options = {.struct_size = sizeof options};
  int first = 2;
  int threads = argc > 2 ? atoi(argv[1]) : 0;
  dft_problem problem = {.struct_size = sizeof problem};
  pthread_t thread[16];
  if (threads < 1 || threads > 16) return 2;
  while (first < argc && set_limit(&options, argv[first])) first++;
  if (dft_reader_open(&options, (const char *const *)argv + first, (size_t)(argc - first), &reader) == DFT_ENOMEM)
    return 3;
  for (int i = 0; i < threads; i++) pthread_create(&thread[i], NULL, work, NULL);
  for (int i = 0; i < threads; i++) pthread_join(thread[i], NULL);
  for (uint32_t i = 0; dft_reader_problem(reader, i, &problem) == DFT_OK; i++) {
    printf("problem\t%u\t%d\t%" PRIu64 "\t%" PRIu64 "\t%s\n", problem.kind, (int)problem.source, problem.byte,
           problem.line, problem.message);
  }
  dft_reader_close(reader);
  return 0;
}
