/* argument.c - arguments of open regions. They wait in the thread's argument area, one region's after the other's, in
 * the form they will have in the record.
 * SPDX-License-Identifier: MIT */
#include "argument.h"

#include <errno.h>
#include <pthread.h>

#include "spool/intern.h"
#include "stack.h"

static int grow(const dft__own *own, uint32_t bytes) {
  int saved = errno;
  int cancel, is_done;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
  is_done = dft__thread_grow_args(own, bytes);
  pthread_setcancelstate(cancel, NULL);
  errno = saved;
  return is_done;
}

/* With its first word, which is stored last, the item becomes part of the list; its new end is marked before. Pairs with the
 * acquire of decode.c, which may read the area of a thread that runs. */
static inline void publish(uint8_t *at, uint32_t bytes, dft__item item) {
  _Atomic uint64_t *words = (_Atomic uint64_t *)at;
  uint64_t word;
  memcpy(&word, &item, sizeof word);
  DFT__SET(words[bytes / 8], 0);
  DFT__RELEASE(words[0], word);
}

/* At the end of the area: an argument of the topmost frame. */
static int append(const dft__own *own, const dft__ready_item *ready, uint32_t bytes) {
  dft__thread *thread = own->thread;
  uint32_t used = dft__own_add32(&thread->args_used, bytes);
  for (;;) {
    uint64_t area = DFT__GET(thread->args);
    uint8_t *at = (uint8_t *)own->base + dft__area_offset(area) + used;
    dft__out out = {at + 8, UINT32_MAX};
    if (DFT__UNLIKELY(used + bytes + 8 > dft__area_room(area))) {
      if (used + bytes < DFT__ARGS_MAX * 8 && grow(own, bytes + 8)) continue;
      dft__own_add32(&thread->args_used, (uint32_t)0 - bytes);
      return 0;
    }
    dft__out_value(&out, ready);
    publish(at, bytes, ready->item);
    atomic_signal_fence(memory_order_seq_cst);
    /* A signal handler may have moved the area in between. */
    if (DFT__LIKELY(DFT__GET(thread->args) == area)) return 1;
  }
}

/* Into the arguments of a frame that is not the topmost: what lies behind makes room. */
static int insert(const dft__own *own, uint32_t depth, const dft__ready_item *ready, uint32_t bytes) {
  dft__thread *thread = own->thread;
  uint32_t top = DFT__GET(thread->depth);
  dft__frame *frames = dft__frames(own);
  uint32_t at = DFT__GET(frames[depth].args);
  uint32_t used = DFT__GET(thread->args_used);
  uint8_t *area;
  dft__out out;
  if (used + bytes + 8 > dft__area_room(DFT__GET(thread->args)) && !grow(own, bytes + 8)) return 0;
  area = (uint8_t *)own->base + dft__area_offset(DFT__GET(thread->args));
  memmove(area + at + bytes, area + at, used + 8 - at);
  DFT__SET(thread->args_used, used + bytes);
  for (uint32_t above = depth; above < top; above++) DFT__SET(frames[above].args, DFT__GET(frames[above].args) + bytes);
  out = (dft__out){area + at, UINT32_MAX};
  dft__out_item(&out, ready);
  return 1;
}

/* The first argument that does not fit leaves a count in its place; there is always room for that. Further ones are counted
 * in the frame. */
static void note_lost(const dft__own *own, uint32_t depth) {
  dft__frame *frame = &dft__frames(own)[depth - 1];
  dft__ready_item lost;
  uint32_t bytes;
  if (DFT__GET(frame->flags) & DFT__FRAME_LOST) {
    if (DFT__GET(frame->flags) >> 31 == 0)
      DFT__SET(frame->flags, DFT__GET(frame->flags) + (1u << DFT__FRAME_LOSS_SHIFT));
    return;
  }
  DFT__SET(frame->flags, DFT__GET(frame->flags) | DFT__FRAME_LOST);
  bytes = dft__item_number(&lost, DFT__KEY_LOST, NULL, 0, DFT_INT, 1);
  if (depth == DFT__GET(own->thread->depth) ? !append(own, &lost, bytes) : !insert(own, depth, &lost, bytes)) {
    dft__count_drop((dft__header *)own->base);
  }
}

static uint32_t bytes_at(const uint8_t *at) {
  uint64_t key_len = 0;
  dft__item item;
  memcpy(&item, at, sizeof item);
  if (item.key == DFT__KEY_INLINE) memcpy(&key_len, at + sizeof item, sizeof key_len);
  return dft__item_bytes(&item, (uint32_t)key_len);
}

void dft__argument_settle(const dft__own *own, const dft__frame *frame, uint32_t args_end) {
  uint8_t *area = (uint8_t *)own->base + dft__area_offset(DFT__GET(own->thread->args));
  uint64_t lost = 1 + (DFT__GET(frame->flags) >> DFT__FRAME_LOSS_SHIFT);
  for (uint32_t at = DFT__GET(frame->args); at < args_end; at += bytes_at(area + at)) {
    dft__item item;
    memcpy(&item, area + at, sizeof item);
    if (item.key == DFT__KEY_LOST) memcpy(area + at + sizeof item, &lost, sizeof lost);
  }
}

