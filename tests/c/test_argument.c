/* test_argument.c - arguments of regions: every type, every size, and what happens when there are too many.
 * SPDX-License-Identifier: MIT */
#include <float.h>
#include <math.h>

#include "session.h"
#include "spool/record.h"

static dft_site site = DFT_SITE("region", "test");
static dft_site inner = DFT_SITE("inner", "test");

static void every_type_keeps_its_extremes(void) {
  trace in;
  const event *one;
  start_in_memory();
  dft_region_begin(&site);
  dft_update_int("int_least", INT64_MIN);
  dft_update_int("int_most", INT64_MAX);
  dft_update_int("zero", 0);
  dft_update_uint("uint_most", UINT64_MAX);
  dft_update_double("double_most", DBL_MAX);
  dft_update_double("double_least", -DBL_TRUE_MIN);
  dft_update_double("fraction", 0.1);
  dft_update_double("minus_zero", -0.0);
  dft_update_double("nan", NAN);
  dft_update_double("inf", INFINITY);
  dft_update_double("minus_inf", -INFINITY);
  dft_update_bool("yes", 42);
  dft_update_bool("no", 0);
  dft_update_string("text", "some \"text\"\n");
  dft_update_string("empty", "");
  dft_update_string("null", NULL);
  dft_update_string("bad", "a\xff");
  dft_region_end();
  in = stop();
  one = the_event(&in, "region");
  CHECK_STR(arg_text(one, "int_least"), "-9223372036854775808");
  CHECK_STR(arg_text(one, "int_most"), "9223372036854775807");
  CHECK_STR(arg_text(one, "zero"), "0");
  CHECK_STR(arg_text(one, "uint_most"), "18446744073709551615");
  CHECK(strtod(arg_text(one, "double_most"), NULL) == DBL_MAX);
  CHECK(strtod(arg_text(one, "double_least"), NULL) == -DBL_TRUE_MIN);
  CHECK(strtod(arg_text(one, "fraction"), NULL) == 0.1);
  CHECK(signbit(strtod(arg_text(one, "minus_zero"), NULL)));
  CHECK(find_arg(one, "nan")->is_string && find_arg(one, "inf")->is_string && find_arg(one, "minus_inf")->is_string);
  CHECK_STR(arg_text(one, "yes"), "1");
  CHECK_STR(arg_text(one, "no"), "0");
  CHECK_STR(arg_text(one, "text"), "some \"text\"\n");
  CHECK_STR(arg_text(one, "empty"), "");
  CHECK(find_arg(one, "empty")->is_string);
  CHECK_STR(arg_text(one, "null"), "");
  CHECK_STR(arg_text(one, "bad"), "a\xef\xbf\xbd");
  CHECK_STR(arg_text(one, "bad.hex"), "61ff");
  free_trace(&in);
}

/* Lengths around those where a record goes on in its next cell. */
static void a_text_of_any_length_comes_back(void) {
  enum { MOST = 300 };
  char text[MOST];
  trace in;
  size_t found = 0;
  for (int i = 0; i < MOST; i++) text[i] = (char)('a' + i % 26);
  start_in_memory();
  for (size_t len = 0; len < MOST; len++) {
    dft_region_begin(&site);
    dft_update_int("before", 1);
    dft_update_string_n(0, "text", 4, text, len);
    dft_update_int("after", 2);
    dft_region_end();
  }
  in = stop();
  for (size_t i = 0; i < in.count; i++) {
    const arg *one = find_arg(&in.events[i], "text");
    if (!one) continue;
    CHECK_BYTES(one->text, one->len, text, found);
    CHECK_INT(arg_int(&in.events[i], "before"), 1);
    CHECK_INT(arg_int(&in.events[i], "after"), 2);
    found++;
  }
  CHECK_INT(found, MOST);
  free_trace(&in);
}

static void a_key_set_twice_keeps_the_last_value(void) {
  trace in;
  const event *one;
  start_in_memory();
  dft_region_begin(&site);
  dft_update_int("key", 1);
  dft_update_string("other", "kept");
  dft_update_string("key", "two");
  for (int i = 0; i < 100; i++) dft_update_double("last", i);
  dft_region_end();
  in = stop();
  one = the_event(&in, "region");
  CHECK_STR(arg_text(one, "key"), "two");
  CHECK_STR(arg_text(one, "other"), "kept");
  CHECK(strtod(arg_text(one, "last"), NULL) == 99);
  CHECK_INT(one->arg_count, 3 + 3);
  free_trace(&in);
}

