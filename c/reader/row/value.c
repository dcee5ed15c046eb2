/* value.c - JSON values as cells.
 * SPDX-License-Identifier: MIT */
#include "value.h"

#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "scan.h"

/* ---- Texts ---------------------------------------------------------------------------------------------------------- */

static int hex4(const char *at, uint32_t *code) {
  *code = 0;
  for (int i = 0; i < 4; i++) {
    char c = at[i];
    uint32_t digit;
    if (c >= '0' && c <= '9') digit = (uint32_t)(c - '0');
    else if (c >= 'a' && c <= 'f') digit = (uint32_t)(c - 'a' + 10);
    else if (c >= 'A' && c <= 'F') digit = (uint32_t)(c - 'A' + 10);
    else return 0;
    *code = *code << 4 | digit;
  }
  return 1;
}

static char *put_character(char *out, uint32_t code) {
  if (code < 0x80) {
    *out++ = (char)code;
  } else if (code < 0x800) {
    *out++ = (char)(0xc0 | code >> 6);
    *out++ = (char)(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    *out++ = (char)(0xe0 | code >> 12);
    *out++ = (char)(0x80 | (code >> 6 & 0x3f));
    *out++ = (char)(0x80 | (code & 0x3f));
  } else {
    *out++ = (char)(0xf0 | code >> 18);
    *out++ = (char)(0x80 | (code >> 12 & 0x3f));
    *out++ = (char)(0x80 | (code >> 6 & 0x3f));
    *out++ = (char)(0x80 | (code & 0x3f));
  }
  return out;
}

/* From after "\u". An unpaired surrogate becomes U+FFFD. */
static const char *unescape_code(const char *at, char **out) {
  uint32_t code, low;
  if (!hex4(at, &code)) return NULL;
  at += 4;
  if (code >= 0xd800 && code < 0xe000) {
    if (code < 0xdc00 && at[0] == '\\' && at[1] == 'u' && hex4(at + 2, &low) && low >= 0xdc00 && low < 0xe000) {
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
      at += 6;
    } else {
      code = 0xfffd;
    }
  }
  *out = put_character(*out, code);
  return at;
}

/* An unescaped text is never longer than the escaped one, so there is always room. */
static const char *unescape(dft__values *values, const char *start, const char *at, dft_text *text) {
  char *out = values->plain;
  memcpy(out, start, (size_t)(at - start));
  out += at - start;
  for (;;) {
    const char *stop;
    if (*at == '"') break;
    if (*at != '\\') return NULL;
    switch (*++at) {
      case 'n': *out++ = '\n'; break;
      case 't': *out++ = '\t'; break;
      case 'r': *out++ = '\r'; break;
      case 'b': *out++ = '\b'; break;
      case 'f': *out++ = '\f'; break;
      case '"':
      case '\\':
      case '/': *out++ = *at; break;
      case 'u':
        at = unescape_code(at + 1, &out);
        if (!at) return NULL;
        at--;
        break;
      default: return NULL;
    }
    stop = dft__scan_text(++at);
    memcpy(out, at, (size_t)(stop - at));
    out += stop - at;
    at = stop;
  }
  *text = (dft_text){values->plain, (size_t)(out - values->plain)};
  values->plain = out;
  return at + 1;
}

const char *dft__value_text(dft__values *values, const char *at, dft_text *text) {
  const char *stop = dft__scan_text(at);
  if (*stop == '"') {
    *text = (dft_text){at, (size_t)(stop - at)};
    return stop + 1;
  }
  return *stop == '\\' ? unescape(values, at, stop, text) : NULL;
}

/* ---- Numbers -------------------------------------------------------------------------------------------------------- */

static locale_t c_locale;
static void make_locale(void) {
  c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* The program's own locale may have a decimal comma. */
static double slow_double(const char *from) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_locale);
  return c_locale ? strtod_l(from, NULL, c_locale) : strtod(from, NULL);
}

