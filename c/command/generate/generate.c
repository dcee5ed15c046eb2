/* generate.c - dftracer generate: a made-up trace of any size, for benchmarks and tests.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "codec/gzip.h"
#include "command/cli/arguments.h"
#include "command/cli/progress.h"
#include "command/cli/terminal.h"
#include "synthetic.h"

enum { KEY_NODES = OPTION_LONG + 1, KEY_PLAIN };

static const option options[] = {
  {'n', "events", "N", "events of all processes together; K, M and G are thousands; default: 1M"},
  {'p', "processes", "N", "processes, one file each; default: 1"},
  {'t', "threads", "N", "threads of each process: one that trains, others that load; default: 4"},
  {KEY_NODES, "nodes", "N", "nodes the processes are spread over; default: 1"},
  {'s', "seed", "N", "another number, another trace; default: 1"},
  {'j', "jobs", "N", "threads that work on it; default: all cores. The result is the same"},
  {KEY_PLAIN, "plain", NULL, "not compressed: .pfw"},
  {0, NULL, NULL, NULL},
};

const command command_generate;

typedef struct job {
  synthetic plan;
  const char *folder;
  uint64_t jobs;
  int is_plain;
  pthread_mutex_t lock;
  pthread_cond_t turn;
  /* with the lock: the next member to make, and the next to write */
  uint32_t make_rank, write_rank;
  uint64_t make_member, write_member;
  int fd;
  int error; /* the first one; the others stop */
  uint64_t bytes;
  progress progress;
} job;

/* ---- Files ---------------------------------------------------------------------------------------------------------- */

static void name_file(const job *of, uint32_t rank, int is_done, char path[PATH_MAX]) {
  snprintf(path, PATH_MAX, "%s/%sgenerated-node%03u-%u-app%s", of->folder, is_done ? "" : ".",
           synthetic_node_of(&of->plan, rank), SYNTHETIC_PID + rank,
           !is_done       ? ".part"
           : of->is_plain ? ".pfw"
                          : ".pfw.gz");
}

static int write_all(int fd, const char *bytes, size_t len) {
  while (len) {
    ssize_t written = write(fd, bytes, len);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes += written;
    len -= (size_t)written;
  }
  return 0;
}

/* One member, whose turn it is; with the lock. */
static int write_member(job *of, const char *bytes, size_t len) {
  char part[PATH_MAX], path[PATH_MAX];
  int error;
  name_file(of, of->write_rank, 0, part);
  if (of->write_member == 0) of->fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (of->fd < 0) return errno;
  error = write_all(of->fd, bytes, len);
  of->bytes += len;
  if (error || ++of->write_member < synthetic_members_of(&of->plan, of->write_rank)) return error;
  name_file(of, of->write_rank, 1, path);
  error = close(of->fd) == 0 && rename(part, path) == 0 ? 0 : errno;
  of->fd = -1;
  of->write_member = 0;
  of->write_rank++;
  return error;
}

/* ---- Threads -------------------------------------------------------------------------------------------------------- */

/* Takes the next member; zero when there is none. */
static int take(job *of, uint32_t *rank, uint64_t *member) {
  if (of->error || of->make_rank == of->plan.processes) return 0;
  *rank = of->make_rank;
  *member = of->make_member++;
  if (of->make_member == synthetic_members_of(&of->plan, *rank)) {
    of->make_member = 0;
    of->make_rank++;
  }
  return 1;
}

static void *work(void *context) {
  job *of = context;
  size_t room = dft__gzip_bound(SYNTHETIC_MEMBER_BYTES);
  size_t state_bytes = dft__gzip_state_bytes();
  char *text = malloc(SYNTHETIC_MEMBER_BYTES);
  char *bytes = malloc(room);
  void *state = aligned_alloc(64, (state_bytes + 63) / 64 * 64);
  uint32_t rank;
  uint64_t member;
  pthread_mutex_lock(&of->lock);
  if (!text || !bytes || !state) of->error = ENOMEM;
  while (take(of, &rank, &member)) {
    size_t len;
    pthread_mutex_unlock(&of->lock);
    len = synthetic_member(&of->plan, rank, member, text);
    if (!of->is_plain) len = dft__gzip_member(state, state_bytes, 0, text, len, bytes, room);
    pthread_mutex_lock(&of->lock);
    while (!of->error && (of->write_rank != rank || of->write_member != member))
      pthread_cond_wait(&of->turn, &of->lock);
    if (!of->error) of->error = len ? write_member(of, of->is_plain ? text : bytes, len) : EIO;
    pthread_cond_broadcast(&of->turn);
    progress_add(&of->progress, SYNTHETIC_MEMBER_EVENTS);
  }
  pthread_cond_broadcast(&of->turn);
  pthread_mutex_unlock(&of->lock);
  free(text);
  free(bytes);
  free(state);
  return NULL;
}

