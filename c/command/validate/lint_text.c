/* lint_text.c - the rules of files, members and lines. Uses bytes and zlib only: it shares no code with the reader.
 * SPDX-License-Identifier: MIT */
#include "lint_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <zlib.h>

#include "command/trace/strict.h"
#include "command/trace/suffix.h"

#define INPUT (256u << 10)
#define TEXT (1u << 20)
#define LINE_MAX_BYTES (16u << 20)
#define LINE_LONG_BYTES 512u
#define MEMBER_LEAST (256u << 10)
#define MEMBER_MOST (1u << 20)

/* The text of a file, line by line. */
typedef struct line_check {
  findings *found;
  char *line; /* the line that is being gathered */
  size_t len, capacity;
  uint64_t number; /* of lines before it */
  int is_end;      /* the line before it was the event end */
  int is_bad;      /* no memory */
} line_check;

/* Any line that has both, whatever the order of its keys. */
static int is_end_event(const char *line, size_t len) {
  return memmem(line, len, "\"name\":\"end\"", 12) && memmem(line, len, "\"cat\":\"dftracer\"", 16);
}

/* ---- Lines ---------------------------------------------------------------------------------------------------------- */

/* Whether a value is a whole number from `least` to `most`. */
static int is_whole(strict_value value, uint64_t least, uint64_t most) {
  uint64_t number = 0;
  if (!value.text) return 0;
  for (size_t i = 0; i < value.len; i++) {
    if (value.text[i] < '0' || value.text[i] > '9' || __builtin_mul_overflow(number, 10, &number)) return 0;
    if (__builtin_add_overflow(number, (uint64_t)(value.text[i] - '0'), &number)) return 0;
  }
  return number >= least && number <= most;
}

static int is_text(strict_value value) {
  return value.text && value.text[0] == '"' && value.len > 2;
}

static int is(strict_value value, const char *word) {
  return value.text && value.len == strlen(word) && strncasecmp(value.text, word, value.len) == 0;
}

static void check_event(const strict_value *values, findings *found, uint64_t number) {
  strict_value ph = values[STRICT_PH], cat = values[STRICT_CAT];
  int is_known = ph.text && ph.len == 3 && ph.text[0] == '"' && strchr("XMC", ph.text[1]);
  char phase = is_known ? ph.text[1] : '\0';
  if (!is_known) findings_add(found, RULE_PHASE, number);
  if (!is_text(values[STRICT_NAME]) || !is_text(cat)) findings_add(found, RULE_EMPTY_NAME, number);
  if ((is(cat, "\"POSIX\"") && memcmp(cat.text, "\"POSIX\"", 7) != 0) ||
      (is(cat, "\"STDIO\"") && memcmp(cat.text, "\"STDIO\"", 7) != 0))
    findings_add(found, RULE_IO_CAT, number);
  if (!is_whole(values[STRICT_PID], 0, UINT32_MAX) || !is_whole(values[STRICT_TID], 0, UINT32_MAX))
    findings_add(found, RULE_TRACK, number);
  if (!values[STRICT_ARGS].text || values[STRICT_ARGS].text[0] != '{') findings_add(found, RULE_ARGS, number);
  if (!is_whole(values[STRICT_ID], 1, INT64_MAX)) findings_add(found, RULE_ID, number);
  if (phase != 'M' && !is_whole(values[STRICT_TS], 0, INT64_MAX)) findings_add(found, RULE_TIME, number);
  else if (phase == 'X' && !is_whole(values[STRICT_DUR], 0, INT64_MAX)) findings_add(found, RULE_TIME, number);
}

static void check_line(line_check *check) {
  strict_finding strict;
  const char *line = check->line;
  size_t len = check->len;
  uint64_t number = ++check->number;
  if (number == 1) {
    if (len == 1 && line[0] == '[') return;
    findings_add(check->found, RULE_FIRST_LINE, 1);
  }
  check->is_end = is_end_event(line, len);
  if (!len || (len <= 2 && strspn(line, "[],") == len) || line[len - 1] == ',') {
    findings_add(check->found, RULE_STRAY_LINE, number);
    if (!len || line[0] != '{') return;
    len--;
  }
  if (len > LINE_LONG_BYTES) findings_add(check->found, RULE_LONG_LINE, number);
  strict = strict_check(line, len);
  if (strict.has_bad_utf8) findings_add(check->found, RULE_UTF8, number);
  if (strict.is_bad) {
    findings_add(check->found, RULE_JSON, number);
    return;
  }
  if (strict.is_loose) findings_add(check->found, RULE_COMPACT, number);
  if (strict.is_nested) findings_add(check->found, RULE_NESTED, number);
  if (strict.has_surrogate) findings_add(check->found, RULE_SURROGATE, number);
  if (strict.has_two_of_one_key) findings_add(check->found, RULE_TWO_KEYS, number);
  if (strict.is_disordered) findings_add(check->found, RULE_KEY_ORDER, number);
  check_event(strict.values, check->found, number);
}