/* The end of a number; `at` is at its digits or after some of them. */
static const char *skip_number(const char *at) {
  while ((unsigned char)(*at - '0') <= 9) at++;
  if (*at == '.') {
    if ((unsigned char)(*++at - '0') > 9) return NULL;
    while ((unsigned char)(*at - '0') <= 9) at++;
  }
  if (*at == 'e' || *at == 'E') {
    at++;
    if (*at == '+' || *at == '-') at++;
    if ((unsigned char)(*at - '0') > 9) return NULL;
    while ((unsigned char)(*at - '0') <= 9) at++;
  }
  return at;
}

/* A number that is not an integer of 64 bits; `at` is after its first digits. */
static const char *parse_double(const char *from, const char *at, dft_cell *cell) {
  at = skip_number(at);
  if (!at) return NULL;
  cell->type = DFT_DOUBLE;
  cell->value.d = slow_double(from);
  return at;
}

/* Whether these digits exceed 64 bits; `sum` is their value modulo 2^64. */
static int is_too_much(const char *digits, const char *end, uint64_t sum) {
  size_t count = (size_t)(end - digits);
  if ((unsigned char)(*end - '0') <= 9) return 1;
  return count == 20 && (digits[0] > '1' || sum < 10000000000000000000u);
}

static const char *parse_number(const char *at, dft_cell *cell) {
  const char *from = at;
  int is_negative = *at == '-';
  const char *digits = at + is_negative;
  uint64_t sum;
  at = dft__scan_digits(digits, &sum);
  if (at == digits) return NULL;
  if (*at == '.' || *at == 'e' || *at == 'E' || is_too_much(digits, at, sum) ||
      (is_negative && sum > (uint64_t)INT64_MAX + 1)) {
    return parse_double(from, at, cell);
  }
  cell->value.u = is_negative ? 0 - sum : sum;
  cell->type = !is_negative && sum > INT64_MAX ? DFT_UINT : DFT_INT;
  return at;
}

/* ---- Times ---------------------------------------------------------------------------------------------------------- */

__extension__ typedef unsigned __int128 wide;

#define SIGNIFICANT 19 /* digits that 64 bits hold; a time of 64 bits has no more */

/* A decimal number: digits * 10^power. A double would be too coarse: it holds 16 digits, times since 1970 have 19. */
typedef struct decimal {
  uint64_t digits;
  int count; /* of significant digits, without those that were dropped */
  int power;
} decimal;

static const char *take_digits(decimal *number, const char *at, int is_fraction) {
  for (; (unsigned char)(*at - '0') <= 9; at++) {
    if (number->count < SIGNIFICANT) {
      number->digits = number->digits * 10 + (uint64_t)(*at - '0');
      number->count += number->digits != 0;
      number->power -= is_fraction;
    } else {
      number->power += !is_fraction;
    }
  }
  return at;
}

/* Nanoseconds, or UINT64_MAX when they are too many. */
static uint64_t scale(const decimal *number, uint64_t unit_ns) {
  wide ns = (wide)number->digits * unit_ns;
  int power = number->power;
  for (; power > 0 && ns && ns <= INT64_MAX; power--) ns *= 10;
  for (; power < 0 && ns; power++) ns /= 10;
  return ns > DFT__TIME_MOST ? UINT64_MAX : (uint64_t)ns;
}

/* A number with an exponent, or with more digits than 64 bits hold. `from` is its first digit, `at` is its end. */
static int64_t long_time(dft__values *values, const char *from, const char *at, uint64_t unit_ns, int is_negative) {
  decimal number = {0};
  uint64_t ns;
  from = take_digits(&number, from, 0);
  if (*from == '.') from = take_digits(&number, from + 1, 1);
  if (from < at) { /* an exponent */
    int sign = from[1] == '-' ? -1 : 1, power = 0;
    for (from += 1 + (from[1] == '-' || from[1] == '+'); from < at; from++) {
      if (power < 10000) power = power * 10 + (*from - '0');
    }
    number.power += sign * power;
  }
  ns = scale(&number, unit_ns);
  if (ns == UINT64_MAX) {
    values->times_cut++;
    ns = DFT__TIME_MOST;
  }
  return is_negative ? -(int64_t)ns : (int64_t)ns;
}

