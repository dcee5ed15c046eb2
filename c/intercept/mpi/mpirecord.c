/* mpirecord.c - one MPI call, from its slot to its event.
 *
 * The event is a region, so that POSIX calls below it belong to it, and a call that never returns is in the trace. All
 * that the library has to be asked for is asked after the call, and only if it succeeded: before, no handle is known to
 * be valid. Calls that the library makes inside a call are not recorded.
 * SPDX-License-Identifier: MIT */
#include "mpirecord.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "../state.h"
#include "base/config.h"
#include "mpifile.h"
#include "mpislot.h"
#include "payload.h"
#include "record/region.h"
#include "request.h"
#include "spool/clock.h"

/* ---- The original ------------------------------------------------------------------------------------------------- */

#if defined(__x86_64__)
#define REGISTERS 6
#else
#define REGISTERS 8
#endif
#define W dft__word

static void gather(dft__mpi_args *args, const dft__mpi_row *row, const W *registers, const W *stack) {
  args->row = row;
  for (uint32_t i = 0; i < row->arity; i++) args->words[i] = i < REGISTERS ? registers[i] : stack[i - REGISTERS];
  for (uint32_t i = row->arity; i < DFT__MPI_ARGS_MOST; i++) args->words[i] = 0;
}

/* A function that takes fewer arguments does not see the rest. */
static W forward(uintptr_t original, const dft__mpi_args *args) {
  const W *a = args->words;
  if (args->row->arity <= 6) return ((W(*)(W, W, W, W, W, W))original)(a[0], a[1], a[2], a[3], a[4], a[5]);
  return ((W(*)(W, W, W, W, W, W, W, W, W, W, W, W, W, W))original)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7],
                                                                    a[8], a[9], a[10], a[11], a[12], a[13]);
}

/* ---- Arguments of the event --------------------------------------------------------------------------------------- */

enum mpi_key {
  BYTES,
  PEER,
  SOURCE,
  ROOT,
  TAG,
  COMM,
  COMM_SIZE,
  REQUESTS,
  COMPLETED,
  UNMATCHED,
  RANK,
  SIZE,
  NODE,
  FHASH,
  OFFSET,
  COLLECTIVE,
  ERROR,
  FIRST_START
};
#define STARTS_MOST 8
static dft_key keys[] = {
  [BYTES] = DFT_KEY("bytes"),
  [PEER] = DFT_KEY("peer"),
  [SOURCE] = DFT_KEY("source"),
  [ROOT] = DFT_KEY("root"),
  [TAG] = DFT_KEY("tag"),
  [COMM] = DFT_KEY("comm"),
  [COMM_SIZE] = DFT_KEY("comm_size"),
  [REQUESTS] = DFT_KEY("requests"),
  [COMPLETED] = DFT_KEY("completed"),
  [UNMATCHED] = DFT_KEY("unmatched"),
  [RANK] = DFT_KEY("rank"),
  [SIZE] = DFT_KEY("size"),
  [NODE] = DFT_KEY("node"),
  [FHASH] = DFT_KEY("fhash"),
  [OFFSET] = DFT_KEY("offset"),
  [COLLECTIVE] = DFT_KEY("collective"),
  [ERROR] = DFT_KEY("error"),
  [FIRST_START] = DFT_KEY("start_1"),
  DFT_KEY("start_2"),
  DFT_KEY("start_3"),
  DFT_KEY("start_4"),
  DFT_KEY("start_5"),
  DFT_KEY("start_6"),
  DFT_KEY("start_7"),
  DFT_KEY("start_8"),
};

/* One call under way. */
typedef struct mpi_call {
  dft__mpi_args args;
  dft_region region;
  dft__comm *comm;
  int is_placed; /* the event has its communicator and peer */
} mpi_call;

static void put(const mpi_call *call, unsigned key, int64_t value) {
  const dft_arg arg = {.key = &keys[key], .type = DFT_INT, .value.i = value};
  dft_update_arg(call->region, &arg);
}