static void add_at(const dft__own *own, uint32_t depth, const dft__ready_item *ready, uint32_t bytes) {
  uint32_t top = DFT__GET(own->thread->depth);
  dft__frame *frame = &dft__frames(own)[depth - 1];
  uint32_t end = DFT__LIKELY(depth == top) ? DFT__GET(own->thread->args_used) : DFT__GET(frame[1].args);
  if (DFT__UNLIKELY(DFT__GET(frame->flags) & DFT__FRAME_MUTED)) return;
  if (DFT__UNLIKELY(end - DFT__GET(frame->args) + bytes + 16 > DFT__ARGS_MAX)) {
    note_lost(own, depth);
  } else if (DFT__LIKELY(depth == top) ? !append(own, ready, bytes) : !insert(own, depth, ready, bytes)) {
    note_lost(own, depth);
  }
}

void dft__argument_add(const dft__own *own, const dft__ready_item *ready, uint32_t bytes) {
  add_at(own, DFT__GET(own->thread->depth), ready, bytes);
}

/* The region to update, as index + 1; 0: none. Frames without a place swallow what is meant for them. */
static inline uint32_t target(dft__own *own, dft_region region) {
  uint32_t depth;
  dft__frame *frame;
  if (DFT__UNLIKELY(dft__thread_take(own) == DFT__OFF) || DFT__UNLIKELY(DFT__GET(own->thread->overflow))) return 0;
  depth = DFT__GET(own->thread->depth);
  if (!depth) return 0;
  frame = &dft__frames(own)[depth - 1];
  if (DFT__LIKELY(DFT__GET(frame->id) && (!region || DFT__GET(frame->id) == region) &&
                  !(DFT__GET(frame->flags) & DFT__FRAME_LEVEL))) {
    return depth;
  }
  return dft__stack_find(own, region);
}

/* ---- The usual case: a known key, for the innermost region, with room ------------------------------------------------- */

#define FAST_TEXT 256u

/* The reference of a key that is registered; 0 when this is not the usual case. */
static inline uint32_t known_name(dft__own *own, const char *key, size_t len) {
  if (DFT__UNLIKELY(!dft__own_copy(own) || !key || !len || len > DFT__NAME_MAX)) return 0;
  return dft__name_find(own->base, DFT__NAME_KEY, 0, key, len);
}

static inline uint32_t known_key(dft__own *own, const dft_key *key) {
  uint64_t cache = key ? __atomic_load_n(&key->cache, __ATOMIC_RELAXED) : 0;
  return dft__own_copy(own) && (uint32_t)(cache >> 32) == (uint32_t)own->session ? (uint32_t)cache : 0;
}

/* Reserves an item of `bytes`; NULL when this is not the usual case. *area is what the thread's area must still be when the
 * item is written: a signal handler may have moved it. */
static inline uint8_t *fast_item(const dft__own *own, dft_region region, uint32_t ref, uint32_t bytes, uint64_t *area) {
  dft__thread *thread = own->thread;
  uint32_t depth, used;
  const dft__frame *frame;
  uint64_t id;
  if (DFT__UNLIKELY(!ref)) return NULL;
  depth = DFT__GET(thread->depth);
  frame = dft__frames(own) + depth - 1;
  if (DFT__UNLIKELY(!depth || DFT__GET(thread->overflow))) return NULL;
  id = DFT__GET(frame->id);
  if (DFT__UNLIKELY(!id || DFT__GET(frame->flags) || (region && region != id))) return NULL;
  *area = DFT__GET(thread->args);
  used = dft__own_add32(&thread->args_used, bytes);
  if (DFT__UNLIKELY(used + bytes + 8 > dft__area_room(*area) ||
                    used + bytes - DFT__GET(frame->args) > DFT__ARGS_MAX / 2)) {
    dft__own_add32(&thread->args_used, (uint32_t)0 - bytes);
    return NULL;
  }
  return (uint8_t *)own->base + dft__area_offset(*area) + used;
}

/* Nonzero when the item stayed where it was reserved; else it must be taken back and added the slow way. */
static inline int is_kept(const dft__own *own, uint64_t area, uint32_t bytes) {
  atomic_signal_fence(memory_order_seq_cst);
  if (DFT__LIKELY(DFT__GET(own->thread->args) == area)) return 1;
  dft__own_add32(&own->thread->args_used, (uint32_t)0 - bytes);
  return 0;
}

