/* mpirecord.c - one MPI call, from its slot to its event.
 *
 * The event is a region, so that POSIX calls below it belong to it, and a call that never returns is in the trace. All
 * that the library has to be asked for is asked after the call, and only if it succeeded: before, no handle is known to
 * be valid. Calls that the library makes inside a call are not recorded.
 * SPDX-License-Identifier: MIT */
#include "mpirecord.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../loadedobject.h"
#include "../state.h"
#include "base/config.h"
#include "mpifile.h"
#include "mpislot.h"
#include "mpiwait.h"
#include "record/region.h"
#include "request.h"
#include "spool/clock.h"

/* ---- The original ------------------------------------------------------------------------------------------------- */

#if defined(__x86_64__)
#define REGISTERS 6
#else
#define REGISTERS 8
#endif
#define FEW 6 /* arguments, for which forward() has a call of its own */
#define W dft__word

static void gather(dft__mpi_args *args, const dft__mpi_row *row, const W *registers, const W *stack) {
  args->row = row;
  memcpy(args->words, registers, REGISTERS * sizeof(W)); /* what is there behind the last argument is never looked at */
  if (DFT__LIKELY(row->arity <= FEW)) return;
  for (uint32_t i = REGISTERS; i < DFT__MPI_ARGS_MOST; i++) args->words[i] = i < row->arity ? stack[i - REGISTERS] : 0;
}

/* A function that takes fewer arguments does not see the rest. */
static W forward(uintptr_t original, const dft__mpi_args *args) {
  const W *a = args->words;
  if (args->row->arity <= FEW) return ((W(*)(W, W, W, W, W, W))original)(a[0], a[1], a[2], a[3], a[4], a[5]);
  return ((W(*)(W, W, W, W, W, W, W, W, W, W, W, W, W, W))original)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7],
                                                                    a[8], a[9], a[10], a[11], a[12], a[13]);
}

/* ---- What a call changes ------------------------------------------------------------------------------------------ */

/* Once, after MPI is initialised, which may have been before we were there. */
static _Atomic int has_rank;
static __attribute__((noinline)) void ask_rank(void) {
  int rank, size, error = errno;
  if (dft__world_place(&rank, &size)) {
    DFT__SET(has_rank, 1);
    if (dft__config_number(DFT__RANK) < 0) dft_set_rank(rank, size);
  }
  errno = error;
}

static void end_init(const dft__mpi_event *event) {
  char node[256] = ""; /* the longest MPI_MAX_PROCESSOR_NAME of these families */
  int len = 0;
  dft_arg name = {.key = &dft__mpi_keys[DFT__MPI_KEY_NODE], .type = DFT_STRING};
  const dft__comm *world = dft__comm_get(dft__mpi.family.world);
  ask_rank();
  if (!world) return;
  dft__mpi_put(event, DFT__MPI_KEY_RANK, world->rank);
  dft__mpi_put(event, DFT__MPI_KEY_SIZE, world->size);
  if (!dft__mpi.get_processor_name || dft__mpi.get_processor_name(node, &len) != 0) return;
  name.value.s.text = node;
  name.value.s.len = strnlen(node, sizeof node);
  dft__mpi_put_arg(event, &name);
}

static void end_comm(const dft__mpi_event *event, enum dft__comm_origin origin) {
  const dft__mpi_args *args = &event->args;
  int32_t tag = dft__mpi_has(args, 'l') ? dft__mpi_int(args, 'l') : 0;
  if (dft__mpi_has(args, 'w')) tag = (int32_t)dft__gnu_hash(dft__mpi_pointer(args, 'w'));
  dft__comm_made(event->comm, dft__mpi_made(args, 'o'), origin, tag);
}

/* ---- Files -------------------------------------------------------------------------------------------------------- */

typedef struct file_call {
  dft__mpifile named;
  dft__mpifile *file; /* NULL: not known */
  dft__word handle;
} file_call;

/* A handle of a file is a pointer in every family. */
static dft__word made_file(const dft__mpi_args *args) {
  const dft__word *at = dft__mpi_pointer(args, 'H');
  return at ? *at : 0;
}

/* Returns 0 when the call is not recorded. */
static int find_file(const dft__mpi_args *args, file_call *of) {
  of->file = NULL;
  of->handle = 0;
  if (dft__mpi_has(args, 'F')) {
    if (!dft__mpi_pointer(args, 'F')) return 0;
    of->named = dft__mpifile_named(dft__mpi_pointer(args, 'F'), dft__mpi_has(args, 'a') ? dft__mpi_int(args, 'a') : 0);
    of->file = &of->named;
  } else {
    of->handle = dft__mpi_has(args, 'h') ? dft__mpi_word(args, 'h') : made_file(args);
    of->file = dft__mpifile_find(of->handle);
  }
  return !of->file || !of->file->is_out;
}

