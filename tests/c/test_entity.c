/* test_entity.c - entities: told once, cleaned, related.
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "session.h"

static uint64_t declare(const char *type, const char *key, int32_t store, const char *uri) {
  return dft_entity_declare_n(type, strlen(type), key, strlen(key), store, uri, uri ? strlen(uri) : 0);
}

static void an_entity_is_told_once(void) {
  trace in;
  const event *one;
  start_in_memory();
  CHECK_UINT(declare("protein_structure", "MGYP0001", 2, "file:///data/a b.pdb"), UINT64_C(0x8f0de68c04eea0bf));
  CHECK_UINT(declare("protein_structure", "MGYP0001", 3, "elsewhere"), UINT64_C(0x8f0de68c04eea0bf));
  CHECK_UINT(dft_entity_declare_n(NULL, 0, "k", 1, 0, NULL, 0), 0);
  CHECK_UINT(dft_entity_declare_n("t", 1, NULL, 0, 0, NULL, 0), 0);
  in = stop();
  one = the_event(&in, "EH");
  CHECK_INT(one->ph, 'M');
  CHECK_STR(one->cat, "dftracer");
  CHECK_STR(arg_text(one, "id"), "8f0de68c04eea0bf");
  CHECK_STR(arg_text(one, "type"), "protein_structure");
  CHECK_INT(arg_int(one, "store"), 2);
  CHECK_STR(arg_text(one, "uri"), "file:///data/a b.pdb");
  CHECK_INT(one->arg_count, 5);
  CHECK_INT(arg_int(the_event(&in, "end"), "num_events"), 0);
  free_trace(&in);
  start_in_memory(); /* once a trace, that is */
  declare("protein_structure", "MGYP0001", 2, NULL);
  in = stop();
  CHECK_INT(count_name(&in, "EH"), 1);
  free_trace(&in);
}

static void texts_of_entities_are_cleaned_and_cut(void) {
  char text[400];
  trace in;
  const event *one;
  memset(text, 'x', sizeof text);
  start_in_memory();
  dft_entity_declare_n("a\"b[c]\n\xc3\xa9", 9, "key", 3, 0, text, sizeof text);
  dft_entity_type_n(text, sizeof text, 4, text, sizeof text);
  dft_entity_type_n(text, 31, 5, "again", 5);
  dft_entity_type_n("other", 5, 1, "a_-.:/@+=,~ 9Z#", 15);
  in = stop();
  one = the_event(&in, "EH");
  CHECK_STR(arg_text(one, "type"), "a_b_c____");
  CHECK_INT(find_arg(one, "uri")->len, 255);
  CHECK_INT(count_name(&in, "ET"), 2);
  for (size_t i = 0; i < in.count; i++) {
    if (strcmp(in.events[i].name, "ET") != 0) continue;
    if (strcmp(arg_text(&in.events[i], "type"), "other") == 0) {
      CHECK_STR(arg_text(&in.events[i], "description"), "a_-.:/@+=,~ 9Z_");
      CHECK_INT(arg_int(&in.events[i], "role"), 1);
    } else {
      CHECK_INT(find_arg(&in.events[i], "type")->len, 31);
      CHECK_INT(find_arg(&in.events[i], "description")->len, 255);
      CHECK_INT(arg_int(&in.events[i], "role"), 4);
    }
  }
  free_trace(&in);
}

static void entities_are_related(void) {
  trace in;
  const event *one;
  start_in_memory();
  dft_entity_relate(16, 1, 0xabc);
  dft_entity_relate(15, 1, 2);
  dft_entity_relate(23, 1, 2);
  dft_entity_relate(-1, 1, 2);
  dft_entity_relate(16, 0, 2);
  dft_entity_relate(16, 1, 0);
  in = stop();
  one = the_event(&in, "ER");
  CHECK_INT(arg_int(one, "relation"), 16);
  CHECK_STR(arg_text(one, "subject"), "0000000000000001");
  CHECK_STR(arg_text(one, "object"), "0000000000000abc");
  free_trace(&in);
}

static void *declare_many(void *number) {
  (void)number;
  for (int i = 0; i < 500; i++) {
    char key[16];
    snprintf(key, sizeof key, "key %d", i);
    CHECK(declare("thing", key, 0, NULL));
  }
  return NULL;
}

static void threads_declare_an_entity_once(void) {
  trace in;
  start_in_memory();
  on_threads(8, declare_many);
  in = stop();
  CHECK_INT(count_name(&in, "EH"), 500);
  free_trace(&in);
}

int main(void) {
  RUN(an_entity_is_told_once);
  RUN(texts_of_entities_are_cleaned_and_cut);
  RUN(entities_are_related);
  RUN(threads_declare_an_entity_once);
  return failed_cases;
}
