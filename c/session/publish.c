/* publish.c - gives complete traces their names, and cleans up.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "place.h"

#define NAMES_MOST 10000

static const char *suffix_of(const dft_sink *sink, const dft__header *header) {
  return header->compress || !sink->plain_suffix ? sink->suffix : sink->plain_suffix;
}

/* Renames without ever replacing; -1 and EEXIST when the name is taken. */
static int rename_new(const char *from, const char *to) {
#ifdef SYS_renameat2
  if (syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 1 /* RENAME_NOREPLACE */) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return -1;
#endif
  if (link(from, to) != 0) return -1;
  return unlink(from);
}

/* Readers trust an index of that name blindly. */
static void remove_stale_index(const char *path) {
  static const char *const endings[] = {".zindex", ".idx"};
  char index[DFT__PATH_MAX + 16];
  for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
    snprintf(index, sizeof index, "%s%s", path, endings[i]);
    unlink(index);
  }
}

static dft_status publish_one(const dft__output *output, const struct dft__outlet *outlet, char *name, size_t size) {
  const dft__header *header = output->spool->header;
  const char *suffix = suffix_of(outlet->sink, header);
  const char *kind = header->is_explicit ? "" : DFT__GET(header->annotated) ? "-app" : "-preload";
  dft_status status;
  if (!suffix || access(outlet->path, F_OK) != 0) return DFT_OK; /* no file, or published before a death */
  status = dft__output_finish(output, outlet);
  if (status != DFT_OK) return status;
  for (int number = 1; number < NAMES_MOST; number++) {
    char more[16] = "";
    int result;
    if (number > 1) snprintf(more, sizeof more, "-%d", number);
    if (snprintf(name, size, "%s/%s%s%s%s", header->folder, header->stem, kind, more, suffix) >= (int)size)
      return DFT_EINVAL;
    if (!header->is_explicit && access(name, F_OK) == 0) continue; /* another trace's, and so is its index */
    remove_stale_index(name);
    result = header->is_explicit ? rename(outlet->path, name) : rename_new(outlet->path, name);
    if (result == 0) return DFT_OK;
    if (header->is_explicit || errno != EEXIST) return DFT_EIO;
  }
  return DFT_EIO;
}

dft_status dft__place_publish(const dft__output *output, char *name, size_t size) {
  dft_status first = DFT_OK;
  char other[DFT__PATH_MAX];
  name[0] = '\0';
  for (uint32_t i = 0; i < output->count; i++) {
    int is_named = name[0] != '\0';
    dft_status status = publish_one(output, &output->outlets[i], is_named ? other : name,
                                    is_named ? sizeof other : size);
    if (first == DFT_OK) first = status;
  }
  return first;
}

void dft__place_clean(const dft__output *output, const char *spool_path) {
  const dft__header *header = output->spool->header;
  char path[DFT__PATH_MAX];
  for (uint32_t i = 0; i < output->count; i++) {
    if (output->outlets[i].sink->suffix) unlink(output->outlets[i].path);
  }
  /* The spool last but for its pointer: while one of them is there, a recovery finds the other. */
  unlink(spool_path);
  snprintf(path, sizeof path, "%s/.dftracer/%s.spool", header->folder, header->base);
  if (strcmp(path, spool_path) != 0) unlink(path);
  snprintf(path, sizeof path, "%s/.dftracer", header->folder);
  rmdir(path);
}