/* Fractions of a nanosecond are cut off. */
const char *dft__value_time(dft__values *values, const char *at, uint64_t unit_ns, int64_t *ns) {
  int is_negative = *at == '-';
  const char *digits = at + is_negative;
  uint64_t whole, part = 0, parts = 1;
  int is_long;
  at = dft__scan_digits(digits, &whole);
  if (at == digits) return NULL;
  is_long = is_too_much(digits, at, whole) || whole > (uint64_t)DFT__TIME_MOST / unit_ns - 1;
  if (*at == '.') {
    if ((unsigned char)(*++at - '0') > 9) return NULL;
    for (; (unsigned char)(*at - '0') <= 9; at++) {
      if (parts < 1000000000u) {
        part = part * 10 + (uint64_t)(*at - '0');
        parts *= 10;
      }
    }
  }
  if (is_long || *at == 'e' || *at == 'E') {
    at = skip_number(digits);
    if (at) *ns = long_time(values, digits, at, unit_ns, is_negative);
    return at;
  }
  whole = whole * unit_ns + part * unit_ns / parts;
  *ns = is_negative ? -(int64_t)whole : (int64_t)whole;
  return at;
}

dft_text dft__value_digits(char digits[24], const dft_cell *cell) {
  int len = cell->type == DFT_UINT ? snprintf(digits, 24, "%llu", (unsigned long long)cell->value.u)
                                   : snprintf(digits, 24, "%lld", (long long)cell->value.i);
  return (dft_text){digits, (size_t)len};
}

/* ---- Anything ------------------------------------------------------------------------------------------------------- */

static const char *literal(const char *at, const char *word, size_t len) {
  return memcmp(at, word, len) == 0 ? at + len : NULL;
}

static const char *skip_scalar(dft__values *values, const char *at);

/* An array or object, unparsed. Brackets must match; the order of commas and colons is not checked. */
static const char *skip_nested(dft__values *values, const char *at) {
  uint32_t depth = 0;
  uint64_t kinds = 0; /* one bit per level: whether it is an object */
  do {
    at = dft__scan_blank(at);
    switch (*at) {
      case '{':
      case '[':
        if (++depth > values->nesting) {
          values->problem = DFT_PROBLEM_NESTING;
          return NULL;
        }
        kinds = kinds << 1 | (*at == '{');
        at++;
        break;
      case '}':
      case ']':
        if ((kinds & 1) != (*at == '}')) return NULL;
        kinds >>= 1;
        depth--;
        at++;
        break;
      case ',':
      case ':': at++; break;
      default:
        at = skip_scalar(values, at);
        if (!at) return NULL;
    }
  } while (depth);
  return at;
}

static const char *skip_scalar(dft__values *values, const char *at) {
  dft_cell cell;
  if (*at == '{' || *at == '[') return NULL;
  return dft__value(values, at, &cell);
}

const char *dft__value(dft__values *values, const char *at, dft_cell *cell) {
  const char *from = at;
  dft_text text = {NULL, 0};
  switch (*at) {
    case '"':
      at = dft__value_text(values, at + 1, &text);
      cell->type = DFT_STRING;
      cell->value.text = text.text;
      cell->len = text.len;
      return at;
    case 't':
    case 'f':
      cell->type = DFT_BOOL;
      cell->value.i = *at == 't';
      return *at == 't' ? literal(at, "true", 4) : literal(at, "false", 5);
    case 'n': at = literal(at, "null", 4); break;
    case '{':
    case '[': at = skip_nested(values, at); break;
    default: return parse_number(at, cell);
  }
  if (!at) return NULL;
  cell->type = DFT_RAW;
  cell->value.text = from;
  cell->len = (uint64_t)(at - from);
  return at;
}