/* Nonzero when it is done. */
static inline int fast_number(const dft__own *own, dft_region region, uint32_t ref, uint32_t type, uint64_t value) {
  uint64_t area;
  uint8_t *at = fast_item(own, region, ref, 16, &area);
  if (DFT__UNLIKELY(!at)) return 0;
  memcpy(at + 8, &value, 8);
  publish(at, 16, (dft__item){ref, dft__item_info(type, 0, 8)});
  return is_kept(own, area, 16);
}

__attribute__((noinline)) static void update_number_slow(dft_region region, const char *key, size_t key_len,
                                                         uint32_t type, uint64_t value) {
  dft__own own;
  uint32_t depth = target(&own, region);
  dft__ready_item ready;
  uint32_t bytes;
  if (!depth) return;
  bytes = dft__item_number(&ready, 0, key, key_len, type, value);
  add_at(&own, depth, &ready, bytes);
}

static inline void update_number(dft_region region, const char *key, size_t key_len, uint32_t type, uint64_t value) {
  dft__own own;
  if (DFT__LIKELY(fast_number(&own, region, known_name(&own, key, key_len), type, value))) return;
  update_number_slow(region, key, key_len, type, value);
}

void dft_update_int_n(dft_region region, const char *key, size_t key_len, int64_t value) {
  update_number(region, key, key_len, DFT_INT, (uint64_t)value);
}

void dft_update_uint_n(dft_region region, const char *key, size_t key_len, uint64_t value) {
  update_number(region, key, key_len, DFT_UINT, value);
}

void dft_update_double_n(dft_region region, const char *key, size_t key_len, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  update_number(region, key, key_len, DFT_DOUBLE, bits);
}

void dft_update_bool_n(dft_region region, const char *key, size_t key_len, int value) {
  update_number(region, key, key_len, DFT_BOOL, value != 0);
}

/* A short text, padded with zeros to 8. */
static inline void copy_padded(uint8_t *to, const char *text, uint32_t len) {
  uint64_t word;
  for (; len >= 8; len -= 8, text += 8, to += 8) {
    memcpy(&word, text, 8);
    memcpy(to, &word, 8);
  }
  if (!len) return;
  word = 0;
  for (uint32_t i = 0; i < len; i++) word |= (uint64_t)(unsigned char)text[i] << (8 * i);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  memcpy(to, &word, 8);
}

/* Nonzero when it is done. */
static inline int fast_text(const dft__own *own, dft_region region, uint32_t ref, const char *text, size_t len) {
  uint32_t bytes = 8 + dft__pad8((uint32_t)len);
  uint64_t area;
  uint8_t *at = DFT__LIKELY(text && len <= FAST_TEXT) ? fast_item(own, region, ref, bytes, &area) : NULL;
  if (DFT__UNLIKELY(!at)) return 0;
  copy_padded(at + 8, text, (uint32_t)len);
  publish(at, bytes, (dft__item){ref, dft__item_info(DFT_STRING, 0, (uint32_t)len)});
  return is_kept(own, area, bytes);
}

__attribute__((noinline)) static void update_string_slow(dft_region region, const char *key, size_t key_len,
                                                         const char *text, size_t len) {
  dft__own own;
  uint32_t depth = target(&own, region);
  dft__ready_item ready;
  uint32_t bytes;
  if (!depth) return;
  bytes = dft__item_text(&ready, 0, key, key_len, DFT_STRING, text, len);
  add_at(&own, depth, &ready, bytes);
}

void dft_update_string_n(dft_region region, const char *key, size_t key_len, const char *text, size_t len) {
  dft__own own;
  if (DFT__LIKELY(fast_text(&own, region, known_name(&own, key, key_len), text, len))) return;
  update_string_slow(region, key, key_len, text, len);
}

/* ---- Others ------------------------------------------------------------------------------------------------------- */

void dft_update_arg(dft_region region, const dft_arg *arg) {
  dft__own own;
  dft__ready_item ready;
  uint32_t depth;
  uint32_t bytes;
  if (!dft_is_active() || !arg) return;
  if (arg->type == DFT_INT || arg->type == DFT_UINT || arg->type == DFT_DOUBLE) {
    if (fast_number(&own, region, known_key(&own, arg->key), arg->type, arg->value.u)) return;
  } else if (arg->type == DFT_STRING) {
    if (fast_text(&own, region, known_key(&own, arg->key), arg->value.s.text, arg->value.s.len)) return;
  }
  if (!(depth = target(&own, region))) return;
  bytes = dft__item_arg(&ready, arg);
  add_at(&own, depth, &ready, bytes);
}

void dft_region_relate(dft_region region, int32_t relation, uint64_t entity) {
  dft__own own;
  dft__ready_item ready;
  uint32_t depth;
  uint32_t bytes;
  if (!dft_is_active() || relation < 0 || relation > 3 || !entity || !(depth = target(&own, region))) return;
  bytes = dft__item_number(&ready, DFT__KEY_RELATION + (uint32_t)relation, NULL, 0, DFT_UINT, entity);
  add_at(&own, depth, &ready, bytes);
}
