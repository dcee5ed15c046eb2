/* program.c - looks at ELF files, scripts and the libraries they need.
 * SPDX-License-Identifier: MIT */
#include "program.h"

#include <dftracer/dft.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define SCRIPTS_MOST 4 /* interpreters of interpreters; the kernel has the same limit */

const char *program_text(enum program_kind kind) {
  static const char *const texts[] = {
#define PROGRAM_TEXT(name, text) text,
    PROGRAM_LIST(PROGRAM_TEXT)
#undef PROGRAM_TEXT
  };
  return texts[kind];
}

int program_is_startable(enum program_kind kind) {
  return kind != PROGRAM_MISSING && kind != PROGRAM_FOLDER && kind != PROGRAM_FORBIDDEN && kind != PROGRAM_NO_LOADER;
}

static int is_file(const char *path) {
  struct stat facts;
  return stat(path, &facts) == 0 && S_ISREG(facts.st_mode);
}

static int is_folder(const char *path) {
  struct stat facts;
  return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

/* Like execvp: a name with a slash is a path, others are searched on PATH; the first that may be executed wins. */
static enum program_kind find(const char *word, char path[PATH_MAX]) {
  const char *folders = getenv("PATH");
  enum program_kind kind = PROGRAM_MISSING;
  if (strchr(word, '/')) {
    if (is_folder(word)) return PROGRAM_FOLDER;
    if (strlen(word) >= PATH_MAX || !is_file(word)) return PROGRAM_MISSING;
    memcpy(path, word, strlen(word) + 1);
    return access(path, X_OK) == 0 ? PROGRAM_FINE : PROGRAM_FORBIDDEN;
  }
  for (const char *at = folders ? folders : "/bin:/usr/bin"; *word && at; at = strchr(at, ':'), at += at != NULL) {
    char candidate[PATH_MAX];
    int len = (int)strcspn(at, ":");
    if (snprintf(candidate, PATH_MAX, "%.*s%s%s", len, at, len ? "/" : "", word) >= PATH_MAX) continue;
    if (!is_file(candidate)) continue;
    memcpy(path, candidate, PATH_MAX);
    if (access(path, X_OK) == 0) return PROGRAM_FINE;
    kind = PROGRAM_FORBIDDEN;
  }
  return kind == PROGRAM_MISSING && is_folder(word) ? PROGRAM_FOLDER : kind;
}

/* ---- ELF ------------------------------------------------------------------------------------------------------------ */

static int has_privileges(int fd) {
  struct stat facts;
  if (fstat(fd, &facts) != 0) return 0;
  if ((facts.st_mode & S_ISUID) && facts.st_uid != geteuid()) return 1;
  if ((facts.st_mode & S_ISGID) && facts.st_gid != getegid()) return 1;
  return geteuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

static enum program_kind inspect_elf(program *target, int fd, const ElfW(Ehdr) * head) {
  ElfW(Ehdr) own;
  int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  int is_alike = self >= 0 && pread(self, &own, sizeof own, 0) == (ssize_t)sizeof own &&
                 head->e_machine == own.e_machine && head->e_ident[EI_CLASS] == own.e_ident[EI_CLASS];
  if (self >= 0) close(self);
  if (!is_alike) return PROGRAM_FOREIGN;
  for (int i = 0; i < head->e_phnum; i++) {
    ElfW(Phdr) part;
    if (pread(fd, &part, sizeof part, (off_t)(head->e_phoff + (size_t)i * head->e_phentsize)) != (ssize_t)sizeof part)
      return PROGRAM_UNKNOWN;
    if (part.p_type != PT_INTERP) continue;
    if (part.p_filesz >= PATH_MAX || pread(fd, target->loader, part.p_filesz, (off_t)part.p_offset) < 0)
      return PROGRAM_UNKNOWN;
    if (access(target->loader, X_OK) != 0) return PROGRAM_NO_LOADER;
    return has_privileges(fd) ? PROGRAM_SETUID : PROGRAM_FINE;
  }
  return PROGRAM_STATIC;
}

/* ---- Scripts -------------------------------------------------------------------------------------------------------- */

/* The interpreter of "#!/usr/bin/env -S python3 -u" is python3; variables before it are skipped. */
static void interpreter_of(char *line, char word[PATH_MAX]) {
  char *rest = line + 2;
  char *token = strtok_r(rest, " \t", &rest);
  const char *base = token ? strrchr(token, '/') : NULL;
  word[0] = '\0';
  if (token && base && strcmp(base, "/env") == 0) {
    do token = strtok_r(NULL, " \t", &rest);
    while (token && (token[0] == '-' || strchr(token, '=')));
  }
  if (token) snprintf(word, PATH_MAX, "%s", token);
}

static enum program_kind inspect_file(program *target, char next[PATH_MAX]) {
  union {
    ElfW(Ehdr) elf;
    char text[PATH_MAX];
  } head;
  enum program_kind kind = PROGRAM_UNKNOWN;
  ssize_t len;
  int fd = open(target->image, O_RDONLY | O_CLOEXEC);
  next[0] = '\0';
  if (fd < 0)
    return errno == EACCES ? PROGRAM_FINE : PROGRAM_MISSING; /* it may be executed but not read: assume the best */
  len = pread(fd, head.text, sizeof head.text - 1, 0);
  if (len >= (ssize_t)sizeof head.elf && memcmp(head.elf.e_ident, ELFMAG, SELFMAG) == 0) {
    kind = inspect_elf(target, fd, &head.elf);
  } else if (len > 2 && memcmp(head.text, "#!", 2) == 0) {
    head.text[len] = '\0';
    head.text[strcspn(head.text, "\n")] = '\0';
    interpreter_of(head.text, next);
    kind = next[0] ? PROGRAM_FINE : PROGRAM_UNKNOWN;
  }
  close(fd);
  return kind;
}

void program_inspect(program *target, const char *word) {
  char next[PATH_MAX];
  memset(target, 0, sizeof *target);
  target->kind = find(word, target->path);
  memcpy(target->image, target->path, sizeof target->image);
  for (int i = 0; target->kind == PROGRAM_FINE && i <= SCRIPTS_MOST; i++) {
    target->kind = inspect_file(target, next);
    if (!next[0]) return;
    memcpy(target->image, next, sizeof target->image); /* so that a message names it when it is not found */
    target->kind = find(next, target->image);
  }
}

static const char *name_in(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

int program_is_launcher(const program *target) {
  static const char *const names[] = {"mpirun", "mpiexec", "orterun", "prterun",  "prun",    "srun",
                                      "jsrun",  "aprun",   "flux",    "env",      "nice",    "nohup",
                                      "time",   "timeout", "setsid",  "taskset",  "numactl", "stdbuf",
                                      "gdb",    "strace",  "ltrace",  "torchrun", "valgrind"};
  const char *name = name_in(target->path);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    size_t len = strlen(names[i]);
    if (strncmp(name, names[i], len) == 0 && strchr("._", name[len])) return 1; /* mpiexec.hydra, mpirun_rsh */
  }
  return 0;
}

int program_is_interpreter(const program *target) {
  static const char *const names[] = {"python", "bash", "sh", "dash", "zsh", "perl", "ruby", "julia", "R", "node"};
  const char *name = name_in(target->image);
  if (strcmp(target->path, target->image) != 0) return 1;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    size_t len = strlen(names[i]);
    if (strncmp(name, names[i], len) == 0 && strspn(name + len, "0123456789.t") == strlen(name + len)) return 1;
  }
  return 0;
}

/* ---- Libraries ------------------------------------------------------------------------------------------------------ */

/* Parses a line of the loader's list: "\tlibx.so.5 => /path/libx.so.5 (0x...)", or "\tlibx.so.5 => not found" */
static int take_library(char *line, const char *name, char path[PATH_MAX]) {
  char *arrow = strstr(line, " => ");
  char *end;
  if (!arrow || strncmp(line + strspn(line, " \t"), name, strlen(name)) != 0) return 0;
  arrow += 4;
  end = strstr(arrow, " (0x");
  if (end) *end = '\0';
  snprintf(path, PATH_MAX, "%s", *arrow == '/' ? arrow : "");
  return 1;
}

int program_library(const program *target, const char *name, char path[PATH_MAX]) {
  char *argv[] = {(char *)(uintptr_t)target->loader, (char *)(uintptr_t)target->image, NULL};
  posix_spawn_file_actions_t actions;
  char line[PATH_MAX + 256];
  int ends[2], found = 0, status;
  FILE *lines;
  pid_t pid;
  if (!target->loader[0] || pipe2(ends, O_CLOEXEC) != 0) return 0;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  setenv("LD_TRACE_LOADED_OBJECTS", "1", 1); /* the loader's --list prints nothing when a library is missing */
  status = posix_spawn(&pid, target->loader, &actions, NULL, argv, environ);
  unsetenv("LD_TRACE_LOADED_OBJECTS");
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  lines = fdopen(ends[0], "r");
  while (lines && fgets(line, sizeof line, lines)) found = found || take_library(line, name, path);
  if (lines) fclose(lines);
  if (status == 0) waitpid(pid, &status, 0);
  return found;
}

const char *program_core(char path[PATH_MAX]) {
  Dl_info core;
  if (!dladdr((void *)(uintptr_t)dft_version, &core) || !realpath(core.dli_fname, path)) path[0] = '\0';
  return path;
}

int program_is_core(const char *library) {
  char own[PATH_MAX], theirs[PATH_MAX];
  return !*program_core(own) || !realpath(library, theirs) || strcmp(own, theirs) == 0;
}

/* Finds a file in one of these folders, which are relative to that of the core library. */
static int find_beside_core(const char *const places[], size_t count, const char *name, char path[PATH_MAX]) {
  char folder[PATH_MAX];
  if (!*program_core(folder)) return 0;
  strrchr(folder, '/')[1] = '\0';
  for (size_t i = 0; i < count; i++) {
    char candidate[PATH_MAX + 64];
    snprintf(candidate, sizeof candidate, "%s%s%s", folder, places[i], name);
    if (access(candidate, R_OK) == 0 && realpath(candidate, path)) return 1;
  }
  return 0;
}

int program_find_own(const char *name, char path[PATH_MAX]) {
  static const char *const places[] = {"", "intercept/", "lib/", "../lib/", "../c/", "../c/intercept/"};
  return find_beside_core(places, sizeof places / sizeof places[0], name, path);
}

int program_find_start(char path[PATH_MAX]) {
  static const char *const places[] = {"../start/", "../python/dftracer/start/"};
  if (!find_beside_core(places, sizeof places / sizeof places[0], "sitecustomize.py", path)) return 0;
  strrchr(path, '/')[0] = '\0';
  return strchr(path, ':') == NULL;
}
