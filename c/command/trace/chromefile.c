/* chromefile.c - reads Chrome's trace format.
 * SPDX-License-Identifier: MIT */
#include "chromefile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "strict.h"
#include "suffix.h"

#define FIRST_BYTES (1u << 20)
#define EVENT_MOST (64u << 20)
#define TIME_MOST (INT64_MAX / 2) /* ns from 1970, as in the reader */

int chromefile_open(chromefile *file, const char *path) {
  memset(file, 0, sizeof *file);
  file->rank = -1;
  file->stream = gzopen(path, "rb");
  if (!file->stream) return 0;
  gzbuffer(file->stream, 256u << 10);
  file->room = FIRST_BYTES;
  file->text = malloc(file->room);
  if (file->text) return 1;
  gzclose(file->stream);
  errno = ENOMEM;
  return 0;
}

void chromefile_close(chromefile *file) {
  if (file->stream) gzclose(file->stream);
  free(file->text);
  file->stream = NULL;
  file->text = NULL;
}

/* ---- Text ----------------------------------------------------------------------------------------------------------- */

static int fail(chromefile *file, const char *problem) {
  if (!file->problem[0]) {
    snprintf(file->problem, sizeof file->problem, "%s, at about byte %llu", problem,
             (unsigned long long)(file->read_bytes - (file->len - file->at)));
  }
  return 0;
}

/* Reads more text, and discards what comes before `at`. Zero at the end. */
static int more(chromefile *file) {
  int got;
  memmove(file->text, file->text + file->at, file->len - file->at);
  file->len -= file->at;
  file->at = 0;
  if (file->len == file->room) {
    char *larger = file->room && file->room < EVENT_MOST ? realloc(file->text, 2 * file->room) : NULL;
    if (!larger) return fail(file, "an event is larger than 64 MiB");
    file->text = larger;
    file->room *= 2;
  }
  got = gzread(file->stream, file->text + file->len, (unsigned)(file->room - file->len));
  if (got < 0) return fail(file, "the file is damaged");
  file->len += (size_t)got;
  file->read_bytes += (uint64_t)got;
  return got > 0;
}

/* The next character that is not white space, a comma or a colon, without consuming it; zero at the end. */
static char peek(chromefile *file) {
  for (;; file->at++) {
    if (file->at == file->len && !more(file)) return '\0';
    if (!strchr(" \t\r\n,:", file->text[file->at])) return file->text[file->at];
  }
}

/* The end of the JSON value that starts at `at`; NULL when it is not complete before `end`. Does not validate it. */
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
        if (depth-- == 0) return at; /* the end of the enclosing value: a number ended here */
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

/* Takes the value at the place that peek found. */
static int take_value(chromefile *file, chrome_span *value) {
  const char *end;
  while (!(end = value_end(file->text + file->at, file->text + file->len))) {
    if (!more(file)) return fail(file, "the file ends in the middle of a value");
  }
  value->text = file->text + file->at;
  value->len = (size_t)(end - value->text);
  file->at += value->len;
  return value->len > 0 ? 1 : fail(file, "this is not JSON");
}

/* ---- The outer object ----------------------------------------------------------------------------------------------- */

static int is_time(int64_t ns) {
  return ns >= -TIME_MOST && ns <= TIME_MOST;
}

static void take_fact(chromefile *file, const char *key, const chrome_span *value) {
  char text[4096];
  const char *rank;
  snprintf(text, sizeof text, "%.*s", (int)(value->len < sizeof text ? value->len : sizeof text - 1), value->text);
  if (strcmp(key, "baseTimeNanoseconds") == 0) {
    const int64_t base_ns = strtoll(text, NULL, 10);
    file->base_ns = is_time(base_ns) ? base_ns : 0;
  }
  if (strcmp(key, "distributedInfo") == 0 && (rank = strstr(text, "\"rank\"")) != NULL) {
    file->rank = atoi(rank + 6 + strspn(rank + 6, " \t\r\n:"));
  }
}

