/* lint_text.c - the rules of files, members and lines: bytes only, and zlib, nothing of the reader.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <zlib.h>

#include "command/trace/strict.h"
#include "command/trace/suffix.h"
#include "rules.h"

#define INPUT (256u << 10)
#define TEXT (1u << 20)
#define LINE_MAX_BYTES (16u << 20)
#define MEMBER_LEAST (256u << 10)
#define MEMBER_MOST (1u << 20)

const rule_text rule_texts[RULES] = {
#define RULE_TEXT(name, code, text) {code, text},
  RULE_LIST(RULE_TEXT)
#undef RULE_TEXT
};

typedef struct text {
  findings *findings;
  char *line; /* the one that is being gathered */
  size_t len, capacity;
  uint64_t number; /* of lines before it */
  int is_end;      /* the line before it was the event end */
  int is_bad;      /* no memory */
} text;

/* The writer's own order of keys is not asked for: any line that says both. */
static int is_end_event(const char *line, size_t len) {
  return memmem(line, len, "\"name\":\"end\"", 12) && memmem(line, len, "\"cat\":\"dftracer\"", 16);
}

/* ---- Lines ---------------------------------------------------------------------------------------------------------- */

/* Whether a value is a whole number from `least` on that does not exceed `most`. */
static int is_whole(strict_value of, uint64_t least, uint64_t most) {
  uint64_t number = 0;
  if (!of.text) return 0;
  for (size_t i = 0; i < of.len; i++) {
    if (of.text[i] < '0' || of.text[i] > '9' || __builtin_mul_overflow(number, 10, &number)) return 0;
    if (__builtin_add_overflow(number, (uint64_t)(of.text[i] - '0'), &number)) return 0;
  }
  return number >= least && number <= most;
}

static int is_text(strict_value of) {
  return of.text && of.text[0] == '"' && of.len > 2;
}

static int is(strict_value of, const char *word) {
  return of.text && of.len == strlen(word) && strncasecmp(of.text, word, of.len) == 0;
}

static void check_event(const strict_value *values, findings *to, uint64_t number) {
  strict_value ph = values[STRICT_PH], cat = values[STRICT_CAT];
  int is_known = ph.text && ph.len == 3 && ph.text[0] == '"' && strchr("XMC", ph.text[1]);
  char phase = is_known ? ph.text[1] : '\0';
  if (!is_known) found(to, RULE_PHASE, number);
  if (!is_text(values[STRICT_NAME]) || !is_text(cat)) found(to, RULE_EMPTY_NAME, number);
  if ((is(cat, "\"POSIX\"") && memcmp(cat.text, "\"POSIX\"", 7) != 0) ||
      (is(cat, "\"STDIO\"") && memcmp(cat.text, "\"STDIO\"", 7) != 0))
    found(to, RULE_IO_CAT, number);
  if (!is_whole(values[STRICT_PID], 0, UINT32_MAX) || !is_whole(values[STRICT_TID], 0, UINT32_MAX))
    found(to, RULE_TRACK, number);
  if (!values[STRICT_ARGS].text || values[STRICT_ARGS].text[0] != '{') found(to, RULE_ARGS, number);
  if (!is_whole(values[STRICT_ID], 1, INT64_MAX)) found(to, RULE_ID, number);
  if (phase != 'M' && !is_whole(values[STRICT_TS], 0, INT64_MAX)) found(to, RULE_TIME, number);
  else if (phase == 'X' && !is_whole(values[STRICT_DUR], 0, INT64_MAX)) found(to, RULE_TIME, number);
}

static void check_line(text *of) {
  strict_finding strict;
  const char *line = of->line;
  size_t len = of->len;
  uint64_t number = ++of->number;
  if (number == 1) {
    if (len == 1 && line[0] == '[') return;
    found(of->findings, RULE_FIRST_LINE, 1);
  }
  of->is_end = is_end_event(line, len);
  if (!len || (len <= 2 && strspn(line, "[],") == len) || line[len - 1] == ',') {
    found(of->findings, RULE_STRAY_LINE, number);
    if (!len || line[0] != '{') return;
    len--;
  }
  if (len > 512) found(of->findings, RULE_LONG_LINE, number);
  strict = strict_check(line, len);
  if (strict.has_bad_utf8) found(of->findings, RULE_UTF8, number);
  if (strict.is_bad) {
    found(of->findings, RULE_JSON, number);
    return;
  }
  if (strict.is_loose) found(of->findings, RULE_COMPACT, number);
  if (strict.is_nested) found(of->findings, RULE_NESTED, number);
  if (strict.has_surrogate) found(of->findings, RULE_SURROGATE, number);
  if (strict.has_two_of_one_key) found(of->findings, RULE_TWO_KEYS, number);
  if (strict.is_disordered) found(of->findings, RULE_KEY_ORDER, number);
  check_event(strict.values, of->findings, number);
}

