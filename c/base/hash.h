/* hash.h - the one hash of texts: names in the spool, hosts and files in the trace. A pure function of the bytes, the
 * same on every machine, since processes of a job must agree on it. SPDX-License-Identifier: MIT */
#ifndef DFT_HASH_H
#define DFT_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t dft__hash_mix(uint64_t a, uint64_t b) {
  __extension__ typedef unsigned __int128 wide;
  wide product = (wide)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* n bytes, up to 8, as one number; the loads overlap where n is not a power of two. */
static inline uint64_t dft__hash_load(const char *p, size_t n) {
  uint64_t word = 0;
  uint32_t low = 0, high = 0;
  if (n >= 8) {
    memcpy(&word, p, 8);
  } else if (n >= 4) {
    memcpy(&low, p, 4);
    memcpy(&high, p + n - 4, 4);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap32(low) | (uint64_t)__builtin_bswap32(high) << 32;
#endif
    return low | (uint64_t)high << 32;
  } else if (n) {
    return (uint64_t)(unsigned char)p[0] | (uint64_t)(unsigned char)p[n / 2] << 8 |
           (uint64_t)(unsigned char)p[n - 1] << 16;
  }
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  return word;
}

static inline uint64_t dft__hash(const char *text, size_t len, uint64_t seed) {
  const uint64_t k0 = 0x9e3779b97f4a7c15u, k1 = 0xd1b54a32d192ed03u;
  uint64_t h = seed ^ k0 ^ len;
  size_t left = len;
  for (; left > 8; left -= 8, text += 8) h = dft__hash_mix(h ^ dft__hash_load(text, 8), k1);
  h = dft__hash_mix(dft__hash_mix(h ^ dft__hash_load(text, left), k1) ^ len, k0);
  return h ? h : 1;
}

/* A hash as a trace shows it: 16 digits, terminated. */
static inline void dft__hex(char hex[17], uint64_t value) {
  for (int i = 15; i >= 0; i--, value >>= 4) hex[i] = "0123456789abcdef"[value & 15];
  hex[16] = '\0';
}

#endif
