/* test_escape.c - texts become JSON strings that hold the same characters, whatever the bytes.
 * SPDX-License-Identifier: MIT */
#include "codec/escape.h"

#include "check.h"

#define TEXT(literal) ((dft_text){(literal), sizeof(literal) - 1})

static char out[1 << 16];
static int bad;

/* The escaped form of a text, terminated, in `out`. */
static const char *escaped(dft_text text) {
  char *end;
  bad = 0;
  end = dft__escape_text(out, out + sizeof out - 1, text, &bad);
  CHECK(end);
  *end = '\0';
  return out;
}

static int must_escape(unsigned byte) {
  return byte < 0x20 || byte == '"' || byte == '\\' || byte == '[' || byte == ']' || byte >= 0x80;
}

/* Written from RFC 3629 alone, unlike the table in escape.c: decode, then ask whether that was the shortest form. */
static size_t utf8_len(const unsigned char *text, size_t len) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  size_t need = text[0] < 0x80 ? 1 : (text[0] >> 5) == 6 ? 2 : (text[0] >> 4) == 14 ? 3 : (text[0] >> 3) == 30 ? 4 : 0;
  uint32_t code;
  if (need == 1) return 1;
  if (!need || len < need) return 0;
  code = text[0] & (0x7fu >> need);
  for (size_t i = 1; i < need; i++) {
    if ((text[i] >> 6) != 2) return 0;
    code = code << 6 | (text[i] & 0x3f);
  }
  return code < least[need] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : need;
}

static void every_byte_is_judged_alone_at_every_place(void) {
  static const unsigned char around[] = {0x20, 'a', 0x21, 0x23, 0x5a, 0x5e, 0x7f};
  for (size_t other = 0; other < sizeof around; other++) {
    for (unsigned byte = 0; byte < 256; byte++) {
      for (unsigned place = 0; place < 8; place++) {
        unsigned char bytes[8];
        uint64_t word;
        memset(bytes, around[other], sizeof bytes);
        bytes[place] = (unsigned char)byte;
        memcpy(&word, bytes, sizeof word);
        CHECK_INT(dft__escape_is_needed(word) != 0, must_escape(byte));
      }
    }
  }
}

/* The texts lie in memory of just their size, so that the address sanitizer sees a byte too many. */
static void a_bad_byte_is_found_in_texts_of_any_length(void) {
  for (size_t len = 1; len < 70; len++) {
    char *text = malloc(len);
    char *copy = malloc(len);
    CHECK(text && copy);
    memset(text, 'x', len);
    CHECK_INT(dft__escape_copy(copy, text, len), 0);
    CHECK_BYTES(copy, len, text, len);
    for (size_t place = 0; place < len; place++) {
      text[place] = '"';
      CHECK(dft__escape_copy(copy, text, len));
      text[place] = 'x';
    }
    free(text);
    free(copy);
  }
}

static void an_empty_text_gives_nothing(void) {
  CHECK_STR(escaped(TEXT("")), "");
  CHECK_STR(escaped((dft_text){NULL, 0}), "");
}

static void ascii_follows_json(void) {
  CHECK_STR(escaped(TEXT("plain text, {braces}: 'single' /slash/ ~\x7f")),
            "plain text, {braces}: 'single' /slash/ ~\x7f");
  CHECK_STR(escaped(TEXT("say \"no\" to c:\\dir")), "say \\\"no\\\" to c:\\\\dir");
  CHECK_STR(escaped(TEXT("\b\t\n\f\r")), "\\b\\t\\n\\f\\r");
  CHECK_STR(escaped(TEXT("a\0b\x01\x0b\x1f")), "a\\u0000b\\u0001\\u000b\\u001f");
  CHECK_INT(bad, 0);
}

static void brackets_never_stand_in_a_line(void) {
  CHECK_STR(escaped(TEXT("x[3]")), "x\\u005b3\\u005d");
}

static void well_formed_characters_are_kept(void) {
  CHECK_STR(escaped(TEXT("f\xc3\xbcr \xe2\x82\xac \xf0\x9f\x98\x80")), "f\xc3\xbcr \xe2\x82\xac \xf0\x9f\x98\x80");
  CHECK_INT(bad, 0);
}

