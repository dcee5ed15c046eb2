/* mangled.c - a mangled name while it is read, and the text that was made of it so far.
 * SPDX-License-Identifier: MIT */
#include "mangled.h"

#include <stdio.h>
#include <string.h>

int mangled_take(mangled *name, const char *text) {
  const size_t len = strlen(text);
  if ((size_t)(name->end - name->at) < len || memcmp(name->at, text, len) != 0) return 0;
  name->at += len;
  return 1;
}

int mangled_enter(mangled *name) {
  if (++name->depth > MANGLED_DEPTH || ++name->steps > MANGLED_STEPS) name->is_bad = 1;
  return !name->is_bad;
}

void mangled_leave(mangled *name) {
  name->depth--;
}

uint32_t mangled_number(mangled *name) {
  uint32_t number = 0;
  if (mangled_peek(name, 0) < '0' || mangled_peek(name, 0) > '9') mangled_fail(name);
  for (; mangled_peek(name, 0) >= '0' && mangled_peek(name, 0) <= '9'; name->at++) {
    if (number > 1000000) mangled_fail(name);
    else number = number * 10 + (uint32_t)(mangled_peek(name, 0) - '0');
  }
  return number;
}

uint32_t mangled_sequence(mangled *name) {
  uint32_t number = 0;
  if (mangled_take(name, "_")) return 0;
  for (; !mangled_take(name, "_"); name->at++) {
    char c = mangled_peek(name, 0);
    if (number > 1000000 || !((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z'))) {
      mangled_fail(name);
      return 0;
    }
    number = number * 36 + (uint32_t)(c <= '9' ? c - '0' : c - 'A' + 10);
  }
  return number + 1;
}

dft_text mangled_join(mangled *name, const dft_text *parts, uint32_t count) {
  dft_text whole = {name->room + name->used, 0};
  uint32_t only = 0, others = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (parts[i].len) only = i, others++;
    whole.len += parts[i].len;
  }
  if (name->is_bad || whole.len > MANGLED_ROOM - name->used) return mangled_fail(name);
  if (others < 2) return others ? parts[only] : (dft_text){"", 0};
  for (uint32_t i = 0; i < count; i++) {
    memcpy(name->room + name->used, parts[i].text, parts[i].len);
    name->used += (uint32_t)parts[i].len;
  }
  return whole;
}

dft_text mangled_digits(mangled *name, uint32_t number) {
  char digits[16];
  size_t len = (size_t)snprintf(digits, sizeof digits, "%u", (unsigned)number);
  if (len > MANGLED_ROOM - name->used) return mangled_fail(name);
  memcpy(name->room + name->used, digits, len);
  name->used += (uint32_t)len;
  return (dft_text){name->room + name->used - len, len};
}

void mangled_add_part(mangled *name, type_text part) {
  if (name->is_frozen || name->is_bad) return;
  if (name->part_count == MANGLED_PARTS) name->is_bad = 1;
  else name->parts[name->part_count++] = part;
}
