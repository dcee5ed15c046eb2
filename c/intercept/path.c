/* path.c - absolute paths without "." and "..", as the kernel would resolve them.
 *
 * A symbolic link keeps its name. Only a link before a ".." is followed, because there the text alone would mislead.
 * The working folder is remembered until the next chdir.
 * SPDX-License-Identifier: MIT */
#include "path.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/aside.h"
#include "base/signals.h"
#include "descriptor.h"

/* ---- The working folder -------------------------------------------------------------------------------------------- */

static struct {
  _Atomic uint32_t version; /* odd: unknown, or being written; even: `text` holds it */
  _Atomic uint32_t writing;
  uint32_t len;
  char text[PATH_MAX];
} cwd = {.version = 1};

void dft__path_changed_cwd(void) {
  atomic_fetch_or(&cwd.version, 1);
  atomic_fetch_add(&cwd.version, 2); /* a thread that is about to store the old folder sees that and does not */
}

static void remember(uint32_t version, const char *text, size_t len) {
  if (!(version & 1) || atomic_exchange(&cwd.writing, 1)) return;
  if (atomic_load(&cwd.version) == version) {
    cwd.len = (uint32_t)len;
    memcpy(cwd.text, text, len);
    atomic_compare_exchange_strong(&cwd.version, &version, version + 1);
  }
  atomic_store(&cwd.writing, 0);
}

static size_t working_folder(char *text, size_t room) {
  uint32_t version = atomic_load(&cwd.version);
  long got;
  if (!(version & 1)) {
    size_t len = cwd.len;
    if (len < room) {
      memcpy(text, cwd.text, len);
      atomic_thread_fence(memory_order_acquire);
      if (atomic_load(&cwd.version) == version) return len;
    }
    version = atomic_load(&cwd.version);
  }
  got = syscall(SYS_getcwd, text, room);
  if (got < 0 && errno == ERANGE && room < PATH_MAX) return DFT__PATH_DEEP;
  if (got <= 1 || text[0] != '/') return 0; /* removed, or outside of our root */
  remember(version, text, (size_t)got - 1);
  return (size_t)got - 1;
}

/* ---- Joining ------------------------------------------------------------------------------------------------------ */

/* Applies "..": takes off the last part, after following it if it is a link. */
static size_t parent_of(char *text, size_t len, int *is_physical) {
  char real[PATH_MAX];
  if (len <= 1) return len;
  if (!*is_physical && len < PATH_MAX) {
    uint64_t before = dft__signals_block();
    text[len] = '\0';
    if (realpath(text, real)) {
      len = strlen(real);
      memcpy(text, real, len);
    }
    dft__signals_restore(before);
    *is_physical = 1;
  }
  while (len > 0 && text[len - 1] != '/') len--;
  return len > 1 ? len - 1 : 1;
}

/* `text` holds an absolute path of `len` bytes; only the root ends in a slash. */
static size_t join(char *text, size_t room, size_t len, const char *path, const char *end, int is_physical) {
  while (path < end) {
    const char *slash = memchr(path, '/', (size_t)(end - path));
    size_t part = (size_t)((slash ? slash : end) - path);
    size_t kept = part;
    if (part == 2 && path[0] == '.' && path[1] == '.') {
      if (room < DFT__IO_PATH) return DFT__PATH_DEEP;
      len = parent_of(text, len, &is_physical);
    } else if (part && !(part == 1 && path[0] == '.')) {
      if (len > 1) text[len++] = '/';
      if (kept > room - 2 - len) {
        if (room < DFT__IO_PATH) return DFT__PATH_DEEP;
        kept = room - 2 - len;
      }
      memcpy(text + len, path, kept);
      len += kept;
      is_physical = 0;
      if (len >= room - 2) {
        if (room < DFT__IO_PATH) return DFT__PATH_DEEP;
        break;
      }
    }
    path += part + 1;
  }
  return len;
}