static void keys_may_be_missing_or_taken(void) {
  trace in;
  const event *one;
  start_in_memory();
  dft_region_begin(&site);
  dft_update_int(NULL, 1);
  dft_update_int("level", 99);
  dft_update_int("p_idx", 98);
  dft_update_string("hhash", "mine");
  dft_update_int("a\"\n", 5);
  dft_region_end();
  in = stop();
  one = the_event(&in, "region");
  CHECK_INT(arg_int(one, "_"), 1);
  CHECK_INT(arg_int(one, "level"), 1);
  CHECK_INT(arg_int(one, "p_idx"), -1);
  CHECK_INT(arg_int(one, "arg.level"), 99);
  CHECK_INT(arg_int(one, "arg.p_idx"), 98);
  CHECK_STR(arg_text(one, "arg.hhash"), "mine");
  CHECK_INT(arg_int(one, "a\"\n"), 5);
  free_trace(&in);
}

static void without_a_region_nothing_is_kept(void) {
  trace in;
  start_in_memory();
  dft_update_int("lost", 1);
  dft_region_begin(&site);
  dft_region_end();
  dft_update_string("lost", "too");
  dft_update_int_n(12345, "lost", 4, 3);
  in = stop();
  CHECK(!find_arg(the_event(&in, "region"), "lost"));
  free_trace(&in);
}

static void an_outer_region_can_be_updated(void) {
  dft_region outer, middle;
  trace in;
  start_in_memory();
  outer = dft_region_begin(&site);
  dft_update_int("first", 1);
  middle = dft_region_begin(&inner);
  dft_update_int("first", 2);
  dft_region_begin_named("innermost", "test");
  dft_update_int("first", 3);
  dft_update_string_n(outer, "second", 6, "a text that takes some room", 27);
  dft_update_int_n(middle, "second", 6, 22);
  dft_update_int_n(outer, "first", 5, 11);
  dft_update_int("second", 33);
  dft_region_end();
  dft_update_int_n(outer, "third", 5, 111);
  dft_region_end();
  dft_region_end();
  in = stop();
  CHECK_INT(arg_int(the_event(&in, "region"), "first"), 11);
  CHECK_STR(arg_text(the_event(&in, "region"), "second"), "a text that takes some room");
  CHECK_INT(arg_int(the_event(&in, "region"), "third"), 111);
  CHECK_INT(the_event(&in, "region")->arg_count, 3 + 3);
  CHECK_INT(arg_int(the_event(&in, "inner"), "first"), 2);
  CHECK_INT(arg_int(the_event(&in, "inner"), "second"), 22);
  CHECK_INT(the_event(&in, "inner")->arg_count, 3 + 2);
  CHECK_INT(arg_int(the_event(&in, "innermost"), "first"), 3);
  CHECK_INT(arg_int(the_event(&in, "innermost"), "second"), 33);
  free_trace(&in);
}

/* Far more than the first area of a thread holds, on many frames. */
static void many_open_regions_keep_their_arguments(void) {
  enum { DEPTH = 500 };
  dft_region regions[DEPTH];
  trace in;
  start_in_memory();
  for (int i = 0; i < DEPTH; i++) {
    regions[i] = dft_region_begin(&site);
    dft_update_int("number", i);
    dft_update_string("text", "abcdefghijklmnopqrstuvwxyz");
  }
  for (int i = 0; i < DEPTH; i++) dft_update_int_n(regions[i], "twice", 5, 2 * i);
  for (int i = 0; i < DEPTH; i++) dft_region_end();
  in = stop();
  for (size_t i = 0; i < in.count; i++) {
    int64_t number = arg_int(&in.events[i], "number");
    if (strcmp(in.events[i].name, "region") != 0) continue;
    CHECK_INT(number, arg_int(&in.events[i], "level") - 1);
    CHECK_INT(arg_int(&in.events[i], "twice"), 2 * number);
    CHECK_STR(arg_text(&in.events[i], "text"), "abcdefghijklmnopqrstuvwxyz");
  }
  CHECK_INT(count_name(&in, "region"), DEPTH);
  free_trace(&in);
}

