/* test_hash.c - the hash of texts is the same in every process, on every machine, for ever: it stands in traces.
 * SPDX-License-Identifier: MIT */
#include "base/hash.h"

#include "session.h"

/* Worked out by a few lines of Python, from the description of the function. */
static void these_values_never_change(void) {
  static const struct {
    const char *text;
    uint64_t seed;
    uint64_t hash;
  } known[] = {
    {"", 0, 0x2fbe67a077def918},          {"a", 0, 0xaf15c76b77d4a08c},         {"ab", 0, 0x0e6220a3c466579c},
    {"abc", 0, 0xe65b1ae35a99fc6b},       {"abcd", 0, 0x495630d7c75c7cdf},      {"abcdefg", 0, 0x1d3a20b5b53753dc},
    {"abcdefgh", 0, 0xa21595885e9f6950},  {"abcdefghi", 0, 0xe9dcd243a97cbea6}, {"/etc/hosts", 0, 0x8ccfdea93d9449ee},
    {"localhost", 0, 0x84bbeff09cb70908}, {"abc", 7, 0xb658dc12925991fc},
  };
  unsigned char all[256];
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    CHECK_UINT(dft__hash(known[i].text, strlen(known[i].text), known[i].seed), known[i].hash);
  }
  for (int i = 0; i < 256; i++) all[i] = (unsigned char)i;
  CHECK_UINT(dft__hash((const char *)all, 256, 0), 0x92256aa15370e574);
}

/* The text lies in memory of just its size, so that the address sanitizer sees a byte too many. */
static void only_the_text_counts(void) {
  char source[64];
  for (size_t i = 0; i < sizeof source; i++) source[i] = (char)(i * 7);
  for (size_t len = 0; len < 64; len++) {
    for (size_t shift = 0; shift < 8; shift++) {
      char *memory = malloc(len + shift + 1), *exact = malloc(len);
      CHECK(memory && exact);
      memset(memory, 0xff, len + shift + 1);
      memcpy(exact, source, len);
      memcpy(memory + shift, source, len);
      CHECK_UINT(dft__hash(memory + shift, len, 0), dft__hash(exact, len, 0));
      free(memory);
      free(exact);
    }
  }
}

static int compare_hashes(const void *a, const void *b) {
  uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
  return left < right ? -1 : left > right;
}

/* Paths that differ in a digit, texts of zeros of every length, every single bit of a longer text. */
static void similar_texts_have_different_hashes(void) {
  enum { PATHS = 1000000, LENGTHS = 1000, BITS = 8 * 64 };
  uint64_t *hashes = malloc((PATHS + LENGTHS + BITS) * sizeof *hashes);
  static char zeros[LENGTHS];
  char text[64] = "";
  size_t count = 0;
  CHECK(hashes);
  for (int i = 0; i < PATHS; i++) {
    char path[64];
    int len = snprintf(path, sizeof path, "/scratch/data/train/img_%07d.npz", i);
    hashes[count++] = dft__hash(path, (size_t)len, 0);
  }
  for (size_t len = 0; len < LENGTHS; len++) hashes[count++] = dft__hash(zeros, len, 0);
  for (size_t bit = 0; bit < BITS; bit++) {
    text[bit / 8] ^= (char)(1 << bit % 8);
    hashes[count++] = dft__hash(text, sizeof text, 0);
    text[bit / 8] ^= (char)(1 << bit % 8);
  }
  qsort(hashes, count, sizeof *hashes, compare_hashes);
  for (size_t i = 0; i < count; i++) {
    CHECK(hashes[i]); /* 0 stands for none */
    CHECK(!i || hashes[i] != hashes[i - 1]);
  }
  free(hashes);
}

int main(void) {
  RUN(these_values_never_change);
  RUN(only_the_text_counts);
  RUN(similar_texts_have_different_hashes);
  return failed_cases;
}
