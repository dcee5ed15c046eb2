/* test_config.c - settings: each kind with good, bad, empty and huge values, the message about a bad one, and the table.
 * SPDX-License-Identifier: MIT */
#include "base/config.h"

#include "session.h"

static int is_allowed(enum dft__setting setting, const char *text) {
  return dft__config_set(setting, text);
}

static const char *value_of(const char *name) {
  static char value[8192];
  dft_config_get(name, value, sizeof value);
  return value;
}

static void the_defaults_are_these(void) {
  dft__config_read();
  CHECK_INT(dft__config_number(DFT__ENABLE), 0);
  CHECK_INT(dft__config_number(DFT__TRACE_COMPRESSION), 1);
  CHECK_INT(dft__config_number(DFT__INC_METADATA), 1);
  CHECK_INT(dft__config_number(DFT__COMMAND_LINE), 1);
  CHECK_INT(dft__config_number(DFT__DISABLE_IO), 0);
  CHECK_INT(dft__config_number(DFT__DISABLE_POSIX), 0);
  CHECK_INT(dft__config_number(DFT__DISABLE_STDIO), 0);
  CHECK_INT(dft__config_number(DFT__DISABLE_TIDS), 0);
  CHECK_INT(dft__config_number(DFT__SET_CORE_AFFINITY), 0);
  CHECK_INT(dft__config_number(DFT__COMPRESSION_LEVEL), 0);
  CHECK_INT(dft__config_number(DFT__RANK), -1);
  CHECK_INT(dft__config_number(DFT__SPOOL_LIMIT), 64 << 20);
  CHECK_STR(dft__config_text(DFT__TIME_METRIC), "US");
  CHECK_STR(dft__config_text(DFT__CLOCK), "auto");
  CHECK_STR(dft__config_text(DFT__INIT), "FUNCTION");
  CHECK_STR(dft__config_text(DFT__SINK), "jsonl");
  CHECK_STR(dft__config_text(DFT__ON_FULL), "assist");
  CHECK_STR(dft__config_text(DFT__LOG_LEVEL), "ERROR");
  CHECK_STR(dft__config_text(DFT__LOG_FILE), "./trace");
  CHECK_STR(dft__config_text(DFT__DATA_DIR), "");
  CHECK_STR(dft__config_text(DFT__CATEGORIES), "");
  CHECK_STR(dft__config_text(DFT__SPOOL_DIR), "");
}

static void switches_know_these_words(void) {
  static const char *const on[] = {"1", "true", "TRUE", "True", "on", "ON", "yes", "Yes"};
  static const char *const off[] = {"0", "false", "off", "no", "NO", ""};
  static const char *const neither[] = {"2", "-1", "y", "enable", "1 ", "truer", "00"};
  dft__config_read();
  for (size_t i = 0; i < sizeof on / sizeof on[0]; i++) {
    CHECK(is_allowed(DFT__ENABLE, "0") && is_allowed(DFT__ENABLE, on[i]));
    CHECK_INT(dft__config_number(DFT__ENABLE), 1);
    CHECK_STR(dft__config_text(DFT__ENABLE), "1");
  }
  for (size_t i = 0; i < sizeof off / sizeof off[0]; i++) {
    CHECK(is_allowed(DFT__ENABLE, "1") && is_allowed(DFT__ENABLE, off[i]));
    CHECK_INT(dft__config_number(DFT__ENABLE), 0);
    CHECK_STR(dft__config_text(DFT__ENABLE), "0");
  }
  CHECK(is_allowed(DFT__ENABLE, "1"));
  for (size_t i = 0; i < sizeof neither / sizeof neither[0]; i++) {
    CHECK(!is_allowed(DFT__ENABLE, neither[i]));
    CHECK_INT(dft__config_number(DFT__ENABLE), 1); /* nothing changes */
  }
}

static void numbers_stay_in_their_range(void) {
  static const char *const bad[] = {
    "10", "-1", "", "x", "1x", "0x5", "5.5", "99999999999999999999", "-99999999999999999999"};
  dft__config_read();
  CHECK(is_allowed(DFT__COMPRESSION_LEVEL, "0"));
  CHECK(is_allowed(DFT__COMPRESSION_LEVEL, "9"));
  CHECK_INT(dft__config_number(DFT__COMPRESSION_LEVEL), 9);
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) CHECK(!is_allowed(DFT__COMPRESSION_LEVEL, bad[i]));
  CHECK_INT(dft__config_number(DFT__COMPRESSION_LEVEL), 9);
  CHECK(is_allowed(DFT__RANK, "2147483647"));
  CHECK_INT(dft__config_number(DFT__RANK), 2147483647);
  CHECK(!is_allowed(DFT__RANK, "2147483648"));
  CHECK(!is_allowed(DFT__RANK, "-2"));
}

