/* textio.c FOLDER SIZES - writes files with text calls and reads them back. Lists the size of each file in SIZES. Fails when it
 * reads other than it wrote.
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LINES 4200

static void fail(const char *what) {
  perror(what);
  exit(1);
}

/* Lines of 0 to 60 characters; the last one has no newline. */
static const char *line_of(int i) {
  static char line[64];
  int length = i % 61;
  memset(line, 'a' + i % 26, sizeof line);
  line[length] = i == LINES - 1 ? '\0' : '\n';
  line[length + 1] = '\0';
  return line;
}

/* ---- Writing a line: the bytes ---- */

static int listed(FILE *to, const char *format, ...) {
  va_list list;
  int bytes;
  va_start(list, format);
  bytes = to == stdout ? vprintf(format, list) : vfprintf(to, format, list);
  va_end(list);
  return bytes;
}
static int by_fprintf(FILE *to, const char *line) {
  return fprintf(to, "%s", line);
}
static int by_vfprintf(FILE *to, const char *line) {
  return listed(to, "%s", line);
}
static int by_dprintf(FILE *to, const char *line) {
  return dprintf(fileno(to), "%s", line);
}
static int by_fputs(FILE *to, const char *line) {
  return fputs(line, to) < 0 ? 0 : (int)strlen(line);
}
static int by_fputs_unlocked(FILE *to, const char *line) {
  return fputs_unlocked(line, to) < 0 ? 0 : (int)strlen(line);
}
static int by_fwrite_unlocked(FILE *to, const char *line) {
  return (int)fwrite_unlocked(line, 1, strlen(line), to);
}
static int by_printf(FILE *to, const char *line) {
  return printf("%s", line) + by_vfprintf(to, "|");
}
static int by_puts(FILE *to, const char *line) {
  return puts(line) < 0 ? 0 : (int)strlen(line) + 1;
}
/* Zeros at the beginning of a line, within and before its end. */
static int with_zeros(FILE *to, const char *line) {
  int bytes = (int)fwrite("\0x\0\0y\0\n", 1, 7, to);
  return bytes + (int)fwrite(line, 1, strlen(line), to);
}

/* Every 26th line only: each character is a call. */
#define CHARACTERS(name, call)                           \
  static int name(FILE *to, const char *line) {          \
    int bytes = 0;                                       \
    if (*line == 'a')                                    \
      for (; *line; line++) bytes += call == (int)*line; \
    return bytes;                                        \
  }
CHARACTERS(by_fputc, (fputc)(*line, to))
CHARACTERS(by_fputc_unlocked, (fputc_unlocked)(*line, to))
CHARACTERS(by_putc, (putc)(*line, to))
CHARACTERS(by_putc_unlocked, (putc_unlocked)(*line, to))
CHARACTERS(by_putchar, (putchar)(*line))
CHARACTERS(by_putchar_unlocked, (putchar_unlocked)(*line))

/* ---- Reading a file: the bytes ---- */

static char buffer[50]; /* shorter than some lines */

#define BUFFERS(name, call)      \
  static long name(FILE *from) { \
    while (call) continue;       \
    return ftell(from);          \
  }
BUFFERS(fgets_all, fgets(buffer, sizeof buffer, from))
BUFFERS(fgets_unlocked_all, fgets_unlocked(buffer, sizeof buffer, from))
BUFFERS(fread_all, fread_unlocked(buffer, 1, sizeof buffer, from) == sizeof buffer)

#define GETS(name, call)                             \
  static long name(FILE *from) {                     \
    long bytes = 0;                                  \
    while (call != EOF) bytes++;                     \
    return feof(from) && !ferror(from) ? bytes : -1; \
  }
GETS(fgetc_all, (fgetc)(from))
GETS(fgetc_unlocked_all, (fgetc_unlocked)(from))
GETS(getc_all, (getc)(from))
GETS(getc_unlocked_all, (getc_unlocked)(from))
GETS(getchar_all, (getchar)())
GETS(getchar_unlocked_all, (getchar_unlocked)())

