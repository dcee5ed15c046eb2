/* strict.c - checks that a line is one JSON object as the format requires.
 *
 * It shares no code with the reader, which accepts much more. SPDX-License-Identifier: MIT */
#include "strict.h"

#include <stdint.h>
#include <string.h>

#define KEYS_MAX 256
#define DEPTH_MAX 64

typedef struct scanner {
  const char *at, *end;
  strict_finding found;
  strict_value keys[KEYS_MAX]; /* of the open objects, the innermost last */
  int key_count;
  int depth;
} scanner;

static int fail(scanner *scan) {
  scan->found.is_bad = 1;
  return 0;
}

static int next(const scanner *scan) {
  return scan->at < scan->end ? (unsigned char)*scan->at : -1;
}

static void skip_blank(scanner *scan) {
  while (next(scan) == ' ' || next(scan) == '\t' || next(scan) == '\r' || next(scan) == '\n') {
    scan->found.is_loose = 1;
    scan->at++;
  }
}

/* One character of UTF-8 beyond ASCII. */
static void scan_character(scanner *scan) {
  const unsigned char *at = (const unsigned char *)scan->at;
  size_t left = (size_t)(scan->end - scan->at), len = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
  uint32_t code = at[0] & (0x7fu >> len);
  int is_good = at[0] >= 0xc2 && at[0] < 0xf5 && left >= len;
  for (size_t i = 1; is_good && i < len; i++) {
    is_good = (at[i] & 0xc0) == 0x80;
    code = code << 6 | (at[i] & 0x3f);
  }
  if (is_good && len == 3) is_good = code >= 0x800 && !(code >= 0xd800 && code < 0xe000);
  if (is_good && len == 4) is_good = code >= 0x10000 && code < 0x110000;
  if (!is_good) scan->found.has_bad_utf8 = 1;
  scan->at += is_good ? len : 1;
}

static int scan_escape(scanner *scan) {
  int c;
  scan->at++;
  c = next(scan);
  scan->at++;
  if (c == 'u') {
    char digits[5] = "";
    for (int i = 0; i < 4; i++, scan->at++) {
      int digit = next(scan);
      if (digit < 0 || !strchr("0123456789abcdefABCDEF", digit)) return fail(scan);
      digits[i] = (char)digit;
    }
    if ((digits[0] | 32) == 'd' && digits[1] > '7') scan->found.has_surrogate = 1;
    return 1;
  }
  return c > 0 && strchr("\"\\/bfnrt", c) ? 1 : fail(scan);
}

static int scan_text(scanner *scan) {
  scan->at++;
  for (;;) {
    int c = next(scan);
    if (c < 0x20) return fail(scan); /* the end, or a control character */
    if (c == '"') {
      scan->at++;
      return 1;
    }
    if (c == '\\') {
      if (!scan_escape(scan)) return 0;
    } else if (c < 0x80) {
      scan->at++;
    } else {
      scan_character(scan);
    }
  }
}

static int scan_digits(scanner *scan) {
  if (next(scan) < '0' || next(scan) > '9') return fail(scan);
  while (next(scan) >= '0' && next(scan) <= '9') scan->at++;
  return 1;
}

static int scan_number(scanner *scan) {
  if (next(scan) == '-') scan->at++;
  if (next(scan) == '0') scan->at++;
  else if (!scan_digits(scan)) return 0;
  if (next(scan) == '.') {
    scan->at++;
    if (!scan_digits(scan)) return 0;
  }
  if (next(scan) == 'e' || next(scan) == 'E') {
    scan->at++;
    if (next(scan) == '+' || next(scan) == '-') scan->at++;
    if (!scan_digits(scan)) return 0;
  }
  return 1;
}

static int scan_word(scanner *scan, const char *word) {
  size_t len = strlen(word);
  if ((size_t)(scan->end - scan->at) < len || memcmp(scan->at, word, len) != 0) return fail(scan);
  scan->at += len;
  return 1;
}

static int scan_value(scanner *scan);

/* Notes a key of the outermost object and its value, which ends at the current place. */
static void note_value(scanner *scan, strict_value name, const char *value) {
  static const char *const names[STRICT_KEYS] = {"\"id\"", "\"name\"", "\"cat\"", "\"pid\"", "\"tid\"",
                                                 "\"ts\"", "\"dur\"",  "\"ph\"",  "\"args\""};
  int at = 0;
  while (at < STRICT_KEYS && (strlen(names[at]) != name.len || memcmp(names[at], name.text, name.len) != 0)) at++;
  if (at == STRICT_KEYS) {
    scan->found.is_disordered = 1;
    return;
  }
  for (int i = at; i < STRICT_KEYS; i++) scan->found.is_disordered |= scan->found.values[i].text != NULL;
  scan->found.values[at] = (strict_value){value, (size_t)(scan->at - value)};
}

static void note_key(scanner *scan, int first, strict_value one) {
  for (int i = first; i < scan->key_count; i++) {
    if (scan->keys[i].len == one.len && memcmp(scan->keys[i].text, one.text, one.len) == 0)
      scan->found.has_two_of_one_key = 1;
  }
  if (scan->key_count < KEYS_MAX) scan->keys[scan->key_count++] = one;
}

/* Scans an object or an array; `close` is the bracket that ends it. */
static int scan_list(scanner *scan, int close) {
  int first = scan->key_count;
  strict_value name = {NULL, 0};
  scan->at++;
  if (++scan->depth > DEPTH_MAX) return fail(scan);
  if (close == ']' || scan->depth > 2) scan->found.is_nested = 1;
  skip_blank(scan);
  while (next(scan) != close) {
    const char *text = scan->at;
    if (close == '}') {
      if (next(scan) != '"' || !scan_text(scan)) return fail(scan);
      name = (strict_value){text, (size_t)(scan->at - text)};
      note_key(scan, first, name);
      skip_blank(scan);
      if (next(scan) != ':') return fail(scan);
      scan->at++;
      skip_blank(scan);
    }
    text = scan->at;
    if (!scan_value(scan)) return 0;
    if (close == '}' && scan->depth == 1) note_value(scan, name, text);
    skip_blank(scan);
    if (next(scan) == close) break;
    if (next(scan) != ',') return fail(scan);
    scan->at++;
    skip_blank(scan);
    if (next(scan) == close) return fail(scan);
  }
  scan->at++;
  scan->depth--;
  scan->key_count = first;
  return 1;
}

static int scan_value(scanner *scan) {
  switch (next(scan)) {
    case '"': return scan_text(scan);
    case '{': return scan_list(scan, '}');
    case '[': return scan_list(scan, ']');
    case 't': return scan_word(scan, "true");
    case 'f': return scan_word(scan, "false");
    case 'n': return scan_word(scan, "null");
    default: return scan_number(scan);
  }
}

strict_finding strict_check(const char *line, size_t len) {
  scanner scan = {.at = line, .end = line + len};
  if (next(&scan) != '{' || !scan_list(&scan, '}') || scan.at != scan.end) scan.found.is_bad = 1;
  return scan.found;
}
