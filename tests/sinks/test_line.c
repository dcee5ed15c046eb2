/* test_line.c - events become the lines that sinks/FORMAT.md promises.
 * SPDX-License-Identifier: MIT */
#include "codec/line.h"

#include <math.h>

#include "check.h"

#define HOST "2a702c695247d487"
#define TEXT(literal) \
  { (literal), sizeof(literal) - 1 }
#define INT(name, number) \
  { .key = TEXT(name), .type = DFT_INT, .value.i = (number) }
#define DOUBLE(name, number) \
  { .key = TEXT(name), .type = DFT_DOUBLE, .value.d = (number) }
#define STRING(name, literal) \
  { .key = TEXT(name), .type = DFT_STRING, .value.s = TEXT(literal) }
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static char out[1 << 20];

static dft_event make_event(const dft_value *values, size_t count) {
  return (dft_event){.id = 8,
                     .parent = 7,
                     .start = 1727286231145121,
                     .duration = 1054,
                     .level = 3,
                     .phase = DFT_COMPLETE,
                     .pid = 3308801,
                     .tid = 3308804,
                     .name = TEXT("forward"),
                     .cat = TEXT("compute"),
                     .value_count = (uint32_t)count,
                     .values = values};
}

static const char *line(const dft_event *event) {
  size_t len = dft__line_encode(out, sizeof out, event, HOST);
  CHECK(len > 0 && len < sizeof out);
  out[len] = '\0';
  return out;
}

/* What follows the fixed part of the event above. */
static void check_args(const dft_value *values, size_t count, const char *expected) {
  static const char front[] = "{\"id\":8,\"name\":\"forward\",\"cat\":\"compute\",\"pid\":3308801,\"tid\":3308804,"
                              "\"ts\":1727286231145121,\"dur\":1054,\"ph\":\"X\",\"args\":{\"hhash\":\"" HOST "\","
                              "\"p_idx\":7,\"level\":3";
  dft_event event = make_event(values, count);
  const char *text = line(&event);
  CHECK_BYTES(text, sizeof front - 1, front, sizeof front - 1);
  CHECK_STR(text + sizeof front - 1, expected);
}

static void a_region_is_written_as_documented(void) {
  const dft_value values[] = {INT("epoch", 1), INT("step", 12)};
  dft_event event = make_event(values, COUNT(values));
  CHECK_STR(
    line(&event),
    "{\"id\":8,\"name\":\"forward\",\"cat\":\"compute\",\"pid\":3308801,\"tid\":3308804,\"ts\":1727286231145121,"
    "\"dur\":1054,\"ph\":\"X\",\"args\":{\"hhash\":\"2a702c695247d487\",\"p_idx\":7,\"level\":3,\"epoch\":1,"
    "\"step\":12}}\n");
}

static void metadata_has_no_time(void) {
  const dft_value values[] = {STRING("name", "node17"), STRING("value", HOST)};
  dft_event event = make_event(values, COUNT(values));
  event.phase = DFT_METADATA;
  event.name = (dft_text)TEXT("HH");
  event.cat = (dft_text)TEXT("dftracer");
  CHECK_STR(line(&event),
            "{\"id\":8,\"name\":\"HH\",\"cat\":\"dftracer\",\"pid\":3308801,\"tid\":3308804,\"ph\":\"M\",\"args\":{"
            "\"hhash\":\"2a702c695247d487\",\"name\":\"node17\",\"value\":\"2a702c695247d487\"}}\n");
}

static void a_counter_has_a_time_and_nothing_but_its_value(void) {
  const dft_value values[] = {DOUBLE("loss", 0.25)};
  dft_event event = make_event(values, COUNT(values));
  event.phase = DFT_COUNTER;
  CHECK_STR(
    line(&event),
    "{\"id\":8,\"name\":\"forward\",\"cat\":\"compute\",\"pid\":3308801,\"tid\":3308804,\"ts\":1727286231145121,"
    "\"ph\":\"C\",\"args\":{\"loss\":0.25}}\n");
}

static void level_zero_means_neither_level_nor_parent(void) {
  dft_event event = make_event(NULL, 0);
  event.level = 0;
  CHECK(strstr(line(&event), "\"args\":{\"hhash\":\"" HOST "\"}}\n"));
  event.level = 1;
  event.parent = -1;
  CHECK(strstr(line(&event), "\"p_idx\":-1,\"level\":1}}\n"));
}

