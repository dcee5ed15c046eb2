/* plain.c - events as the JSON lines show them.
 * SPDX-License-Identifier: MIT */
#include "plain.h"

#include <stdio.h>
#include <stdlib.h>

#include "codec/escape.h"

#define TEXT(literal) ((dft_text){(literal), sizeof(literal) - 1})

static int same_text(dft_text a, dft_text b) {
  return a.len == b.len && (a.len == 0 || memcmp(a.text, b.text, a.len) == 0);
}

static int is_reserved(dft_text key) {
  return same_text(key, TEXT("hhash")) || same_text(key, TEXT("p_idx")) || same_text(key, TEXT("level"));
}

int dft__h5_plain_text(dft_text text) {
  const unsigned char *bytes = (const unsigned char *)text.text;
  size_t i = 0;
  while (i < text.len) {
    uint64_t word = 0;
    size_t len;
    if (text.len - i >= 8) memcpy(&word, bytes + i, 8);
    if (text.len - i >= 8 && !(word & 0x8080808080808080u)) {
      i += 8;
    } else if (bytes[i] < 0x80) {
      i++;
    } else if ((len = dft__escape_character_len(bytes + i, text.len - i)) != 0) {
      i += len;
    } else {
      return 0;
    }
  }
  return 1;
}

int dft__h5_plain_key(dft_text key) {
  return key.len && !is_reserved(key) && dft__h5_plain_text(key);
}

int dft__h5_plain_values(const dft_event *event) {
  for (uint32_t i = 0; i < event->value_count; i++) {
    const dft_value *value = &event->values[i];
    if (value->cut_from || value->type < DFT_INT || value->type > DFT_PATH) return 0;
    if ((value->type == DFT_STRING || value->type == DFT_PATH) && !dft__h5_plain_text(value->value.s)) return 0;
  }
  return 1;
}

/* ---- Memory ------------------------------------------------------------------------------------------------------- */

static char *take(dft__h5_plain *plain, size_t bytes) {
  void *block = malloc(bytes ? bytes : 1);
  void **blocks = plain->blocks;
  if (plain->block_count == plain->block_room) {
    blocks = realloc(plain->blocks, (plain->block_room + 64) * sizeof blocks[0]);
    if (blocks) {
      plain->blocks = blocks;
      plain->block_room += 64;
    }
  }
  if (!block || !blocks) {
    free(block);
    return NULL;
  }
  plain->blocks[plain->block_count++] = block;
  return block;
}

void dft__h5_plain_free(dft__h5_plain *plain) {
  for (uint32_t i = 0; i < plain->block_count; i++) free(plain->blocks[i]);
  free(plain->blocks);
  free(plain->values);
}

static int add(dft__h5_plain *plain, dft_value value) {
  if (!value.key.text) return 0;
  plain->values[plain->event.value_count++] = value;
  return 1;
}

/* ---- Texts -------------------------------------------------------------------------------------------------------- */

static dft_text replaced(dft__h5_plain *plain, dft_text text) {
  const unsigned char *bytes = (const unsigned char *)text.text;
  char *out = take(plain, text.len * 3);
  size_t len = 0;
  for (size_t i = 0; out && i < text.len;) {
    size_t good = bytes[i] < 0x80 ? 1 : dft__escape_character_len(bytes + i, text.len - i);
    memcpy(out + len, good ? text.text + i : "\xef\xbf\xbd", good ? good : 3);
    len += good ? good : 3;
    i += good ? good : 1;
  }
  return (dft_text){out, len};
}

static dft_text hex_of(dft__h5_plain *plain, dft_text text) {
  char *out = take(plain, text.len * 2);
  if (out) dft__escape_hex(out, out + text.len * 2, text);
  return (dft_text){out, text.len * 2};
}

/* ---- Keys --------------------------------------------------------------------------------------------------------- */

static int is_taken(const dft__h5_plain *plain, const dft_event *from, dft_text key) {
  for (uint32_t i = 0; i < plain->event.value_count; i++) {
    if (same_text(plain->values[i].key, key)) return 1;
  }
  for (uint32_t i = 0; i < from->value_count; i++) {
    if (same_text(from->values[i].key, key)) return 1;
  }
  return 0;
}

