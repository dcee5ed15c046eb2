/* test_deflate.c - what our own compressor makes comes back from zlib's inflate, byte for byte.
 * SPDX-License-Identifier: MIT */
#include "codec/deflate.h"

#include <zlib.h>

#include "check.h"

#define MOST ((size_t)300000)
#define GUARD 64

typedef size_t compress_function(const void *, size_t, void *, size_t);

static uint8_t *text;
static uint8_t *out;
static uint8_t *back;

static uint32_t random_bits(void) {
  static uint64_t seed = 7;
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(seed >> 33);
}

static size_t check_as(compress_function *compress, int window_bits, size_t len) {
  z_stream stream = {0};
  size_t bound = DFT__DEFLATE_BOUND(len);
  size_t made;
  memset(out + bound, '#', GUARD);
  made = compress(text, len, out, bound);
  CHECK(made > 0 && made <= bound);
  for (size_t beyond = 0; beyond < GUARD; beyond++) CHECK_INT(out[bound + beyond], '#');
  CHECK_INT(inflateInit2(&stream, window_bits), Z_OK);
  stream.next_in = out;
  stream.avail_in = (uInt)made;
  stream.next_out = back;
  stream.avail_out = (uInt)MOST;
  CHECK_INT(inflate(&stream, Z_FINISH), Z_STREAM_END); /* which looks at sum and length, too */
  CHECK_UINT(stream.avail_in, 0);
  CHECK_UINT(stream.total_out, len);
  CHECK(memcmp(back, text, len) == 0);
  inflateEnd(&stream);
  return made;
}

/* Its length as a member. */
static size_t check(size_t len) {
  check_as(dft__deflate_zlib, 15, len);
  return check_as(dft__deflate_gzip, 15 + 16, len);
}

/* Around what fits a match, a block, a sum. */
static void every_length_comes_back(void) {
  static const size_t lengths[] = {5551, 5552, 5553, 32767, 32768, 32769, 32771, 65535, 65536, 65537, 98304, MOST};
  for (size_t i = 0; i < MOST; i++) text[i] = (uint8_t) "ab\n"[random_bits() % 3];
  for (size_t len = 0; len < 600; len++) check(len);
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) check(lengths[i]);
}

static void every_byte_comes_back(void) {
  for (size_t i = 0; i < 65536; i++) text[i] = (uint8_t)i;
  check(256);
  for (size_t i = 0; i < 65536; i++) text[i] = (uint8_t)(i >> 8 ^ i);
  check(65536);
}

/* Runs of every length, at every distance that has a code of its own. */
static void every_match_comes_back(void) {
  for (size_t run = 1; run < 600; run++) {
    memset(text, 'x', run);
    memcpy(text + run, "yz", 2);
    memset(text + run + 2, 'x', run);
    check(2 * run + 2);
  }
  for (size_t distance = 1; distance < 32768 - 300; distance += distance < 70 ? 1 : distance / 17) {
    for (size_t i = 0; i < distance; i++) text[i] = (uint8_t)random_bits();
    for (size_t i = distance; i < distance + 258; i++) text[i] = text[i - distance];
    check(distance + 258);
  }
}

/* Matches that end at the last byte, or just before it, of a block and of the text. */
static void ends_of_blocks_come_back(void) {
  for (size_t i = 0; i < MOST; i++) text[i] = (uint8_t)('a' + i % 7);
  for (size_t len = 32768 - 270; len < 32768 + 270; len++) check(len);
  for (size_t i = 32768 - 3; i < 32768; i++) text[i] = (uint8_t)random_bits();
  check(40000);
}

static void noise_of_any_kind_comes_back(void) {
  for (int round = 0; round < 400; round++) {
    size_t len = random_bits() % (round % 10 ? 3000 : MOST);
    uint32_t letters = 1 + random_bits() % 256;
    for (size_t i = 0; i < len; i++) {
      size_t from = random_bits() % (i + 1);
      size_t piece = random_bits() % 400;
      if (round % 2 && i && random_bits() % 50 == 0)
        for (; piece && i < len; piece--) text[i++] = text[from++];
      if (i < len) text[i] = (uint8_t)(random_bits() % letters);
    }
    check(len);
  }
}

static void what_cannot_be_compressed_fits_into_the_bound(void) {
  for (size_t i = 0; i < MOST; i++) text[i] = (uint8_t)(144 + random_bits() % 112); /* nine bits each */
  CHECK(check(MOST) > MOST);
}

static void lines_become_short(void) {
  static const char line[] =
    "{\"id\":%u,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":3308801,\"tid\":3308801,\"ts\":17272862311%05u,\"dur\":%u,"
    "\"ph\":\"X\",\"args\":{\"hhash\":\"2a702c695247d487\",\"p_idx\":8,\"level\":4,\"count\":4096,\"ret\":4096}}\n";
  size_t len = 0;
  for (uint32_t i = 0; i < 40; i++)
    len += (size_t)snprintf((char *)text + len, 400, line, i + 9, random_bits() % 100000, random_bits() % 100);
  CHECK(check(len) < len / 6);
}

static void too_little_room_is_refused(void) {
  memset(out, '#', GUARD);
  CHECK_UINT(dft__deflate_gzip(text, 1000, out, DFT__DEFLATE_BOUND(1000) - 1), 0);
  CHECK_UINT(dft__deflate_zlib(text, 1000, out, 0), 0);
  CHECK_INT(out[0], '#');
}

int main(void) {
  text = malloc(MOST + 1);
  out = malloc(DFT__DEFLATE_BOUND(MOST) + GUARD);
  back = malloc(MOST);
  CHECK(text && out && back);
  every_length_comes_back();
  every_byte_comes_back();
  every_match_comes_back();
  ends_of_blocks_come_back();
  noise_of_any_kind_comes_back();
  what_cannot_be_compressed_fits_into_the_bound();
  lines_become_short();
  too_little_room_is_refused();
  free(text);
  free(out);
  free(back);
  return 0;
}
