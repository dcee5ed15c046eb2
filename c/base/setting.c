/* setting.c - the one table of settings, and what their values may be.
 * SPDX-License-Identifier: MIT */
#include "setting.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PREFIX "DFTRACER_"

const dft__setting_row dft__settings[] = {
#define SETTING_ROW(id, kind, initial, allowed, summary) {PREFIX #id, DFT__SETTING_##kind, initial, allowed, summary},
  DFT__SETTING_LIST(SETTING_ROW)
#undef SETTING_ROW
};

int dft__setting_find(const char *name) {
  for (int i = 0; i < DFT__SETTING_COUNT; i++) {
    if (strcasecmp(name, dft__settings[i].name + strlen(PREFIX)) == 0) return i;
  }
  return -1;
}

/* ---- Parsing: each returns 0 for what is not allowed --------------------------------------------------------------- */

int dft__setting_switch(const char *text, int64_t *number) {
  static const char *const on[] = {"1", "true", "on", "yes"};
  static const char *const off[] = {"0", "false", "off", "no", ""};
  for (size_t i = 0; i < sizeof on / sizeof on[0]; i++) {
    if (strcasecmp(text, on[i]) == 0) {
      *number = 1;
      return 1;
    }
  }
  for (size_t i = 0; i < sizeof off / sizeof off[0]; i++) {
    if (strcasecmp(text, off[i]) == 0) {
      *number = 0;
      return 1;
    }
  }
  return 0;
}

/* A whole number, with a unit of 1024 steps where one is allowed. */
static int parse_whole(const char *text, int with_unit, int64_t *number) {
  static const char units[] = "KMG";
  char *end;
  const char *unit;
  long long value;
  errno = 0;
  value = strtoll(text, &end, 10);
  if (end == text || errno) return 0;
  if (with_unit && *end && (unit = strchr(units, toupper((unsigned char)*end))) != NULL) {
    unsigned shift = 10 * (unsigned)(unit - units + 1);
    if (value < 0 || value > (INT64_MAX >> shift)) return 0;
    value <<= shift;
    end++;
    if (strcasecmp(end, "iB") == 0) end += 2;
    else if (strcasecmp(end, "B") == 0) end++;
  }
  *number = value;
  return *end == '\0';
}

/* `allowed` is "LOW to HIGH". */
static int parse_range(const char *text, const char *allowed, int with_unit, int64_t *number) {
  const char *to = strstr(allowed, " to ");
  char low_text[32];
  int64_t low = 0;
  int64_t high = 0;
  snprintf(low_text, sizeof low_text, "%.*s", (int)(to - allowed), allowed);
  return parse_whole(low_text, 1, &low) && parse_whole(to + 4, 1, &high) && parse_whole(text, with_unit, number) &&
         *number >= low && *number <= high;
}

/* The word of the list, and its place. */
static int parse_choice(const char *text, const char *allowed, int64_t *number, const char **word, int *word_len) {
  int64_t place = 0;
  for (const char *at = allowed; *at; place++) {
    int len = (int)strcspn(at, " ");
    if ((int)strlen(text) == len && strncasecmp(text, at, (size_t)len) == 0) {
      *number = place;
      *word = at;
      *word_len = len;
      return 1;
    }
    at += len;
    at += strspn(at, " ");
  }
  return 0;
}

int dft__setting_parse(enum dft__setting setting, const char *text, int64_t *number, const char **shown, int *len) {
  const dft__setting_row *row = &dft__settings[setting];
  *number = 0;
  *shown = text;
  *len = (int)strlen(text);
  switch (row->kind) {
    case DFT__SETTING_SWITCH:
      if (!dft__setting_switch(text, number)) return 0;
      *shown = *number ? "1" : "0";
      *len = 1;
      return 1;
    case DFT__SETTING_NUMBER: return parse_range(text, row->allowed, 0, number);
    case DFT__SETTING_BYTES: return parse_range(text, row->allowed, 1, number);
    case DFT__SETTING_CHOICE: return parse_choice(text, row->allowed, number, shown, len);
    case DFT__SETTING_TEXT: break;
  }
  return 1;
}