static int generate(job *of) {
  pthread_t threads[256];
  uint64_t started = 0;
  char events[FORMAT_BYTES], bytes[FORMAT_BYTES];
  dft__gzip_load();
  progress_begin(&of->progress, "generate", of->plan.events, 0);
  while (started + 1 < of->jobs && pthread_create(&threads[started], NULL, work, of) == 0) started++;
  work(of);
  for (uint64_t i = 0; i < started; i++) pthread_join(threads[i], NULL);
  progress_end(&of->progress);
  if (of->error) {
    char part[PATH_MAX];
    name_file(of, of->write_rank, 0, part);
    unlink(part);
    fprintf(stderr, "dftracer generate: %s: %s\n", of->folder, strerror(of->error));
    return STATUS_FAILED;
  }
  printf("%s: %s events of %u process%s, %s\n", of->folder, format_count(events, of->plan.events), of->plan.processes,
         of->plan.processes == 1 ? "" : "es", format_bytes(bytes, (double)of->bytes));
  return STATUS_DONE;
}

static int read_options(job *of, arguments *given) {
  uint64_t number = 0;
  int key;
  while ((key = arguments_next(given)) > 0) {
    if (key == KEY_PLAIN) {
      of->is_plain = 1;
      continue;
    }
    if (!arguments_number(given, key == 's' ? 0 : 1,
                          key == 'n'   ? UINT64_C(1000000000000)
                          : key == 's' ? UINT64_C(1) << 53
                          : key == 't' ? SYNTHETIC_THREADS_MOST
                          : key == 'j' ? 256
                                       : 100000,
                          &number)) {
      return -1;
    }
    switch (key) {
      case 'n': of->plan.events = number; break;
      case 'p': of->plan.processes = (uint32_t)number; break;
      case 't': of->plan.threads = (uint32_t)number; break;
      case KEY_NODES: of->plan.nodes = (uint32_t)number; break;
      case 's': of->plan.seed = number; break;
      default: of->jobs = number;
    }
  }
  return key;
}

static int run_generate(int argc, char **argv) {
  arguments given = {.command = &command_generate, .argc = argc, .argv = argv};
  job of = {.plan = {.seed = 1, .events = 1000000, .processes = 1, .threads = 4, .nodes = 1},
            .jobs = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN),
            .fd = -1};
  if (of.jobs > 256) of.jobs = 256;
  if (read_options(&of, &given) < 0) return given.status;
  if (given.count != 1) return arguments_refuse(&given, "one folder for the traces, please: DIR");
  of.folder = argv[given.first];
  if (strlen(of.folder) > PATH_MAX - 128) return arguments_refuse(&given, "the name of the folder is too long");
  if (of.plan.nodes > of.plan.processes) of.plan.nodes = of.plan.processes;
  if (mkdir(of.folder, 0777) != 0 && errno != EEXIST) {
    fprintf(stderr, "dftracer generate: %s: %s\n", of.folder, strerror(errno));
    return STATUS_FAILED;
  }
  pthread_mutex_init(&of.lock, NULL);
  pthread_cond_init(&of.turn, NULL);
  return generate(&of);
}

const command command_generate = {
  .name = "generate",
  .arguments = "DIR",
  .summary = "make up a trace of any size, for benchmarks and tests",
  .text =
    "Writes traces into DIR, one file a process, as a training job would leave them: steps with nested regions, "
    "workers that read files, counters, metadata. The same numbers give the same bytes (for one compression library), "
    "on any number of cores.\n\n"
    "  dftracer generate --events 100M --processes 8 /tmp/large\n",
  .options = options,
  .run = run_generate,
};