/* ---- Sizes -------------------------------------------------------------------------------------------------------- */

static void a_long_text_is_cut_at_a_character(void) {
  enum { LEN = 3 * 50000 };
  char *text = malloc(LEN + 1);
  char *bad = malloc(LEN);
  trace in;
  const event *one;
  CHECK(text && bad);
  for (int i = 0; i < LEN; i += 3) memcpy(text + i, "\xe2\x82\xac", 4);
  memset(bad, 0x80, LEN);
  start_in_memory();
  dft_region_begin(&site);
  dft_update_string("long", text);
  dft_update_string_n(0, "most", 4, text, 65535);
  dft_update_int("after", 1);
  dft_region_end();
  dft_region_begin(&inner);
  dft_update_string_n(0, "bad", 3, bad, LEN);
  dft_region_end();
  in = stop();
  one = the_event(&in, "region");
  CHECK_INT(find_arg(one, "long")->len, 65535);
  CHECK(memcmp(arg_text(one, "long"), text, 65535) == 0);
  CHECK_INT(arg_int(one, "long.cut"), LEN);
  CHECK_INT(find_arg(one, "most")->len, 65535);
  CHECK(!find_arg(one, "most.cut"));
  CHECK_INT(arg_int(one, "after"), 1);
  one = the_event(&in, "inner");
  CHECK_INT(find_arg(one, "bad.hex")->len, 2 * DFT__TEXT_MAX);
  CHECK_INT(arg_int(one, "bad.cut"), LEN);
  free_trace(&in);
  free(text);
  free(bad);
}

/* Four strings of the largest size do not fit; those that came first are there, and the others are counted. */
static void arguments_too_large_together_are_counted(void) {
  char *text = calloc(1, DFT__TEXT_MAX + 1);
  trace in;
  const event *one;
  CHECK(text);
  memset(text, 'x', DFT__TEXT_MAX);
  start_in_memory();
  dft_region_begin(&site);
  dft_update_int("first", 1);
  for (int i = 0; i < 10; i++) {
    char key[8];
    snprintf(key, sizeof key, "key%d", i);
    dft_update_string(key, text);
  }
  dft_region_end();
  dft_region_begin(&inner);
  dft_update_int("fine", 1);
  dft_region_end();
  in = stop();
  one = the_event(&in, "region");
  CHECK_INT(arg_int(one, "first"), 1);
  CHECK_INT(find_arg(one, "key0")->len, DFT__TEXT_MAX);
  CHECK_INT(find_arg(one, "key2")->len, DFT__TEXT_MAX);
  CHECK(!find_arg(one, "key3") && !find_arg(one, "key9"));
  CHECK_INT(arg_int(one, "args_lost"), 7);
  CHECK_INT(arg_int(the_event(&in, "inner"), "fine"), 1);
  CHECK(!find_arg(the_event(&in, "inner"), "args_lost"));
  free_trace(&in);
  free(text);
}

/* Of an outer region too, while the inner ones hold theirs. */
static void an_outer_region_counts_its_own_losses(void) {
  char *text = calloc(1, DFT__TEXT_MAX + 1);
  dft_region outer;
  trace in;
  CHECK(text);
  memset(text, 'x', DFT__TEXT_MAX);
  start_in_memory();
  outer = dft_region_begin(&site);
  dft_region_begin(&inner);
  dft_update_int("kept", 1);
  for (int i = 0; i < 6; i++) {
    char key[8];
    int len = snprintf(key, sizeof key, "key%d", i);
    dft_update_string_n(outer, key, (size_t)len, text, DFT__TEXT_MAX);
  }
  dft_update_int("more", 2);
  dft_region_end();
  dft_region_end();
  in = stop();
  CHECK_INT(arg_int(the_event(&in, "region"), "args_lost"), 3);
  CHECK_INT(find_arg(the_event(&in, "region"), "key2")->len, DFT__TEXT_MAX);
  CHECK_INT(arg_int(the_event(&in, "inner"), "kept"), 1);
  CHECK_INT(arg_int(the_event(&in, "inner"), "more"), 2);
  CHECK(!find_arg(the_event(&in, "inner"), "args_lost"));
  free_trace(&in);
  free(text);
}