static long lines_until(int end, FILE *from) {
  char *line = NULL;
  size_t room = 0;
  long bytes = 0;
  ssize_t some;
  while ((some = end == '\n' ? getline(&line, &room, from) : getdelim(&line, &room, end, from)) > 0) bytes += some;
  free(line);
  return bytes;
}
static long getline_all(FILE *from) {
  return lines_until('\n', from);
}
static long getdelim_all(FILE *from) {
  return lines_until('c', from);
}

/* ---- All of them ---- */

static const struct way {
  const char *name;
  int (*put)(FILE *, const char *);
  long (*get)(FILE *);
  int is_standard; /* uses stdin and stdout */
} ways[] = {
  {"fprintf", by_fprintf, fgets_all},
  {"vfprintf", by_vfprintf, fgets_unlocked_all},
  {"dprintf", by_dprintf, getline_all},
  {"fputs", by_fputs, getline_all},
  {"fputs_unlocked", by_fputs_unlocked, getdelim_all},
  {"fwrite_unlocked", by_fwrite_unlocked, fread_all},
  {"zeros", with_zeros, fgets_all},
  {"zeros_unlocked", with_zeros, fgets_unlocked_all},
  {"fputc", by_fputc, fgetc_all},
  {"fputc_unlocked", by_fputc_unlocked, fgetc_unlocked_all},
  {"putc", by_putc, getc_all},
  {"putc_unlocked", by_putc_unlocked, getc_unlocked_all},
  {"printf", by_printf, fgets_all, 1},
  {"puts", by_puts, getline_all, 1},
  {"putchar", by_putchar, getchar_all, 1},
  {"putchar_unlocked", by_putchar_unlocked, getchar_unlocked_all, 1},
};

static long try(const struct way *way) {
  FILE *stream = way->is_standard ? freopen(way->name, "w", stdout) : fopen(way->name, "w");
  long written = 0, got;
  if (!stream) fail(way->name);
  for (int i = 0; i < LINES; i++) written += way->put(stream, line_of(i));
  if (fclose(stream) != 0) fail(way->name);
  stream = way->is_standard ? freopen(way->name, "r", stdin) : fopen(way->name, "r");
  if (!stream) fail(way->name);
  got = way->get(stream);
  if (got != written) fail(way->name);
  fclose(stream);
  return written;
}

/* Numbers that fscanf reads: 500 calls, and one at the end. */
static void scan(void) {
  FILE *stream = fopen("scanned", "w+");
  int number, count = 0;
  for (int i = 0; i < 500; i++) fprintf(stream, "%d\n", i);
  rewind(stream);
  while (fscanf(stream, "%d", &number) == 1) count += number == count;
  if (count != 500 || fclose(stream) != 0) fail("fscanf");
}

static void map(void) {
  int fd = open("mapped", O_RDWR | O_CREAT, 0666);
  char *bytes;
  if (fd < 0 || ftruncate(fd, 100000) != 0) fail("mapped");
  bytes = mmap(NULL, 100000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (bytes == MAP_FAILED) fail("mmap");
  memset(bytes, 'm', 100000);
  if (munmap(bytes, 100000) != 0 || close(fd) != 0) fail("munmap");
  fd = open("mapped", O_RDONLY);
  if (mmap(NULL, 100000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED || errno != EACCES) fail("mmap");
  close(fd);
}

/* A stream that can only be written refuses to be read, and the other way round. */
static void refuse(void) {
  FILE *stream = fopen("refused", "w");
  errno = 0;
  if ((fgetc)(stream) != EOF || errno != EBADF || fgets(buffer, sizeof buffer, stream)) fail("fgetc");
  if (fscanf(stream, "%49s", buffer) != EOF) fail("fscanf");
  fclose(stream);
  stream = fopen("refused", "r");
  errno = 0;
  if ((fputc)('x', stream) != EOF || errno != EBADF || fputs("text", stream) != EOF) fail("fputc");
  fclose(stream);
}

int main(int argc, char **argv) {
  FILE *told = fopen(argv[2], "w"); /* not in the folder that is traced */
  if (argc != 3 || !told || chdir(argv[1]) != 0) fail("the folder");
  for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) fprintf(told, "%s %ld\n", ways[i].name, try(&ways[i]));
  scan();
  map();
  refuse();
  return fclose(told);
}
