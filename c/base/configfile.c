/* configfile.c - settings from a YAML file, by the keys of the original's documentation.
 *
 *   enable: true
 *   tracer:                    # or: profiler
 *     log_file: out/trace
 *     data_dirs: [/data, /scratch]
 *   features:
 *     io: {enable: true, posix: true, stdio: false}
 *
 * These groups, and `internal`, may hold any other setting under its name in lower case: `internal: {spool_limit: 16M}`.
 * SPDX-License-Identifier: MIT */
#include "configfile.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "identity.h"
#include "ignored.h"
#include "log.h"
#include "yamlreader.h"

#define FILE_BYTES_MAX (1u << 20)
#define VALUE_BYTES 4096

/* Keys that are not spelled as their variable. */
static const struct {
  const char *path;
  enum dft__setting setting;
  int is_opposite; /* true in the file is 0 in the variable */
} keys[] = {
  {"enable", DFT__ENABLE, 0},
  {"tracer.data_dirs", DFT__DATA_DIR, 0},
  {"tracer.compression", DFT__TRACE_COMPRESSION, 0},
  {"features.metadata", DFT__INC_METADATA, 0},
  {"features.core_affinity", DFT__SET_CORE_AFFINITY, 0},
  {"features.io.enable", DFT__DISABLE_IO, 1},
  {"features.io.posix", DFT__DISABLE_POSIX, 1},
  {"features.io.stdio", DFT__DISABLE_STDIO, 1},
  {"features.mpi.enable", DFT__DISABLE_MPI, 1},
  {"features.tid", DFT__DISABLE_TIDS, 1},
  {"features.tids", DFT__DISABLE_TIDS, 1},
};

static const char *const groups[] = {"tracer.", "features.", "internal."};

/* What is being read, and the mistakes in it. */
typedef struct reading {
  dft__setting_taker *take;
  size_t line;
  char list_path[256]; /* of the list that is being gathered; empty: none */
  char list[VALUE_BYTES];
  size_t list_line;
  char troubles[640]; /* for one line of the log, which also has the file's name */
  size_t len;
  unsigned more; /* mistakes that found no room */
} reading;

__attribute__((format(printf, 2, 3))) static void add_trouble(reading *in, const char *format, ...) {
  char text[320];
  va_list arguments;
  int len;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (in->len + strlen(text) + 2 >= sizeof in->troubles) {
    in->more++;
    return;
  }
  len = snprintf(in->troubles + in->len, sizeof in->troubles - in->len, "%s%s", in->len ? "; " : "", text);
  in->len += (size_t)len;
}

static void set(reading *in, enum dft__setting setting, int is_opposite, const char *path, const char *text) {
  int64_t number;
  if (is_opposite && dft__setting_switch(text, &number)) text = number ? "0" : "1";
  if (!in->take(setting, text)) add_trouble(in, "line %zu: %.100s: \"%.100s\" is not allowed", in->line, path, text);
}

static void assign(reading *in, const char *path, const char *text) {
  int setting = -1;
  if (!*text) return;
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
    if (strcmp(path, keys[i].path) == 0) {
      set(in, keys[i].setting, keys[i].is_opposite, path, text);
      return;
    }
  }
  if (dft__ignored_key(path, text)) return;
  for (size_t i = 0; i < sizeof groups / sizeof groups[0] && setting < 0; i++) {
    size_t len = strlen(groups[i]);
    if (strncmp(path, groups[i], len) == 0) setting = dft__setting_find(path + len);
  }
  if (setting >= 0 && setting != DFT__CONFIGURATION) {
    set(in, (enum dft__setting)setting, 0, path, text);
  } else {
    add_trouble(in, "line %zu: unknown setting %.100s", in->line, path);
  }
}

static void assign_list(reading *in) {
  in->line = in->list_line;
  if (in->list_path[0]) assign(in, in->list_path, in->list);
  in->list_path[0] = in->list[0] = '\0';
}

/* Folders and names are lists in a file, and texts with separators in a variable. */
static void gather(reading *in, size_t line, const char *path, const char *text) {
  const char *separator = strncmp(path, "tracer.data_dir", 15) == 0 ? ":" : ",";
  size_t len;
  if (strcmp(path, in->list_path) != 0) assign_list(in);
  len = strlen(in->list);
  if (!in->list_path[0]) in->list_line = line;
  snprintf(in->list_path, sizeof in->list_path, "%s", path);
  snprintf(in->list + len, sizeof in->list - len, "%s%s", len ? separator : "", text);
}

static void visit(void *context, size_t line, const char *path, const char *text, int is_item) {
  reading *in = context;
  static const char older[] = "profiler."; /* the name of `tracer.` before */
  char newer[256];
  if (strncmp(path, older, sizeof older - 1) == 0) {
    snprintf(newer, sizeof newer, "tracer.%s", path + sizeof older - 1);
    path = newer;
  }
  if (is_item) {
    gather(in, line, path, text);
  } else {
    assign_list(in);
    in->line = line;
    assign(in, path, text);
  }
}

/* The whole file; NULL, and errno, when it cannot be read. */
static char *read_whole(const char *path, size_t *len) {
  struct stat facts;
  char *text;
  if (stat(path, &facts) != 0) return NULL;
  errno = EFBIG;
  if (facts.st_size >= FILE_BYTES_MAX) return NULL;
  text = malloc(FILE_BYTES_MAX);
  if (!text) return NULL;
  errno = 0;
  *len = dft__read_file(path, text, FILE_BYTES_MAX);
  if (*len || !errno) return text;
  free(text);
  return NULL;
}

void dft__configfile_read(const char *path, dft__setting_taker *take) {
  reading in = {.take = take};
  char problem[256], more[40] = "";
  const char *wrong;
  size_t len;
  char *text = read_whole(path, &len);
  if (!text) {
    dft__log_config(DFT__CONFIGURATION, "DFTRACER_CONFIGURATION=\"%.300s\" cannot be read: %s", path, strerror(errno));
    return;
  }
  wrong = dft__yaml_read(text, len, visit, &in, problem, sizeof problem);
  assign_list(&in);
  if (wrong) add_trouble(&in, "%s", wrong);
  free(text);
  if (in.more) snprintf(more, sizeof more, "; %u more errors", in.more);
  if (in.len) {
    dft__log_config(DFT__CONFIGURATION, "DFTRACER_CONFIGURATION=\"%.250s\": %s%s; the rest of the file is used", path,
                    in.troubles, more);
  }
}