/* A file of an earlier trace is not known: it may have been closed since, and its handle used again. */
static void place_file(const dft__mpi_event *event, const file_call *of) {
  const dft__mpi_args *args = &event->args;
  uint8_t rule = args->row->rule;
  const int is_known = of->file && of->file->session == dft__self.session;
  if (is_known && of->file->path) {
    const dft_arg arg = {.key = &dft__mpi_keys[DFT__MPI_KEY_FHASH], .type = DFT_PATH, .path = of->file->path};
    dft__mpi_put_arg(event, &arg);
  }
  if (is_known && (rule == DFT__MPI_FILE || rule == DFT__MPI_FILE_ALL)) {
    int64_t given = dft__mpi_has(args, 'O') ? (int64_t)dft__mpi_word(args, 'O') : 0;
    int64_t offset = dft__mpifile_offset(of->file, of->handle, dft__mpi_has(args, 'O') ? &given : NULL);
    if (offset >= 0) dft__mpi_put(event, DFT__MPI_KEY_OFFSET, offset);
  }
  dft__mpi_put(event, DFT__MPI_KEY_COLLECTIVE,
               rule != DFT__MPI_FILE && rule != DFT__MPI_FILE_SHARED && rule != DFT__MPI_FILE_NAMED);
}

/* ---- The call ----------------------------------------------------------------------------------------------------- */

/* This thread's outermost call, on its stack; NULL: it is in none. */
static __thread __attribute__((tls_model("initial-exec"))) struct {
  const dft__mpi_event *at;
  dft_region region;
} outermost;

#define FRAME_BYTES_MOST 4096u /* from the event to the caller's stack; far less */

/* A stack that the program made may be gone by now. Returns 0 if it cannot be read; errno says why. */
static int copy_of(void *found, const void *at, size_t bytes) {
  const struct iovec to = {found, bytes}, from = {(void *)at, bytes};
  return syscall(SYS_process_vm_readv, getpid(), &to, 1, &from, 1, 0) == (long)bytes;
}

/* A call that was left by a long jump, or by an exception, stays here. It lies deeper than the next one, or something else
 * is in its place by now: at the very least, its caller has called another function from another place. Few calls get here:
 * those that a tool or the library makes inside a call, and the next one after such a jump. */
static __attribute__((noinline)) int is_alive(const dft__mpi_event *here) {
  const dft__mpi_event *at = outermost.at;
  dft__mpi_event then;
  W word;
  int is_same = 0, is_read, error = errno;
  if (here >= at) return 0;
  is_read = copy_of(&then, at, sizeof then);
  if (is_read && then.region == outermost.region && (uintptr_t)then.stack - (uintptr_t)at < FRAME_BYTES_MOST) {
    is_read = copy_of(&word, then.stack - 1, sizeof word);
    is_same = is_read && word == then.next_to_it;
  }
  if (!is_read) is_same = errno != EFAULT; /* a sandbox does not let us look: as if it was there */
  errno = error;
  return is_same;
}

static inline int is_inside(const dft__mpi_event *here) {
  return DFT__UNLIKELY(outermost.at != NULL) && is_alive(here);
}

static inline void enter(dft__mpi_event *event, const W *stack) {
  dft_region abandoned = outermost.at ? outermost.region : 0;
  event->stack = stack;
  event->next_to_it = stack[-1];
  event->region = 0;
  outermost.region = 0;
  outermost.at = event;
  if (DFT__UNLIKELY(abandoned)) dft_region_end_at(abandoned); /* when exactly, nobody has seen */
}

static inline void begin(dft__mpi_event *event) {
  dft__mpi_event_begin(event);
  outermost.region = event->region;
}

/* Judged at the first call. */
static inline int is_ours(dft__mpi_slot *slot) {
  if (DFT__UNLIKELY(!DFT__ACQUIRE(slot->standing)))
    DFT__RELEASE(slot->standing, dft__mpi_library_judge(slot->original));
  return DFT__GET(slot->standing) == DFT__MPI_OURS;
}

