/* command_generate.c - dftracer generate: writes a synthetic trace of any size, for benchmarks and tests.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codec/gzip.h"
#include "command/cli/arguments.h"
#include "command/cli/printable.h"
#include "command/cli/progress.h"
#include "command/cli/terminal.h"
#include "synthetic.h"

#define JOBS_MOST 256

enum { KEY_NODES = OPTION_LONG + 1, KEY_PLAIN };

static const option options[] = {
  {'n', "events", "N", "number of events of all processes together; accepts the suffixes K, M and G; default: 1M"},
  {'p', "processes", "N", "number of processes, with one file each; default: 1"},
  {'t', "threads", "N", "number of threads per process: one trains, the others load data; default: 4"},
  {KEY_NODES, "nodes", "N", "number of nodes that the processes are spread over; default: 1"},
  {'s', "seed", "N", "seed of the random numbers; another seed gives another trace; default: 1"},
  {'j', "jobs", "N", "number of worker threads; does not change the result; default: all cores"},
  {KEY_PLAIN, "plain", NULL, "do not compress: write .pfw instead of .pfw.gz"},
  {0, NULL, NULL, NULL},
};

const command command_generate;

typedef struct generation {
  synthetic plan;
  const char *folder;
  uint64_t jobs;
  int is_plain;
  pthread_mutex_t lock;
  pthread_cond_t turn;
  /* protected by the lock: the next member to make, and the next one to write */
  uint32_t make_rank, write_rank;
  uint64_t make_member, write_member;
  int fd;
  int error; /* the first one; then all threads stop */
  uint64_t bytes;
  progress progress;
} generation;

/* ---- Files ---------------------------------------------------------------------------------------------------------- */