static void a_name_is_never_empty(void) {
  dft_event event = make_event(NULL, 0);
  event.name = (dft_text){NULL, 0};
  event.cat = (dft_text)TEXT("");
  CHECK(strstr(line(&event), "\"name\":\"(unnamed)\",\"cat\":\"(unnamed)\","));
}

static void every_type_of_value_is_written(void) {
  const dft_value values[] = {
    INT("least", INT64_MIN),
    {.key = TEXT("most"), .type = DFT_UINT, .value.u = UINT64_MAX},
    DOUBLE("half", 0.5),
    {.key = TEXT("yes"), .type = DFT_BOOL, .value.i = 7},
    {.key = TEXT("no"), .type = DFT_BOOL, .value.i = 0},
    STRING("text", "a \"b\"\n"),
    {.key = TEXT("fhash"), .type = DFT_PATH, .value.s = TEXT("457466652c169c22")},
    STRING("empty", ""),
    {.key = TEXT("none"), .type = DFT_STRING, .value.s = {NULL, 0}},
  };
  check_args(values, COUNT(values),
             ",\"least\":-9223372036854775808,\"most\":18446744073709551615,\"half\":0.5,\"yes\":1,\"no\":0,"
             "\"text\":\"a \\\"b\\\"\\n\",\"fhash\":\"457466652c169c22\",\"empty\":\"\",\"none\":\"\"}}\n");
}

static void what_json_has_no_number_for_is_a_string(void) {
  const dft_value values[] = {DOUBLE("a", NAN), DOUBLE("b", -NAN), DOUBLE("c", INFINITY), DOUBLE("d", -INFINITY)};
  check_args(values, COUNT(values), ",\"a\":\"nan\",\"b\":\"nan\",\"c\":\"inf\",\"d\":\"-inf\"}}\n");
}

static void a_type_of_a_later_version_is_left_out(void) {
  const dft_value values[] = {INT("a", 1), {.key = TEXT("new"), .type = 99}, INT("b", 2)};
  check_args(values, COUNT(values), ",\"a\":1,\"b\":2}}\n");
}

static void of_equal_keys_the_last_wins(void) {
  const dft_value values[] = {INT("a", 1), INT("b", 2), INT("a", 3), STRING("a", "last")};
  check_args(values, COUNT(values), ",\"b\":2,\"a\":\"last\"}}\n");
}

static void reserved_and_empty_keys_get_other_names(void) {
  const dft_value values[] = {INT("hhash", 1), INT("p_idx", 2), INT("level", 3), INT("", 4)};
  check_args(values, COUNT(values), ",\"arg.hhash\":1,\"arg.p_idx\":2,\"arg.level\":3,\"_\":4}}\n");
}

static void an_empty_key_may_be_null(void) {
  const dft_value values[] = {{.type = DFT_INT, .value.i = 1}, INT("a", 2), {.type = DFT_INT, .value.i = 3}};
  check_args(values, COUNT(values), ",\"a\":2,\"_\":3}}\n");
}

static void bad_bytes_can_be_recovered_from_hex(void) {
  const dft_value values[] = {STRING("path", "a\xff")};
  dft_event event = make_event(values, COUNT(values));
  check_args(values, COUNT(values), ",\"path\":\"a\xef\xbf\xbd\",\"path.hex\":\"61ff\"}}\n");
  event.name = (dft_text)TEXT("n\x80");
  event.cat = (dft_text)TEXT("c\x81");
  CHECK(strstr(line(&event), "\"name.hex\":\"6e80\""));
  CHECK(strstr(line(&event), "\"cat.hex\":\"6381\""));
}

static void a_cut_text_says_how_long_it_was(void) {
  const dft_value values[] = {{.key = TEXT("text"), .type = DFT_STRING, .cut_from = 70000, .value.s = TEXT("abc")}};
  check_args(values, COUNT(values), ",\"text\":\"abc\",\"text.cut\":70000}}\n");
}

