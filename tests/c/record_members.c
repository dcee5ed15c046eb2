/* record_members.c - records many events of one shape, for test_members.py: record_members SHAPE COUNT
 * SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <pthread.h>

#include "check.h"

static int count;
static dft_site site = DFT_SITE("event", "test");

static void *record_small(void *unused) {
  for (int i = 0; i < count; i++) {
    dft_region_begin(&site);
    dft_region_end();
  }
  return unused;
}

static void record_texts(size_t most, int each) {
  char *text = malloc(most);
  CHECK(text);
  for (size_t i = 0; i < most; i++) text[i] = (char)('a' + (i * 7 + i / 13) % 26);
  for (int i = 0; i < count; i++) {
    dft_region_begin(&site);
    for (int k = 0; k < each; k++) {
      char key[8];
      int len = snprintf(key, sizeof key, "k%d", k);
      dft_update_string_n(0, key, (size_t)len, text, most - (size_t)i % 1000);
    }
    dft_region_end();
  }
  free(text);
}

static void *record_one(void *unused) {
  dft_instant("event", "test");
  return unused;
}

static void record_paths(void) {
  for (int i = 0; i < count; i++) {
    char path[128];
    dft_arg arg = {.name = "fhash", .name_len = 5, .type = DFT_PATH};
    int len = snprintf(path, sizeof path, "/a/rather/long/folder/of/some/data/set/part-%05d/file-%08d.npz", i % 1000,
                       i);
    arg.path = dft_path(path, (size_t)len);
    arg.value.s.text = path;
    arg.value.s.len = (size_t)len;
    dft_record(&site, dft_ticks(), dft_ticks(), &arg, 1);
  }
}

int main(int argc, char **argv) {
  CHECK_INT(argc, 3);
  count = atoi(argv[2]);
  if (strcmp(argv[1], "small") == 0) {
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, record_small, NULL), 0);
    record_small(NULL);
    pthread_join(thread, NULL);
  } else if (strcmp(argv[1], "texts") == 0) {
    record_texts(2000, 3);
  } else if (strcmp(argv[1], "huge") == 0) {
    record_texts(60000, 4);
  } else if (strcmp(argv[1], "paths") == 0) {
    record_paths();
  } else if (strcmp(argv[1], "threads") == 0) {
    for (int i = 0; i < count; i++) {
      pthread_t thread;
      CHECK_INT(pthread_create(&thread, NULL, record_one, NULL), 0);
      pthread_join(thread, NULL);
    }
  } else {
    CHECK(!"a shape");
  }
  return 0;
}