static void name_file(const generation *work, uint32_t rank, int is_done, char path[PATH_MAX]) {
  snprintf(path, PATH_MAX, "%s/%sgenerated-node%03u-%u-app%s", work->folder, is_done ? "" : ".",
           synthetic_node_of(&work->plan, rank), SYNTHETIC_PID + rank,
           !is_done         ? ".part"
           : work->is_plain ? ".pfw"
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

/* Writes the member whose turn it is. The caller holds the lock. */
static int write_member(generation *work, const char *bytes, size_t len) {
  char part[PATH_MAX], path[PATH_MAX];
  int error;
  name_file(work, work->write_rank, 0, part);
  if (work->write_member == 0) work->fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (work->fd < 0) return errno;
  error = write_all(work->fd, bytes, len);
  work->bytes += len;
  if (error || ++work->write_member < synthetic_members_of(&work->plan, work->write_rank)) return error;
  name_file(work, work->write_rank, 1, path);
  error = close(work->fd) == 0 && rename(part, path) == 0 ? 0 : errno;
  work->fd = -1;
  work->write_member = 0;
  work->write_rank++;
  return error;
}

/* ---- Threads -------------------------------------------------------------------------------------------------------- */

/* Takes the next member to make; zero when there are no more. */
static int take(generation *work, uint32_t *rank, uint64_t *member) {
  if (work->error || work->make_rank == work->plan.processes) return 0;
  *rank = work->make_rank;
  *member = work->make_member++;
  if (work->make_member == synthetic_members_of(&work->plan, *rank)) {
    work->make_member = 0;
    work->make_rank++;
  }
  return 1;
}

static void *make_members(void *context) {
  generation *work = context;
  size_t room = dft__gzip_bound(SYNTHETIC_MEMBER_BYTES);
  size_t state_bytes = dft__gzip_state_bytes();
  char *text = malloc(SYNTHETIC_MEMBER_BYTES);
  char *bytes = malloc(room);
  void *state = aligned_alloc(64, (state_bytes + 63) / 64 * 64);
  uint32_t rank;
  uint64_t member;
  pthread_mutex_lock(&work->lock);
  if (!text || !bytes || !state) work->error = ENOMEM;
  while (take(work, &rank, &member)) {
    size_t len;
    pthread_mutex_unlock(&work->lock);
    len = synthetic_member(&work->plan, rank, member, text);
    if (!work->is_plain) len = dft__gzip_member(state, state_bytes, 0, text, len, bytes, room);
    pthread_mutex_lock(&work->lock);
    while (!work->error && (work->write_rank != rank || work->write_member != member))
      pthread_cond_wait(&work->turn, &work->lock);
    if (!work->error) work->error = len ? write_member(work, work->is_plain ? text : bytes, len) : EIO;
    pthread_cond_broadcast(&work->turn);
    progress_add(&work->progress, SYNTHETIC_MEMBER_EVENTS);
  }
  pthread_cond_broadcast(&work->turn);
  pthread_mutex_unlock(&work->lock);
  free(text);
  free(bytes);
  free(state);
  return NULL;
}

static int generate(generation *work) {
  pthread_t threads[JOBS_MOST];
  uint64_t started = 0;
  char events[FORMAT_BYTES], bytes[FORMAT_BYTES];
  dft__gzip_load();
  progress_begin(&work->progress, "generate", work->plan.events, 0);
  while (started + 1 < work->jobs && pthread_create(&threads[started], NULL, make_members, work) == 0) started++;
  make_members(work);
  for (uint64_t i = 0; i < started; i++) pthread_join(threads[i], NULL);
  progress_end(&work->progress);
  if (work->error) {
    char part[PATH_MAX];
    name_file(work, work->write_rank, 0, part);
    unlink(part);
    fprintf(stderr, "dftracer generate: %s: %s\n", printable(work->folder), strerror(work->error));
    return STATUS_FAILED;
  }
  printf("%s: %s event%s of %u %s, %s\n", printable(work->folder), format_count(events, work->plan.events),
         plural(work->plan.events), work->plan.processes, process_word(work->plan.processes),
         format_bytes(bytes, (double)work->bytes));
  return STATUS_DONE;
}

static uint64_t most_of(int key) {
  switch (key) {
    case 'n': return UINT64_C(1000000000000);
    case 's': return UINT64_C(1) << 53;
    case 't': return SYNTHETIC_THREADS_MOST;
    case 'j': return JOBS_MOST;
    default: return 100000;
  }
}

/* As arguments_next: 0 at the end, below 0 when given->status is to be returned. */
static int read_options(generation *work, arguments *given) {
  uint64_t number = 0;
  int key;
  while ((key = arguments_next(given)) > 0) {
    if (key == KEY_PLAIN) {
      work->is_plain = 1;
      continue;
    }
    if (!arguments_number(given, key == 's' ? 0 : 1, most_of(key), &number)) return -1;
    switch (key) {
      case 'n': work->plan.events = number; break;
      case 'p': work->plan.processes = (uint32_t)number; break;
      case 't': work->plan.threads = (uint32_t)number; break;
      case KEY_NODES: work->plan.nodes = (uint32_t)number; break;
      case 's': work->plan.seed = number; break;
      default: work->jobs = number;
    }
  }
  return key;
}

static int run_generate(int argc, char **argv) {
  arguments given = {.command = &command_generate, .argc = argc, .argv = argv};
  generation work = {.plan = {.seed = 1, .events = 1000000, .processes = 1, .threads = 4, .nodes = 1},
                     .jobs = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN),
                     .fd = -1};
  if (work.jobs > JOBS_MOST) work.jobs = JOBS_MOST;
  if (read_options(&work, &given) < 0) return given.status;
  if (given.count != 1) return arguments_refuse(&given, "exactly one folder is needed: DIR");
  work.folder = argv[given.first];
  if (strlen(work.folder) > PATH_MAX - 128) return arguments_refuse(&given, "the name of the folder DIR is too long");
  if (work.plan.nodes > work.plan.processes) work.plan.nodes = work.plan.processes;
  if (mkdir(work.folder, 0777) != 0 && errno != EEXIST) {
    fprintf(stderr, "dftracer generate: %s: %s\n", printable(work.folder), strerror(errno));
    return STATUS_FAILED;
  }
  pthread_mutex_init(&work.lock, NULL);
  pthread_cond_init(&work.turn, NULL);
  return generate(&work);
}

const command command_generate = {
  .name = "generate",
  .arguments = "DIR",
  .summary = "write a synthetic trace of any size, for benchmarks and tests",
  .text =
    "Writes synthetic traces to DIR, one file per process, like those of a training job: steps with nested regions, "
    "workers that read files, counters and metadata. The same options and seed give the same bytes on any number of "
    "cores, as long as the compression library is the same.\n\n"
    "  dftracer generate --events 100M --processes 8 /tmp/large\n",
  .options = options,
  .run = run_generate,
};
