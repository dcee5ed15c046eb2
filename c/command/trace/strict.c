/* strict.c - whether a line is one JSON object as the format wants it.
 *
 * It shares nothing with the reader, which takes much more. SPDX-License-Identifier: MIT */
#include "strict.h"

#include <stdint.h>
#include <string.h>

#define KEYS_MAX 256
#define DEPTH_MAX 64

typedef struct key {
  const char *text;
  size_t len;
} key;

typedef struct scanner {
  const char *at, *end;
  strict_finding found;
  key keys[KEYS_MAX]; /* of the objects that are open, innermost last */
  int key_count;
  int depth;
} scanner;

static int fail(scanner *of) {
  of->found.is_bad = 1;
  return 0;
}

static int next(const scanner *of) {
  return of->at < of->end ? (unsigned char)*of->at : -1;
}

static void skip_blank(scanner *of) {
  while (next(of) == ' ' || next(of) == '\t' || next(of) == '\r' || next(of) == '\n') {
    of->found.is_loose = 1;
    of->at++;
  }
}

/* One character of UTF-8 beyond ASCII. */
static void scan_character(scanner *of) {
  const unsigned char *at = (const unsigned char *)of->at;
  size_t left = (size_t)(of->end - of->at), len = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
  uint32_t code = at[0] & (0x7fu >> len);
  int is_good = at[0] >= 0xc2 && at[0] < 0xf5 && left >= len;
  for (size_t i = 1; is_good && i < len; i++) {
    is_good = (at[i] & 0xc0) == 0x80;
    code = code << 6 | (at[i] & 0x3f);
  }
  if (is_good && len == 3) is_good = code >= 0x800 && !(code >= 0xd800 && code < 0xe000);
  if (is_good && len == 4) is_good = code >= 0x10000 && code < 0x110000;
  if (!is_good) of->found.has_bad_utf8 = 1;
  of->at += is_good ? len : 1;
}

static int scan_escape(scanner *of) {
  int c;
  of->at++;
  c = next(of);
  of->at++;
  if (c == 'u') {
    char digits[5] = "";
    for (int i = 0; i < 4; i++, of->at++) {
      int digit = next(of);
      if (digit < 0 || !strchr("0123456789abcdefABCDEF", digit)) return fail(of);
      digits[i] = (char)digit;
    }
    if ((digits[0] | 32) == 'd' && digits[1] > '7') of->found.has_surrogate = 1;
    return 1;
  }
  return c > 0 && strchr("\"\\/bfnrt", c) ? 1 : fail(of);
}

static int scan_text(scanner *of) {
  of->at++;
  for (;;) {
    int c = next(of);
    if (c < 0x20) return fail(of); /* the end, or a control character */
    if (c == '"') {
      of->at++;
      return 1;
    }
    if (c == '\\') {
      if (!scan_escape(of)) return 0;
    } else if (c < 0x80) {
      of->at++;
    } else {
      scan_character(of);
    }
  }
}

static int scan_digits(scanner *of) {
  if (next(of) < '0' || next(of) > '9') return fail(of);
  while (next(of) >= '0' && next(of) <= '9') of->at++;
  return 1;
}

static int scan_number(scanner *of) {
  if (next(of) == '-') of->at++;
  if (next(of) == '0') of->at++;
  else if (!scan_digits(of)) return 0;
  if (next(of) == '.') {
    of->at++;
    if (!scan_digits(of)) return 0;
  }
  if (next(of) == 'e' || next(of) == 'E') {
    of->at++;
    if (next(of) == '+' || next(of) == '-') of->at++;
    if (!scan_digits(of)) return 0;
  }
  return 1;
}

static int scan_word(scanner *of, const char *word) {
  size_t len = strlen(word);
  if ((size_t)(of->end - of->at) < len || memcmp(of->at, word, len) != 0) return fail(of);
  of->at += len;
  return 1;
}

static int scan_value(scanner *of);

/* A key of the line itself and its value, which ends here. */
static void note_value(scanner *of, key name, const char *value) {
  static const char *const names[STRICT_KEYS] = {"\"id\"", "\"name\"", "\"cat\"", "\"pid\"", "\"tid\"",
                                                 "\"ts\"", "\"dur\"",  "\"ph\"",  "\"args\""};
  int at = 0;
  while (at < STRICT_KEYS && (strlen(names[at]) != name.len || memcmp(names[at], name.text, name.len) != 0)) at++;
  if (at == STRICT_KEYS) {
    of->found.is_disordered = 1;
    return;
  }
  for (int i = at; i < STRICT_KEYS; i++) of->found.is_disordered |= of->found.values[i].text != NULL;
  of->found.values[at] = (strict_value){value, (size_t)(of->at - value)};
}

static void note_key(scanner *of, int first, key one) {
  for (int i = first; i < of->key_count; i++) {
    if (of->keys[i].len == one.len && memcmp(of->keys[i].text, one.text, one.len) == 0)
      of->found.has_two_of_one_key = 1;
  }
  if (of->key_count < KEYS_MAX) of->keys[of->key_count++] = one;
}

/* An object, or an array when `close` says so. */
static int scan_list(scanner *of, int close) {
  int first = of->key_count;
  key name = {NULL, 0};
  of->at++;
  if (++of->depth > DEPTH_MAX) return fail(of);
  if (close == ']' || of->depth > 2) of->found.is_nested = 1;
  skip_blank(of);
  while (next(of) != close) {
    const char *text = of->at;
    if (close == '}') {
      if (next(of) != '"' || !scan_text(of)) return fail(of);
      name = (key){text, (size_t)(of->at - text)};
      note_key(of, first, name);
      skip_blank(of);
      if (next(of) != ':') return fail(of);
      of->at++;
      skip_blank(of);
    }
    text = of->at;
    if (!scan_value(of)) return 0;
    if (close == '}' && of->depth == 1) note_value(of, name, text);
    skip_blank(of);
    if (next(of) == close) break;
    if (next(of) != ',') return fail(of);
    of->at++;
    skip_blank(of);
    if (next(of) == close) return fail(of);
  }
  of->at++;
  of->depth--;
  of->key_count = first;
  return 1;
}

static int scan_value(scanner *of) {
  switch (next(of)) {
    case '"': return scan_text(of);
    case '{': return scan_list(of, '}');
    case '[': return scan_list(of, ']');
    case 't': return scan_word(of, "true");
    case 'f': return scan_word(of, "false");
    case 'n': return scan_word(of, "null");
    default: return scan_number(of);
  }
}

strict_finding strict_check(const char *line, size_t len) {
  scanner of = {.at = line, .end = line + len};
  if (next(&of) != '{' || !scan_list(&of, '}') || of.at != of.end) of.found.is_bad = 1;
  return of.found;
}