/* All of one and two bytes, and for three and four all lead bytes with the ends of each range behind them. */
static void utf8_is_judged_as_the_standard_does(void) {
  static const unsigned char edges[] = {0x00, 0x22, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xe0, 0xf4, 0xff};
  const size_t count = sizeof edges;
  for (unsigned first = 0x80; first < 0x100; first++) {
    for (size_t i = 0; i < count * count * count; i++) {
      const unsigned char bytes[] = {(unsigned char)first, edges[i % count], edges[i / count % count],
                                     edges[i / count / count]};
      for (size_t len = 1; len <= sizeof bytes; len++) {
        size_t good = utf8_len(bytes, len);
        const char *result = escaped((dft_text){(const char *)bytes, len});
        if (good) CHECK_BYTES(result, good, bytes, good);
        else CHECK(bad && strncmp(result, "\xef\xbf\xbd", 3) == 0);
      }
    }
  }
}

static void each_bad_byte_becomes_one_replacement(void) {
  CHECK_STR(escaped(TEXT("a\xff")), "a\xef\xbf\xbd");
  CHECK_STR(escaped(TEXT("\xed\xa0\x80")), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); /* U+D800, a surrogate */
  CHECK_STR(escaped(TEXT("\xc0\xaf")), "\xef\xbf\xbd\xef\xbf\xbd");                 /* '/', overlong */
  CHECK_STR(escaped(TEXT("\xe2\x82")), "\xef\xbf\xbd\xef\xbf\xbd");                 /* cut off */
  CHECK_STR(escaped(TEXT("\xe2\x82\"")), "\xef\xbf\xbd\xef\xbf\xbd\\\"");           /* a quote is not swallowed */
}

static void a_mark_of_earlier_texts_is_kept(void) {
  int mark = 1;
  CHECK(dft__escape_text(out, out + sizeof out, TEXT("clean"), &mark));
  CHECK(dft__escape_text(out, out + sizeof out, TEXT("esc\n"), &mark));
  CHECK_INT(mark, 1);
}

/* At every limit either all of it or NULL, and no byte beyond the limit. */
static void nothing_is_written_beyond_the_limit(void) {
  static const dft_text texts[] = {{"plain and long", 14}, {"\x01\x02", 2}, {"\xff\xff\xff", 3}, {"a\xe2\x82\xac", 4}};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    size_t need = strlen(escaped(texts[i]));
    for (size_t room = 0; room <= need + 2; room++) {
      char *end;
      memset(out, '#', 64);
      end = dft__escape_text(out, out + room, texts[i], &bad);
      CHECK_INT(end ? end - out : -1, room < need ? -1 : (int64_t)need);
      for (size_t beyond = room; beyond < 64; beyond++) CHECK_INT(out[beyond], '#');
    }
  }
}

/* Fixed parts of a line are written without a check, so a text may start behind its limit. */
static void a_start_behind_the_limit_is_no_room(void) {
  CHECK(!dft__escape_text(out + 9, out + 4, TEXT(""), &bad));
  CHECK(!dft__escape_text(out + 9, out + 4, TEXT("text"), &bad));
  CHECK(!dft__escape_any(out + 9, out + 4, TEXT("text"), &bad));
  CHECK(!dft__escape_hex(out + 9, out + 4, TEXT("")));
}

static void hex_is_two_digits_a_byte(void) {
  char *end = dft__escape_hex(out, out + 10, TEXT("\x00\x7f\x80\xff\n"));
  CHECK_BYTES(out, (size_t)(end - out), "007f80ff0a", 10);
  CHECK(!dft__escape_hex(out, out + 9, TEXT("\x00\x7f\x80\xff\n")));
}

int main(void) {
  every_byte_is_judged_alone_at_every_place();
  a_bad_byte_is_found_in_texts_of_any_length();
  an_empty_text_gives_nothing();
  ascii_follows_json();
  brackets_never_stand_in_a_line();
  well_formed_characters_are_kept();
  utf8_is_judged_as_the_standard_does();
  each_bad_byte_becomes_one_replacement();
  a_mark_of_earlier_texts_is_kept();
  nothing_is_written_beyond_the_limit();
  a_start_behind_the_limit_is_no_room();
  hex_is_two_digits_a_byte();
  return 0;
}
