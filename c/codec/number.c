/* number.c - numbers as text, fast and independent of the locale.
 *
 * Integers go two digits at a time through a table. Doubles of up to 15 or 16 digits, which is what programs mostly
 * record, need no big arithmetic: see put_decimal. The rest goes through snprintf.
 * SPDX-License-Identifier: MIT */
#include "number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char pairs[] =
  "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051525354555657"
  "585960616263646566676869707172737475767778798081828384858687888990919293949596979899";

static void put_pair(char *at, uint32_t value) {
  memcpy(at, pairs + 2 * value, 2);
}

/* Exactly eight digits, with leading zeros. */
static char *put_eight(char *at, uint32_t value) {
  uint32_t high = value / 10000;
  uint32_t low = value % 10000;
  put_pair(at, high / 100);
  put_pair(at + 2, high % 100);
  put_pair(at + 4, low / 100);
  put_pair(at + 6, low % 100);
  return at + 8;
}

/* Below 10^8, without leading zeros. */
static char *put_small(char *at, uint32_t value) {
  char digits[8];
  unsigned skip;
  if (value < 10) {
    *at = (char)('0' + value);
    return at + 1;
  }
  if (value < 100) {
    put_pair(at, value);
    return at + 2;
  }
  put_eight(digits, value);
  skip = value < 10000 ? (value < 1000 ? 5 : 4) : value < 1000000 ? (value < 100000 ? 3 : 2) : value < 10000000;
  memcpy(at, digits + skip, 8 - skip);
  return at + 8 - skip;
}

char *dft__number_uint(char *at, uint64_t value) {
  if (value < 100000000) return put_small(at, (uint32_t)value);
  if (value < 10000000000000000u) {
    at = put_small(at, (uint32_t)(value / 100000000));
    return put_eight(at, (uint32_t)(value % 100000000));
  }
  at = put_small(at, (uint32_t)(value / 10000000000000000u));
  value %= 10000000000000000u;
  at = put_eight(at, (uint32_t)(value / 100000000));
  return put_eight(at, (uint32_t)(value % 100000000));
}

char *dft__number_int(char *at, int64_t value) {
  if (value >= 0) return dft__number_uint(at, (uint64_t)value);
  *at = '-';
  return dft__number_uint(at + 1, 0 - (uint64_t)value);
}

/* Exact as doubles and as integers. */
static const double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                       1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
#define MOST_DECIMALS (sizeof powers_of_ten / sizeof powers_of_ten[0] - 1)

/* digits / 10^decimals, with at least one decimal. */
static char *put_point(char *at, uint64_t digits, unsigned decimals) {
  uint64_t one = (uint64_t)powers_of_ten[decimals];
  char text[DFT__NUMBER_ROOM];
  size_t len;
  at = dft__number_uint(at, digits / one);
  *at++ = '.';
  if (decimals == 0) {
    *at = '0';
    return at + 1;
  }
  len = (size_t)(dft__number_uint(text, digits % one) - text);
  memset(at, '0', decimals - len);
  memcpy(at + decimals - len, text, len);
  return at + decimals;
}

/* Looks for the decimal r / 10^d with the fewest decimals d. When r is below 2^53 both r and 10^d are exact doubles, and
 * their quotient, being correctly rounded, is the double nearest to that decimal: if it equals the value, the decimal
 * reads back as the value. NULL when there is none. */
static char *put_decimal(char *at, double value) {
  for (unsigned decimals = 0; decimals <= MOST_DECIMALS; decimals++) {
    double scaled = value * powers_of_ten[decimals] + 0.5;
    uint64_t digits;
    if (scaled >= 9007199254740992.0) return NULL;
    digits = (uint64_t)scaled;
    if ((double)digits / powers_of_ten[decimals] == value) return put_point(at, digits, decimals);
  }
  return NULL;
}

/* The locale may have any decimal point, also one of several bytes. */
static char *copy_with_point(char *at, const char *text) {
  int inside = 0;
  for (; *text; text++) {
    int is_point = !strchr("0123456789eE+-", *text);
    if (!is_point) *at++ = *text;
    else if (!inside) *at++ = '.';
    inside = is_point;
  }
  return at;
}

/* Digits beyond the 17th never matter, and fewer than 15 would have been found by put_decimal or come out of %g as
 * such. Only subnormal numbers may get more digits than they need. */
static char *put_general(char *at, double value) {
  char text[DFT__NUMBER_ROOM];
  char *end;
  for (int precision = 15; precision <= 17; precision++) {
    snprintf(text, sizeof text, "%.*g", precision, value);
    if (strtod(text, NULL) == value) break;
  }
  end = copy_with_point(at, text);
  if (!memchr(at, 'e', (size_t)(end - at)) && !memchr(at, '.', (size_t)(end - at))) {
    memcpy(end, ".0", 2);
    end += 2;
  }
  return end;
}

char *dft__number_double(char *at, double value) {
  char *end;
  if (signbit(value)) {
    *at++ = '-';
    value = -value;
  }
  end = put_decimal(at, value);
  return end ? end : put_general(at, value);
}