/* With all that takes room: bad texts, reserved keys, numbers of full length. */
static void no_room_is_too_small_to_be_safe(void) {
  const dft_value values[] = {
    INT("level", INT64_MIN),
    DOUBLE("d", -1.2345678901234567e-300),
    {.key = TEXT("\xff"), .type = DFT_STRING, .cut_from = UINT64_MAX, .value.s = TEXT("\xfe")}};
  dft_event event = make_event(values, COUNT(values));
  char name[DFT__LINE_RESERVE];
  char whole[4096];
  size_t need;
  memset(name, 'n', sizeof name); /* longer than the reserve, below which nothing is tried */
  name[0] = '\x80';
  event.name = (dft_text){name, sizeof name};
  event.id = UINT64_MAX;
  event.parent = event.start = event.duration = INT64_MIN;
  event.pid = event.tid = event.level = UINT32_MAX;
  need = strlen(line(&event));
  CHECK(need < sizeof whole);
  memcpy(whole, out, need);
  for (size_t room = 0; room <= need + DFT__LINE_RESERVE; room++) {
    char *small = malloc(room + 1); /* the address sanitizer sees what is written behind it */
    size_t len;
    CHECK(small);
    small[room] = '#';
    len = dft__line_encode(small, room, &event, HOST);
    if (len || room == need + DFT__LINE_RESERVE) CHECK_BYTES(small, len, whole, need);
    CHECK_INT(small[room], '#');
    free(small);
  }
}

static void huge_texts_fit_where_there_is_room(void) {
  static char big[100000];
  const dft_value values[] = {{.key = TEXT("big"), .type = DFT_STRING, .value.s = {big, sizeof big}}};
  dft_event event = make_event(values, COUNT(values));
  memset(big, 1, sizeof big);
  CHECK(strlen(line(&event)) > 6 * sizeof big);
  CHECK_UINT(dft__line_encode(out, 6 * sizeof big, &event, HOST), 0);
}

static void the_short_form_always_fits(void) {
  static char big[100000];
  const dft_value values[] = {STRING("gone", "gone")};
  dft_event event = make_event(values, COUNT(values));
  size_t len;
  memset(big, 1, sizeof big);
  big[0] = '\xff';
  event.name = event.cat = (dft_text){big, sizeof big};
  len = dft__line_encode_short(out, 16384, &event, HOST);
  CHECK(len > 0 && len < 16384);
  out[len] = '\0';
  CHECK(strstr(out, ",\"cut\":1") && !strstr(out, "gone"));
}

static void the_short_form_is_cut_between_characters(void) {
  static char name[1021];
  dft_event event = make_event(NULL, 0);
  size_t len;
  for (size_t i = 0; i + 2 < sizeof name; i += 3) memcpy(name + i, "\xe2\x82\xac", 3);
  event.name = (dft_text){name, sizeof name - 1};
  len = dft__line_encode_short(out, 16384, &event, HOST);
  out[len] = '\0';
  CHECK(!strstr(out, "\xef\xbf\xbd") && !strstr(out, "hex") && strstr(out, "\xe2\x82\xac\",\"cat\""));
}

/* Also where every byte looks like the middle of a character. */
static void the_short_form_keeps_some_of_a_bad_name(void) {
  static char name[2000];
  dft_event event = make_event(NULL, 0);
  size_t len;
  memset(name, '\x80', sizeof name);
  event.name = (dft_text){name, sizeof name};
  len = dft__line_encode_short(out, 16384, &event, HOST);
  out[len] = '\0';
  CHECK(strstr(out, "\"name\":\"\xef\xbf\xbd") && strstr(out, "\"name.hex\":\"8080"));
}

int main(void) {
  a_region_is_written_as_documented();
  metadata_has_no_time();
  a_counter_has_a_time_and_nothing_but_its_value();
  level_zero_means_neither_level_nor_parent();
  a_name_is_never_empty();
  every_type_of_value_is_written();
  what_json_has_no_number_for_is_a_string();
  a_type_of_a_later_version_is_left_out();
  of_equal_keys_the_last_wins();
  reserved_and_empty_keys_get_other_names();
  an_empty_key_may_be_null();
  bad_bytes_can_be_recovered_from_hex();
  a_cut_text_says_how_long_it_was();
  no_room_is_too_small_to_be_safe();
  huge_texts_fit_where_there_is_room();
  the_short_form_always_fits();
  the_short_form_is_cut_between_characters();
  the_short_form_keeps_some_of_a_bad_name();
  return 0;
}
