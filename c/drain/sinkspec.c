/* sinkspec.c - sinks as DFTRACER_SINK names them.
 * SPDX-License-Identifier: MIT */
#include "sinkspec.h"

#include <dlfcn.h>
#include <stdio.h>

#include "base/config.h"
#include "base/log.h"
#include "sinks/sinks.h"

#define SPECS_BYTES 4096

/* ---- One spec ------------------------------------------------------------------------------------------------------- */

int dft__sinkspec_is_outside(const char *spec) {
  return strchr(spec, '/') != NULL;
}

const char *dft__sinkspec_options(const char *spec) {
  const char *slash = strrchr(spec, '/');
  const char *colon = strchr(slash ? slash : spec, ':');
  return colon ? colon + 1 : "";
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
  } else if (sink->struct_size < offsetof(dft_sink, check) || !sink->name || !sink->open || !sink->append ||
             !sink->close) {
    snprintf(why, size, "its " DFT_SINK_SYMBOL " is incomplete: struct_size, name, open, append and close are needed");
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
  const char *options = dft__sinkspec_options(spec);
  size_t len = *options ? (size_t)(options - 1 - spec) : strlen(spec);
  if (!*options && !dft__sinkspec_is_outside(spec)) len = strcspn(spec, ":");
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

/* The first sink decides how many events a batch holds, so those that care come before the others. */
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
  snprintf(specs, sizeof specs, "%s", dft__config_text(DFT__SINK));
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
