/* chromefile.c - reads Chrome's trace format.
 * SPDX-License-Identifier: MIT */
#include "chromefile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/trace/strict.h"

#define FIRST_BYTES (1u << 20)
#define EVENT_MOST (64u << 20)

int chromefile_open(chromefile *of, const char *path) {
  memset(of, 0, sizeof *of);
  of->rank = -1;
  of->file = gzopen(path, "rb");
  if (!of->file) return 0;
  gzbuffer(of->file, 256u << 10);
  of->room = FIRST_BYTES;
  of->text = malloc(of->room);
  if (of->text) return 1;
  gzclose(of->file);
  errno = ENOMEM;
  return 0;
}

void chromefile_close(chromefile *of) {
  if (of->file) gzclose(of->file);
  free(of->text);
  of->file = NULL;
  of->text = NULL;
}

/* ---- Text ----------------------------------------------------------------------------------------------------------- */

static int fail(chromefile *of, const char *problem) {
  if (!of->problem[0]) {
    snprintf(of->problem, sizeof of->problem, "%s, at about byte %llu", problem,
             (unsigned long long)(of->read_bytes - (of->len - of->at)));
  }
  return 0;
}

/* Reads on; what lies before `at` is given up. Zero at the end. */
static int more(chromefile *of) {
  int got;
  memmove(of->text, of->text + of->at, of->len - of->at);
  of->len -= of->at;
  of->at = 0;
  if (of->len == of->room) {
    char *larger = of->room && of->room < EVENT_MOST ? realloc(of->text, 2 * of->room) : NULL;
    if (!larger) return fail(of, "an event is larger than 64 MiB");
    of->text = larger;
    of->room *= 2;
  }
  got = gzread(of->file, of->text + of->len, (unsigned)(of->room - of->len));
  if (got < 0) return fail(of, "the file is damaged");
  of->len += (size_t)got;
  of->read_bytes += (uint64_t)got;
  return got > 0;
}

/* The next character that is no white space or comma, which stays; zero at the end. */
static char peek(chromefile *of) {
  for (;; of->at++) {
    if (of->at == of->len && !more(of)) return '\0';
    if (!strchr(" \t\r\n,:", of->text[of->at])) return of->text[of->at];
  }
}

/* The end of a JSON value that starts at `at`, not beyond `end`; NULL when it is not complete. It is not checked. */
static const char *value_end(const char *at, const char *end) {
  int depth = 0;
  int is_text = 0;
  for (; at < end; at++) {
    if (is_text) {
      if (*at == '\\') at++;
      else if (*at == '"') is_text = 0;
      if (!is_text && !depth) return at + 1;
      continue;
    }
    switch (*at) {
      case '"': is_text = 1; break;
      case '{':
      case '[': depth++; break;
      case '}':
      case ']':
        if (depth-- == 0) return at; /* of what is around it: a number has ended */
        if (!depth) return at + 1;
        break;
      case ',':
      case ' ':
      case '\n':
      case '\r':
      case '\t':
        if (!depth) return at;
        break;
      default: break;
    }
  }
  return NULL;
}

/* The value at the place that peek found. */
static int take_value(chromefile *of, chrome_span *value) {
  const char *end;
  while (!(end = value_end(of->text + of->at, of->text + of->len))) {
    if (!more(of)) return fail(of, "the file ends in the middle");
  }
  value->text = of->text + of->at;
  value->len = (size_t)(end - value->text);
  of->at += value->len;
  return value->len > 0 ? 1 : fail(of, "this is no JSON");
}

/* ---- The outer object ----------------------------------------------------------------------------------------------- */

static void take_fact(chromefile *of, const char *key, const chrome_span *value) {
  char text[4096];
  const char *rank;
  snprintf(text, sizeof text, "%.*s", (int)(value->len < sizeof text ? value->len : sizeof text - 1), value->text);
  if (strcmp(key, "baseTimeNanoseconds") == 0) of->base_ns = strtoll(text, NULL, 10);
  if (strcmp(key, "distributedInfo") == 0 && (rank = strstr(text, "\"rank\"")) != NULL) {
    of->rank = atoi(rank + 6 + strspn(rank + 6, " \t\r\n:"));
  }
}

