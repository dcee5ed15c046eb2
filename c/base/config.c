/* config.c - the values of the settings.
 * SPDX-License-Identifier: MIT */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "atomic.h"
#include "configfile.h"
#include "hash.h"
#include "ignored.h"
#include "log.h"

#define TEXT_BYTES 4096

static struct {
  int64_t number;
  const char *text; /* in `texts`, or the default */
} values[DFT__SETTING_COUNT];
static DFT__LARGE char texts[8 * TEXT_BYTES]; /* room for values of the file that the environment replaces */
static size_t texts_used;
static int is_read;

/* A copy that lasts until the settings are read again; NULL when there is no room. */
static const char *keep(const char *text, size_t len) {
  char *kept = texts + texts_used;
  if (len >= TEXT_BYTES || len >= sizeof texts - texts_used) return NULL;
  memcpy(kept, text, len);
  kept[len] = '\0';
  texts_used += len + 1;
  return kept;
}

static int assign(enum dft__setting which, const char *text) {
  const char *initial = dft__settings[which].initial;
  int64_t number;
  const char *shown;
  int len;
  if (!dft__setting_parse(which, text, &number, &shown, &len)) return 0;
  if (text == initial) shown = initial;
  else if (dft__settings[which].kind != DFT__SETTING_SWITCH) shown = keep(shown, (size_t)len);
  if (!shown) return 0;
  /* Threads of the session before may still be looking. */
  __atomic_store_n(&values[which].number, number, __ATOMIC_RELAXED);
  __atomic_store_n(&values[which].text, shown, __ATOMIC_RELAXED);
  return 1;
}

static void complain(enum dft__setting which, const char *text) {
  const dft__setting_row *setting = &dft__settings[which];
  const char *allowed = setting->kind == DFT__SETTING_SWITCH ? "1, true, on, yes or 0, false, off, no"
                                                             : setting->allowed;
  if (setting->kind == DFT__SETTING_TEXT) {
    dft__log_config(which, "%s is longer than %d bytes; using \"%s\"", setting->name, TEXT_BYTES - 1,
                    values[which].text);
  } else {
    dft__log_config(which, "%s=\"%.100s\" is not allowed (%s); using %s%s", setting->name, text, allowed,
                    values[which].text == setting->initial ? "the default, " : "", values[which].text);
  }
}

/* ---- Relative paths ------------------------------------------------------------------------------------------------- */

/* Zero when the folder is not known, or the path becomes too long. */
static int make_absolute(char *out, size_t size, const char *path) {
  size_t len;
  /* Not the library's: its wrapper would record the call. */
  if (syscall(SYS_getcwd, out, size) <= 0 || out[0] != '/') return 0;
  len = strlen(out);
  while (path[0] == '.' && path[1] == '/') path += 2;
  return snprintf(out + len, size - len, "%s%s", out[len - 1] == '/' ? "" : "/", path) < (int)(size - len);
}

int dft__config_make_absolute(enum dft__setting setting) {
  const char *path = dft__config_text(setting);
  char absolute[TEXT_BYTES];
  if (!path[0] || path[0] == '/') return 1;
  return make_absolute(absolute, sizeof absolute, path) && assign(setting, absolute);
}

/* A relative name means the folder in which the first program of a job starts. So the variable becomes absolute before main, and
 * the programs that this one starts find it so, wherever they run. Only the entry's pointer changes: some shells have a setenv
 * of their own, which must not be called yet. */
__attribute__((constructor)) static void settle_log_file(void) {
  static const char start[] = "DFTRACER_LOG_FILE=";
  const size_t len = sizeof start - 1;
  char absolute[TEXT_BYTES], *entry;
  int saved = errno;
  if (getauxval(AT_SECURE)) return;
  for (char **at = environ; at && *at; at++) {
    if (strncmp(*at, start, len) != 0) continue;
    if ((*at)[len] && (*at)[len] != '/' && make_absolute(absolute, sizeof absolute, *at + len) &&
        (entry = malloc(len + strlen(absolute) + 1)) != NULL) {
      memcpy(entry, start, len);
      memcpy(entry + len, absolute, strlen(absolute) + 1);
      __atomic_store_n(at, entry, __ATOMIC_RELEASE);
    }
    break;
  }
  errno = saved;
}

/* ---- Values ------------------------------------------------------------------------------------------------------- */

static void read_variable(enum dft__setting which) {
  const char *text = secure_getenv(dft__settings[which].name);
  /* An empty variable counts as unset. */
  if (text && *text && !assign(which, text)) complain(which, text);
}

void dft__config_read(void) {
  int saved = errno;
  texts_used = 0;
  for (int i = 0; i < DFT__SETTING_COUNT; i++) assign((enum dft__setting)i, dft__settings[i].initial);
  is_read = 1; /* now: the I/O wrappers ask while the file is being read, and get the defaults */
  if (getauxval(AT_SECURE) == 0) {
    read_variable(DFT__CONFIGURATION);
    if (*dft__config_text(DFT__CONFIGURATION)) dft__configfile_read(dft__config_text(DFT__CONFIGURATION), assign);
    for (int i = 0; i < DFT__SETTING_COUNT; i++) {
      if (i != DFT__CONFIGURATION) read_variable((enum dft__setting)i);
    }
    if (values[DFT__ENABLE].number) dft__ignored_report();
  }
  dft__log_set_level((int)dft__config_number(DFT__LOG_LEVEL));
  errno = saved;
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
  return text ? text : dft__settings[setting].initial;
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
    if (strcmp(name, dft__settings[i].name) == 0) {
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
  all.name = dft__settings[index].name;
  all.initial = dft__settings[index].initial;
  all.allowed = dft__settings[index].kind == DFT__SETTING_SWITCH ? "0 or 1 (true, on, yes)"
                                                                 : dft__settings[index].allowed;
  all.summary = dft__settings[index].summary;
  memcpy(setting, &all, all.struct_size);
  return 1;
}