/* A key that is not as the user gave it. Its text is NULL without memory. */
static dft_text made_key(dft__h5_plain *plain, const dft_event *from, dft_text key, const char *suffix) {
  unsigned prefixes = (unsigned)is_reserved(key);
  dft_text made;
  do {
    int is_fine = dft__h5_plain_text(key);
    dft_text shown = !key.len ? TEXT("_") : is_fine ? key : replaced(plain, key);
    dft_text hex = is_fine ? TEXT("") : hex_of(plain, key);
    char *at = take(plain, (size_t)prefixes * 4 + shown.len + 1 + hex.len + strlen(suffix));
    made = (dft_text){at, 0};
    if (!at || !shown.text || !hex.text) return (dft_text){NULL, 0};
    for (unsigned i = 0; i < prefixes; i++) at = (char *)memcpy(at, "arg.", 4) + 4;
    at = (char *)memcpy(at, shown.text, shown.len) + shown.len;
    if (!is_fine) {
      *at++ = '.';
      at = (char *)memcpy(at, hex.text, hex.len) + hex.len;
    }
    at = (char *)memcpy(at, suffix, strlen(suffix)) + strlen(suffix);
    made.len = (size_t)(at - made.text);
    prefixes++;
  } while (is_taken(plain, from, made));
  return made;
}

/* ---- Events ------------------------------------------------------------------------------------------------------- */

static int add_hex(dft__h5_plain *plain, const dft_event *from, dft_text key, dft_text bytes) {
  dft_value value = {.key = made_key(plain, from, key, ".hex"), .type = DFT_STRING, .value.s = hex_of(plain, bytes)};
  return value.value.s.text && add(plain, value);
}

static int has_key(const dft_event *event, dft_text key) {
  for (uint32_t i = 0; i < event->value_count; i++) {
    if (same_text(event->values[i].key, key)) return 1;
  }
  return 0;
}

/* The event's own name or category. */
static int set_text(dft__h5_plain *plain, const dft_event *from, dft_text *text, dft_text key, dft_text other) {
  dft_text given = *text;
  if (!given.len) *text = TEXT("(unnamed)");
  if (dft__h5_plain_text(given)) return 1;
  *text = replaced(plain, given);
  return text->text && add_hex(plain, from, has_key(from, key) ? other : key, given);
}

static int add_value(dft__h5_plain *plain, const dft_event *from, const dft_value *value) {
  int is_text = value->type == DFT_STRING || value->type == DFT_PATH;
  int is_bad = is_text && !dft__h5_plain_text(value->value.s);
  dft_value own = *value;
  own.key_index = 0;
  own.cut_from = 0;
  if (value->type < DFT_INT || value->type > DFT_PATH) return 1;
  if (!dft__h5_plain_key(value->key)) own.key = made_key(plain, from, value->key, "");
  if (is_bad) own.value.s = replaced(plain, value->value.s);
  if ((is_bad && !own.value.s.text) || !add(plain, own)) return 0;
  if (is_bad && !add_hex(plain, from, value->key, value->value.s)) return 0;
  if (is_text && value->cut_from) {
    dft_value cut = {.key = made_key(plain, from, value->key, ".cut"), .type = DFT_UINT, .value.u = value->cut_from};
    return add(plain, cut);
  }
  return 1;
}

int dft__h5_plain_make(dft__h5_plain *plain, const dft_event *event) {
  int is_fine;
  memset(plain, 0, sizeof *plain);
  plain->event = *event;
  plain->event.site_index = 0;
  plain->event.value_count = 0;
  plain->values = calloc((size_t)event->value_count * 3 + 2, sizeof plain->values[0]);
  if (!plain->values) return 0;
  plain->event.values = plain->values;
  is_fine = set_text(plain, event, &plain->event.name, TEXT("name"), TEXT("event.name")) &&
            set_text(plain, event, &plain->event.cat, TEXT("cat"), TEXT("event.cat"));
  for (uint32_t i = 0; is_fine && i < event->value_count; i++) {
    uint32_t later = i + 1;
    while (later < event->value_count && !same_text(event->values[i].key, event->values[later].key)) later++;
    if (later == event->value_count) is_fine = add_value(plain, event, &event->values[i]);
  }
  return is_fine;
}
