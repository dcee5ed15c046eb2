/* escape.c - text inside a JSON string, the general case: one character at a time.
 * SPDX-License-Identifier: MIT */
#include "escape.h"

static const char hex_digits[] = "0123456789abcdef";

/* What stands for an ASCII byte; its length. */
static size_t ascii_form(unsigned char byte, char form[6]) {
  static const char letters[] = "btn-fr"; /* of \b to \r, 8 to 13; there is none for 11 */
  int is_bracket = byte == '[' || byte == ']';
  if (byte >= 0x20 && byte != '"' && byte != '\\' && !is_bracket) {
    form[0] = (char)byte;
    return 1;
  }
  form[0] = '\\';
  if (byte == '"' || byte == '\\') {
    form[1] = (char)byte;
    return 2;
  }
  if (byte >= 8 && byte <= 13 && byte != 11) {
    form[1] = letters[byte - 8];
    return 2;
  }
  memcpy(form + 1, "u00", 3);
  form[4] = hex_digits[byte >> 4];
  form[5] = hex_digits[byte & 15];
  return 6;
}

/* Table 3-7 of the Unicode standard: the second byte's range excludes overlong forms, surrogates and what lies beyond
 * U+10FFFF. */
size_t dft__escape_character_len(const unsigned char *text, size_t len) {
  unsigned char first = text[0];
  unsigned char low = 0x80;
  unsigned char high = 0xbf;
  size_t need = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || len < need) return 0;
  if (first == 0xe0) low = 0xa0;
  if (first == 0xed) high = 0x9f;
  if (first == 0xf0) low = 0x90;
  if (first == 0xf4) high = 0x8f;
  if (text[1] < low || text[1] > high) return 0;
  for (size_t i = 2; i < need; i++) {
    if ((text[i] & 0xc0) != 0x80) return 0;
  }
  return need;
}

char *dft__escape_any(char *at, const char *limit, dft_text text, int *bad) {
  const unsigned char *bytes = (const unsigned char *)text.text;
  size_t i = 0;
  while (i < text.len) {
    char form[6];
    const char *put = form;
    size_t put_len;
    if (bytes[i] < 0x80) {
      put_len = ascii_form(bytes[i], form);
      i++;
    } else if ((put_len = dft__escape_character_len(bytes + i, text.len - i)) != 0) {
      put = text.text + i;
      i += put_len;
    } else {
      put = "\xef\xbf\xbd";
      put_len = 3;
      *bad = 1;
      i++;
    }
    if (limit - at < (ptrdiff_t)put_len) return NULL;
    memcpy(at, put, put_len);
    at += put_len;
  }
  return at;
}

char *dft__escape_hex(char *at, const char *limit, dft_text text) {
  if (limit - at < 2 * (ptrdiff_t)text.len) return NULL;
  for (size_t i = 0; i < text.len; i++) {
    unsigned char byte = (unsigned char)text.text[i];
    *at++ = hex_digits[byte >> 4];
    *at++ = hex_digits[byte & 15];
  }
  return at;
}
