/* item.h - items: arguments made ready for a record.
 *
 * Everything here runs on the thread whose event gets the argument.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_ITEM_H
#define DFT_ITEM_H

#include "thread.h"

/* Bytes on their way into a record's cells, which have a head each, or into contiguous memory (left: UINT32_MAX). */
typedef struct dft__out {
  uint8_t *at;
  uint32_t left;
} dft__out;

static inline void dft__out_bytes(dft__out *out, const void *bytes, uint32_t len) {
  const uint8_t *from = bytes;
  while (len) {
    uint32_t part;
    if (!out->left) {
      out->at += DFT__CELL - DFT__CELL_ARGS; /* the head of the next cell */
      out->left = DFT__CELL_ARGS;
    }
    part = len < out->left ? len : out->left;
    memcpy(out->at, from, part);
    out->at += part;
    out->left -= part;
    from += part;
    len -= part;
  }
}

/* The length up to which to keep a text: at most `most`, and not inside a character, which has up to three bytes after its
 * first. Text that is not UTF-8 is cut anywhere. */
static inline size_t dft__text_limit(const char *text, size_t len, size_t most) {
  size_t end = most;
  if (len <= most) return len;
  while (most - end < 4 && ((unsigned char)text[end] & 0xc0) == 0x80) end--;
  return most - end < 4 ? end : most;
}

/* An argument made ready: its texts within limits, its key as reference. */
typedef struct dft__ready_item {
  dft__item item;
  const char *key; /* of an item whose key travels with it */
  uint32_t key_len;
  uint64_t value; /* when text is NULL */
  const char *text;
  uint64_t cut_from;
} dft__ready_item;

static inline uint32_t dft__ready_bytes(const dft__ready_item *ready) {
  return dft__item_bytes(&ready->item, ready->key_len);
}

/* Sets *ready and returns the bytes that it takes in a record. A key of 0 is registered from key and key_len, where there
 * is room. */
uint32_t dft__item_number(dft__ready_item *ready, uint32_t key, const char *key_text, size_t key_len, uint32_t type,
                          uint64_t value);
uint32_t dft__item_text(dft__ready_item *ready, uint32_t key, const char *key_text, size_t key_len, uint32_t type,
                        const char *text, size_t len);
uint32_t dft__item_arg(dft__ready_item *ready, const dft_arg *arg);

/* All of the item but its first 8 bytes. */
void dft__out_value(dft__out *out, const dft__ready_item *ready);
static inline void dft__out_item(dft__out *out, const dft__ready_item *ready) {
  dft__out_bytes(out, &ready->item, sizeof ready->item);
  dft__out_value(out, ready);
}

/* The reference of a key; 0 when it must travel with the value. */
uint32_t dft__key_ref(const char *key, size_t len);
/* The same of a static key, which is looked up once a session. */
uint32_t dft__key_register(dft_key *key);
static inline uint32_t dft__key_cached(dft_key *key) {
  uint64_t cache = __atomic_load_n(&key->cache, __ATOMIC_RELAXED);
  if (DFT__LIKELY((uint32_t)(cache >> 32) == (uint32_t)dft__self.session && (uint32_t)cache)) return (uint32_t)cache;
  return dft__key_register(key);
}

#endif