/* The same for a normalised path, in one piece; 0 when it is not normalised or too long. */
static size_t join_plain(char *text, size_t room, size_t len, const char *path, size_t more) {
  if (more >= PATH_MAX - 1 || more >= room - 2 - len || path[0] == '/' || !dft__path_is_plain(path, more)) return 0;
  if (len > 1) text[len++] = '/';
  memcpy(text + len, path, more);
  return len + more;
}

/* The path of an open file; DFT__PATH_DEEP when it may have been cut. */
static size_t text_of_fd(int fd, char *text, size_t room) {
  size_t len = dft__fd_text(fd, text, room);
  return len >= room - 1 && room < PATH_MAX ? DFT__PATH_DEEP : len;
}

size_t dft__path_absolute(int dir, const char *path, char *text, size_t room) {
  const char *end = path + strnlen(path, PATH_MAX);
  size_t len = 1, whole;
  int is_physical = 1;
  if (dir == DFT__AS_IT_IS) {
    len = strnlen(path, DFT__IO_PATH - 1);
    if (len >= room) return DFT__PATH_DEEP;
    memcpy(text, path, len);
    return len;
  }
  if (path[0] == '/') {
    text[0] = '/';
    path++;
  } else if (dir == AT_FDCWD) {
    len = working_folder(text, room < PATH_MAX ? room - 2 : PATH_MAX);
  } else {
    len = text_of_fd(dir, text, room < PATH_MAX ? room - 2 : PATH_MAX);
    is_physical = 0;
  }
  if (!len || len == DFT__PATH_DEEP) return len;
  whole = join_plain(text, room, len, path, (size_t)(end - path));
  return whole ? whole : join(text, room, len, path, end, is_physical);
}

/* ---- On a small stack ------------------------------------------------------------------------------------------------ */

#define SHORT_BYTES 192

typedef struct deep_path {
  int dir;
  const char *path;
  dft__path_use *use;
  void *context;
} deep_path;

static size_t look_up(int dir, const char *path, char *text, size_t room) {
  return path ? dft__path_absolute(dir, path, text, room) : text_of_fd(dir, text, room);
}

static void use_deep(void *deep) {
  const deep_path *own = deep;
  char text[DFT__IO_PATH];
  own->use(text, look_up(own->dir, own->path, text, sizeof text), own->context);
}

void dft__path_with(int dir, const char *path, dft__path_use *use, void *context) {
  char text[SHORT_BYTES];
  size_t len = look_up(dir, path, text, sizeof text);
  if (DFT__LIKELY(len != DFT__PATH_DEEP)) {
    use(text, len, context);
  } else {
    deep_path deep = {dir, path, use, context};
    uint64_t before = dft__signals_block();
    dft__aside_run(use_deep, &deep);
    dft__signals_restore(before);
  }
}

int dft__path_is_of_fd(const char *path) {
  const char *fd;
  if (strncmp(path, "/dev/", 5) == 0) return strncmp(path + 5, "std", 3) == 0 || strncmp(path + 5, "fd/", 3) == 0;
  fd = strncmp(path, "/proc/", 6) == 0 ? strstr(path, "/fd/") : NULL;
  return fd && fd[4] >= '0' && fd[4] <= '9';
}

/* The kernel reads the set before it looks at the rest, refuses the rest, and changes nothing. No other call is as cheap. */
static int is_word_readable(const char *at) {
  enum { NO_SUCH_ACTION = -1, SET_BYTES = 8 };
  const void *word = (const void *)((uintptr_t)at & ~(uintptr_t)(SET_BYTES - 1));
  return word && (syscall(SYS_rt_sigprocmask, NO_SUCH_ACTION, word, NULL, SET_BYTES) == 0 || errno != EFAULT);
}

int dft__path_is_readable(const char *path) {
  const uintptr_t page = 4096; /* or a part of one */
  int saved = errno, is_readable = 1, is_ended = 0;
  for (size_t seen = 0, len; is_readable && !is_ended && seen < PATH_MAX; seen += len) {
    len = page - ((uintptr_t)(path + seen) & (page - 1));
    is_readable = is_word_readable(path + seen);
    is_ended = is_readable && strnlen(path + seen, len) < len;
  }
  errno = saved;
  return is_readable;
}
