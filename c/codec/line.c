/* line.c - one event as one JSON line.
 *
 * Functions write at `at` and return the end, or NULL when there is no room. Only texts check for room, against `limit`;
 * it lies DFT__LINE_RESERVE before the real end, more than all that is written between two texts.
 *
 * No key appears twice in a line. If several values have the same key, the last one is used. The keys that this file adds
 * (see put_key) differ from those of the user and from each other.
 * SPDX-License-Identifier: MIT */
#include "line.h"

#include <math.h>

#include "escape.h"
#include "number.h"

#define PUT(at, literal) ((char *)memcpy((at), (literal), sizeof(literal) - 1) + sizeof(literal) - 1)
#define TEXT(literal) ((dft_text){(literal), sizeof(literal) - 1})

/* The line that is being written. */
typedef struct line_draft {
  const char *start;
  const char *limit;
  const dft_event *event;
  char *counter_args; /* where those of a counter begin; else NULL */
} line_draft;

static int same_text(dft_text a, dft_text b) {
  return a.len == b.len && (a.len == 0 || memcmp(a.text, b.text, a.len) == 0);
}

/* These open the args of events; all three have five letters. */
static int is_reserved(dft_text key) {
  return key.len == 5 &&
         (memcmp(key.text, "hhash", 5) == 0 || memcmp(key.text, "p_idx", 5) == 0 || memcmp(key.text, "level", 5) == 0);
}

/* ---- Keys --------------------------------------------------------------------------------------------------------- */

static int has_key(const dft_event *event, dft_text key) {
  for (uint32_t i = 0; i < event->value_count; i++) {
    if (same_text(event->values[i].key, key)) return 1;
  }
  return 0;
}

/* Whether the made-up key that stands as `,"KEY":` from `at` to `end` is in the line before, or is one of the user's,
 * which are written behind it for that. One that has no room there has none later either: the line will not fit. */
static int is_taken(const line_draft *line, const char *at, char *end) {
  size_t len = (size_t)(end - at);
  if (memmem(line->start, (size_t)(at - line->start), at, len)) return 1;
  for (uint32_t i = 0; i < line->event->value_count; i++) {
    int bad = 0;
    char *other = dft__escape_text(PUT(end, ",\""), line->limit, line->event->values[i].key, &bad);
    if (other && !bad && (size_t)(PUT(other, "\":") - end) == len && memcmp(at, end, len) == 0) return 1;
  }
  return 0;
}

/* `,"KEY":` for every key that is not written as the user gave it: an empty one becomes "_", a reserved one gets "arg."
 * before it, and a suffix makes the key of an extra argument. While such a key is taken it gets another "arg.". */
static char *put_key(char *at, const line_draft *line, dft_text key, dft_text suffix) {
  dft_text shown = key.len ? key : TEXT("_");
  unsigned prefixes = (unsigned)is_reserved(key);
  char *end;
  do {
    int bad = 0;
    end = PUT(at, ",\"");
    for (unsigned i = 0; end && i < prefixes; i++) end = dft__escape_text(end, line->limit, TEXT("arg."), &bad);
    if (end) end = dft__escape_text(end, line->limit, shown, &bad);
    if (end && bad) {
      /* Two keys may look the same once their bad bytes are replaced; the original bytes keep them apart. */
      *end++ = '.';
      end = dft__escape_hex(end, line->limit, key);
    }
    if (end) end = dft__escape_text(end, line->limit, suffix, &bad);
    if (end) end = PUT(end, "\":");
    prefixes++;
  } while (end && is_taken(line, at, end));
  return end;
}

/* `,"KEY.hex":"..."` */
static char *put_hex(char *at, const line_draft *line, dft_text key, dft_text bytes) {
  at = put_key(at, line, key, TEXT(".hex"));
  if (!at) return NULL;
  *at++ = '"';
  at = dft__escape_hex(at, line->limit, bytes);
  return at ? PUT(at, "\"") : NULL;
}

/* ---- Values ------------------------------------------------------------------------------------------------------- */

static char *put_double(char *at, double value) {
  if (isnan(value)) return PUT(at, "\"nan\"");
  if (isinf(value)) return value > 0 ? PUT(at, "\"inf\"") : PUT(at, "\"-inf\"");
  return dft__number_double(at, value);
}

static char *put_string(char *at, const line_draft *line, const dft_value *value) {
  int bad = 0;
  *at++ = '"';
  at = dft__escape_text(at, line->limit, value->value.s, &bad);
  if (!at) return NULL;
  *at++ = '"';
  if (bad) at = put_hex(at, line, value->key, value->value.s);
  if (at && value->cut_from) {
    at = put_key(at, line, value->key, TEXT(".cut"));
    if (at) at = dft__number_uint(at, value->cut_from);
  }
  return at;
}

