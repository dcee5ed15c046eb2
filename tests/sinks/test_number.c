/* test_number.c - numbers read back as themselves, and are JSON.
 * SPDX-License-Identifier: MIT */
#include "codec/number.h"

#include <ctype.h>
#include <float.h>
#include <math.h>

#include "check.h"

static char out[DFT__NUMBER_ROOM + 1];

/* Terminates what was written, after a look at its length. */
static const char *finish(char *end) {
  CHECK(end > out && end <= out + DFT__NUMBER_ROOM);
  *end = '\0';
  return out;
}

static const char *of_uint(uint64_t value) {
  return finish(dft__number_uint(out, value));
}
static const char *of_int(int64_t value) {
  return finish(dft__number_int(out, value));
}
static const char *of_double(double value) {
  return finish(dft__number_double(out, value));
}

/* RFC 8259: -? (0 | [1-9][0-9]*) (\. [0-9]+)? ([eE] [+-]? [0-9]+)? */
static int is_json_number(const char *text) {
  if (*text == '-') text++;
  if (!isdigit((unsigned char)*text) || (*text == '0' && isdigit((unsigned char)text[1]))) return 0;
  while (isdigit((unsigned char)*text)) text++;
  if (*text == '.') {
    if (!isdigit((unsigned char)*++text)) return 0;
    while (isdigit((unsigned char)*text)) text++;
  }
  if (*text == 'e' || *text == 'E') {
    text++;
    if (*text == '+' || *text == '-') text++;
    if (!isdigit((unsigned char)*text)) return 0;
    while (isdigit((unsigned char)*text)) text++;
  }
  return *text == '\0';
}

static void check_integer(uint64_t value) {
  char expected[32];
  snprintf(expected, sizeof expected, "%" PRIu64, value);
  CHECK_STR(of_uint(value), expected);
  snprintf(expected, sizeof expected, "%" PRId64, (int64_t)value);
  CHECK_STR(of_int((int64_t)value), expected);
}

/* Bit for bit: also the sign of zero. */
static void check_double(double value) {
  const char *text = of_double(value);
  double back = strtod(text, NULL);
  if (memcmp(&back, &value, sizeof value) != 0 || !is_json_number(text) || !strpbrk(text, ".e")) {
    fprintf(stderr, "%a was written as %s\n", value, text);
    exit(1);
  }
}

static uint64_t random_bits(void) {
  static uint64_t state = 88172645463325252u;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static void integers_of_every_length_are_right(void) {
  uint64_t power = 1;
  for (int digits = 1; digits <= 20; digits++) {
    check_integer(power - 1);
    check_integer(power);
    check_integer(power + 1);
    check_integer(power + power / 7);
    if (digits < 20) power *= 10;
  }
  for (int bit = 0; bit < 64; bit++) {
    check_integer((uint64_t)1 << bit);
    check_integer(((uint64_t)1 << bit) - 1);
  }
  for (int i = 0; i < 100000; i++) check_integer(random_bits() >> (random_bits() & 63));
}

static void the_ends_of_the_ranges_are_right(void) {
  CHECK_STR(of_int(INT64_MIN), "-9223372036854775808");
  CHECK_STR(of_int(INT64_MAX), "9223372036854775807");
  CHECK_STR(of_uint(UINT64_MAX), "18446744073709551615");
  CHECK_STR(of_uint(0), "0");
  CHECK_STR(of_int(-1), "-1");
}

static void doubles_look_as_people_write_them(void) {
  CHECK_STR(of_double(0.0), "0.0");
  CHECK_STR(of_double(-0.0), "-0.0");
  CHECK_STR(of_double(224.0), "224.0");
  CHECK_STR(of_double(0.25), "0.25");
  CHECK_STR(of_double(-0.1), "-0.1");
  CHECK_STR(of_double(0.001), "0.001");
  CHECK_STR(of_double(1e-18), "0.000000000000000001");
  CHECK_STR(of_double(3.14159265358979), "3.14159265358979");
  CHECK_STR(of_double(1727286231.145121), "1727286231.145121");
  CHECK_STR(of_double(1e300), "1e+300");
  CHECK_STR(of_double(1e15), "1000000000000000.0");
}

/* The next double in either direction; none beyond the largest. */
static double neighbour(double value, int step) {
  uint64_t bits;
  double next;
  memcpy(&bits, &value, sizeof bits);
  bits += (uint64_t)(int64_t)step;
  memcpy(&next, &bits, sizeof next);
  return isfinite(next) ? next : value;
}

static void doubles_at_the_edges_read_back(void) {
  static const double values[] = {DBL_MAX,
                                  DBL_MIN,
                                  DBL_TRUE_MIN,
                                  DBL_EPSILON,
                                  0x1.fffffffffffffp-1023,
                                  0x1p-1022,
                                  0x1p53,
                                  0x1p53 - 1,
                                  0x1p53 + 2,
                                  0x1p63,
                                  0x1p64,
                                  1e16,
                                  1e17,
                                  1e22,
                                  1e23,
                                  9e15,
                                  0.1 + 0.2,
                                  1.0 / 3,
                                  2.0 / 3,
                                  5e-324,
                                  1e-19,
                                  123456789012345678.0,
                                  4503599627370495.5};
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    check_double(values[i]);
    check_double(-values[i]);
    check_double(neighbour(values[i], +1));
    check_double(neighbour(values[i], -1));
  }
}

static void random_doubles_read_back(void) {
  for (int i = 0; i < 300000; i++) {
    uint64_t bits = random_bits();
    double value;
    memcpy(&value, &bits, sizeof value);
    if (isfinite(value)) check_double(value);
    check_double((double)(int64_t)bits / 1e6);
    check_double((double)(bits >> 40) / 1e3);
  }
}

int main(void) {
  integers_of_every_length_are_right();
  the_ends_of_the_ranges_are_right();
  doubles_look_as_people_write_them();
  doubles_at_the_edges_read_back();
  random_doubles_read_back();
  return 0;
}