static void bytes_have_units_of_1024(void) {
  static const struct {
    const char *text;
    int64_t bytes;
  } good[] = {{"1M", 1 << 20},    {"1048576", 1 << 20}, {"64MiB", 64 << 20},        {"64MB", 64 << 20},
              {"64mb", 64 << 20}, {"2048K", 2 << 20},   {"16G", INT64_C(16) << 30}, {"16384m", INT64_C(16) << 30}};
  static const char *const bad[] = {
    "1",           "1K",           "17G",   "1T", "M", "", "-1M", "1M1", "1MiBs", "1 M", "9999999999999999999G",
    "8589934592G", "17179869185G", "16385M"};
  dft__config_read();
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    CHECK(is_allowed(DFT__SPOOL_LIMIT, good[i].text));
    CHECK_INT(dft__config_number(DFT__SPOOL_LIMIT), good[i].bytes);
  }
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    if (is_allowed(DFT__SPOOL_LIMIT, bad[i])) fprintf(stderr, "  allowed: %s\n", bad[i]);
    CHECK(!is_allowed(DFT__SPOOL_LIMIT, bad[i]));
  }
}

static void choices_are_words_of_the_list(void) {
  dft__config_read();
  CHECK(is_allowed(DFT__TIME_METRIC, "ns"));
  CHECK_STR(dft__config_text(DFT__TIME_METRIC), "NS");
  CHECK_INT(dft__config_number(DFT__TIME_METRIC), 1);
  CHECK(is_allowed(DFT__TIME_METRIC, "Sec"));
  CHECK_INT(dft__config_number(DFT__TIME_METRIC), 3);
  CHECK(!is_allowed(DFT__TIME_METRIC, "S"));
  CHECK(!is_allowed(DFT__TIME_METRIC, "US NS"));
  CHECK(!is_allowed(DFT__TIME_METRIC, ""));
  CHECK_STR(dft__config_text(DFT__TIME_METRIC), "SEC");
  CHECK(is_allowed(DFT__ON_FULL, "DROP"));
  CHECK_STR(dft__config_text(DFT__ON_FULL), "drop");
}

static void texts_may_be_anything_but_huge(void) {
  char *text = malloc(1 << 20);
  CHECK(text);
  memset(text, 'x', 1 << 20);
  text[4095] = '\0';
  dft__config_read();
  CHECK(is_allowed(DFT__LOG_FILE, text));
  CHECK_STR(dft__config_text(DFT__LOG_FILE), text);
  text[4095] = 'x';
  text[(1 << 20) - 1] = '\0';
  CHECK(!is_allowed(DFT__LOG_FILE, text));
  CHECK_INT(strlen(dft__config_text(DFT__LOG_FILE)), 4095);
  CHECK(is_allowed(DFT__DATA_DIR, "/a:/b c:%s%n"));
  CHECK_STR(dft__config_text(DFT__DATA_DIR), "/a:/b c:%s%n");
  CHECK(is_allowed(DFT__DATA_DIR, ""));
  CHECK_STR(dft__config_text(DFT__DATA_DIR), "");
  free(text);
}

static void the_environment_comes_before_the_default(void) {
  set("DFTRACER_ENABLE", "yes");
  set("DFTRACER_TIME_METRIC", "ms");
  set("DFTRACER_SPOOL_LIMIT", "2M");
  set("DFTRACER_LOG_FILE", "/out/here");
  set("DFTRACER_SINK", ""); /* empty is as good as none */
  set("DFTRACER_COMPRESSION_LEVEL", "");
  CHECK_STR(value_of("DFTRACER_ENABLE"), "1");
  CHECK_STR(value_of("DFTRACER_TIME_METRIC"), "MS");
  CHECK_STR(value_of("DFTRACER_SPOOL_LIMIT"), "2M");
  CHECK_STR(value_of("DFTRACER_LOG_FILE"), "/out/here");
  CHECK_STR(value_of("DFTRACER_SINK"), "jsonl");
  CHECK_STR(value_of("DFTRACER_COMPRESSION_LEVEL"), "0");
  CHECK_STR(value_of("DFTRACER_NOTHING"), "");
}

