/* config.c - the one table of settings.
 * SPDX-License-Identifier: MIT */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/auxv.h>

#include "atomic.h"
#include "configfile.h"
#include "hash.h"
#include "ignored.h"
#include "log.h"

#define TEXT_BYTES 4096
#define PREFIX "DFTRACER_"

enum kind { SWITCH, NUMBER, BYTES, CHOICE, TEXT };

static const struct setting {
  const char *name;
  enum kind kind;
  const char *initial;
  const char *allowed;
  const char *summary;
} settings[] = {
#define SETTING_ROW(id, kind, initial, allowed, summary) {PREFIX #id, kind, initial, allowed, summary},
  DFT__SETTING_LIST(SETTING_ROW)
#undef SETTING_ROW
};

static struct {
  int64_t number;
  const char *text; /* in `texts`, or the default */
} values[DFT__SETTING_COUNT];
static DFT__LARGE char texts[8 * TEXT_BYTES]; /* room for values of the file that the environment replaces */
static size_t texts_used;
static int is_read;

/* A copy that lasts until the settings are read anew; NULL when there is no room. */
static const char *keep(const char *text, size_t len) {
  char *kept = texts + texts_used;
  if (len >= TEXT_BYTES || len >= sizeof texts - texts_used) return NULL;
  memcpy(kept, text, len);
  kept[len] = '\0';
  texts_used += len + 1;
  return kept;
}

/* ---- Parsing: each returns 0 for what is not allowed --------------------------------------------------------------- */

int dft__config_switch(const char *text, int64_t *number) {
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

static int assign(enum dft__setting which, const char *text) {
  const struct setting *setting = &settings[which];
  int64_t number = 0;
  const char *shown = text;
  int len = (int)strlen(text);
  int is_fine = 1;
  if (setting->kind == SWITCH) is_fine = dft__config_switch(text, &number);
  if (setting->kind == NUMBER) is_fine = parse_range(text, setting->allowed, 0, &number);
  if (setting->kind == BYTES) is_fine = parse_range(text, setting->allowed, 1, &number);
  if (setting->kind == CHOICE) is_fine = parse_choice(text, setting->allowed, &number, &shown, &len);
  if (!is_fine) return 0;
  if (setting->kind == SWITCH) {
    shown = number ? "1" : "0";
  } else if (text != setting->initial) {
    shown = keep(shown, (size_t)len);
  }
  if (!shown) return 0;
  /* Threads of the session before may still be looking. */
  __atomic_store_n(&values[which].number, number, __ATOMIC_RELAXED);
  __atomic_store_n(&values[which].text, text == setting->initial ? text : shown, __ATOMIC_RELAXED);
  return 1;
}

static void complain(enum dft__setting which, const char *text) {
  const struct setting *setting = &settings[which];
  const char *allowed = setting->kind == SWITCH ? "1, true, on, yes or 0, false, off, no" : setting->allowed;
  if (setting->kind == TEXT) {
    dft__log_config(which, "%s is longer than %d bytes; using \"%s\"", setting->name, TEXT_BYTES - 1,
                    values[which].text);
  } else {
    dft__log_config(which, "%s=\"%.100s\" is not allowed (%s); using %s%s", setting->name, text, allowed,
                    values[which].text == setting->initial ? "the default, " : "", values[which].text);
  }
}

/* ---- Values ------------------------------------------------------------------------------------------------------- */

static void read_variable(enum dft__setting which) {
  const char *text = secure_getenv(settings[which].name);
  /* An empty variable is as good as none. */
  if (text && *text && !assign(which, text)) complain(which, text);
}

void dft__config_read(void) {
  int saved = errno;
  texts_used = 0;
  for (int i = 0; i < DFT__SETTING_COUNT; i++) assign((enum dft__setting)i, settings[i].initial);
  is_read = 1; /* whoever asks from here on, such as a wrapper of the calls that read the file, gets the defaults */
  if (getauxval(AT_SECURE) == 0) {
    read_variable(DFT__CONFIGURATION);
    if (*dft__config_text(DFT__CONFIGURATION)) dft__configfile_read(dft__config_text(DFT__CONFIGURATION));
    for (int i = 0; i < DFT__SETTING_COUNT; i++) {
      if (i != DFT__CONFIGURATION) read_variable((enum dft__setting)i);
    }
    if (values[DFT__ENABLE].number) dft__ignored_tell();
  }
  dft__log_set_level((int)dft__config_number(DFT__LOG_LEVEL));
  errno = saved;
}

int dft__config_find(const char *name) {
  for (int i = 0; i < DFT__SETTING_COUNT; i++) {
    if (strcasecmp(name, settings[i].name + strlen(PREFIX)) == 0) return i;
  }
  return -1;
}

int dft__config_set(enum dft__setting setting, const char *text) {
  return assign(setting, text);
}

int64_t dft__config_number(enum dft__setting setting) {
  if (!is_read) dft__config_read();
  return __atomic_load_n(&values[setting].number, __ATOMIC_RELAXED);
}

const char *dft__config_text(enum dft__setting setting) {
  const char *text = __atomic_load_n(&values[setting].text, __ATOMIC_RELAXED);
  return text ? text : settings[setting].initial;
}

uint64_t dft__config_hash(void) {
  uint64_t hash = 0;
  for (int i = 0; i < DFT__SETTING_COUNT; i++) {
    const char *text = dft__config_text((enum dft__setting)i);
    hash = dft__hash(text, strlen(text), hash + 1);
  }
  return hash;
}

size_t dft_config_get(const char *name, char *value, size_t size) {
  if (size) value[0] = '\0';
  if (!name) return 0;
  if (!is_read) dft__config_read();
  for (int i = 0; i < DFT__SETTING_COUNT; i++) {
    if (strcmp(name, settings[i].name) == 0) {
      if (size) snprintf(value, size, "%s", values[i].text);
      return strlen(values[i].text);
    }
  }
  return 0;
}

int dft_config_describe(uint32_t index, dft_setting *setting) {
  dft_setting all;
  if (index >= DFT__SETTING_COUNT || !setting) return 0;
  all.struct_size = setting->struct_size < sizeof all ? setting->struct_size : sizeof all;
  all.name = settings[index].name;
  all.initial = settings[index].initial;
  all.allowed = settings[index].kind == SWITCH ? "0 or 1 (true, on, yes)" : settings[index].allowed;
  all.summary = settings[index].summary;
  memcpy(setting, &all, all.struct_size);
  return 1;
}
