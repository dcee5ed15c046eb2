/* test_spool.c - the mapped file: made, made longer, opened again when it is in order, refused when it is not.
 * SPDX-License-Identifier: MIT */
#include "spool/spool.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "session.h"
#include "spool/chunk.h"
#include "spool/leftover.h"

static dft__spool spool;

/* As session.c fills it in. */
static void make_announced_and_locked(void) {
  dft__header *header;
  CHECK_INT(dft__spool_create(&spool, "spool", 1 << 20), DFT_OK);
  header = spool.header;
  header->sink_count = 1;
  strcpy(header->sink[0], "jsonl");
  strcpy(header->boot_id, "boot");
  strcpy(header->host, "host");
  strcpy(header->folder, "/folder");
  strcpy(header->stem, "stem");
  strcpy(header->base, "base");
  strcpy(header->unit, "US");
  header->unit_ns = 1000;
  DFT__SET(header->clock.count, 1);
  dft__spool_announce(&spool);
}

/* As if its process had ended. */
static void let_go(void) {
  if (spool.lock) CHECK_INT(munmap(spool.lock, 4096), 0);
  spool.lock = NULL;
}

static void make_announced(void) {
  make_announced_and_locked();
  let_go();
}

static dft_status open_again(void) {
  dft__spool other;
  dft_status status = dft__spool_open(&other, "spool");
  if (status == DFT_OK) dft__spool_close(&other);
  return status;
}

static void a_new_spool_is_private_and_allocated(void) {
  struct stat facts;
  umask(0);
  CHECK_INT(dft__spool_create(&spool, "spool", 1 << 20), DFT_OK);
  CHECK_INT(stat("spool", &facts), 0);
  CHECK_INT(facts.st_mode & 07777, 0600);
  CHECK_UINT((uint64_t)facts.st_size, DFT__GET(spool.header->file_bytes));
  CHECK(facts.st_blocks * 512 >= facts.st_size);
  CHECK_INT(spool.fd, -1);
  CHECK_INT(dft__spool_create(&spool, "spool", 1 << 20), DFT_EBUSY);
  CHECK_INT(dft__spool_create(&spool, "missing/spool", 1 << 20), DFT_EIO);
  CHECK_INT(count_files(".", NULL), 1);
}

static void a_link_is_never_followed(void) {
  CHECK_INT(symlink("elsewhere", "spool"), 0);
  CHECK(dft__spool_create(&spool, "spool", 1 << 20) != DFT_OK);
  CHECK_INT(exists("elsewhere"), 0);
  CHECK_INT(open_again(), DFT_EIO);
}

static void a_spool_grows_and_keeps_its_bytes(void) {
  uint64_t first;
  CHECK_INT(dft__spool_create(&spool, "spool", 16 << 20), DFT_OK);
  first = DFT__GET(spool.header->file_bytes);
  spool.base[first - 1] = 'x';
  CHECK(dft__spool_grow(&spool, first, 1)); /* long enough */
  CHECK_UINT(DFT__GET(spool.header->file_bytes), first);
  CHECK(dft__spool_grow(&spool, 9 << 20, 1));
  CHECK(DFT__GET(spool.header->file_bytes) >= 9 << 20);
  spool.base[(9 << 20) - 1] = 'y'; /* no SIGBUS */
  CHECK_INT(spool.base[first - 1], 'x');
  CHECK(!dft__spool_grow(&spool, spool.map_bytes + 1, 1));
  dft__spool_prepare(&spool);
  CHECK(dft__spool_grow(&spool, 10 << 20, 1));
}

/* A file that is too long for the process is an error and no signal. */
static void the_size_limit_is_no_signal(void) {
  const struct rlimit small = {4 << 20, 4 << 20};
  CHECK_INT(dft__spool_create(&spool, "spool", 16 << 20), DFT_OK);
  CHECK_INT(setrlimit(RLIMIT_FSIZE, &small), 0);
  CHECK(dft__spool_grow(&spool, 3 << 20, 1));
  CHECK(!dft__spool_grow(&spool, 5 << 20, 1));
  CHECK(DFT__GET(spool.header->file_bytes) <= 4 << 20);
}

static void a_spool_whose_file_is_gone_does_not_grow(void) {
  CHECK_INT(dft__spool_create(&spool, "spool", 16 << 20), DFT_OK);
  CHECK_INT(unlink("spool"), 0);
  CHECK(!dft__spool_grow(&spool, 9 << 20, 1));
  close(open("spool", O_CREAT | O_WRONLY, 0600)); /* another file of the same name is not touched */
  CHECK(!dft__spool_grow(&spool, 9 << 20, 1));
  CHECK_INT(lseek(open("spool", O_RDONLY), 0, SEEK_END), 0);
}

