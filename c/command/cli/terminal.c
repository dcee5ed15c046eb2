/* terminal.c - width, colour, numbers, wrapped text.
 * SPDX-License-Identifier: MIT */
#include "terminal.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int terminal_width(FILE *out) {
  const char *columns = getenv("COLUMNS");
  struct winsize size;
  if (columns && atoi(columns) > 0) return atoi(columns);
  if (ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 100;
}

int terminal_height(FILE *out) {
  struct winsize size;
  return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : 24;
}

int terminal_has_colour(FILE *out) {
  const char *term = getenv("TERM");
  const char *none = getenv("NO_COLOR");
  return !(none && *none) && term && strcmp(term, "dumb") != 0 && isatty(fileno(out));
}

int terminal_has_unicode(void) {
  setlocale(LC_CTYPE, "");
  return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

void terminal_wrap(FILE *out, const char *text, int column, int indent, int width) {
  int is_first = 1;
  while (*text) {
    size_t len = strcspn(text, " ");
    if (strncmp(text + len, " %", 2) == 0) len += 1 + strcspn(text + len + 1, " "); /* 41 % stays in one line */
    if (!is_first && column + 1 + (int)len > width) {
      fprintf(out, "\n%*s", indent, "");
      column = indent;
    } else if (!is_first) {
      fputc(' ', out);
      column++;
    }
    fprintf(out, "%.*s", (int)len, text);
    column += (int)len;
    text += len;
    text += strspn(text, " ");
    is_first = 0;
  }
  fputc('\n', out);
}

/* ---- Numbers -------------------------------------------------------------------------------------------------------- */

const char *format_count(char out[FORMAT_BYTES], uint64_t count) {
  char digits[24];
  int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
  char *at = out;
  for (int i = 0; i < len; i++) {
    if (i && (len - i) % 3 == 0) *at++ = ',';
    *at++ = digits[i];
  }
  *at = '\0';
  return out;
}

/* Three significant digits. */
static int decimals_of(double value) {
  return value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
}

const char *format_bytes(char out[FORMAT_BYTES], double bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  int unit = 0;
  while (bytes >= 1023.5 && unit < 6) bytes /= 1024, unit++;
  snprintf(out, FORMAT_BYTES, "%.*f %s", unit ? decimals_of(bytes) : 0, bytes, units[unit]);
  return out;
}

const char *format_duration(char out[FORMAT_BYTES], double seconds) {
  static const struct {
    double factor;
    const char *name;
  } units[] = {{1, "s"}, {1e3, "ms"}, {1e6, "us"}};
  if (seconds >= 100) {
    uint64_t whole = (uint64_t)(seconds + 0.5);
    if (whole < 3600) snprintf(out, FORMAT_BYTES, "%u min %u s", (unsigned)(whole / 60), (unsigned)(whole % 60));
    else snprintf(out, FORMAT_BYTES, "%llu h %u min", (unsigned long long)whole / 3600, (unsigned)(whole / 60 % 60));
    return out;
  }
  for (size_t i = 0; i < 3; i++) {
    double value = seconds * units[i].factor;
    if (value < 0.9995) continue;
    snprintf(out, FORMAT_BYTES, "%.*f %s", decimals_of(value), value, units[i].name);
    return out;
  }
  snprintf(out, FORMAT_BYTES, "%.0f ns", seconds * 1e9);
  return out;
}