/* Of a line beyond LINE_MAX_BYTES the rest is left out: it is no JSON then. */
static void gather(text *of, const char *bytes, size_t len) {
  if (len > LINE_MAX_BYTES - of->len) len = LINE_MAX_BYTES - of->len;
  if (!of->line || of->len + len + 1 > of->capacity) {
    size_t capacity = (of->len + len + 1) * 2;
    char *more = realloc(of->line, capacity);
    if (!more) {
      of->is_bad = 1;
      return;
    }
    of->line = more;
    of->capacity = capacity;
  }
  memcpy(of->line + of->len, bytes, len);
  of->len += len;
  of->line[of->len] = '\0';
}

static void take(text *of, const char *bytes, size_t len) {
  while (len && !of->is_bad) {
    const char *stop = memchr(bytes, '\n', len);
    size_t part = stop ? (size_t)(stop - bytes) : len;
    gather(of, bytes, part);
    if (!stop) return;
    if (!of->is_bad) check_line(of);
    of->len = 0;
    bytes += part + 1;
    len -= part + 1;
  }
}

/* ---- Members -------------------------------------------------------------------------------------------------------- */

typedef struct members {
  z_stream stream;
  uint64_t size;              /* of the member at hand, inflated */
  uint64_t before;            /* of the one before; UINT64_MAX: none */
  uint64_t line, line_before; /* where these two begin */
  char last;
  int is_inside;
} members;

static void end_member(members *of, text *into) {
  if (!of->size) found(into->findings, RULE_MEMBER_EMPTY, into->number);
  else if (of->last != '\n') found(into->findings, RULE_MEMBER_CUT, into->number + 1);
  if (of->before != UINT64_MAX && (of->before < MEMBER_LEAST || of->before > MEMBER_MOST)) {
    found(into->findings, RULE_MEMBER_SIZE, of->line_before); /* only the last one may be smaller */
  }
  of->before = of->size;
  of->line_before = of->line;
  of->line = into->number + 1;
  of->size = 0;
  of->is_inside = 0;
}

/* 0: the rest of the file is no use. */
static int inflate_some(members *of, text *into, char *out) {
  while (of->stream.avail_in && !into->is_bad) {
    int result;
    size_t len;
    if (!of->is_inside) {
      if (*of->stream.next_in != 0x1f) {
        found(into->findings, RULE_BYTES_BEHIND, into->number);
        return 0;
      }
      inflateReset(&of->stream);
      of->is_inside = 1;
    }
    of->stream.next_out = (Bytef *)out;
    of->stream.avail_out = TEXT;
    result = inflate(&of->stream, Z_SYNC_FLUSH);
    len = TEXT - of->stream.avail_out;
    if (len) of->last = out[len - 1];
    of->size += len;
    take(into, out, len);
    if (result == Z_STREAM_END) end_member(of, into);
    else if (result != Z_OK && result != Z_BUF_ERROR) {
      found(into->findings, of->before == UINT64_MAX || of->size ? RULE_MEMBER_DAMAGED : RULE_BYTES_BEHIND,
            into->number + (of->size != 0));
      return 0;
    }
  }
  return 1;
}

static void read_gzip(FILE *file, text *into) {
  char *input = malloc(INPUT), *out = malloc(TEXT);
  members of = {.before = UINT64_MAX, .line = 1};
  size_t len;
  int is_good = input && out && inflateInit2(&of.stream, 15 + 16) == Z_OK;
  into->is_bad = !is_good;
  while (is_good && (len = fread(input, 1, INPUT, file)) > 0) {
    of.stream.next_in = (Bytef *)input;
    of.stream.avail_in = (uInt)len;
    is_good = inflate_some(&of, into, out);
  }
  if (is_good && of.is_inside) found(into->findings, RULE_MEMBER_DAMAGED, into->number + 1);
  if (is_good && of.before != UINT64_MAX && of.before > MEMBER_MOST)
    found(into->findings, RULE_MEMBER_SIZE, of.line_before);
  inflateEnd(&of.stream);
  free(input);
  free(out);
}

static void read_plain(FILE *file, text *into) {
  char block[64 << 10];
  size_t len;
  while (!into->is_bad && (len = fread(block, 1, sizeof block, file)) > 0) take(into, block, len);
}

/* A FIFO would wait for its writer. */
static FILE *open_file(const char *path) {
  struct stat facts;
  if (stat(path, &facts) != 0) return NULL;
  if (S_ISREG(facts.st_mode)) return fopen(path, "rbe");
  errno = ESPIPE;
  return NULL;
}

int lint_text(const char *path, findings *all) {
  text of = {.findings = all};
  FILE *file = open_file(path);
  int first, error;
  if (!file) return 0;
  if (!ends_with(path, ".pfw") && !ends_with(path, ".pfw.gz")) found(all, RULE_NAME, 0);
  first = fgetc(file);
  rewind(file);
  if (first == 0x1f || ends_with(path, ".gz")) read_gzip(file, &of);
  else read_plain(file, &of);
  if (of.len) {
    found(all, RULE_TORN, of.number + 1);
    check_line(&of);
  }
  if (!of.is_end) found(all, RULE_LAST_LINE, of.number);
  error = ferror(file) ? EIO : of.is_bad ? ENOMEM : 0;
  fclose(file);
  free(of.line);
  errno = error;
  return !error;
}
