/* entity.c - entities: typed things that events use and make, as metadata records EH, ET and ER.
 *
 * Each is declared once per process. The registered names in the spool remember what was declared.
 * SPDX-License-Identifier: MIT */
#include "base/hash.h"
#include "base/signals.h"
#include "emit.h"
#include "spool/intern.h"

#define TYPE_MAX 31
#define TEXT_MAX 255
#define RELATION_FIRST 16 /* between entities; those below are between an event and an entity */
#define RELATION_LAST 22

/* FNV-1a with an offset basis of its own, fixed by the format. */
static uint64_t fnv(uint64_t hash, const char *text, size_t len) {
  for (size_t i = 0; i < len; i++) hash = (hash ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
  return hash;
}

static uint64_t entity_id(const char *type, size_t type_len, const char *key, size_t key_len) {
  uint64_t hash = fnv(UINT64_C(1469598103934665603), type, type_len);
  hash = fnv(fnv(hash, "\x1f", 1), key, key_len);
  return hash ? hash : 1;
}

/* Letters, digits and some signs as they are, all else as '_'. */
static size_t clean(char *out, size_t most, const char *text, size_t len) {
  static const char allowed[] = "_-.:/@+=,~ ";
  if (!text) len = 0;
  if (len > most) len = most;
  for (size_t i = 0; i < len; i++) {
    char c = text[i];
    int is_fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  (c && strchr(allowed, c));
    out[i] = is_fine ? c : '_';
  }
  return len;
}

/* Nonzero for the first caller with this text in the session. Names are registered once, so the caller that marks the
 * new name is the first; without room for more names, every caller is. */
static int is_first(const char *text, size_t len) {
  uint64_t before = dft__signals_block(); /* what is found must be of the spool that is marked */
  dft__spool *spool = dft__thread_spool();
  uint32_t ref = dft__intern(spool, DFT__NAME_TEXT, 0, text, len);
  dft__name *name = (dft__name *)(spool->base + (uint64_t)ref * 16);
  uint64_t none = 0;
  int is_new = !ref || atomic_compare_exchange_strong(&name->defined, &none, 1);
  dft__signals_restore(before);
  return is_new;
}

uint64_t dft_entity_declare_n(const char *type, size_t type_len, const char *key, size_t key_len, int32_t store,
                              const char *uri, size_t uri_len) {
  dft__own own;
  char mark[] = "entity\x1f................", hex[17], clean_type[TYPE_MAX], clean_uri[TEXT_MAX];
  dft__ready_item items[4];
  uint64_t id;
  if (!type || !type_len || !key || !dft__thread_is_recording(&own)) return 0;
  id = entity_id(type, type_len, key, key_len);
  dft__hex(hex, id); /* printf would take 2 KiB of the stack; likewise below */
  memcpy(mark + sizeof mark - sizeof hex, hex, sizeof hex);
  if (!is_first(mark, sizeof mark - 1)) return id;
  DFT__SET(((dft__header *)own.base)->annotated, 1);
  dft__item_text(&items[0], 0, "id", 2, DFT_STRING, hex, 16);
  dft__item_text(&items[1], 0, "type", 4, DFT_STRING, clean_type, clean(clean_type, TYPE_MAX, type, type_len));
  dft__item_number(&items[2], 0, "store", 5, DFT_INT, (uint64_t)(int64_t)store);
  dft__item_text(&items[3], 0, "uri", 3, DFT_STRING, clean_uri, clean(clean_uri, TEXT_MAX, uri, uri_len));
  dft__emit_meta(&own, "EH", items, 4);
  return id;
}

void dft_entity_type_n(const char *type, size_t type_len, int32_t role, const char *description,
                       size_t description_len) {
  dft__own own;
  char mark[5 + TYPE_MAX] = "type\x1f", clean_text[TEXT_MAX];
  char *clean_type = mark + 5;
  dft__ready_item items[3];
  size_t len;
  if (!type || !type_len || !dft__thread_is_recording(&own)) return;
  len = clean(clean_type, TYPE_MAX, type, type_len);
  if (!is_first(mark, 5 + len)) return;
  DFT__SET(((dft__header *)own.base)->annotated, 1);
  dft__item_text(&items[0], 0, "type", 4, DFT_STRING, clean_type, len);
  dft__item_number(&items[1], 0, "role", 4, DFT_INT, (uint64_t)(int64_t)role);
  dft__item_text(&items[2], 0, "description", 11, DFT_STRING, clean_text,
                 clean(clean_text, TEXT_MAX, description, description_len));
  dft__emit_meta(&own, "ET", items, 3);
}

void dft_entity_relate(int32_t relation, uint64_t subject, uint64_t object) {
  dft__own own;
  char subject_hex[17], object_hex[17];
  dft__ready_item items[3];
  if (relation < RELATION_FIRST || relation > RELATION_LAST || !subject || !object || !dft__thread_is_recording(&own))
    return;
  DFT__SET(((dft__header *)own.base)->annotated, 1);
  dft__hex(subject_hex, subject);
  dft__hex(object_hex, object);
  dft__item_number(&items[0], 0, "relation", 8, DFT_INT, (uint64_t)relation);
  dft__item_text(&items[1], 0, "subject", 7, DFT_STRING, subject_hex, 16);
  dft__item_text(&items[2], 0, "object", 6, DFT_STRING, object_hex, 16);
  dft__emit_meta(&own, "ER", items, 3);
}