/* Drops what exceeds LINE_MAX_BYTES: the line is then not valid JSON. */
static void gather(line_check *check, const char *bytes, size_t len) {
  if (len > LINE_MAX_BYTES - check->len) len = LINE_MAX_BYTES - check->len;
  if (!check->line || check->len + len + 1 > check->capacity) {
    size_t capacity = (check->len + len + 1) * 2;
    char *more = realloc(check->line, capacity);
    if (!more) {
      check->is_bad = 1;
      return;
    }
    check->line = more;
    check->capacity = capacity;
  }
  memcpy(check->line + check->len, bytes, len);
  check->len += len;
  check->line[check->len] = '\0';
}

static void take(line_check *check, const char *bytes, size_t len) {
  while (len && !check->is_bad) {
    const char *stop = memchr(bytes, '\n', len);
    size_t part = stop ? (size_t)(stop - bytes) : len;
    gather(check, bytes, part);
    if (!stop) return;
    if (!check->is_bad) check_line(check);
    check->len = 0;
    bytes += part + 1;
    len -= part + 1;
  }
}

/* ---- Members -------------------------------------------------------------------------------------------------------- */

typedef struct gzip_members {
  z_stream stream;
  uint64_t size;              /* of the current member, inflated */
  uint64_t before;            /* of the previous one; UINT64_MAX: none */
  uint64_t line, line_before; /* where these two begin */
  char last;
  int is_inside;
} gzip_members;

static void end_member(gzip_members *members, line_check *lines) {
  if (!members->size) findings_add(lines->found, RULE_MEMBER_EMPTY, lines->number);
  else if (members->last != '\n') findings_add(lines->found, RULE_MEMBER_CUT, lines->number + 1);
  if (members->before != UINT64_MAX && (members->before < MEMBER_LEAST || members->before > MEMBER_MOST)) {
    findings_add(lines->found, RULE_MEMBER_SIZE, members->line_before); /* only the last one may be smaller */
  }
  members->before = members->size;
  members->line_before = members->line;
  members->line = lines->number + 1;
  members->size = 0;
  members->is_inside = 0;
}

/* 0: the rest of the file cannot be inflated. */
static int inflate_some(gzip_members *members, line_check *lines, char *out) {
  while (members->stream.avail_in && !lines->is_bad) {
    int result;
    size_t len;
    if (!members->is_inside) {
      if (*members->stream.next_in != 0x1f) {
        findings_add(lines->found, RULE_BYTES_BEHIND, lines->number);
        return 0;
      }
      inflateReset(&members->stream);
      members->is_inside = 1;
    }
    members->stream.next_out = (Bytef *)out;
    members->stream.avail_out = TEXT;
    result = inflate(&members->stream, Z_SYNC_FLUSH);
    len = TEXT - members->stream.avail_out;
    if (len) members->last = out[len - 1];
    members->size += len;
    take(lines, out, len);
    if (result == Z_STREAM_END) end_member(members, lines);
    else if (result != Z_OK && result != Z_BUF_ERROR) {
      findings_add(lines->found,
                   members->before == UINT64_MAX || members->size ? RULE_MEMBER_DAMAGED : RULE_BYTES_BEHIND,
                   lines->number + (members->size != 0));
      return 0;
    }
  }
  return 1;
}

static void read_gzip(FILE *file, line_check *lines) {
  char *input = malloc(INPUT), *out = malloc(TEXT);
  gzip_members members = {.before = UINT64_MAX, .line = 1};
  size_t len;
  int is_good = input && out && inflateInit2(&members.stream, 15 + 16) == Z_OK;
  lines->is_bad = !is_good;
  while (is_good && (len = fread(input, 1, INPUT, file)) > 0) {
    members.stream.next_in = (Bytef *)input;
    members.stream.avail_in = (uInt)len;
    is_good = inflate_some(&members, lines, out);
  }
  if (is_good && members.is_inside) findings_add(lines->found, RULE_MEMBER_DAMAGED, lines->number + 1);
  if (is_good && members.before != UINT64_MAX && members.before > MEMBER_MOST)
    findings_add(lines->found, RULE_MEMBER_SIZE, members.line_before);
  inflateEnd(&members.stream);
  free(input);
  free(out);
}

static void read_plain(FILE *file, line_check *lines) {
  char block[64 << 10];
  size_t len;
  while (!lines->is_bad && (len = fread(block, 1, sizeof block, file)) > 0) take(lines, block, len);
}

/* Opening a FIFO would wait for its writer. */
static FILE *open_file(const char *path) {
  struct stat facts;
  if (stat(path, &facts) != 0) return NULL;
  if (S_ISREG(facts.st_mode)) return fopen(path, "rbe");
  errno = ESPIPE;
  return NULL;
}

int lint_text(const char *path, findings *found) {
  line_check lines = {.found = found};
  FILE *file = open_file(path);
  int first, error;
  if (!file) return 0;
  if (!ends_with(path, ".pfw") && !ends_with(path, ".pfw.gz")) findings_add(found, RULE_NAME, 0);
  first = fgetc(file);
  rewind(file);
  if (first == 0x1f || ends_with(path, ".gz")) read_gzip(file, &lines);
  else read_plain(file, &lines);
  if (lines.len) {
    findings_add(found, RULE_TORN, lines.number + 1);
    check_line(&lines);
  }
  if (!lines.is_end) findings_add(found, RULE_LAST_LINE, lines.number);
  error = ferror(file) ? EIO : lines.is_bad ? ENOMEM : 0;
  fclose(file);
  free(lines.line);
  errno = error;
  return !error;
}
