/* place.c - where a trace goes.
 * SPDX-License-Identifier: MIT */
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adopt.h"
#include "base/config.h"
#include "base/hash.h"
#include "recover.h"

#define BASE_MOST 160 /* longer names are shortened in .dftracer/, so that endings always fit */
#define SHARED_MEMORY "/dev/shm"
#define SHARED_MEMORY_LIMIT (UINT64_C(16) << 20)
#define POINTER_START "dftracer spool at "
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

/* The text with something more; zero when it does not fit. */
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

static void spool_name(char path[DFT__PATH_MAX], const char *folder, const char *base) {
  snprintf(path, DFT__PATH_MAX, "%s/.dftracer/%s.spool", folder, base);
}

static int make_stem(dft__place_plan *plan, const char *name, const dft__identity *own, int is_child) {
  char host[72];
  size_t len = strlen(name);
  int is_fine;
  plan->is_explicit = ends_with(name, ".pfw") || ends_with(name, ".pfw.gz") || ends_with(name, ".h5");
  if (plan->is_explicit) {
    len -= ends_with(name, ".pfw") ? 4 : ends_with(name, ".h5") ? 3 : 7;
    if (!len) name = "trace", len = 5;
    if (is_child) is_fine = print_name(plan->stem, 240, "%.*s-%u", (int)len, name, own->pid);
    else is_fine = print_name(plan->stem, 240, "%.*s", (int)len, name);
  } else {
    clean_host(host, sizeof host, own->host);
    is_fine = print_name(plan->stem, 230, "%s-%s-%u", len ? name : "trace", host, own->pid);
  }
  if (is_fine) make_base(plan->base, plan->stem);
  return is_fine;
}

dft_status dft__place_plan_make(dft__place_plan *plan, const char *log_file, const dft__identity *own, int is_child) {
  char path[4096];
  char resolved[4096 + 1];
  char *slash;
  memset(plan, 0, sizeof *plan);
  if (log_file[0] == '/') {
    if (!print_name(path, sizeof path, "%s", log_file)) return DFT_EINVAL;
  } else {
    char cwd[4096];
    if (!getcwd(cwd, sizeof cwd)) return DFT_EIO;
    if (!print_name(path, sizeof path, "%s/%s", cwd, log_file)) return DFT_EINVAL;
  }
  slash = strrchr(path, '/');
  if (!make_stem(plan, slash + 1, own, is_child)) return DFT_EINVAL;
  slash[slash == path] = '\0';
  if (!realpath(path, resolved) && (make_folders(path) != 0 || !realpath(path, resolved))) {
    return errno == ENOSPC || errno == EDQUOT ? DFT_ENOSPC : DFT_EIO;
  }
  return print_name(plan->folder, sizeof plan->folder, "%s", resolved) ? DFT_OK : DFT_EINVAL;
}

int dft__place_has_parent(const dft__header *header) {
  char own[16], stem[256], base[256], claim[DFT__PATH_MAX];
  size_t len = strlen(header->stem);
  snprintf(own, sizeof own, "-%u", header->pid);
  if (header->is_explicit || !ends_with(header->stem, own)) return 0;
  snprintf(stem, sizeof stem, "%.*s-%d", (int)(len - strlen(own)), header->stem, (int)getppid());
  make_base(base, stem);
  spool_name(claim, header->folder, base);
  return access(claim, F_OK) == 0;
}

/* ---- Names used before --------------------------------------------------------------------------------------------- */

#define USED_MOST 1024

static DFT__LARGE uint64_t used[USED_MOST]; /* hashes of the explicit names under which this process has published */
static uint32_t used_count;

static uint64_t hash_of_name(const char *folder, const char *stem) {
  return dft__hash(stem, strlen(stem), dft__hash(folder, strlen(folder), 0));
}

