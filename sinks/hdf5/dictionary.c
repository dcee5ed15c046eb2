/* dictionary.c - texts to row numbers.
 * SPDX-License-Identifier: MIT */
#include "dictionary.h"

#include <stdlib.h>

#define FIRST_ROOM 256u
#define PROBES 32u

int dft__h5_dictionary_make(dft__h5_dictionary *dictionary, uint32_t most) {
  dictionary->slots = calloc(FIRST_ROOM, sizeof dictionary->slots[0]);
  dictionary->count = 0;
  dictionary->room = FIRST_ROOM;
  dictionary->most = most;
  return dictionary->slots != NULL;
}

void dft__h5_dictionary_free(dft__h5_dictionary *dictionary) {
  free(dictionary->slots);
}

static uint64_t mix(uint64_t a, uint64_t b) {
  __extension__ typedef unsigned __int128 wide;
  wide product = (wide)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static void hash_text(dft_text text, uint64_t hash[2]) {
  uint64_t a = 0x8ebc6af09c88c6e3u;
  uint64_t b = 0x589965cc75374cc3u;
  for (size_t i = 0; i < text.len; i += 8) {
    uint64_t word = 0;
    memcpy(&word, text.text + i, text.len - i < 8 ? text.len - i : 8);
    a = mix(a ^ word, 0xa0761d6478bd642fu);
    b = mix(b + word, 0xe7037ed1a0b428dbu) + a;
  }
  /* The length tells a text from one with zeros behind it; mixed in with the first word it could cancel it out. */
  hash[0] = mix(a ^ text.len, 0x9e3779b97f4a7c15u) | 1; /* never 0 */
  hash[1] = mix(b + text.len, 0xd1b54a32d192ed03u);
}

/* The slot of this hash, or the one it shall take: an empty one, or the first when there is none near. */
static struct dft__h5_slot *find(const dft__h5_dictionary *dictionary, const uint64_t hash[2]) {
  uint32_t mask = dictionary->room - 1;
  for (uint32_t i = 0; i < PROBES; i++) {
    struct dft__h5_slot *slot = &dictionary->slots[(hash[1] + i) & mask];
    if (!slot->hash[0] || (slot->hash[0] == hash[0] && slot->hash[1] == hash[1])) return slot;
  }
  return &dictionary->slots[hash[1] & mask];
}

/* Without memory it stays as it is. */
static void grow(dft__h5_dictionary *dictionary) {
  dft__h5_dictionary larger = {.room = dictionary->room * 2, .most = dictionary->most};
  larger.slots = calloc(larger.room, sizeof larger.slots[0]);
  if (!larger.slots) return;
  for (uint32_t i = 0; i < dictionary->room; i++) {
    const struct dft__h5_slot *old = &dictionary->slots[i];
    struct dft__h5_slot *slot = old->hash[0] ? find(&larger, old->hash) : NULL;
    if (slot) larger.count += !slot->hash[0];
    if (slot) *slot = *old;
  }
  free(dictionary->slots);
  *dictionary = larger;
}

uint64_t dft__h5_dictionary_row(dft__h5_dictionary *dictionary, dft_text text, uint64_t new_row) {
  uint64_t hash[2];
  struct dft__h5_slot *slot;
  hash_text(text, hash);
  slot = find(dictionary, hash);
  if (slot->hash[0] == hash[0] && slot->hash[1] == hash[1]) return slot->row;
  if (dictionary->count * 2 >= dictionary->room && dictionary->room < dictionary->most) {
    grow(dictionary);
    slot = find(dictionary, hash);
  }
  dictionary->count += !slot->hash[0];
  *slot = (struct dft__h5_slot){{hash[0], hash[1]}, new_row};
  return new_row;
}
