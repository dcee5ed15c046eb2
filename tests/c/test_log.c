/* test_log.c - what the library tells people: one line a kind, only on the stderr that the program started with.
 *
 * Each case runs this program anew in a part of that name, because stderr counts from its start.
 * SPDX-License-Identifier: MIT */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>

#include "session.h"

static void part_two_of_a_kind(void) {
  errno = 33;
  dft__log(DFT__LOG_SINK, DFT__LOG_ERROR, "first %d", 1);
  dft__log(DFT__LOG_SINK, DFT__LOG_ERROR, "second");
  dft__log(DFT__LOG_SPACE, DFT__LOG_ERROR, "another kind");
  if (errno != 33) _exit(1);
}

static void a_kind_is_told_once(void) {
  char *text = run_anew("two_of_a_kind");
  CHECK_STR(text, "dftracer: first 1\ndftracer: another kind\n");
  free(text);
}

static void part_levels(void) {
  dft__log(DFT__LOG_SINK, DFT__LOG_WARN, "too low");
  dft__log_set_level(DFT__LOG_LEVEL_INFO);
  dft__log(DFT__LOG_SINK, DFT__LOG_WARN, "warned");
  dft__log(DFT__LOG_INFO, DFT__LOG_LEVEL_INFO, "informed");
  dft__log(DFT__LOG_SPACE, DFT__LOG_DEBUG, "too low");
}

static void levels_are_kept_apart(void) {
  char *text = run_anew("levels");
  CHECK_STR(text, "dftracer: warned\ndftracer: informed\n");
  free(text);
}

static void part_settings(void) {
  dft__log_config(3, "three");
  dft__log_config(3, "three");
  dft__log_config(4, "four");
}

static void a_setting_is_told_once(void) {
  char *text = run_anew("settings");
  CHECK_STR(text, "dftracer: three\ndftracer: four\n");
  free(text);
}

static void part_huge(void) {
  char *text = malloc(100001);
  memset(text, 'x', 100000);
  text[100000] = '\0';
  dft__log(DFT__LOG_SINK, DFT__LOG_ERROR, "%s", text);
  free(text);
}

static void a_long_message_is_one_line(void) {
  char *text = run_anew("huge");
  CHECK(strlen(text) > 1000 && strlen(text) < 1100);
  CHECK(strchr(text, '\n') == text + strlen(text) - 1);
  free(text);
}

static void part_odd_texts(void) {
  dft__log(DFT__LOG_SINK, DFT__LOG_ERROR, "%s",
           "\x1b[1m a\tb\x7f \x91 \xc3\xa9 \xe2\x82\xac \xed\xa0\x80 \xc0\xaf \xe2\x82");
}

static void what_cannot_be_shown_is_a_question_mark(void) {
  char *text = run_anew("odd_texts");
  CHECK_STR(text, "dftracer: ?[1m a?b? ? \xc3\xa9 \xe2\x82\xac ??? ?? ??\n");
  free(text);
}

/* The program made number 2 a file of its own: nothing of ours belongs there. */
static void part_other_stderr(void) {
  int fd = open("data", O_CREAT | O_WRONLY, 0600);
  int first = dup(2);
  dup2(fd, 2);
  dft__log(DFT__LOG_SINK, DFT__LOG_ERROR, "into the data");
  dup2(first, 2);
  dft__log(DFT__LOG_SPACE, DFT__LOG_ERROR, "back again");
}

static void only_the_first_stderr_is_written_to(void) {
  char *text = run_anew("other_stderr");
  char *data = read_text("data");
  CHECK_STR(data, "");
  CHECK_STR(text, "dftracer: back again\n");
  free(text);
  free(data);
}

static void part_closed_stderr(void) {
  close(2);
  dft__log(DFT__LOG_SINK, DFT__LOG_ERROR, "lost");
}

static void a_closed_stderr_is_no_trouble(void) {
  char *text = run_anew("closed_stderr");
  CHECK_STR(text, "");
  free(text);
}

static void *tell_later(void *unused) {
  dft__log_defer();
  dft__log(DFT__LOG_SINK, DFT__LOG_ERROR, "from a thread");
  dft__log(DFT__LOG_SINK, DFT__LOG_ERROR, "again");
  return unused;
}

static void part_deferred(void) {
  on_threads(1, tell_later);
  dft__log(DFT__LOG_SPACE, DFT__LOG_ERROR, "at once");
  dft__log_flush();
  dft__log_flush();
}

static void a_thread_without_stderr_tells_later(void) {
  char *text = run_anew("deferred");
  CHECK_STR(text, "dftracer: at once\ndftracer: from a thread\n");
  free(text);
}

static void part_reset(void) {
  dft__log(DFT__LOG_SINK, DFT__LOG_ERROR, "parent");
  dft__log_reset();
  dft__log(DFT__LOG_SINK, DFT__LOG_ERROR, "child");
}

static void a_child_may_say_it_again(void) {
  char *text = run_anew("reset");
  CHECK_STR(text, "dftracer: parent\ndftracer: child\n");
  free(text);
}

static void *tell(void *number) {
  dft__log(DFT__LOG_SINK, DFT__LOG_ERROR, "thread %d", (int)(intptr_t)number);
  return NULL;
}

static void part_threads(void) {
  on_threads(8, tell);
}

static void threads_tell_once(void) {
  char *text = run_anew("threads");
  CHECK(strncmp(text, "dftracer: thread ", 17) == 0 && strchr(text, '\n') == text + strlen(text) - 1);
  free(text);
}

static const struct part {
  const char *name;
  void (*run)(void);
} parts[] = {{"two_of_a_kind", part_two_of_a_kind},
             {"levels", part_levels},
             {"settings", part_settings},
             {"huge", part_huge},
             {"odd_texts", part_odd_texts},
             {"other_stderr", part_other_stderr},
             {"closed_stderr", part_closed_stderr},
             {"deferred", part_deferred},
             {"reset", part_reset},
             {"threads", part_threads}};

int main(int argc, char **argv) {
  for (size_t i = 0; argc > 1 && i < sizeof parts / sizeof parts[0]; i++) {
    if (strcmp(argv[1], parts[i].name) == 0) {
      parts[i].run();
      return 0;
    }
  }
  RUN(a_kind_is_told_once);
  RUN(levels_are_kept_apart);
  RUN(a_setting_is_told_once);
  RUN(a_long_message_is_one_line);
  RUN(what_cannot_be_shown_is_a_question_mark);
  RUN(only_the_first_stderr_is_written_to);
  RUN(a_closed_stderr_is_no_trouble);
  RUN(a_thread_without_stderr_tells_later);
  RUN(a_child_may_say_it_again);
  RUN(threads_tell_once);
  return failed_cases;
}