static void more_than_a_thousand_arguments_are_counted(void) {
  enum { COUNT = 1500 };
  dft_arg *args = calloc(COUNT, sizeof *args);
  char(*keys)[16] = calloc(COUNT, sizeof *keys);
  trace in;
  CHECK(args && keys);
  for (int i = 0; i < COUNT; i++) {
    int len = snprintf(keys[i], sizeof keys[i], "key%d", i);
    args[i] = (dft_arg){.name = keys[i], .name_len = (size_t)len, .type = DFT_INT, .value.i = i};
  }
  start_in_memory();
  dft_region_begin(&site);
  for (int i = 0; i < COUNT; i++) dft_update_int(keys[i], i);
  dft_region_end();
  dft_instant_n("instant", 7, "test", 4, args, COUNT);
  dft_region_begin_named("open", "test");
  for (int i = 0; i < COUNT; i++) dft_update_int(keys[i], i);
  in = stop();
  for (int which = 0; which < 3; which++) {
    static const char *const names[] = {"region", "instant", "open"};
    const event *one = the_event(&in, names[which]);
    for (int i = 0; i < 1000; i++) CHECK_INT(arg_int(one, keys[i]), i);
    CHECK(!find_arg(one, "key1000"));
    CHECK_INT(arg_int(one, "args_lost"), COUNT - 1000);
    CHECK_INT(arg_int(one, "open"), which == 2 ? 1 : INT64_MIN);
  }
  free_trace(&in);
  free(args);
  free(keys);
}

/* Keys that came too late for the registry travel with their values. */
static void keys_beyond_the_registry_are_kept(void) {
  enum { KEYS = 70000 };
  trace in;
  const event *last;
  start_in_memory();
  for (int i = 0; i < KEYS; i++) {
    char key[32];
    dft_key late = DFT_KEY(key);
    dft_arg by_key = {.key = &late, .type = DFT_STRING, .value.s = {"value", 5}};
    snprintf(key, sizeof key, "a key %d", i);
    dft_region_begin_named(i == KEYS - 1 ? "last" : "region", "test");
    dft_update_int(key, i);
    dft_update_string("plain", key);
    snprintf(key, sizeof key, "another key %d", i);
    dft_update_arg(0, &by_key);
    dft_region_end();
  }
  in = stop();
  last = the_event(&in, "last");
  CHECK_INT(arg_int(last, "a key 69999"), 69999);
  CHECK_STR(arg_text(last, "plain"), "a key 69999");
  CHECK_STR(arg_text(last, "another key 69999"), "value");
  CHECK_INT(count_name(&in, "region"), KEYS - 1);
  free_trace(&in);
}

static void a_huge_key_is_cut(void) {
  enum { LEN = 1 << 20 };
  char *key = calloc(1, LEN + 1);
  trace in;
  const event *one;
  CHECK(key);
  memset(key, 'k', LEN);
  start_in_memory();
  dft_region_begin(&site);
  dft_update_int(key, 7);
  dft_region_end();
  in = stop();
  key[DFT__NAME_MAX] = '\0';
  one = the_event(&in, "region");
  CHECK_INT(arg_int(one, key), 7);
  free_trace(&in);
  free(key);
}

/* ---- Static keys --------------------------------------------------------------------------------------------------- */