static void put_text(const mpi_call *call, unsigned key, const char *text, size_t len) {
  dft_arg arg = {.key = &keys[key], .type = DFT_STRING};
  arg.value.s.text = text;
  arg.value.s.len = len;
  dft_update_arg(call->region, &arg);
}

/* ---- Peers -------------------------------------------------------------------------------------------------------- */

static void put_rank(const mpi_call *call, unsigned key, int32_t rank) {
  int32_t world = dft__comm_world_rank(call->comm, rank);
  if (world >= 0) put(call, key, world);
}

/* What only the status tells after MPI_ANY_SOURCE and MPI_ANY_TAG; `fallback` if it is ignored. */
static int32_t from_status(const dft__mpi_args *args, uint32_t field, int32_t fallback) {
  const char *status;
  int32_t value;
  if (!dft__mpi_has(args, 'z') || dft__mpi_word(args, 'z') == dft__mpi.family.status_ignore) return fallback;
  if (dft__mpi_has(args, 'f') && !*(const int *)dft__mpi_pointer(args, 'f')) return fallback;
  status = dft__mpi_pointer(args, 'z');
  memcpy(&value, status + dft__mpi.family.status_source + field * sizeof value, sizeof value);
  return value;
}

/* The peer, the root and the tag as they were passed; wildcards are left to place_matched. */
static void place(mpi_call *call) {
  const dft__mpi_args *args = &call->args;
  if (dft__mpi_has(args, 'p')) put_rank(call, PEER, dft__mpi_int(args, 'p'));
  if (dft__mpi_has(args, 'P')) put_rank(call, SOURCE, dft__mpi_int(args, 'P'));
  if (dft__mpi_has(args, 'r')) {
    int32_t root = dft__mpi_int(args, 'r');
    if (!call->comm->is_inter || root >= 0) put_rank(call, ROOT, root);
  }
  if (dft__mpi_has(args, 'g') && dft__mpi_int(args, 'g') >= 0) put(call, TAG, dft__mpi_int(args, 'g'));
  put(call, COMM, call->comm->id);
  put(call, COMM_SIZE, call->comm->size);
  call->is_placed = 1;
}

static void place_matched(const mpi_call *call) {
  const dft__mpi_args *args = &call->args;
  if (!dft__mpi_has(args, 'g') || !dft__mpi_has(args, 'p')) return;
  if (dft__mpi_int(args, 'p') == dft__mpi.family.any_source) put_rank(call, PEER, from_status(args, 0, -1));
  if (dft__mpi_int(args, 'g') == dft__mpi.family.any_tag) {
    int32_t tag = from_status(args, 1, -1);
    if (tag >= 0) put(call, TAG, tag);
  }
}

static dft__comm *known_comm(const dft__mpi_args *args) {
  if (dft__mpi_has(args, 'c')) return dft__comm_find(dft__mpi_handle(dft__mpi_word(args, 'c')));
  if (dft__mpi_has(args, 'd')) return dft__window_comm(dft__mpi_handle(dft__mpi_word(args, 'd')));
  return NULL;
}

static void learn_comm(mpi_call *call) {
  if (call->comm || !dft__mpi_has(&call->args, 'c')) return;
  call->comm = dft__comm_get(dft__mpi_handle(dft__mpi_word(&call->args, 'c')));
}

/* ---- Requests ----------------------------------------------------------------------------------------------------- */

/* Handles as they are before the call, which replaces those of complete requests. */
#define FEW_HANDLES 32
typedef struct handle_list {
  uint64_t few[FEW_HANDLES];
  uint64_t *all;
  uint32_t count;
  int is_lost; /* there was no memory */
} handle_list;