static char *put_value(char *at, const line_draft *line, const dft_value *value) {
  char *start = at;
  int bad = 0;
  if (value->key.len && !is_reserved(value->key)) {
    at = dft__escape_text(PUT(at, ",\""), line->limit, value->key, &bad);
    at = at && !bad ? PUT(at, "\":") : NULL;
  } else {
    bad = 1;
  }
  if (bad) at = put_key(start, line, value->key, TEXT(""));
  if (!at) return NULL;
  switch (value->type) {
    case DFT_INT: return dft__number_int(at, value->value.i);
    case DFT_UINT: return dft__number_uint(at, value->value.u);
    case DFT_BOOL: *at = value->value.i ? '1' : '0'; return at + 1; /* readers compute with it: a number */
    case DFT_DOUBLE: return put_double(at, value->value.d);
    case DFT_STRING:
    case DFT_PATH: return put_string(at, line, value);
    default: return start; /* a type of a later version: leave the value out */
  }
}

static char *put_values(char *at, const line_draft *line) {
  const dft_event *event = line->event;
  for (uint32_t i = 0; at && i < event->value_count; i++) {
    uint32_t later = i + 1;
    while (later < event->value_count && !same_text(event->values[i].key, event->values[later].key)) later++;
    if (later == event->value_count) at = put_value(at, line, &event->values[i]);
  }
  return at;
}

/* ---- Lines -------------------------------------------------------------------------------------------------------- */

/* Everything but values and the closing braces. */
static char *put_event(char *at, line_draft *line, const char *host_hash) {
  const dft_event *event = line->event;
  const char *limit = line->limit;
  const dft_text unnamed = TEXT("(unnamed)");
  int bad_name = 0;
  int bad_cat = 0;
  at = dft__number_uint(PUT(at, "{\"id\":"), event->id);
  at = dft__escape_text(PUT(at, ",\"name\":\""), limit, event->name.len ? event->name : unnamed, &bad_name);
  if (!at) return NULL;
  at = dft__escape_text(PUT(at, "\",\"cat\":\""), limit, event->cat.len ? event->cat : unnamed, &bad_cat);
  if (!at) return NULL;
  at = dft__number_uint(PUT(at, "\",\"pid\":"), event->pid);
  at = dft__number_uint(PUT(at, ",\"tid\":"), event->tid);
  if (event->phase != DFT_METADATA) at = dft__number_int(PUT(at, ",\"ts\":"), event->start);
  if (event->phase == DFT_COMPLETE) at = dft__number_int(PUT(at, ",\"dur\":"), event->duration);
  at = PUT(at, ",\"ph\":\"");
  *at++ = (char)event->phase;
  at = PUT(at, "\",\"args\":{");
  if (event->phase == DFT_COUNTER) { /* Perfetto takes every argument of a counter for a number */
    line->counter_args = at;
  } else {
    at = dft__escape_text(PUT(at, "\"hhash\":\""), limit, (dft_text){host_hash, strlen(host_hash)}, &bad_cat);
    if (!at) return NULL;
    *at++ = '"';
  }
  if (event->phase == DFT_COMPLETE && event->level) {
    at = dft__number_int(PUT(at, ",\"p_idx\":"), event->parent);
    at = dft__number_uint(PUT(at, ",\"level\":"), event->level);
  }
  /* A value called "name" may need a "name.hex" of its own. */
  if (bad_name) {
    dft_text key = has_key(event, TEXT("name")) ? TEXT("event.name") : TEXT("name");
    at = put_hex(at, line, key, event->name);
  }
  if (at && bad_cat) {
    dft_text key = has_key(event, TEXT("cat")) ? TEXT("event.cat") : TEXT("cat");
    at = put_hex(at, line, key, event->cat);
  }
  return at;
}

size_t dft__line_encode(char *out, size_t room, const dft_event *event, const char *host_hash) {
  line_draft line = {.start = out, .event = event};
  char *at;
  if (room < DFT__LINE_RESERVE) return 0;
  line.limit = out + (room - DFT__LINE_RESERVE);
  at = put_event(out, &line, host_hash);
  if (at) at = put_values(at, &line);
  if (!at) return 0;
  if (line.counter_args && at > line.counter_args) { /* every argument has a comma before it: the first one's goes */
    memmove(line.counter_args, line.counter_args + 1, (size_t)(at - line.counter_args) - 1);
    at--;
  }
  return (size_t)(PUT(at, "}}\n") - out);
}

/* At most `most` bytes, not ending inside a character, which has up to three bytes after its first. */
static dft_text cut_text(dft_text text, size_t most) {
  size_t least = most - 3;
  if (text.len <= most) return text;
  text.len = most;
  while (text.len > least && ((unsigned char)text.text[text.len] & 0xc0) == 0x80) text.len--;
  return text;
}

size_t dft__line_encode_short(char *out, size_t room, const dft_event *event, const char *host_hash) {
  dft_value cut = {.key = TEXT("cut"), .type = DFT_INT, .value.i = 1};
  dft_event less = *event;
  less.name = cut_text(event->name, 512);
  less.cat = cut_text(event->cat, 512);
  less.value_count = 1;
  less.values = &cut;
  return dft__line_encode(out, room, &less, host_hash);
}
