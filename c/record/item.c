/* item.c - items: arguments made ready for a record.
 * SPDX-License-Identifier: MIT */
#include "item.h"

#include "spool/intern.h"

/* ---- Bytes -------------------------------------------------------------------------------------------------------- */

static void out_padding(dft__out *out, uint32_t len) {
  static const uint8_t zeros[8];
  dft__out_bytes(out, zeros, dft__pad8(len) - len);
}

/* ---- Items -------------------------------------------------------------------------------------------------------- */

static size_t limited(const char *text, size_t len, size_t most) {
  return text ? dft__text_limit(text, len, most) : 0;
}

uint32_t dft__key_ref(const char *key, size_t len) {
  len = limited(key, len, DFT__NAME_MAX);
  return dft__intern(dft__thread_spool(), DFT__NAME_KEY, 0, key ? key : "", len);
}

static inline uint32_t known_key(const char *key, size_t len) {
  uint32_t ref = DFT__LIKELY(key && len && len <= DFT__NAME_MAX)
                   ? dft__name_find(dft__self.base, DFT__NAME_KEY, 0, key, len)
                   : 0;
  return DFT__LIKELY(ref != 0) ? ref : dft__key_ref(key, len);
}

static void start_item(dft__ready_item *ready, uint32_t key, const char *key_text, size_t key_len) {
  if (!key) key = known_key(key_text, key_len);
  ready->item.key = key ? key : DFT__KEY_INLINE;
  ready->key = key_text ? key_text : "";
  ready->key_len = (uint32_t)limited(key_text, key_len, DFT__NAME_MAX);
  ready->text = NULL;
  ready->value = 0;
  ready->cut_from = 0;
}

uint32_t dft__item_number(dft__ready_item *ready, uint32_t key, const char *key_text, size_t key_len, uint32_t type,
                          uint64_t value) {
  start_item(ready, key, key_text, key_len);
  ready->item.info = dft__item_info(type, 0, 8);
  ready->value = value;
  return dft__ready_bytes(ready);
}

uint32_t dft__item_text(dft__ready_item *ready, uint32_t key, const char *key_text, size_t key_len, uint32_t type,
                        const char *text, size_t len) {
  size_t kept = limited(text, len, DFT__TEXT_MAX);
  uint32_t flags = type == DFT_PATH ? DFT__ITEM_TEXT : 0;
  start_item(ready, key, key_text, key_len);
  ready->text = text ? text : "";
  if (text && kept < len) {
    ready->cut_from = len;
    flags |= DFT__ITEM_CUT;
  }
  ready->item.info = dft__item_info(type, flags, (uint32_t)kept);
  return dft__ready_bytes(ready);
}

uint32_t dft__key_register(dft_key *key) {
  uint64_t session = dft__self.session; /* before the lookup: a signal handler may change it */
  uint32_t ref = dft__key_ref(key->name, key->name ? strlen(key->name) : 0);
  __atomic_store_n(&key->cache, session << 32 | ref, __ATOMIC_RELAXED);
  return ref;
}

uint32_t dft__item_arg(dft__ready_item *ready, const dft_arg *arg) {
  uint32_t key = arg->key ? dft__key_cached(arg->key) : 0;
  const char *name = arg->key ? arg->key->name : arg->name;
  size_t name_len = arg->key ? (key || !name ? 0 : strlen(name)) : arg->name_len;
  switch (arg->type) {
    case DFT_STRING: return dft__item_text(ready, key, name, name_len, arg->type, arg->value.s.text, arg->value.s.len);
    case DFT_PATH:
      if (!arg->path) return dft__item_text(ready, key, name, name_len, arg->type, arg->value.s.text, arg->value.s.len);
      return dft__item_number(ready, key, name, name_len, DFT_PATH, arg->path);
    case DFT_BOOL: return dft__item_number(ready, key, name, name_len, DFT_BOOL, arg->value.i != 0);
    case DFT_INT:
    case DFT_UINT:
    case DFT_DOUBLE: return dft__item_number(ready, key, name, name_len, arg->type, arg->value.u);
    default: return dft__item_text(ready, key, name, name_len, DFT_STRING, "(unknown type)", 14);
  }
}

void dft__out_value(dft__out *out, const dft__ready_item *ready) {
  if (ready->item.key == DFT__KEY_INLINE) {
    uint64_t len = ready->key_len;
    dft__out_bytes(out, &len, 8);
    dft__out_bytes(out, ready->key, ready->key_len);
    out_padding(out, ready->key_len);
  }
  if (!ready->text) {
    dft__out_bytes(out, &ready->value, 8);
    return;
  }
  dft__out_bytes(out, ready->text, dft__item_len(&ready->item));
  out_padding(out, dft__item_len(&ready->item));
  if (ready->cut_from) dft__out_bytes(out, &ready->cut_from, 8);
}
