/* tracename.c - what a trace is called, and where it goes.
 * SPDX-License-Identifier: MIT */
#include "tracename.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config.h"
#include "base/hash.h"
#include "base/status.h"
#include "drain/sinkspec.h"
#include "spool/tracefolder.h"

#define BASE_MOST 160 /* longer names are shortened in .dftracer/, so that endings always fit */
#define NOTES_BYTES (64 << 10)

/* ---- Names -------------------------------------------------------------------------------------------------------- */

static int ends_with(const char *text, const char *end) {
  size_t len = strlen(text);
  return len >= strlen(end) && strcmp(text + len - strlen(end), end) == 0;
}

/* Like mkdir -p. */
static int make_folders(char *path) {
  for (char *at = path + 1; *at; at++) {
    if (*at != '/') continue;
    *at = '\0';
    if (mkdir(path, 0777) != 0 && errno != EEXIST && errno != EROFS && errno != EACCES) {
      *at = '/';
      return -1;
    }
    *at = '/';
  }
  return mkdir(path, 0777) == 0 || errno == EEXIST ? 0 : -1;
}

/* Characters that a host's name may have and a file's should not. */
static void clean_host(char *out, size_t size, const char *host) {
  size_t i;
  for (i = 0; i + 1 < size && host[i]; i++) {
    char c = host[i];
    int is_fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
                  c == '_';
    out[i] = is_fine ? c : '_';
  }
  out[i] = '\0';
}

/* Zero when it does not fit. */
__attribute__((format(printf, 3, 4))) static int print_name(char *out, size_t size, const char *format, ...) {
  va_list arguments;
  int len;
  va_start(arguments, format);
  len = vsnprintf(out, size, format, arguments);
  va_end(arguments);
  return len > 0 && (size_t)len < size;
}

static void make_base(char base[256], const char *stem) {
  if (strlen(stem) <= BASE_MOST) snprintf(base, 256, "%s", stem);
  else snprintf(base, 256, "%.*s-%016llx", BASE_MOST, stem, (unsigned long long)dft__hash(stem, strlen(stem), 0));
}

static int make_stem(dft__tracename *trace, const char *name, const dft__identity *own, int is_child) {
  char host[72];
  size_t suffix_len = dft__sinkspec_suffix_len(name);
  size_t len = strlen(name) - suffix_len;
  int is_fine;
  trace->is_explicit = suffix_len > 0;
  if (!len) name = "trace", len = 5;
  if (!trace->is_explicit) {
    clean_host(host, sizeof host, own->host);
    is_fine = print_name(trace->stem, 230, "%s-%s-%u", name, host, own->pid);
  } else if (is_child) {
    trace->is_explicit = DFT__NAME_EXTENDED;
    is_fine = print_name(trace->stem, 240, "%.*s-%u", (int)len, name, own->pid);
  } else {
    is_fine = print_name(trace->stem, 240, "%.*s", (int)len, name);
  }
  if (is_fine) make_base(trace->base, trace->stem);
  return is_fine;
}

int dft__tracename_is_special(const char *log_file) {
  struct stat facts;
  return stat(log_file, &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode);
}

dft_status dft__tracename_make(dft__tracename *trace, const char *log_file, const dft__identity *own, int is_child) {
  char path[4096];
  char resolved[4096 + 1];
  char *slash;
  memset(trace, 0, sizeof *trace);
  if (log_file[0] == '/') {
    if (!print_name(path, sizeof path, "%s", log_file)) return DFT_EINVAL;
  } else {
    char cwd[4096];
    if (!getcwd(cwd, sizeof cwd)) return DFT_EIO;
    if (!print_name(path, sizeof path, "%s/%s", cwd, log_file)) return DFT_EINVAL;
  }
  if (dft__tracename_is_special(path)) return DFT_EINVAL;
  slash = strrchr(path, '/');
  if (!make_stem(trace, slash + 1, own, is_child)) return DFT_EINVAL;
  slash[slash == path] = '\0';
  if (!realpath(path, resolved) && (make_folders(path) != 0 || !realpath(path, resolved))) {
    return dft__status_of(errno);
  }
  return print_name(trace->folder, sizeof trace->folder, "%s", resolved) ? DFT_OK : DFT_EINVAL;
}