/* Advances to the list of events; zero when there is none, or it is over. */
static int enter(chromefile *file) {
  char first = peek(file);
  if (!file->is_object) {
    if (first != '[' && first != '{') return fail(file, "not a trace: neither an object nor an array");
    file->at++;
    file->is_object = first == '{';
    if (!file->is_object) return file->is_inside = 1;
  }
  while (peek(file) == '"') {
    chrome_span key, value;
    char name[64];
    if (!take_value(file, &key)) return 0;
    snprintf(name, sizeof name, "%.*s", key.len > 65 ? 63 : (int)key.len - 2, key.text + 1);
    first = peek(file);
    if (strcmp(name, "traceEvents") == 0 && first == '[') {
      file->at++;
      return file->is_inside = file->has_list = 1;
    }
    if (!first || !take_value(file, &value)) return fail(file, "the file ends in the middle of a value");
    take_fact(file, name, &value);
  }
  return file->has_list ? 0 : fail(file, "not a trace: it has no traceEvents");
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

/* The event is copied into other JSON, so it must be valid. */
static int is_valid(const chrome_span *object) {
  strict_finding finding = strict_check(object->text, object->len);
  return !finding.is_bad && !finding.has_bad_utf8;
}

int chromefile_next(chromefile *file, chrome_event *event) {
  chrome_span object;
  for (;;) {
    char first;
    if (!file->is_inside && !enter(file)) return 0;
    first = peek(file);
    if (first == '{') {
      if (!take_value(file, &object)) return 0;
      if (is_valid(&object) && divide(event, &object)) return 1;
      file->left_out++;
      continue;
    }
    if (first && first != ']') return fail(file, "this is not an event");
    if (!first || !file->is_object) return 0;
    file->at++; /* continue with what follows "traceEvents" */
    file->is_inside = 0;
  }
}

/* Whether a line of the array holds several events, or an event several lines. */
static int is_without_lines(chromefile *file) {
  chrome_span first;
  while (file->at < file->len && strchr(" \t\r", file->text[file->at])) file->at++;
  if (file->at < file->len && file->text[file->at] == '{') return 1;
  if (peek(file) != '{' || !take_value(file, &first)) return 0;
  if (memchr(first.text, '\n', first.len)) return 1;
  while (file->at < file->len && strchr(" \t\r,", file->text[file->at])) file->at++;
  return file->at < file->len && file->text[file->at] == '{';
}

int chromefile_is(const char *path, const char *name) {
  chromefile file;
  struct stat facts;
  int is_chrome;
  if (name && (ends_with(name, ".pfw") || ends_with(name, ".pfw.gz")))
    return 0; /* spares a look into each of 10,000 traces */
  if (stat(path, &facts) != 0 || !S_ISREG(facts.st_mode) || !chromefile_open(&file, path)) return 0;
  is_chrome = enter(&file);
  if (is_chrome && !file.is_object)
    is_chrome = name ? ends_with(name, ".json") || ends_with(name, ".json.gz") : is_without_lines(&file);
  chromefile_close(&file);
  return is_chrome;
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

int chrome_is_number(const chrome_span *value) {
  return value && value->len && value->text[0] != '"';
}

uint64_t chrome_number(const chrome_span *value) {
  uint64_t number = 0;
  if (!value) return 0;
  for (size_t i = 0; i < value->len; i++) {
    if (chrome_is_number(value) && (value->text[i] < '0' || value->text[i] > '9')) return number;
    number = chrome_is_number(value) ? number * 10 + (uint64_t)(value->text[i] - '0')
                                     : number * 31 + (unsigned char)value->text[i];
  }
  return chrome_is_number(value) ? number : UINT64_C(1) << 40 | number % (UINT64_C(1) << 40);
}

int chrome_time(const chrome_span *value, int64_t *ns) {
  const char *at = value->text;
  const char *end = at + value->len;
  int is_negative = at < end && *at == '-';
  int64_t whole = 0;
  int64_t unit = 100;
  int digits = 0;
  for (at += is_negative; at < end && *at >= '0' && *at <= '9' && whole < TIME_MOST / 10000; at++, digits++) {
    whole = whole * 10 + (*at - '0');
  }
  whole *= 1000;
  if (digits && at < end && *at == '.') {
    for (at++; at < end && *at >= '0' && *at <= '9'; at++, unit /= 10) whole += (*at - '0') * unit;
  }
  *ns = is_negative ? -whole : whole;
  if (digits && at == end) return 1;
  if (at < end && (*at == 'e' || *at == 'E')) { /* JSON allows an exponent, although no profiler writes one */
    char text[64];
    double us;
    snprintf(text, sizeof text, "%.*s", (int)(value->len < 63 ? value->len : 63), value->text);
    us = strtod(text, NULL);
    *ns = us < 4.6e15 && us > -4.6e15 ? (int64_t)(us * 1e3) : 0;
    return 1;
  }
  return 0;
}

int chrome_moment(const chrome_span *value, int64_t base_ns, int64_t *ns) {
  if (!value || !chrome_time(value, ns)) return 0;
  *ns += base_ns;
  return is_time(*ns);
}