static void *grow_step_by_step(void *number) {
  for (uint64_t i = 1; i <= 64; i++) {
    uint64_t bytes = (256 << 10) * i;
    CHECK(dft__spool_grow(&spool, bytes, 1));
    spool.base[bytes - 64 + (uintptr_t)number] = (char)(intptr_t)number;
  }
  return NULL;
}

static void threads_grow_it_together(void) {
  CHECK_INT(dft__spool_create(&spool, "spool", 16 << 20), DFT_OK);
  on_threads(8, grow_step_by_step);
  CHECK(DFT__GET(spool.header->file_bytes) >= 16 << 20);
}

/* ---- Memory in the file's place ---------------------------------------------------------------------------------------- */

static void a_retired_spool_writes_to_no_file(void) {
  make_announced();
  spool.base[200] = 'a';
  dft__spool_retire(&spool, 0);
  spool.base[8192] = 'b'; /* still there */
  CHECK_INT(spool.base[200], 0);
  CHECK_INT(open_again(), DFT_OK);
}

static void write_detached(void) {
  dft__spool_detach(&spool);
  CHECK_INT(spool.base[8192], 'a');
  spool.base[8192] = 'b';
}

static void a_detached_child_writes_to_no_file(void) {
  make_announced();
  spool.base[8192] = 'a';
  CHECK_INT(in_process(write_detached), 0);
  CHECK_INT(spool.base[8192], 'a');
}

/* ---- Opening what others left -------------------------------------------------------------------------------------------- */

static void only_an_announced_spool_is_one(void) {
  CHECK_INT(dft__spool_create(&spool, "spool", 1 << 20), DFT_OK);
  let_go();
  CHECK_INT(open_again(), DFT_EFORMAT);
  CHECK_INT(unlink("spool"), 0);
  make_announced();
  CHECK_INT(open_again(), DFT_OK);
  CHECK_INT(open_again(), DFT_OK); /* the lock went with the first */
}

/* ---- The lock of the process that writes ------------------------------------------------------------------------------------ */

/* The orphan that this process has got. */
static pid_t orphan(void) {
  char text[64] = "", path[64];
  int fd;
  snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
  fd = open(path, O_RDONLY);
  CHECK(fd >= 0 && read(fd, text, sizeof text - 1) > 0 && close(fd) == 0);
  return (pid_t)atoi(text);
}

static int is_locked(void) {
  int fd = open("spool", O_RDWR), result;
  CHECK(fd >= 0);
  result = flock(fd, LOCK_EX | LOCK_NB) != 0;
  close(fd);
  return result;
}

static void can_be_locked_here(void) {
  int fd = open(".", O_RDONLY);
  CHECK(fd >= 0);
  if (!dft__spool_can_lock(fd)) exit(0);
  close(fd);
}

static void a_spool_is_locked_until_its_process_is_done_with_it(void) {
  dft__spool other;
  can_be_locked_here();
  make_announced_and_locked();
  CHECK(is_locked());
  CHECK_UINT(spool.header->lock_inode, spool.inode);
  CHECK_INT(open_again(), DFT_EBUSY);
  dft__spool_retire(&spool, 0);
  CHECK(!is_locked());
  CHECK_INT(dft__spool_open(&other, "spool"), DFT_OK);
  CHECK(dft__spool_is_let_go(&other));
  other.header->lock_inode++; /* a copy of the file that was locked */
  CHECK(!dft__spool_is_let_go(&other));
  other.header->lock_inode = 0; /* as in 5.0 */
  CHECK(!dft__spool_is_let_go(&other));
  dft__spool_close(&other);
}

/* A child that outlives its parent inherits the spool's mapping, but not the lock. */
static void leave_child(void) {
  if (fork()) return;
  alarm(10);
  pause();
}

static void make_and_die(void) {
  make_announced_and_locked();
  CHECK(is_locked());
  leave_child();
  kill(getpid(), SIGKILL);
}

static void a_killed_process_frees_the_lock_and_its_children_do_not_hold_it(void) {
  can_be_locked_here();
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  CHECK_INT(in_process(make_and_die), 128 + SIGKILL);
  CHECK(!is_locked());
  CHECK_INT(kill(orphan(), SIGKILL), 0);
}

static void take_over_and_die(void) {
  dft__spool_close(&spool);
  CHECK_INT(dft__spool_open(&spool, "spool"), DFT_OK);
  CHECK(dft__spool_take_over(&spool));
  CHECK(is_locked() && spool.lock && spool.header->lock_inode == spool.inode);
  leave_child();
  kill(getpid(), SIGKILL);
}

static void the_next_image_has_the_lock_as_well(void) {
  can_be_locked_here();
  make_announced();
  spool.fd = -1;
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  CHECK_INT(in_process(take_over_and_die), 128 + SIGKILL);
  CHECK(!is_locked());
  CHECK_INT(kill(orphan(), SIGKILL), 0);
}