int dft__tracename_has_parent(const dft__header *header) {
  char own[16], stem[256], base[256], inner[DFT__INNER_BYTES], claim[DFT__PATH_MAX];
  size_t len = strlen(header->stem);
  snprintf(own, sizeof own, "-%u", header->pid);
  if (header->is_explicit || !ends_with(header->stem, own)) return 0;
  snprintf(stem, sizeof stem, "%.*s-%d", (int)(len - strlen(own)), header->stem, (int)getppid());
  make_base(base, stem);
  for (int number = 0; dft__tracefolder_name(inner, number); number++) {
    if (dft__tracefolder_claim(claim, sizeof claim, header->folder, inner, base) && access(claim, F_OK) == 0) return 1;
  }
  return 0;
}

/* ---- Names used before --------------------------------------------------------------------------------------------- */

#define USED_MOST 1024

static DFT__LARGE uint64_t used[USED_MOST]; /* hashes of the explicit names under which this process has published */
static uint32_t used_count;

static uint64_t hash_of_name(const char *folder, const char *stem) {
  return dft__hash(stem, strlen(stem), dft__hash(folder, strlen(folder), 0));
}

static int is_published(const char *folder, const char *stem) {
  char path[DFT__PATH_MAX];
  const char *suffix;
  for (size_t i = 0; (suffix = dft__sinkspec_suffix(i)) != NULL; i++) {
    if (print_name(path, sizeof path, "%s/%s%s", folder, stem, suffix) && access(path, F_OK) == 0) return 1;
  }
  return 0;
}

static int is_used(const char *folder, const char *stem) {
  uint64_t hash = hash_of_name(folder, stem);
  for (uint32_t i = 0; i < used_count && i < USED_MOST; i++) {
    if (used[i] == hash) return is_published(folder, stem);
  }
  return 0;
}

void dft__tracename_remember(const dft__header *header) {
  if (header->is_explicit) used[used_count++ % USED_MOST] = hash_of_name(header->folder, header->stem);
}

int dft__tracename_avoid_used(dft__tracename *trace) {
  char wanted[256];
  snprintf(wanted, sizeof wanted, "%s", trace->stem);
  for (uint32_t number = 2; trace->is_explicit && is_used(trace->folder, trace->stem); number++) {
    if (!print_name(trace->stem, 240, "%.220s-%u", wanted, number)) return 0;
    make_base(trace->base, trace->stem);
  }
  return 1;
}

int dft__tracename_next(dft__tracename *trace, const char *wanted, const dft__identity *own, int tries) {
  if (!trace->is_explicit) return print_name(trace->base, 200, "%.180s-%d", wanted, tries + 2);
  if (tries == 0) {
    if (!print_name(trace->stem, 240, "%.220s-%u", wanted, own->pid)) return 0;
  } else if (!print_name(trace->stem, 240, "%.200s-%u-%d", wanted, own->pid, tries + 1)) {
    return 0;
  }
  trace->is_explicit = DFT__NAME_EXTENDED;
  make_base(trace->base, trace->stem);
  return 1;
}

/* ---- For dftracer run ------------------------------------------------------------------------------------------------ */

void dft__tracename_note(const dft__tracename *trace, const char *log_file) {
  const char *notes = dft__config_text(DFT__RUN);
  const char *expected = secure_getenv("DFTRACER_LOG_FILE");
  char line[sizeof trace->folder + 1];
  struct rlimit limit;
  struct stat facts;
  int fd;
  if (!*notes || (expected && strcmp(expected, log_file) == 0)) return;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur < NOTES_BYTES) return; /* SIGXFSZ */
  fd = open(notes, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return;
  if (fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_uid == geteuid() &&
      facts.st_size < NOTES_BYTES / 2) {
    ssize_t written = write(fd, line, (size_t)snprintf(line, sizeof line, "%s\n", trace->folder));
    (void)written; /* then dftracer run does not know */
  }
  close(fd);
}