static void values_are_copied_as_far_as_they_fit(void) {
  char small[4] = "zzz";
  CHECK_INT(dft_config_get("DFTRACER_LOG_FILE", small, sizeof small), 7);
  CHECK_STR(small, "./t");
  CHECK_INT(dft_config_get("DFTRACER_LOG_FILE", NULL, 0), 7);
  CHECK_INT(dft_config_get("DFTRACER_NOTHING", small, sizeof small), 0);
  CHECK_STR(small, "");
  CHECK_INT(dft_config_get(NULL, small, sizeof small), 0);
}

static void every_row_describes_itself(void) {
  dft_setting row = {.struct_size = sizeof row};
  uint32_t count = 0;
  for (; dft_config_describe(count, &row); count++) {
    CHECK(strncmp(row.name, "DFTRACER_", 9) == 0);
    CHECK(row.allowed[0] && row.summary[0]);
    CHECK_STR(value_of(row.name), row.initial);
    CHECK(!strchr(row.summary, '|') && !strchr(row.allowed, '|')); /* it becomes a table in Markdown */
  }
  CHECK_INT(count, DFT__SETTING_COUNT);
  CHECK_INT(dft_config_describe(count, &row), 0);
  CHECK_INT(dft_config_describe(0, NULL), 0);
}

/* ---- Messages ----------------------------------------------------------------------------------------------------- */

static size_t count_lines(const char *text) {
  size_t count = 0;
  for (; *text; text++) count += *text == '\n';
  return count;
}

static void check_message(const char *name, const char *value, const char *allowed, const char *initial) {
  char *text;
  set(name, value);
  text = run_anew("read twice");
  CHECK_INT(count_lines(text), 1);
  CHECK(strncmp(text, "dftracer: ", 10) == 0);
  if (!strstr(text, name) || !strstr(text, allowed) || !strstr(text, initial)) fprintf(stderr, "  %s", text);
  CHECK(strstr(text, name) && strstr(text, allowed) && strstr(text, initial));
  if (strlen(value) < 100 && !strchr(value, '\n')) CHECK(strstr(text, value));
  CHECK(strlen(text) < 1024);
  unsetenv(name);
  free(text);
}

static void a_wrong_value_gets_one_clear_message(void) {
  char *huge = malloc(100001);
  CHECK(huge);
  memset(huge, '9', 100000);
  huge[100000] = '\0';
  check_message("DFTRACER_ENABLE", "maybe", "1, true, on, yes", "default, 0");
  check_message("DFTRACER_COMPRESSION_LEVEL", "11", "0 to 9", "default, 0");
  check_message("DFTRACER_SPOOL_LIMIT", "lots", "1M to 16G", "default, 64M");
  check_message("DFTRACER_TIME_METRIC", "HOURS", "US NS MS SEC", "default, US");
  check_message("DFTRACER_COMPRESSION_LEVEL", huge, "0 to 9", "default, 0");
  check_message("DFTRACER_LOG_FILE", huge, "4095", "./trace");
  check_message("DFTRACER_TIME_METRIC", "%s%n%s\n", "US NS MS SEC", "default, US");
  free(huge);
}

static void several_wrong_values_get_a_message_each(void) {
  char *text;
  set("DFTRACER_ENABLE", "maybe");
  set("DFTRACER_RANK", "first");
  set("DFTRACER_TIME_METRIC", "NS");
  text = run_anew("read twice");
  CHECK_INT(count_lines(text), 2);
  free(text);
}

static void right_values_get_none(void) {
  char *text;
  set("DFTRACER_ENABLE", "1");
  set("DFTRACER_SPOOL_LIMIT", "64MB");
  set("DFTRACER_UNKNOWN", "x");
  text = run_anew("read twice");
  CHECK_STR(text, "");
  free(text);
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "read twice") == 0) {
    dft__config_read();
    dft__config_read();
    return 0;
  }
  RUN(the_defaults_are_these);
  RUN(switches_know_these_words);
  RUN(numbers_stay_in_their_range);
  RUN(bytes_have_units_of_1024);
  RUN(choices_are_words_of_the_list);
  RUN(texts_may_be_anything_but_huge);
  RUN(the_environment_comes_before_the_default);
  RUN(values_are_copied_as_far_as_they_fit);
  RUN(every_row_describes_itself);
  RUN(a_wrong_value_gets_one_clear_message);
  RUN(several_wrong_values_get_a_message_each);
  RUN(right_values_get_none);
  return failed_cases;
}
