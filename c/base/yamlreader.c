/* yamlreader.c - reads YAML with libyaml, which is loaded only when a program asks for a configuration file.
 *
 * The build needs no header of libyaml: this file declares the parts of its structs that it uses. They have not changed
 * since the library got its name, libyaml-0.so.2, and tests/c/test_yamlreader.c compares them with the header. The buffers
 * are larger than the structs.
 * SPDX-License-Identifier: MIT */
#include "yamlreader.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define LIBRARY "libyaml-0.so.2"
#define PATH_BYTES 256
#define DEPTH_MAX 8

enum yaml_kind { END = 2, ALIAS = 5, SCALAR, SEQUENCE_START, SEQUENCE_END, MAPPING_START, MAPPING_END };

typedef union event {
  struct {
    int kind;
    struct {
      char *anchor, *tag, *value; /* of a SCALAR */
      size_t len;
      int is_plain; /* not quoted: ~ and null mean no value */
      int more[3];
    } data;
    size_t index, line, column; /* of its start, from 0 */
  } head;
  _Alignas(16) char room[512];
} event;

typedef union parser {
  struct {
    int error;
    const char *problem;
    size_t offset;
    int value;
    size_t index, line, column; /* of the problem */
  } head;
  _Alignas(16) char room[4096];
} parser;

typedef struct library {
  void *handle;
  int (*initialize)(parser *);
  void (*set_input)(parser *, const unsigned char *, size_t);
  int (*parse)(parser *, event *);
  void (*delete_event)(event *);
  void (*delete_parser)(parser *);
} library;

/* A mapping, or a list, that is being read. */
typedef struct level {
  size_t path_len; /* of what stands around it */
  int is_mapping;
  int has_key; /* the mapping's next scalar is a value */
} level;

typedef struct reader {
  char path[PATH_BYTES];
  level levels[DEPTH_MAX + 1];
  int depth;
  dft__yaml_visitor *visit;
  void *context;
} reader;

static int load(library *lib) {
  static const char *const names[] = {"yaml_parser_initialize", "yaml_parser_set_input_string", "yaml_parser_parse",
                                      "yaml_event_delete", "yaml_parser_delete"};
  void *found[5];
  lib->handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (!lib->handle) return 0;
  for (int i = 0; i < 5; i++) {
    found[i] = dlsym(lib->handle, names[i]);
    if (!found[i]) return 0;
  }
  memcpy(&lib->initialize, &found[0], sizeof found[0]); /* ISO C has no cast from an object to a function */
  memcpy(&lib->set_input, &found[1], sizeof found[0]);
  memcpy(&lib->parse, &found[2], sizeof found[0]);
  memcpy(&lib->delete_event, &found[3], sizeof found[0]);
  memcpy(&lib->delete_parser, &found[4], sizeof found[0]);
  return 1;
}

static void push_key(reader *in, const char *key) {
  size_t len = in->levels[in->depth].path_len;
  snprintf(in->path + len, sizeof in->path - len, "%s%s", len ? "." : "", key);
}

/* A value is complete: the next scalar of a mapping is a key. */
static void after_value(reader *in) {
  level *own = &in->levels[in->depth];
  if (own->is_mapping) {
    own->has_key = 0;
    in->path[own->path_len] = '\0';
  }
}

static const char *value_of(const event *now) {
  const char *text = now->head.data.value;
  return now->head.data.is_plain && (strcmp(text, "~") == 0 || strcasecmp(text, "null") == 0) ? "" : text;
}

enum yaml_progress { GO_ON, AT_END, TOO_DEEP };

static enum yaml_progress take(reader *in, const event *now) {
  level *own = &in->levels[in->depth];
  switch (now->head.kind) {
    case SCALAR:
      if (own->is_mapping && !own->has_key) {
        push_key(in, now->head.data.value);
        own->has_key = 1;
        break;
      }
      in->visit(in->context, now->head.line + 1, in->path, value_of(now), !own->is_mapping);
      after_value(in);
      break;
    case ALIAS: after_value(in); break;
    case SEQUENCE_START:
    case MAPPING_START:
      if (in->depth == DEPTH_MAX) return TOO_DEEP;
      in->levels[++in->depth] = (level){strlen(in->path), now->head.kind == MAPPING_START, 0};
      break;
    case SEQUENCE_END:
    case MAPPING_END:
      if (in->depth) in->depth--;
      after_value(in);
      break;
    case END: return AT_END;
    default: break;
  }
  return GO_ON;
}

const char *dft__yaml_read(const char *yaml, size_t len, dft__yaml_visitor *visit, void *context, char *problem,
                           size_t problem_size) {
  static const char missing[] = LIBRARY " was not found; on Debian and Ubuntu, install the package libyaml-0-2";
  reader in = {.visit = visit, .context = context};
  library lib = {0};
  parser file;
  event now;
  int is_fine = 0;
  enum yaml_progress progress = GO_ON;
  memset(&file, 0, sizeof file);
  snprintf(problem, problem_size, "%s", missing);
  if (load(&lib) && lib.initialize(&file)) {
    lib.set_input(&file, (const unsigned char *)yaml, len);
    do {
      memset(&now, 0, sizeof now);
      is_fine = lib.parse(&file, &now);
      if (!is_fine) break;
      progress = take(&in, &now);
      lib.delete_event(&now);
    } while (progress == GO_ON);
    if (progress == TOO_DEEP) {
      snprintf(problem, problem_size, "line %zu: nested too deeply", file.head.line + 1);
      is_fine = 0;
    } else if (!is_fine) {
      snprintf(problem, problem_size, "line %zu: %s", file.head.line + 1,
               file.head.problem ? file.head.problem : "no YAML");
    }
    lib.delete_parser(&file);
  }
  if (lib.handle) dlclose(lib.handle);
  return is_fine ? NULL : problem;
}
