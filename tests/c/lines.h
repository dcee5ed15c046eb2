/* lines.h - reads the lines of a trace back, sharing no code with what wrote them.
 *
 * Strict: a line that is not exactly what the format says ends the test. Texts of events are terminated copies that live
 * as long as the trace.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_TESTS_LINES_H
#define DFTRACER_TESTS_LINES_H

#include "check.h"

typedef struct arg {
  const char *key;
  const char *text; /* of a string the characters, of a number its digits */
  size_t len;
  int is_string;
} arg;

typedef struct event {
  const char *line; /* as it stands in the trace, terminated */
  int64_t id, pid, tid, ts, dur;
  const char *name, *cat;
  char ph;
  const arg *args;
  size_t arg_count;
} event;

typedef struct trace {
  event *events;
  size_t count;
  char *text;   /* the lines */
  char *copies; /* texts without escapes */
  arg *args;
} trace;

/* Where the reader stands in the line. */
typedef struct cursor {
  const char *at;
  char *copy;
  const char *line;
} cursor;

__attribute__((noreturn, unused)) static void bad_line(const cursor *in, const char *why) {
  fprintf(stderr, "  %s at byte %zu of: %.600s\n", why, (size_t)(in->at - in->line), in->line);
  check_failed(__FILE__, __LINE__, "the line is what the format says");
}

__attribute__((unused)) static void expect(cursor *in, const char *literal) {
  size_t len = strlen(literal);
  if (strncmp(in->at, literal, len) != 0) bad_line(in, literal);
  in->at += len;
}

__attribute__((unused)) static unsigned read_hex4(cursor *in) {
  unsigned code = 0;
  for (int i = 0; i < 4; i++) {
    const char *digits = "0123456789abcdef";
    const char *digit = in->at[i] ? strchr(digits, in->at[i]) : NULL;
    if (!digit) bad_line(in, "four hex digits");
    code = code << 4 | (unsigned)(digit - digits);
  }
  in->at += 4;
  return code;
}

/* Only characters below 0x80 are ever escaped; the rest is checked by the tests of escape.c. */
__attribute__((unused)) static const char *read_string(cursor *in, size_t *len) {
  static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
  char *start = in->copy;
  expect(in, "\"");
  while (*in->at != '"') {
    unsigned char c = (unsigned char)*in->at++;
    if (c < 0x20) bad_line(in, "no control character");
    if (c == '\\') {
      const char *known = *in->at ? strchr(from, *in->at) : NULL;
      unsigned code;
      if (known) {
        c = (unsigned char)to[known - from];
        in->at++;
      } else {
        expect(in, "u");
        code = read_hex4(in);
        if (code >= 0x80) bad_line(in, "an escape of ASCII");
        c = (unsigned char)code;
      }
    }
    *in->copy++ = (char)c;
  }
  in->at++;
  if (len) *len = (size_t)(in->copy - start);
  *in->copy++ = '\0';
  return start;
}

__attribute__((unused)) static int64_t read_number(cursor *in) {
  char *end;
  int64_t value = strtoll(in->at, &end, 10);
  if (end == in->at || *in->at == '+' || *in->at == ' ') bad_line(in, "a whole number");
  in->at = end;
  return value;
}

__attribute__((unused)) static size_t read_args(cursor *in, arg *args) {
  size_t count = 0;
  expect(in, "{");
  do {
    arg *one = &args[count];
    if (count) expect(in, ",");
    one->key = read_string(in, NULL);
    expect(in, ":");
    one->is_string = *in->at == '"';
    if (one->is_string) {
      one->text = read_string(in, &one->len);
    } else {
      one->len = strspn(in->at, "-+.0123456789eE");
      if (!one->len) bad_line(in, "a value");
      memcpy(in->copy, in->at, one->len);
      one->text = in->copy;
      in->copy += one->len;
      *in->copy++ = '\0';
      in->at += one->len;
    }
    for (size_t i = 0; count < 64 && i < count; i++) {
      if (strcmp(args[i].key, one->key) == 0) bad_line(in, "a key once");
    }
    count++;
  } while (*in->at == ',');
  expect(in, "}");
  return count;
}

