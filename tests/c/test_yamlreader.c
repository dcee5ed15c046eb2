/* test_yamlreader.c - tests c/base/yamlreader.c: what libyaml finds, with its place. */
#include "base/yamlreader.h"

#include <stdio.h>
#include <string.h>

#include "check.h"

#if __has_include(<yaml.h>)
#include <stddef.h>
#include <yaml.h>
/* What yamlreader.c knows of libyaml's structs. */
_Static_assert(sizeof(yaml_parser_t) <= 4096 && sizeof(yaml_event_t) <= 512, "they fit");
_Static_assert(offsetof(yaml_event_t, type) == 0 && offsetof(yaml_event_t, data.scalar.value) == 24, "a scalar's text");
_Static_assert(offsetof(yaml_event_t, data.scalar.plain_implicit) == 40, "whether it is quoted");
_Static_assert(offsetof(yaml_event_t, start_mark.line) == 64, "the line of a scalar");
_Static_assert(offsetof(yaml_parser_t, problem) == 8 && offsetof(yaml_parser_t, problem_mark.line) == 40, "a problem");
_Static_assert(YAML_STREAM_END_EVENT == 2 && YAML_ALIAS_EVENT == 5 && YAML_SCALAR_EVENT == 6, "events");
_Static_assert(YAML_SEQUENCE_START_EVENT == 7 && YAML_MAPPING_END_EVENT == 10, "more events");
#endif

static char seen[1024];

static size_t lines; /* of all scalars, added up */

static void visit(void *context, size_t line, const char *path, const char *text, int is_item) {
  size_t len = strlen(seen);
  (void)context;
  lines += line;
  snprintf(seen + len, sizeof seen - len, "%s%s%s|", path, is_item ? "-" : "=", text);
}

static char problem[256];

static const char *read_text(const char *yaml) {
  seen[0] = '\0';
  lines = 0;
  return dft__yaml_read(yaml, strlen(yaml), visit, NULL, problem, sizeof problem);
}

static void every_scalar_has_its_path(void) {
  CHECK(!read_text("a: 1\nb:\n  c: two words\n  d:\n    e: '3'\nf: {g: h, i: \"j\\nk\"}\n"));
  CHECK_STR(seen, "a=1|b.c=two words|b.d.e=3|f.g=h|f.i=j\nk|");
  CHECK_UINT(lines, 1 + 3 + 5 + 6 + 6);
}

static void lists_have_the_path_of_their_key(void) {
  CHECK(!read_text("a:\n- x\n- y\nb: [1, 2]\nc: []\nd: 4\n"));
  CHECK_STR(seen, "a-x|a-y|b-1|b-2|d=4|");
  CHECK(!read_text("[1, {a: 2}, 3]"));
  CHECK_STR(seen, "-1|a=2|-3|");
}

static void a_null_is_no_text(void) {
  CHECK(!read_text("a: ~\nb: null\nc:\nd: \"null\"\ne: '~'\n"));
  CHECK_STR(seen, "a=|b=|c=|d=null|e=~|");
}

static void nothing_is_fine_too(void) {
  CHECK(!read_text(""));
  CHECK(!read_text("# a comment\n"));
  CHECK_STR(seen, "");
}

static void anchors_comments_and_documents(void) {
  CHECK(!read_text("a: &x 1 # one\nb: *x\nc: 2\n--- # another\nd: 3\n"));
  CHECK_STR(seen, "a=1|c=2|d=3|");
}

static void a_mistake_has_its_line(void) {
  const char *wrong = read_text("a: 1\nb: [2, 3\nc: 4\n");
  CHECK(wrong && strstr(wrong, "line 3"));
  CHECK_STR(seen, "a=1|b-2|b-3 c|");
  CHECK(read_text("a: \"\\xff"));
  CHECK(read_text("\xff\xfe\xff"));
}

static void deep_and_long_ones_have_limits(void) {
  char longest[2000];
  const char *wrong = read_text("[[[[[[[[[[[[1]]]]]]]]]]]]");
  CHECK(wrong && strstr(wrong, "too deep"));
  memset(longest, 'k', sizeof longest);
  longest[0] = '{';
  memcpy(longest + 600, ": 1}", 5);
  CHECK(!read_text(longest)); /* the path is cut, and nothing written beyond it */
  CHECK_INT((long)strspn(seen, "k"), 255);
  CHECK_STR(seen + 255, "=1|");
}

int main(void) {
  if (read_text("a: 1") && strstr(problem, "was not found")) SKIP("libyaml is not there");
  every_scalar_has_its_path();
  lists_have_the_path_of_their_key();
  a_null_is_no_text();
  nothing_is_fine_too();
  anchors_comments_and_documents();
  a_mistake_has_its_line();
  deep_and_long_ones_have_limits();
  return 0;
}