static void end_success(dft__mpi_event *event) {
  const dft__mpi_args *args = &event->args;
  int64_t bytes, of_request;
  if (args->row->flow == DFT__MPI_INIT) end_init(event);
  dft__mpi_event_place(event);
  bytes = dft__mpi_bytes(args, event->comm);
  of_request = args->row->rule == DFT__MPI_NONE ? 0 : bytes;
  if (bytes >= 0) dft__mpi_put(event, DFT__MPI_KEY_BYTES, bytes);
  switch (args->row->flow) {
    case DFT__MPI_BEGINS: dft__request_begin(dft__mpi_made(args, 'q'), event->region, of_request); break;
    case DFT__MPI_PREPARES: dft__request_prepare(dft__mpi_made(args, 'q'), of_request); break;
    case DFT__MPI_COMM: end_comm(event, DFT__COMM_OF_ALL); break;
    case DFT__MPI_COMM_PART: end_comm(event, DFT__COMM_OF_PART); break;
    case DFT__MPI_COMM_LATER:
      end_comm(event, DFT__COMM_LATER);
      dft__request_begin(dft__mpi_made(args, 'q'), event->region, 0);
      break;
    case DFT__MPI_SESSION: dft__session_begun(dft__mpi_made(args, 'u')); break;
    case DFT__MPI_WINDOW:
      if (event->comm) dft__window_made(dft__mpi_made(args, 'D'), event->comm);
      break;
    default: break;
  }
}

/* Before the call: once the library has a handle back, another thread may get it. */
static __attribute__((noinline)) void give_up(const dft__mpi_args *args) {
  dft__word handle;
  switch (args->row->flow) {
    case DFT__MPI_COMM_FREE:
      if ((handle = dft__mpi_made(args, 'o'))) dft__comm_free(handle);
      break;
    case DFT__MPI_WINDOW_FREE:
      if ((handle = dft__mpi_made(args, 'D'))) dft__window_free(handle);
      break;
    case DFT__MPI_CLOSES: dft__mpifile_closed(made_file(args)); break;
    case DFT__MPI_SESSION_END: dft__session_ends(dft__mpi_made(args, 'u')); break;
    default: break;
  }
}

/* The call itself. Returns whether it succeeded. */
static int make_call(dft__mpi_event *event, uintptr_t original, int error) {
  if (DFT__UNLIKELY(event->args.row->flow >= DFT__MPI_GIVES_UP)) give_up(&event->args);
  errno = error;
  event->result = forward(original, &event->args);
  event->end = dft__clock_ticks();
  event->error = errno;
  if ((int32_t)event->result == 0) return 1;
  dft__mpi_put(event, DFT__MPI_KEY_ERROR, (int32_t)event->result);
  return 0;
}

static void record(uintptr_t original, dft__mpi_event *event, const file_call *of) {
  int error = errno;
  begin(event);
  if (of) place_file(event, of);
  if (make_call(event, original, error)) end_success(event);
  dft__region_end_ticks(event->region, event->end);
}

/* With a list of handles, which takes stack. */
static __attribute__((noinline)) void record_requests(uintptr_t original, dft__mpi_event *event) {
  dft__mpi_waits list;
  int error = errno, has_succeeded;
  dft__mpi_waits_note(&list, &event->args);
  begin(event);
  has_succeeded = make_call(event, original, error);
  if (event->args.row->flow == DFT__MPI_WAITS) dft__mpi_waits_end(event, &list, has_succeeded);
  else if (has_succeeded && event->args.row->flow == DFT__MPI_STARTS) dft__mpi_waits_start(event, &list);
  else if (has_succeeded && list.count) dft__request_drop(list.all[0]);
  dft__region_end_ticks(event->region, event->end);
  dft__mpi_waits_forget(&list);
}

static __attribute__((noinline)) void record_file(uintptr_t original, dft__mpi_event *event) {
  const dft__mpi_args *args = &event->args;
  file_call of;
  int error = errno;
  if (find_file(args, &of)) {
    errno = error;
    record(original, event, &of);
  } else {
    make_call(event, original, error); /* there is no region */
  }
  if ((int32_t)event->result != 0) return;
  if (args->row->flow == DFT__MPI_OPENS) dft__mpifile_opened(made_file(args), &of.named);
  else if (args->row->flow == DFT__MPI_VIEW && of.file) of.file->has_view = 1;
}

W dft__mpi_call(uint32_t number, const W *registers, const W *stack) {
  dft__mpi_slot *slot = dft__mpi_slot_numbered(number);
  dft__mpi_event event;
  gather(&event.args, slot->row, registers, stack);
  if (DFT__UNLIKELY(is_inside(&event) || !dft__io_is_on() || !is_ours(slot)))
    return forward(slot->original, &event.args);
  enter(&event, stack);
  if (DFT__UNLIKELY(!DFT__GET(has_rank))) ask_rank();
  if (dft__mpi_has(&event.args, 'Q')) record_requests(slot->original, &event);
  else if (slot->row->is_file) record_file(slot->original, &event);
  else record(slot->original, &event, NULL);
  outermost.at = NULL;
  errno = event.error;
  return event.result;
}