__attribute__((unused)) static void read_line(cursor *in, event *out, arg *args) {
  *out = (event){.line = in->line, .args = args};
  expect(in, "{\"id\":");
  out->id = read_number(in);
  expect(in, ",\"name\":");
  out->name = read_string(in, NULL);
  expect(in, ",\"cat\":");
  out->cat = read_string(in, NULL);
  expect(in, ",\"pid\":");
  out->pid = read_number(in);
  expect(in, ",\"tid\":");
  out->tid = read_number(in);
  if (strncmp(in->at, ",\"ts\":", 6) == 0) {
    expect(in, ",\"ts\":");
    out->ts = read_number(in);
  }
  if (strncmp(in->at, ",\"dur\":", 7) == 0) {
    expect(in, ",\"dur\":");
    out->dur = read_number(in);
  }
  expect(in, ",\"ph\":\"");
  out->ph = *in->at++;
  expect(in, "\",\"args\":");
  out->arg_count = read_args(in, args);
  expect(in, "}");
  if (*in->at) bad_line(in, "the end of the line");
}

/* Takes over `text`, lines of events alone, which must be terminated. NULL is an empty trace. */
__attribute__((unused)) static trace read_lines(char *text) {
  trace out = {.text = text};
  size_t len = text ? strlen(text) : 0;
  size_t lines = 0, values = 0, used = 0;
  cursor in;
  if (!len) return out;
  CHECK(text[len - 1] == '\n');
  for (size_t i = 0; i < len; i++) {
    lines += text[i] == '\n';
    values += text[i] == ':';
  }
  out.events = malloc(lines * sizeof *out.events);
  out.args = malloc(values * sizeof *out.args);
  in.copy = out.copies = malloc(len + 1);
  CHECK(out.events && out.args && out.copies);
  for (char *next; *text; text = next) {
    next = strchr(text, '\n');
    *next++ = '\0';
    in.at = in.line = text;
    read_line(&in, &out.events[out.count], out.args + used);
    used += out.events[out.count++].arg_count;
  }
  return out;
}

__attribute__((unused)) static void free_trace(trace *old) {
  free(old->events);
  free(old->text);
  free(old->copies);
  free(old->args);
  *old = (trace){0};
}

/* ---- Looking things up -------------------------------------------------------------------------------------------- */

__attribute__((unused)) static const arg *find_arg(const event *of, const char *key) {
  for (size_t i = 0; i < of->arg_count; i++) {
    if (strcmp(of->args[i].key, key) == 0) return &of->args[i];
  }
  return NULL;
}

/* The text of an argument, NULL when there is none. */
__attribute__((unused)) static const char *arg_text(const event *of, const char *key) {
  const arg *found = find_arg(of, key);
  return found ? found->text : NULL;
}

/* The whole number of an argument, INT64_MIN when there is none. */
__attribute__((unused)) static int64_t arg_int(const event *of, const char *key) {
  const arg *found = find_arg(of, key);
  return found && !found->is_string ? strtoll(found->text, NULL, 10) : INT64_MIN;
}

__attribute__((unused)) static size_t count_name(const trace *in, const char *name) {
  size_t count = 0;
  for (size_t i = 0; i < in->count; i++) count += strcmp(in->events[i].name, name) == 0;
  return count;
}

/* The only event of this name. */
__attribute__((unused)) static const event *the_event(const trace *in, const char *name) {
  const event *found = NULL;
  for (size_t i = 0; i < in->count; i++) {
    if (strcmp(in->events[i].name, name) != 0) continue;
    if (found) fprintf(stderr, "  \"%s\" is there twice:\n  %s\n  %s\n", name, found->line, in->events[i].line);
    CHECK(!found);
    found = &in->events[i];
  }
  if (!found) fprintf(stderr, "  there is no \"%s\"\n", name);
  CHECK(found);
  return found;
}

#endif