static uint64_t *pages_for(uint32_t count) {
  void *at = mmap(NULL, count * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return at == MAP_FAILED ? NULL : at;
}

static void note_handles(handle_list *list, const dft__mpi_args *args) {
  int32_t count = dft__mpi_has(args, 'k') ? dft__mpi_int(args, 'k') : 1;
  const void *handles = dft__mpi_pointer(args, 'Q');
  list->count = count < 0 || !handles ? 0 : (uint32_t)count;
  list->all = list->count <= FEW_HANDLES ? list->few : pages_for(list->count);
  list->is_lost = !list->all;
  for (uint32_t i = 0; i < list->count && list->all; i++) list->all[i] = dft__mpi_handle_in(handles, i);
}

static void forget_handles(handle_list *list) {
  if (list->all && list->all != list->few) munmap(list->all, list->count * sizeof(uint64_t));
}

typedef struct wait_sum {
  int64_t bytes;
  uint32_t completed, unmatched, starts;
} wait_sum;

static void complete(const mpi_call *call, uint64_t handle, wait_sum *sum) {
  dft__request request;
  if (handle == dft__mpi.family.request_null) return;
  sum->completed++;
  if (!dft__request_take(handle, &request)) {
    sum->unmatched++;
    return;
  }
  if (request.bytes > 0) sum->bytes += request.bytes;
  else if (request.bytes < 0) sum->unmatched++;
  if (request.id && sum->starts < STARTS_MOST) put(call, FIRST_START + sum->starts++, (int64_t)request.id);
}

/* After a wait or test that succeeded. */
static void complete_all(const mpi_call *call, const handle_list *list, wait_sum *sum) {
  const dft__mpi_args *args = &call->args;
  if (dft__mpi_has(args, 'f') && !*(const int *)dft__mpi_pointer(args, 'f')) return;
  if (dft__mpi_has(args, 'i')) {
    int32_t index = *(const int *)dft__mpi_pointer(args, 'i'); /* MPI_UNDEFINED: none */
    if (index >= 0 && (uint32_t)index < list->count) complete(call, list->all[index], sum);
  } else if (dft__mpi_has(args, 'y')) {
    int32_t count = *(const int *)dft__mpi_pointer(args, 'y');
    const int *indices = dft__mpi_pointer(args, 'x');
    for (int32_t i = 0; i < count; i++) {
      if (indices[i] >= 0 && (uint32_t)indices[i] < list->count) complete(call, list->all[indices[i]], sum);
    }
  } else {
    for (uint32_t i = 0; i < list->count; i++) complete(call, list->all[i], sum);
  }
}

/* After one that failed: those are complete whose handles are gone. */
static void complete_replaced(const mpi_call *call, const handle_list *list, wait_sum *sum) {
  const void *handles = dft__mpi_pointer(&call->args, 'Q');
  for (uint32_t i = 0; i < list->count; i++) {
    if (dft__mpi_handle_in(handles, i) == dft__mpi.family.request_null) complete(call, list->all[i], sum);
  }
}

static void end_wait(const mpi_call *call, const handle_list *list, int has_succeeded) {
  wait_sum sum = {0};
  put(call, REQUESTS, list->count);
  if (list->is_lost) return;
  if (has_succeeded) complete_all(call, list, &sum);
  else complete_replaced(call, list, &sum);
  put(call, COMPLETED, sum.completed);
  put(call, BYTES, sum.bytes);
  if (sum.unmatched) put(call, UNMATCHED, sum.unmatched);
}

static void end_start(const mpi_call *call, const handle_list *list) {
  int64_t all = 0;
  put(call, REQUESTS, list->count);
  for (uint32_t i = 0; i < list->count && !list->is_lost; i++) {
    int64_t bytes = dft__request_start(list->all[i], call->region);
    if (bytes > 0) all += bytes;
  }
  put(call, BYTES, all);
}

/* ---- What a call changes ------------------------------------------------------------------------------------------ */

static dft__word made(const dft__mpi_args *args, char role) {
  const void *at = dft__mpi_pointer(args, role);
  return at ? dft__mpi_handle_in(at, 0) : 0;
}

/* Once, after MPI_Init, which may have been before we were there. */
static _Atomic int has_rank;
static __attribute__((noinline)) void ask_rank(void) {
  int rank, size;
  if (!dft__mpi_is_running()) return;
  DFT__SET(has_rank, 1);
  if (dft__mpi.comm_rank(dft__mpi.family.world, &rank) != 0 || dft__mpi.comm_size(dft__mpi.family.world, &size) != 0)
    return;
  if (dft__config_number(DFT__RANK) < 0) dft_set_rank(rank, size);
}

static void end_init(const mpi_call *call) {
  char node[256] = ""; /* the longest MPI_MAX_PROCESSOR_NAME of these families */
  int len = 0;
  const dft__comm *world = dft__comm_get(dft__mpi.family.world);
  ask_rank();
  if (!world) return;
  put(call, RANK, world->rank);
  put(call, SIZE, world->size);
  if (dft__mpi.get_processor_name && dft__mpi.get_processor_name(node, &len) == 0 && len > 0)
    put_text(call, NODE, node, strnlen(node, sizeof node));
}

static void end_comm(const mpi_call *call, enum dft__comm_origin origin) {
  const dft__mpi_args *args = &call->args;
  int32_t tag = dft__mpi_has(args, 'l') ? dft__mpi_int(args, 'l') : 0;
  dft__comm_made(call->comm, made(args, 'o'), origin, tag);
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

static void place_file(const mpi_call *call, const file_call *of) {
  const dft__mpi_args *args = &call->args;
  uint8_t rule = args->row->rule;
  if (of->file && of->file->path && of->file->session == dft__self.session) {
    const dft_arg arg = {.key = &keys[FHASH], .type = DFT_PATH, .path = of->file->path};
    dft_update_arg(call->region, &arg);
  }
  if (of->file && (rule == DFT__MPI_FILE || rule == DFT__MPI_FILE_ALL)) {
    int64_t given = dft__mpi_has(args, 'O') ? (int64_t)dft__mpi_word(args, 'O') : 0;
    int64_t offset = dft__mpifile_offset(of->file, of->handle, dft__mpi_has(args, 'O') ? &given : NULL);
    if (offset >= 0) put(call, OFFSET, offset);
  }
  put(call, COLLECTIVE, rule != DFT__MPI_FILE && rule != DFT__MPI_FILE_SHARED && rule != DFT__MPI_FILE_NAMED);
}

/* ---- The call ----------------------------------------------------------------------------------------------------- */

/* Where this thread's outermost call is on its stack; 0: it is in none. A call that was left by a long jump, or by an
 * exception, lies deeper than the next one. */
static __thread __attribute__((tls_model("initial-exec"))) uintptr_t outermost;

static inline int is_inside(const void *here) {
  return outermost && (uintptr_t)here < outermost;
}

static void end_success(mpi_call *call) {
  const dft__mpi_args *args = &call->args;
  int64_t bytes;
  if (args->row->flow == DFT__MPI_INIT) end_init(call);
  learn_comm(call);
  if (call->comm && !call->is_placed) place(call);
  if (call->comm) place_matched(call);
  bytes = dft__mpi_bytes(args, call->comm);
  if (bytes >= 0) put(call, BYTES, bytes);
  switch (args->row->flow) {
    case DFT__MPI_BEGINS: dft__request_begin(made(args, 'q'), call->region, bytes < 0 ? 0 : bytes); break;
    case DFT__MPI_PREPARES: dft__request_prepare(made(args, 'q'), bytes < 0 ? 0 : bytes); break;
    case DFT__MPI_COMM: end_comm(call, DFT__COMM_OF_ALL); break;
    case DFT__MPI_COMM_PART: end_comm(call, DFT__COMM_OF_PART); break;
    case DFT__MPI_COMM_LATER:
      end_comm(call, DFT__COMM_LATER);
      dft__request_begin(made(args, 'q'), call->region, 0);
      break;
    case DFT__MPI_WINDOW:
      if (call->comm) dft__window_made(made(args, 'D'), call->comm);
      break;
    default: break;
  }
}

static W record(uintptr_t original, mpi_call *call, const file_call *of) {
  const dft__mpi_args *args = &call->args;
  uint8_t flow = args->row->flow;
  dft__word gone = flow == DFT__MPI_COMM_FREE ? made(args, 'o') : flow == DFT__MPI_WINDOW_FREE ? made(args, 'D') : 0;
  int saved = errno;
  uint64_t end;
  W result;
  int has_succeeded;
  call->comm = known_comm(args);
  call->is_placed = 0;
  call->region = dft_region_begin((dft_site *)&args->row->site);
  if (call->comm) place(call);
  if (of) place_file(call, of);
  errno = saved;
  result = forward(original, args);
  end = dft__clock_ticks();
  saved = errno;
  has_succeeded = (int32_t)result == 0;
  if (has_succeeded) end_success(call);
  else put(call, ERROR, (int32_t)result);
  if (has_succeeded && flow == DFT__MPI_COMM_FREE) dft__comm_free(gone);
  if (has_succeeded && flow == DFT__MPI_WINDOW_FREE) dft__window_free(gone);
  dft__region_end_ticks(call->region, end);
  errno = saved;
  return result;
}

/* With a list of handles, which takes stack. */
static __attribute__((noinline)) W record_requests(uintptr_t original, mpi_call *call) {
  const dft__mpi_args *args = &call->args;
  handle_list list;
  int saved = errno;
  uint64_t end;
  W result;
  int has_succeeded;
  note_handles(&list, args);
  call->region = dft_region_begin((dft_site *)&args->row->site);
  errno = saved;
  result = forward(original, args);
  end = dft__clock_ticks();
  saved = errno;
  has_succeeded = (int32_t)result == 0;
  if (!has_succeeded) put(call, ERROR, (int32_t)result);
  if (args->row->flow == DFT__MPI_WAITS) end_wait(call, &list, has_succeeded);
  else if (has_succeeded && args->row->flow == DFT__MPI_STARTS) end_start(call, &list);
  else if (has_succeeded && list.count) dft__request_drop(list.all[0]);
  dft__region_end_ticks(call->region, end);
  forget_handles(&list);
  errno = saved;
  return result;
}

static __attribute__((noinline)) W record_file(uintptr_t original, mpi_call *call) {
  const dft__mpi_args *args = &call->args;
  file_call of;
  int saved = errno;
  int is_wanted = find_file(args, &of);
  W result;
  errno = saved;
  result = is_wanted ? record(original, call, &of) : forward(original, args);
  if ((int32_t)result != 0) return result;
  if (args->row->flow == DFT__MPI_OPENS) dft__mpifile_opened(made_file(args), &of.named);
  else if (args->row->flow == DFT__MPI_CLOSES) dft__mpifile_closed(of.handle);
  else if (args->row->flow == DFT__MPI_VIEW && of.file) of.file->has_view = 1;
  return result;
}

W dft__mpi_call(uint32_t number, const W *registers, const W *stack) {
  const dft__mpi_slot *slot = dft__mpi_slot_numbered(number);
  mpi_call call;
  W result;
  gather(&call.args, slot->row, registers, stack);
  if (DFT__UNLIKELY(is_inside(&call) || !dft__io_is_on() || !dft__mpi_library_is_known()))
    return forward(slot->original, &call.args);
  outermost = (uintptr_t)&call;
  if (DFT__UNLIKELY(!DFT__GET(has_rank))) ask_rank();
  if (dft__mpi_has(&call.args, 'Q')) result = record_requests(slot->original, &call);
  else if (slot->row->is_file) result = record_file(slot->original, &call);
  else result = record(slot->original, &call, NULL);
  outermost = 0;
  return result;
}