static void static_keys_take_every_type(void) {
  static dft_key keys[] = {DFT_KEY("int"),  DFT_KEY("uint"), DFT_KEY("double"), DFT_KEY("string"),
                           DFT_KEY("bool"), DFT_KEY("path"), DFT_KEY(NULL),     DFT_KEY("strange")};
  for (int turn = 0; turn < 2; turn++) { /* in a second trace the keys are registered anew */
    dft_arg args[] = {
      {.key = &keys[0], .type = DFT_INT, .value.i = -5},
      {.key = &keys[1], .type = DFT_UINT, .value.u = UINT64_MAX},
      {.key = &keys[2], .type = DFT_DOUBLE, .value.d = 2.5},
      {.key = &keys[3], .type = DFT_STRING, .value.s = {"te\0xt", 5}},
      {.key = &keys[4], .type = DFT_BOOL, .value.i = 77},
      {.key = &keys[5], .type = DFT_PATH, .value.s = {"/a/path", 7}},
      {.key = &keys[6], .type = DFT_INT, .value.i = 1},
      {.key = &keys[7], .type = 99, .value.i = 1},
      {.name = "by name", .name_len = 7, .type = DFT_INT, .value.i = 3},
    };
    trace in;
    const event *one;
    start_in_memory();
    dft_region_begin(&site);
    for (size_t i = 0; i < sizeof args / sizeof args[0]; i++) dft_update_arg(0, &args[i]);
    dft_update_arg(0, NULL);
    dft_region_end();
    in = stop();
    one = the_event(&in, "region");
    CHECK_INT(arg_int(one, "int"), -5);
    CHECK_STR(arg_text(one, "uint"), "18446744073709551615");
    CHECK(strtod(arg_text(one, "double"), NULL) == 2.5);
    CHECK_BYTES(arg_text(one, "string"), find_arg(one, "string")->len, "te\0xt", 5);
    CHECK_INT(arg_int(one, "bool"), 1);
    CHECK_INT(find_arg(one, "path")->len, 16);
    CHECK_INT(arg_int(one, "_"), 1);
    CHECK_INT(arg_int(one, "by name"), 3);
    free_trace(&in);
  }
}

/* ---- Relations ----------------------------------------------------------------------------------------------------- */

static void relations_are_joined_by_commas(void) {
  dft_region outer;
  trace in;
  start_in_memory();
  outer = dft_region_begin(&site);
  dft_region_relate(0, 0, 1);
  dft_region_relate(0, 0, UINT64_MAX);
  dft_region_relate(0, 1, 0xabc);
  dft_region_relate(0, 2, 2);
  dft_region_relate(0, 3, 3);
  dft_region_begin(&inner);
  dft_region_relate(outer, 1, 0xdef);
  dft_region_relate(0, 0, 0);  /* no entity */
  dft_region_relate(0, 16, 5); /* no relation of an event */
  dft_region_relate(0, -1, 5);
  dft_region_end();
  dft_region_end();
  in = stop();
  CHECK_STR(arg_text(the_event(&in, "region"), "used"), "0000000000000001,ffffffffffffffff");
  CHECK_STR(arg_text(the_event(&in, "region"), "generated"), "0000000000000abc,0000000000000def");
  CHECK_STR(arg_text(the_event(&in, "region"), "invalidated"), "0000000000000002");
  CHECK_STR(arg_text(the_event(&in, "region"), "updated"), "0000000000000003");
  CHECK_INT(the_event(&in, "inner")->arg_count, 3);
  free_trace(&in);
}

static void too_many_relations_are_counted(void) {
  enum { COUNT = 1000 };
  trace in;
  const event *one;
  size_t kept;
  start_in_memory();
  dft_region_begin(&site);
  for (int i = 1; i <= COUNT; i++) dft_region_relate(0, 0, (uint64_t)i);
  dft_region_end();
  in = stop();
  one = the_event(&in, "region");
  kept = (find_arg(one, "used")->len + 1) / 17;
  CHECK(kept >= 100 && kept < COUNT);
  CHECK_INT(arg_int(one, "args_lost"), (int64_t)(COUNT - kept));
  free_trace(&in);
}

int main(void) {
  RUN(every_type_keeps_its_extremes);
  RUN(a_text_of_any_length_comes_back);
  RUN(a_key_set_twice_keeps_the_last_value);
  RUN(keys_may_be_missing_or_taken);
  RUN(without_a_region_nothing_is_kept);
  RUN(an_outer_region_can_be_updated);
  RUN(many_open_regions_keep_their_arguments);
  RUN(a_long_text_is_cut_at_a_character);
  RUN(arguments_too_large_together_are_counted);
  RUN(an_outer_region_counts_its_own_losses);
  RUN(more_than_a_thousand_arguments_are_counted);
  RUN(keys_beyond_the_registry_are_kept);
  RUN(a_huge_key_is_cut);
  RUN(static_keys_take_every_type);
  RUN(relations_are_joined_by_commas);
  RUN(too_many_relations_are_counted);
  return failed_cases;
}