static int is_published(const char *folder, const char *stem) {
  static const char *const endings[] = {".pfw.gz", ".pfw", ".h5"};
  char path[DFT__PATH_MAX];
  for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
    snprintf(path, sizeof path, "%s/%s%s", folder, stem, endings[i]);
    if (access(path, F_OK) == 0) return 1;
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

void dft__place_remember(const dft__header *header) {
  if (header->is_explicit) used[used_count++ % USED_MOST] = hash_of_name(header->folder, header->stem);
}

/* A program that is run again replaces its explicit name's trace; a later session of one process does not, unless the
 * trace is gone. */
static int avoid_used(dft__place_plan *plan) {
  char wanted[256];
  snprintf(wanted, sizeof wanted, "%s", plan->stem);
  for (uint32_t number = 2; plan->is_explicit && is_used(plan->folder, plan->stem); number++) {
    if (!print_name(plan->stem, 240, "%.220s-%u", wanted, number)) return 0;
    make_base(plan->base, plan->stem);
  }
  return 1;
}

/* ---- Claims ------------------------------------------------------------------------------------------------------- */

static dft_status write_pointer(const char *claim, const char *spool_path, const dft__identity *own) {
  char text[DFT__PATH_MAX + 256];
  int len = snprintf(text, sizeof text, POINTER_START "%s\n%s\n%s\n", spool_path, own->host, own->boot_id);
  int fd = open(claim, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  ssize_t written;
  if (fd < 0) return errno == EEXIST ? DFT_EBUSY : errno == ENOSPC ? DFT_ENOSPC : DFT_EIO;
  written = write(fd, text, (size_t)len);
  if (close(fd) == 0 && written == len) return DFT_OK;
  unlink(claim);
  return DFT_ENOSPC;
}

enum dft__claim_kind dft__place_follow(const char *claim, const dft__identity *own, char *spool_path, size_t size) {
  char text[DFT__PATH_MAX + 256];
  char *lines[3] = {NULL, NULL, NULL};
  char *rest = text;
  struct stat facts;
  if (lstat(claim, &facts) != 0 || !S_ISREG(facts.st_mode)) return DFT__CLAIM_NONE;
  if (!print_name(spool_path, size, "%s", claim)) return DFT__CLAIM_NONE;
  if (facts.st_size >= (off_t)DFT__HEADER_BYTES) return DFT__CLAIM_SPOOL;
  if (facts.st_uid != geteuid()) return DFT__CLAIM_FOREIGN;
  dft__read_file(claim, text, sizeof text);
  if (strncmp(text, POINTER_START, sizeof POINTER_START - 1) != 0) return DFT__CLAIM_NONE;
  rest += sizeof POINTER_START - 1;
  for (int i = 0; i < 3 && rest; i++) lines[i] = strsep(&rest, "\n");
  if (!lines[2] || lines[0][0] != '/' || !print_name(spool_path, size, "%s", lines[0])) return DFT__CLAIM_NONE;
  if (lstat(spool_path, &facts) == 0) return DFT__CLAIM_POINTER;
  return strcmp(lines[2], own->boot_id) == 0 ? DFT__CLAIM_STALE : DFT__CLAIM_FOREIGN;
}

/* The claim beside the trace and the spool itself, which are one file or two. */
static dft_status claim_once(dft__place_plan *plan, dft__spool *spool, const dft__identity *own, const char *spool_dir,
                             uint64_t limit) {
  char claim[DFT__PATH_MAX];
  char path[DFT__PATH_MAX];
  dft_status status;
  int is_good;
  snprintf(claim, sizeof claim, "%s/.dftracer", plan->folder);
  is_good = dft__spool_is_good_place(claim);
  if (is_good < 0) {
    if (mkdir(claim, 0777) != 0 && errno != EEXIST) return errno == ENOSPC || errno == EDQUOT ? DFT_ENOSPC : DFT_EIO;
    is_good = dft__spool_is_good_place(claim);
  }
  if (!spool_dir[0] && is_good != 1) spool_dir = SHARED_MEMORY;
  spool_name(claim, plan->folder, plan->base);
  if (!spool_dir[0]) return dft__spool_create(spool, claim, limit);
  if (strcmp(spool_dir, SHARED_MEMORY) == 0 && limit > SHARED_MEMORY_LIMIT) limit = SHARED_MEMORY_LIMIT;
  if (!print_name(path, sizeof path, "%s/dftracer-%u-%016llx-%s.spool", spool_dir, own->pid,
                  (unsigned long long)dft__hash(plan->folder, strlen(plan->folder), own->start_ticks), plan->base)) {
    return DFT_EINVAL;
  }
  status = write_pointer(claim, path, own);
  if (status != DFT_OK) return status;
  unlink(path); /* of a process that died before it announced this very name */
  status = dft__spool_create(spool, path, limit);
  if (status != DFT_OK) unlink(claim);
  return status;
}

/* The name is taken. A prefix gets a number; an explicit name is the living process's, and another one is ours; a dead
 * process's trace is published first, under a name that our own will not replace. */
static int next_name(dft__place_plan *plan, const char *wanted, const dft__identity *own, int tries) {
  char path[DFT__PATH_MAX];
  if (tries == 0) {
    spool_name(path, plan->folder, plan->base);
    if (dft__recover_claim(path, own, 1) == DFT_OK) return 1;
  }
  if (!plan->is_explicit) return print_name(plan->base, 200, "%.180s-%d", wanted, tries + 2);
  if (tries == 0) {
    if (!print_name(plan->stem, 240, "%.220s-%u", wanted, own->pid)) return 0;
  } else if (!print_name(plan->stem, 240, "%.200s-%u-%d", wanted, own->pid, tries + 1)) {
    return 0;
  }
  make_base(plan->base, plan->stem);
  return 1;
}

static int adopt(const dft__place_plan *plan, dft__spool *spool, const dft__identity *own) {
  char claim[DFT__PATH_MAX];
  spool_name(claim, plan->folder, plan->base);
  return dft__adopt(spool, claim, own);
}

dft_status dft__place_claim(dft__place_plan *plan, dft__spool *spool, const dft__identity *own, const char *spool_dir,
                            uint64_t limit) {
  char wanted[256];
  dft_status status = DFT_EBUSY;
  int is_elsewhere = 0;
  if (!avoid_used(plan)) return DFT_EINVAL;
  snprintf(wanted, sizeof wanted, "%s", plan->is_explicit ? plan->stem : plan->base);
  for (int tries = 0; tries < 1000;) {
    errno = 0;
    status = claim_once(plan, spool, own, is_elsewhere ? SHARED_MEMORY : spool_dir, limit);
    if (status == DFT_OK) return DFT_OK;
    if (status == DFT_EBUSY) {
      if (adopt(plan, spool, own)) return DFT_OK;
      if (!next_name(plan, wanted, own, tries)) return DFT_EINVAL;
      tries++;
    } else if (errno == ENOENT && tries < 10) {
      tries++; /* another process removed the empty folder in between */
    } else if (!is_elsewhere && access(plan->folder, W_OK) == 0) {
      is_elsewhere = 1; /* a full disk, or none that allocates: memory holds the events meanwhile */
    } else {
      return status;
    }
  }
  return status;
}

void dft__place_note(const dft__place_plan *plan, const char *log_file) {
  const char *notes = dft__config_text(DFT__RUN);
  const char *expected = secure_getenv("DFTRACER_LOG_FILE");
  char line[sizeof plan->folder + 1];
  struct rlimit limit;
  struct stat facts;
  int fd;
  if (!*notes || (expected && strcmp(expected, log_file) == 0)) return;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur < NOTES_BYTES) return; /* SIGXFSZ */
  fd = open(notes, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return;
  if (fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_uid == geteuid() &&
      facts.st_size < NOTES_BYTES / 2) {
    ssize_t written = write(fd, line, (size_t)snprintf(line, sizeof line, "%s\n", plan->folder));
    (void)written; /* then dftracer run does not know */
  }
  close(fd);
}