/* Goes on to the events; zero when there are none, or no more. */
static int enter(chromefile *of) {
  char first = peek(of);
  if (!of->is_object) {
    if (first != '[' && first != '{') return fail(of, "this is no trace: neither an object nor an array");
    of->at++;
    of->is_object = first == '{';
    if (!of->is_object) return of->is_inside = 1;
  }
  while (peek(of) == '"') {
    chrome_span key, value;
    char name[64];
    if (!take_value(of, &key)) return 0;
    snprintf(name, sizeof name, "%.*s", key.len > 65 ? 63 : (int)key.len - 2, key.text + 1);
    first = peek(of);
    if (strcmp(name, "traceEvents") == 0 && first == '[') {
      of->at++;
      return of->is_inside = of->has_list = 1;
    }
    if (!first || !take_value(of, &value)) return fail(of, "the file ends in the middle");
    take_fact(of, name, &value);
  }
  return of->has_list ? 0 : fail(of, "this is no trace: there are no traceEvents");
}

/* ---- Events --------------------------------------------------------------------------------------------------------- */

static int divide(chrome_event *event, const chrome_span *object) {
  const char *at = object->text + 1;
  const char *end = object->text + object->len - 1;
  event->count = 0;
  for (;;) {
    const char *next;
    chrome_span *key = &event->key[event->count], *value = &event->value[event->count];
    while (at < end && strchr(" \t\r\n,", *at)) at++;
    if (at == end) return 1;
    if (*at != '"' || event->count == CHROME_KEYS || !(next = value_end(at, end))) return 0;
    key->text = at + 1;
    key->len = (size_t)(next - at) - 2;
    for (at = next; at < end && strchr(" \t\r\n:", *at);) at++;
    next = value_end(at, end);
    value->text = at;
    value->len = (size_t)((next ? next : end) - at);
    if (!value->len) return 0;
    at += value->len;
    event->count++;
  }
}

/* What is written goes into other JSON, so it must be sound. */
static int is_valid(const chrome_span *object) {
  strict_finding finding = strict_check(object->text, object->len);
  return !finding.is_bad && !finding.has_bad_utf8;
}

int chromefile_next(chromefile *of, chrome_event *event) {
  chrome_span object;
  for (;;) {
    char first;
    if (!of->is_inside && !enter(of)) return 0;
    first = peek(of);
    if (first == '{') {
      if (!take_value(of, &object)) return 0;
      if (is_valid(&object) && divide(event, &object)) return 1;
      of->left_out++;
      continue;
    }
    if (first && first != ']') return fail(of, "this is no event");
    if (!first || !of->is_object) return 0;
    of->at++; /* what follows "traceEvents" */
    of->is_inside = 0;
  }
}

const chrome_span *chrome_member(const chrome_event *event, const char *key) {
  for (uint32_t i = 0; i < event->count; i++) {
    if (event->key[i].len == strlen(key) && memcmp(event->key[i].text, key, event->key[i].len) == 0)
      return &event->value[i];
  }
  return NULL;
}

int chrome_is_text(const chrome_span *value, const char *text) {
  return value && value->len == strlen(text) + 2 && value->text[0] == '"' &&
         memcmp(value->text + 1, text, value->len - 2) == 0;
}

int chrome_time(const chrome_span *value, int64_t *ns) {
  const char *at = value->text;
  const char *end = at + value->len;
  int is_negative = at < end && *at == '-';
  int64_t whole = 0;
  int64_t unit = 100;
  int digits = 0;
  for (at += is_negative; at < end && *at >= '0' && *at <= '9' && digits < 16; at++, digits++) {
    whole = whole * 10 + (*at - '0');
  }
  whole *= 1000;
  if (digits && at < end && *at == '.') {
    for (at++; at < end && *at >= '0' && *at <= '9'; at++, unit /= 10) whole += (*at - '0') * unit;
  }
  *ns = is_negative ? -whole : whole;
  if (digits && at == end) return 1;
  if (at < end && (*at == 'e' || *at == 'E')) { /* no profiler writes it; JSON allows it */
    char text[64];
    double us;
    snprintf(text, sizeof text, "%.*s", (int)(value->len < 63 ? value->len : 63), value->text);
    us = strtod(text, NULL);
    *ns = us < 9e15 && us > -9e15 ? (int64_t)(us * 1e3) : 0;
    return 1;
  }
  return 0;
}
