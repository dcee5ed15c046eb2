/* log.c - messages of the library, its version and its status texts.
 * SPDX-License-Identifier: MIT */
#include "log.h"

#include <dftracer/dft.h>
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "atomic.h"
#include "signals.h"

#define LINE_BYTES 1024

static struct stat first_stderr;
static int had_stderr;
static _Atomic int most_level = DFT__LOG_ERROR;
static _Atomic uint64_t said;          /* bit per kind */
static _Atomic uint64_t said_settings; /* bit per setting */
static __thread __attribute__((tls_model("initial-exec"))) char is_deferring;
static DFT__LARGE char lines[DFT__LOG_KINDS][LINE_BYTES]; /* not on the stack, which may be small */
static _Atomic uint64_t deferred_kinds;

__attribute__((constructor)) static void remember_stderr(void) {
  dft__hush++;
  had_stderr = fstat(STDERR_FILENO, &first_stderr) == 0;
  dft__hush--;
}

/* The number 2 may have become a socket or a data file of the program. */
static int is_first_stderr(void) {
  struct stat now;
  return had_stderr && fstat(STDERR_FILENO, &now) == 0 && now.st_dev == first_stderr.st_dev &&
         now.st_ino == first_stderr.st_ino && now.st_rdev == first_stderr.st_rdev;
}

void dft__log_set_level(int level) {
  atomic_store(&most_level, level);
}

static void write_line(const char *line) {
  uint64_t before = dft__signals_block();
  int can_exceed = S_ISREG(first_stderr.st_mode) && dft__signals_watch_limit();
  size_t len = is_first_stderr() ? strlen(line) : 0;
  while (len) {
    ssize_t written = write(STDERR_FILENO, line, len);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    line += written;
    len -= (size_t)written;
  }
  dft__signals_absorb_limit(can_exceed);
  dft__signals_restore(before);
}

/* How many bytes the character there has; 0: none that can be shown. */
static size_t character_at(const char *text) {
  const unsigned char *at = (const unsigned char *)text;
  size_t len = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : at[0] < 0xf5 ? 4 : 0;
  if (at[0] < 0x20 || at[0] == 0x7f) return 0;
  for (size_t i = 1; i < len; i++) {
    if ((at[i] & 0xc0) != 0x80) return 0;
  }
  if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] >= 0xa0)) return 0; /* too long, half a pair */
  if ((at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] >= 0x90)) return 0; /* too long, too large */
  return len;
}

static void format_line(char *line, const char *format, va_list arguments) {
  static const char prefix[] = "dftracer: ";
  size_t len = sizeof prefix - 1;
  int more;
  memcpy(line, prefix, sizeof prefix);
  more = vsnprintf(line + len, LINE_BYTES - len - 1, format, arguments);
  if (more > 0) len += (size_t)more < LINE_BYTES - len - 2 ? (size_t)more : LINE_BYTES - len - 2;
  for (size_t i = 0, step; i < len; i += step ? step : 1) {
    step = character_at(line + i); /* what people gave us stays on the one line, and off their terminal */
    if (!step) line[i] = '?';
  }
  line[len] = '\n';
  line[len + 1] = '\0';
}

void dft__log(enum dft__log_kind kind, int level, const char *format, ...) {
  int saved = errno;
  va_list arguments;
  if (level > atomic_load(&most_level)) return;
  if (atomic_fetch_or(&said, UINT64_C(1) << kind) >> kind & 1) return;
  va_start(arguments, format);
  format_line(lines[kind], format, arguments);
  va_end(arguments);
  if (is_deferring) atomic_fetch_or(&deferred_kinds, UINT64_C(1) << kind);
  else write_line(lines[kind]);
  errno = saved;
}

void dft__log_config(unsigned setting, const char *format, ...) {
  int saved = errno;
  char line[LINE_BYTES];
  va_list arguments;
  if (atomic_fetch_or(&said_settings, UINT64_C(1) << (setting & 63)) >> (setting & 63) & 1) return;
  va_start(arguments, format);
  format_line(line, format, arguments);
  va_end(arguments);
  write_line(line);
  errno = saved;
}

void dft__log_defer(void) {
  is_deferring = 1;
}

void dft__log_flush(void) {
  int saved = errno;
  uint64_t kinds = atomic_exchange(&deferred_kinds, 0);
  for (unsigned kind = 0; kind < DFT__LOG_KINDS; kind++) {
    if (kinds >> kind & 1) write_line(lines[kind]);
  }
  errno = saved;
}

void dft__log_reset(void) {
  atomic_store(&said, 0);
  atomic_store(&deferred_kinds, 0);
}

/* ---- Version and status ------------------------------------------------------------------------------------------------ */

const char *dft_version(void) {
  return DFT_VERSION;
}

const char *dft_status_text(dft_status status) {
  switch (status) {
#define STATUS_CASE(name, value, text) \
  case name: return text;
    DFT_STATUS_LIST(STATUS_CASE)
#undef STATUS_CASE
  }
  return "unknown status";
}
