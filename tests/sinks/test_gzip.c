/* test_gzip.c - members are what RFC 1952 and zlib's inflate say they are. Built once for each backend.
 * SPDX-License-Identifier: MIT */
#include "codec/gzip.h"

#include <zlib.h>

#include "check.h"

#define MOST_TEXT ((size_t)1 << 20)
#define GUARD 64

static char *state;
static char *text;
static char *out;
static char *back;

static uint32_t random_bits(void) {
  static uint64_t seed = 42;
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(seed >> 33);
}

static void fill_with_noise(char *bytes, size_t len) {
  for (size_t i = 0; i < len; i++) bytes[i] = (char)random_bits();
}

static void fill_with_lines(char *bytes, size_t len) {
  for (size_t i = 0; i < len; i++) bytes[i] = "{\"id\":0,\"name\":\"read\",\"cat\":\"POSIX\"}\n"[i % 37];
  for (size_t i = 6; i < len; i += 37) bytes[i] = (char)('0' + random_bits() % 10);
}

static size_t member(int level, size_t len) {
  return dft__gzip_member(state, dft__gzip_state_bytes(), level, text, len, out, dft__gzip_bound(len));
}

/* Exactly one member, that holds exactly the text; inflate checks the sum and the length in its trailer. */
static void check_member(const char *bytes, size_t bytes_len, size_t len) {
  z_stream stream = {0};
  CHECK_INT(inflateInit2(&stream, 15 + 16), Z_OK);
  stream.next_in = (Bytef *)(uintptr_t)bytes;
  stream.avail_in = (uInt)bytes_len;
  stream.next_out = (Bytef *)back;
  stream.avail_out = (uInt)MOST_TEXT;
  CHECK_INT(inflate(&stream, Z_FINISH), Z_STREAM_END);
  CHECK_UINT(stream.avail_in, 0);
  CHECK_UINT(stream.total_out, len);
  CHECK(memcmp(back, text, len) == 0);
  inflateEnd(&stream);
}

static void texts_of_any_length_come_back_at_every_level(void) {
  static const size_t lengths[] = {0, 1, 2, 100, 65535, 65536, 300000, MOST_TEXT};
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
    for (int level = 1; level <= 9; level++) {
      size_t len = lengths[i];
      size_t made;
      fill_with_lines(text, len);
      made = member(level, len);
      check_member(out, made, len);
      if (len >= 65535) CHECK(made < len / 5);
    }
  }
}

/* The bound holds where nothing can be compressed, and no byte behind it is touched. */
static void noise_fits_into_the_bound(void) {
  for (int i = 0; i < 400; i++) {
    size_t len = i < 200 ? (size_t)i : i < 390 ? random_bits() % 200000 : MOST_TEXT - (size_t)(i - 390) * 4099;
    size_t bound = dft__gzip_bound(len);
    size_t made;
    fill_with_noise(text, len);
    memset(out + bound, '#', GUARD);
    made = member(1 + i % 9, len);
    CHECK(made && made <= bound);
    check_member(out, made, len);
    for (size_t beyond = 0; beyond < GUARD; beyond++) CHECK_INT(out[bound + beyond], '#');
  }
}

static void the_bound_is_as_promised(void) {
  for (size_t len = 0; len < MOST_TEXT * 8; len = len * 2 + 1) {
    CHECK(dft__gzip_bound(len) > len);
    CHECK(dft__gzip_bound(len) < len + len / 4 + 4096);
  }
}

static void too_little_room_is_refused(void) {
  const size_t len = 20000;
  size_t whole;
  fill_with_noise(text, len / 2);
  fill_with_lines(text + len / 2, len / 2);
  whole = member(1, len);
  for (size_t room = 0; room < whole; room += room < 64 || whole - room < 64 ? 1 : 97) {
    memset(out + room, '#', GUARD);
    CHECK_UINT(dft__gzip_member(state, dft__gzip_state_bytes(), 1, text, len, out, room), 0);
    for (size_t beyond = 0; beyond < GUARD; beyond++) CHECK_INT(out[room + beyond], '#');
  }
}

static void too_little_state_is_refused(void) {
  CHECK(dft__gzip_state_bytes() <= DFT__GZIP_STATE_MOST);
  CHECK_UINT(dft__gzip_member(state, dft__gzip_state_bytes() - 1, 1, text, 100, out, dft__gzip_bound(100)), 0);
  CHECK_UINT(dft__gzip_member(state, 0, 1, text, 100, out, dft__gzip_bound(100)), 0);
}

/* The same bytes from a state of zeros, of noise and of another text; and no byte behind the state is touched. */
static void only_text_and_level_matter(void) {
  static char first[1 << 17];
  const size_t len = 100000;
  size_t state_bytes = dft__gzip_state_bytes();
  for (int level = 1; level <= 9; level++) {
    size_t made;
    fill_with_lines(text, len);
    memset(state, 0, state_bytes);
    made = member(level, len);
    CHECK(made && made <= sizeof first);
    memcpy(first, out, made);
    fill_with_noise(state, state_bytes);
    memset(state + state_bytes, '#', GUARD);
    CHECK_UINT(member(level, len), made);
    CHECK(memcmp(first, out, made) == 0);
    CHECK_UINT(member(level, len), made);
    CHECK(memcmp(first, out, made) == 0);
    for (size_t beyond = 0; beyond < GUARD; beyond++) CHECK_INT(state[state_bytes + beyond], '#');
  }
}

static void levels_that_do_not_exist_are_the_default(void) {
  static const int levels[] = {INT32_MIN, -1, 0, 10, INT32_MAX};
  const size_t len = 50000;
  size_t made;
  fill_with_lines(text, len);
  made = member(dft__gzip_default_level(), len);
  for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) CHECK_UINT(member(levels[i], len), made);
}

/* RFC 1952: magic, deflate, no flags, no time. */
static void the_header_holds_no_name_and_no_time(void) {
  CHECK(member(1, 100));
  CHECK_BYTES(out, 8, "\x1f\x8b\x08\0\0\0\0\0", 8);
}

int main(void) {
  state = aligned_alloc(64, DFT__GZIP_STATE_MOST + GUARD);
  text = malloc(MOST_TEXT);
  out = malloc(dft__gzip_bound(MOST_TEXT) + GUARD);
  back = malloc(MOST_TEXT + 1);
  CHECK(state && text && out && back);
  texts_of_any_length_come_back_at_every_level(); /* as they are before a library is loaded, and then by it */
  dft__gzip_load();
  dft__gzip_load();
  texts_of_any_length_come_back_at_every_level();
  noise_fits_into_the_bound();
  the_bound_is_as_promised();
  too_little_room_is_refused();
  too_little_state_is_refused();
  only_text_and_level_matter();
  levels_that_do_not_exist_are_the_default();
  the_header_holds_no_name_and_no_time();
  free(state);
  free(text);
  free(out);
  free(back);
  return 0;
}
