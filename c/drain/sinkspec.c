/* sinkspec.c - sinks as DFTRACER_SINK names them.
 * SPDX-License-Identifier: MIT */
#include "sinkspec.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/config.h"
#include "base/log.h"
#include "sinks/sinks.h"

#define SPECS_BYTES 4096
#define SCRATCH_MOST ((size_t)1 << 36) /* address space for one encode */

/* ---- One spec ------------------------------------------------------------------------------------------------------- */

int dft__sinkspec_is_outside(const char *spec) {
  return strchr(spec, '/') != NULL;
}

/* The length of the name or path. A colon ends it: the first behind ".so", or else behind the last slash. Options may hold
 * slashes, and folders colons. */
static size_t name_len(const char *spec) {
  const char *from = strstr(spec, ".so:");
  if (!from) from = strrchr(spec, '/');
  if (!from) from = spec;
  return (size_t)(from - spec) + strcspn(from, ":");
}

const char *dft__sinkspec_options(const char *spec) {
  const char *end = spec + name_len(spec);
  return *end ? end + 1 : end;
}

/* The reason why a struct from outside cannot be used; NULL: it can. */
static const char *find_fault(const dft_sink *sink) {
  if (sink->struct_size < offsetof(dft_sink, check) || !sink->name || !sink->open || !sink->append || !sink->close)
    return "its " DFT_SINK_SYMBOL " is incomplete: struct_size, name, open, append and close are needed";
  if (!sink->name[0] ||
      sink->name[strspn(sink->name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")])
    return "its name is part of a file name: it may hold letters, digits and '_' only";
  if ((sink->suffix && strchr(sink->suffix, '/')) || (sink->plain_suffix && strchr(sink->plain_suffix, '/')))
    return "its suffix holds a '/'";
  if (sink->encode && (!sink->scratch_bytes || sink->scratch_bytes > SCRATCH_MOST))
    return "it has an encode, so its scratch_bytes must be from 1 to 64 GiB";
  return NULL;
}

/* The shared object is never closed: recovery and threads may still use it. */
static const dft_sink *load_object(const char *path, char *why, size_t size) {
  void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const dft_sink *sink = object ? (const dft_sink *)dlsym(object, DFT_SINK_SYMBOL) : NULL;
  if (!object) {
    const char *error = dlerror();
    snprintf(why, size, "%s", error ? error : "it cannot be loaded");
  } else if (!sink) {
    snprintf(why, size, "it exports no " DFT_SINK_SYMBOL " (see dftracer/sink.h)");
  } else if (find_fault(sink)) {
    snprintf(why, size, "%s", find_fault(sink));
    sink = NULL;
  }
  return sink;
}

static const dft_sink *find_built_in(const char *name, char *why, size_t size) {
  size_t len;
  for (const dft_sink *const *sink = dft__sinks; *sink; sink++) {
    if (strcmp((*sink)->name, name) == 0) return *sink;
  }
  len = (size_t)snprintf(why, size, "there is no sink of that name; give the path of a shared object, or one of:");
  for (const dft_sink *const *sink = dft__sinks; *sink && len < size; sink++)
    len += (size_t)snprintf(why + len, size - len, " %s", (*sink)->name);
  return NULL;
}

const dft_sink *dft__sinkspec_find(const char *spec, char *why, size_t size) {
  char name[SPECS_BYTES];
  size_t len = name_len(spec);
  if (len >= sizeof name) {
    snprintf(why, size, "its name is too long");
    return NULL;
  }
  memcpy(name, spec, len);
  name[len] = '\0';
  return dft__sinkspec_is_outside(name) ? load_object(name, why, size) : find_built_in(name, why, size);
}

const dft_sink *dft__sinkspec_load(const char *spec, char *why, size_t size) {
  const dft_sink *sink = dft__sinkspec_find(spec, why, size);
  const char *reason = sink && DFT__SINK_HAS(sink, check) ? sink->check(dft__sinkspec_options(spec)) : NULL;
  if (reason) snprintf(why, size, "%s", reason);
  return reason ? NULL : sink;
}

/* ---- A list of them ------------------------------------------------------------------------------------------------- */

const dft_sink *dft__sinkspec_named(const char *specs, const char *name, char *spec, size_t size) {
  char why[512];
  while (*specs) {
    size_t len = strcspn(specs, ",");
    const dft_sink *sink = NULL;
    if (snprintf(spec, size, "%.*s", (int)len, specs) < (int)size) sink = dft__sinkspec_find(spec, why, sizeof why);
    if (sink && strcmp(sink->name, name) == 0) return sink;
    specs += len + (specs[len] == ',');
  }
  snprintf(spec, size, "%s", name);
  return find_built_in(name, why, sizeof why);
}

/* A relative path is resolved once: the program may change its working folder, and a recovery has another one. */
static size_t resolve(const char *spec, size_t len, char *out, size_t size) {
  char name[SPECS_BYTES];
  char folder[PATH_MAX];
  const char *resolved = NULL;
  int written;
  snprintf(name, sizeof name, "%.*s", (int)len, spec);
  name[name_len(name)] = '\0';
  if (dft__sinkspec_is_outside(name) && name[0] != '/') resolved = realpath(name, folder);
  if (resolved) written = snprintf(out, size, "%s%.*s", resolved, (int)(len - strlen(name)), spec + strlen(name));
  else written = snprintf(out, size, "%.*s", (int)len, spec);
  return written > 0 ? (size_t)written : 0;
}

void dft__sinkspec_list(const char *from, char *specs, size_t size) {
  size_t used = 0;
  specs[0] = '\0';
  while (*from && used < size) {
    size_t len = strcspn(from, ",");
    used += resolve(from, len, specs + used, size - used);
    from += len;
    if (*from == ',' && used + 1 < size) {
      specs[used++] = *from++;
      specs[used] = '\0';
    }
  }
}

/* The first sink decides how large batches are, and encodes on any thread, so those that care come before the others. */
static void add(dft__header *header, const char *spec, const dft_sink *sink) {
  uint32_t place = header->sink_count;
  if (DFT__SINK_REACHES(sink, flags) && sink->flags & DFT_SINK_SIZES_BATCH) place = 0;
  memmove(header->sink[place + 1], header->sink[place], (header->sink_count - place) * sizeof header->sink[0]);
  snprintf(header->sink[place], sizeof header->sink[0], "%s", spec);
  header->sink_count++;
}

void dft__sinkspec_choose(dft__header *header) {
  char specs[SPECS_BYTES];
  char why[512];
  char *rest = specs;
  const char *spec;
  header->sink_count = 0;
  dft__sinkspec_list(dft__config_text(DFT__SINK), specs, sizeof specs);
  while ((spec = strsep(&rest, ",")) != NULL) {
    const dft_sink *sink = NULL;
    if (!*spec) continue;
    snprintf(why, sizeof why, "at most %d sinks, each named in at most %zu bytes, can be used", DFT__SINKS_MAX,
             sizeof header->sink[0] - 1);
    if (header->sink_count < DFT__SINKS_MAX && strlen(spec) < sizeof header->sink[0])
      sink = dft__sinkspec_load(spec, why, sizeof why);
    if (sink) {
      add(header, spec, sink);
      continue;
    }
    dft__log_config(DFT__SINK,
                    "DFTRACER_SINK: the sink \"%.200s\" cannot be used: %s; it is left out (%s is used if no "
                    "other sink is named)",
                    spec, why, dft__sinks[0]->name);
  }
  if (!header->sink_count) add(header, dft__sinks[0]->name, dft__sinks[0]);
}

/* ---- The built-in sinks --------------------------------------------------------------------------------------------- */

const char *dft__sinkspec_suffix(size_t index) {
  for (const dft_sink *const *sink = dft__sinks; *sink; sink++) {
    if ((*sink)->suffix && index-- == 0) return (*sink)->suffix;
    if ((*sink)->plain_suffix && index-- == 0) return (*sink)->plain_suffix;
  }
  return NULL;
}

size_t dft__sinkspec_suffix_len(const char *name) {
  size_t len = strlen(name), longest = 0;
  const char *suffix;
  for (size_t i = 0; (suffix = dft__sinkspec_suffix(i)) != NULL; i++) {
    size_t suffix_len = strlen(suffix);
    if (suffix_len <= len && suffix_len > longest && strcmp(name + len - suffix_len, suffix) == 0) longest = suffix_len;
  }
  return longest;
}

const dft_sink *dft_sink_built_in(size_t index) {
  for (const dft_sink *const *sink = dft__sinks; *sink; sink++) {
    if (index-- == 0) return *sink;
  }
  return NULL;
}