static void a_locked_spool_is_busy(void) {
  int fd;
  make_announced();
  fd = open("spool", O_RDWR);
  CHECK(fd >= 0 && flock(fd, LOCK_EX) == 0);
  CHECK_INT(open_again(), DFT_EBUSY);
}

static void files_that_are_no_spools_are_refused(void) {
  make_announced();
  CHECK_INT(link("spool", "twin"), 0);
  CHECK_INT(open_again(), DFT_EFORMAT); /* a file with a second name may be anybody's */
  CHECK_INT(unlink("twin"), 0);
  CHECK_INT(open_again(), DFT_OK);
  CHECK_INT(truncate("spool", DFT__HEADER_BYTES - 1), 0);
  CHECK_INT(open_again(), DFT_EFORMAT);
  CHECK_INT(truncate("spool", 0), 0);
  CHECK_INT(open_again(), DFT_EFORMAT);
  CHECK(unlink("spool") == 0 && open_again() == DFT_EIO);
  CHECK(mkfifo("spool", 0600) == 0 && open_again() == DFT_EFORMAT); /* and does not wait */
  CHECK(unlink("spool") == 0 && mkdir("spool", 0700) == 0);
  CHECK(open_again() != DFT_OK);
}

/* The file is as long as its allocated bytes say; one that lost its tail is not. */
static void a_spool_that_lost_its_tail_is_refused(void) {
  make_announced();
  CHECK(dft__spool_grow(&spool, 1 << 20, 1));
  CHECK_INT(open_again(), DFT_OK);
  CHECK_INT(truncate("spool", 512 << 10), 0);
  CHECK_INT(open_again(), DFT_EFORMAT);
}

#define FIELD(member, value) \
  { #member, offsetof(dft__header, member), sizeof(((dft__header *)0)->member), value }

/* Each damage alone makes it unusable. A value of 0xAA.. fills texts to their last byte: no terminator. */
static void damaged_headers_are_refused(void) {
  static const struct {
    const char *name;
    size_t offset, size;
    uint64_t value;
  } damages[] = {
    FIELD(magic, 0),
    FIELD(layout, 99),
    FIELD(header_bytes, 4096),
    FIELD(file_bytes, 0),
    FIELD(file_bytes, 1 << 30),
    FIELD(top, 0),
    FIELD(top, DFT__HEADER_BYTES + 1),
    FIELD(sink_count, 0),
    FIELD(sink_count, 5),
    FIELD(sink[0], UINT64_MAX),
    FIELD(boot_id, UINT64_MAX),
    FIELD(host, UINT64_MAX),
    FIELD(folder, UINT64_MAX),
    FIELD(folder, 0),
    FIELD(stem, UINT64_MAX),
    FIELD(stem, 0),
    FIELD(stem, '/'),
    FIELD(base, UINT64_MAX),
    FIELD(base, 0),
    FIELD(base, '/'),
    FIELD(unit, UINT64_MAX),
    FIELD(unit_ns, 0),
    FIELD(unit_ns, UINT64_MAX),
    FIELD(clock.count, 0),
    FIELD(clock.count, DFT__KNOTS + 1),
    FIELD(level, UINT64_MAX),
    FIELD(level, 10),
  };
  make_announced();
  for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
    char before[8192];
    char *at = spool.base + damages[i].offset;
    CHECK(damages[i].size <= sizeof before);
    memcpy(before, at, damages[i].size);
    memset(at, damages[i].value == UINT64_MAX ? 0xaa : 0, damages[i].size);
    if (damages[i].value != UINT64_MAX) memcpy(at, &damages[i].value, damages[i].size < 8 ? damages[i].size : 8);
    if (open_again() != DFT_EFORMAT) fprintf(stderr, "  accepted: damage %zu, in %s\n", i, damages[i].name);
    CHECK_INT(open_again(), DFT_EFORMAT);
    memcpy(at, before, damages[i].size);
    CHECK_INT(open_again(), DFT_OK);
  }
}

int main(void) {
  RUN(a_new_spool_is_private_and_allocated);
  RUN(a_link_is_never_followed);
  RUN(a_spool_grows_and_keeps_its_bytes);
  RUN(the_size_limit_is_no_signal);
  RUN(a_spool_whose_file_is_gone_does_not_grow);
  RUN(threads_grow_it_together);
  RUN(a_retired_spool_writes_to_no_file);
  RUN(a_detached_child_writes_to_no_file);
  RUN(only_an_announced_spool_is_one);
  RUN(a_spool_is_locked_until_its_process_is_done_with_it);
  RUN(a_killed_process_frees_the_lock_and_its_children_do_not_hold_it);
  RUN(the_next_image_has_the_lock_as_well);
  RUN(a_locked_spool_is_busy);
  RUN(files_that_are_no_spools_are_refused);
  RUN(a_spool_that_lost_its_tail_is_refused);
  RUN(damaged_headers_are_refused);
  return failed_cases;
}
