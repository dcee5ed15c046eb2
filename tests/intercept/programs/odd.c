/* odd.c - things that few programs do with files. Usage: odd WAY, in a folder that has in/text and in/other
 * SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static char piece[4096];

static int make(const char *name) {
  return open(name, O_RDWR | O_CREAT, 0600);
}

static void tell(const char *what, long ret) {
  printf("%s %ld %s\n", what, ret, ret < 0 ? strerrorname_np(errno) : "");
}

/* Every number is closed, ours or not, and used again. */
static void close_all(void) {
  int fd = make("first");
  write(fd, "12345", 5);
  for (int i = 3; i < 2000; i++) close(i);
  tell("the number again", fd = make("second"));
  write(fd, "123", 3);
  close_range(3, ~0u, 0);
  tell("and again", fd = make("third"));
  write(fd, "1", 1);
  fflush(stdout);
  for (int i = 0; i < 3; i++) close(i);
  write(make("zero"), "1234567", 7);
}

static void *fork_often(void *number) {
  for (int i = 0; i < 15; i++) {
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
      char name[32];
      int fd;
      snprintf(name, sizeof name, "child%ld.%d", (long)number, i);
      fd = make(name);
      write(fd, name, (size_t)i + 1);
      pwrite(fd, "zz", 2, 100);
      _exit(i);
    }
    waitpid(pid, &status, 0);
    if (WEXITSTATUS(status) != i) printf("a child ended with %d in place of %d\n", status, i);
  }
  return NULL;
}

static void *write_often(void *unused) {
  for (int i = 0; i < 500; i++) {
    int fd = make("shared");
    write(fd, "abc", 3);
    close(fd);
  }
  return unused;
}

static void fork_in_threads(void) {
  pthread_t threads[6];
  for (long i = 0; i < 6; i++) pthread_create(&threads[i], NULL, i < 4 ? fork_often : write_often, (void *)i);
  for (int i = 0; i < 6; i++) pthread_join(threads[i], NULL);
}

/* What the child's file actions did is not the parent's. */
static void spawn(void) {
  char *cat[] = {"cat", NULL};
  posix_spawn_file_actions_t actions;
  pid_t pid = 0;
  int status = -1, fd = open("in/text", O_RDONLY);
  tell("read", read(fd, piece, 10));
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "out", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, fd, 0);
  posix_spawn_file_actions_addclose(&actions, fd);
  tell("spawned", posix_spawnp(&pid, "cat", &actions, NULL, cat, environ));
  waitpid(pid, &status, 0);
  tell("status", status);
  tell("the rest", read(fd, piece, 10));
  tell("not there", posix_spawn(&pid, "/nowhere", NULL, NULL, cat, environ));
}

/* Files without a name of their own, and by the names of descriptors. */
static void unnamed(void) {
  char name[64];
  int fd = open(".", O_TMPFILE | O_RDWR, 0600), folder = open("in", O_PATH | O_DIRECTORY), copy;
  FILE *stream;
  tell("no name", write(fd, "without a name", 14));
  snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
  tell("a name", linkat(AT_FDCWD, name, AT_FDCWD, "named", AT_SYMLINK_FOLLOW));
  tell("more", write(fd, "more", 4));
  close(fd);
  snprintf(name, sizeof name, "/proc/self/fd/%d/text", folder);
  tell("through a folder", read(fd = open(name, O_RDONLY), piece, 40));
  snprintf(name, sizeof name, "/dev/fd/%d", fd);
  tell("by its number", read(copy = open(name, O_RDONLY), piece, 50));
  dup2(copy, 0);
  tell("standard input", read(open("/dev/stdin", O_RDONLY), piece, 60));
  stream = fopen("/dev/stdin", "r");
  setvbuf(stream, NULL, _IONBF, 0);
  tell("as a stream", (long)fread(piece, 1, 70, stream));
}

/* Above 65536, where the system lets us. */
static void large_numbers(void) {
  struct rlimit limit;
  int fd = make("file"), high, higher;
  getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_max > 100000) limit.rlim_max = 100000;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  tell("high", high = dup2(fd, (int)(limit.rlim_cur > 65543 ? 65543 : limit.rlim_cur - 20)));
  tell("higher", higher = fcntl(fd, F_DUPFD, (int)limit.rlim_cur - 10));
  tell("too high", dup2(fd, 1 << 20));
  write(high, "12345", 5);
  close(fd);
  write(higher, "123", 3);
  close(high);
  tell("still there", write(higher, "1", 1));
}

/* Streams that have no file must not be taken for the one at number zero. */
static void streams(void) {
  char *text = NULL;
  size_t len = 0;
  FILE *stream;
  fclose(stdin);
  tell("zero", open("in/text", O_RDONLY));
  tell("read", read(0, piece, 50));
  stream = open_memstream(&text, &len);
  fputs("in memory", stream);
  fclose(stream);
  tell(text, read(0, piece, 51));
  stream = fmemopen(piece, sizeof piece, "w");
  fputs("in memory as well", stream);
  fclose(stream);
  stream = popen("cat > piped", "w");
  fputs("to a pipe\n", stream);
  tell("closed", pclose(stream));
  stream = popen("cat in/other in/text", "r");
  tell("from a pipe", (long)fread(piece, 1, sizeof piece, stream));
  while (fread(piece, 1, sizeof piece, stream)) continue;
  tell("closed", pclose(stream));
  stream = fopen("out", "w");
  stream = freopen("out2", "w", stream);
  fprintf(stream, "%d\n", 42);
  fclose(stream);
  dprintf(make("printed"), "%s %d\n", "to a descriptor", 5);
  tell("status", system("cat in/other > copied"));
}

static void do_nothing(int number) {
  (void)number;
}

static void errors(void) {
  struct sigaction action = {.sa_handler = do_nothing};
  struct itimerval soon = {{0, 0}, {0, 20000}};
  struct iovec parts[1025];
  struct stat facts;
  int fd = make("file"), fifo;
  for (int i = 0; i < 1025; i++) parts[i] = (struct iovec){piece, 16};
  sigaction(SIGALRM, &action, NULL);
  mkfifo("fifo", 0600);
  fifo = open("fifo", O_RDWR);
  setitimer(ITIMER_REAL, &soon, NULL);
  tell("interrupted", read(fifo, piece, 10));
  tell("many parts", writev(fd, parts, 1024));
  tell("too many", readv(fd, parts, 1025));
  tell("no memory there", write(fd, (void *)1, 10));
  tell("no path there", open((char *)8, O_RDONLY));
  tell("nor there", stat((char *)8, &facts));
  tell("nor there", rename((char *)8, "x"));
  tell("not there", open("nowhere/x", O_RDONLY));
  errno = ERANGE;
  write(fd, "a", 1);
  stat("file", &facts);
  close(fd);
  tell("errno stays", -1);
  tell("closed", close(fd));
  tell("never open", close(-1));
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(void);
  } ways[] = {{"close_all", close_all}, {"fork_in_threads", fork_in_threads}, {"spawn", spawn},
              {"unnamed", unnamed},     {"large_numbers", large_numbers},     {"streams", streams},
              {"errors", errors}};
  for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
    if (argc > 1 && strcmp(argv[1], ways[i].name) == 0) {
      ways[i].run();
      return 0;
    }
  }
  return 2;
}
