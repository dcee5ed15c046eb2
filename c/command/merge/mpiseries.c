/* mpiseries.c - the MPI calls of all processes as series.
 * SPDX-License-Identifier: MIT */
#include "mpiseries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a call is. */
enum call_role {
  ROLE_NONE,
  ROLE_BARRIER,
  ROLE_ALL, /* a collective in which each member needs something of each other one, if it moves data at all */
  ROLE_SEND,
  ROLE_RECEIVE,
  ROLE_RECEIVE_LATER, /* it ends with a wait */
  ROLE_BOTH,          /* MPI_Sendrecv */
  ROLE_BOTH_LATER,
  ROLE_PREPARED_SEND, /* its sends are not events of their own, so the others of its series cannot be counted */
  ROLE_WAIT,
  ROLE_INIT,
  ROLE_CANCEL,
};

static const struct {
  const char *name; /* without MPI_; also with _c behind it */
  enum call_role role;
} calls[] = {
  {"Barrier", ROLE_BARRIER},
  {"Allreduce", ROLE_ALL},
  {"Allgather", ROLE_ALL},
  {"Alltoall", ROLE_ALL},
  {"Reduce_scatter_block", ROLE_ALL},
  {"Send", ROLE_SEND},
  {"Bsend", ROLE_SEND},
  {"Ssend", ROLE_SEND},
  {"Rsend", ROLE_SEND},
  {"Isend", ROLE_SEND},
  {"Ibsend", ROLE_SEND},
  {"Issend", ROLE_SEND},
  {"Irsend", ROLE_SEND},
  {"Send_init", ROLE_PREPARED_SEND},
  {"Bsend_init", ROLE_PREPARED_SEND},
  {"Ssend_init", ROLE_PREPARED_SEND},
  {"Rsend_init", ROLE_PREPARED_SEND},
  {"Recv", ROLE_RECEIVE},
  {"Mprobe", ROLE_RECEIVE}, /* of the message that MPI_Mrecv takes then */
  {"Irecv", ROLE_RECEIVE_LATER},
  {"Sendrecv", ROLE_BOTH},
  {"Sendrecv_replace", ROLE_BOTH},
  {"Isendrecv", ROLE_BOTH_LATER},
  {"Isendrecv_replace", ROLE_BOTH_LATER},
  {"Wait", ROLE_WAIT},
  {"Waitall", ROLE_WAIT},
  {"Waitany", ROLE_WAIT},
  {"Waitsome", ROLE_WAIT},
  {"Test", ROLE_WAIT},
  {"Testall", ROLE_WAIT},
  {"Testany", ROLE_WAIT},
  {"Testsome", ROLE_WAIT},
  {"Init", ROLE_INIT},
  {"Init_thread", ROLE_INIT},
  {"Cancel", ROLE_CANCEL},
};
#define CALLS (sizeof calls / sizeof calls[0])

#define STARTS 8u
enum key_name {
  BYTES,
  PEER,
  SOURCE,
  TAG,
  SOURCE_TAG,
  COMM,
  COMM_SIZE,
  REMOTE_SIZE,
  RANK,
  OPEN,
  ERROR,
  DROPPED,
  RUN,
  NAME,
  VALUE,
  KEY_NAMES
};
static const char *const key_names[KEY_NAMES] = {"bytes", "peer",        "source",      "tag",  "source_tag",
                                                 "comm",  "comm_size",   "remote_size", "rank", "open",
                                                 "error", "num_dropped", "run",         "name", "value"};

/* ---- Keys ----------------------------------------------------------------------------------------------------------- */

static uint64_t upper(series_key key) {
  return (uint64_t)key.source << 32 | key.comm;
}

/* Ranks and tags have 31 bits. */
static uint64_t lower(series_key key) {
  return (uint64_t)key.kind << 62 | (uint64_t)key.peer << 31 | key.tag;
}

series_key mpi_series_key(const mpi_series *all, uint32_t number) {
  const numbered *pair = &all->numbers.keys[number];
  return (series_key){.source = (uint32_t)(pair->a >> 32),
                      .comm = (uint32_t)pair->a,
                      .kind = (uint32_t)(pair->b >> 62),
                      .peer = (uint32_t)(pair->b >> 31 & INT32_MAX),
                      .tag = (uint32_t)(pair->b & INT32_MAX)};
}

uint32_t mpi_series_find(const mpi_series *all, series_key key) {
  return numbering_find(&all->numbers, upper(key), lower(key));
}

static void *grown(void *list, uint32_t *room, uint32_t number, size_t size) {
  uint32_t more = *room ? 2 * *room : 256;
  char *made;
  if (number < *room) return list;
  while (more <= number) more *= 2;
  made = realloc(list, more * size);
  if (!made) return NULL;
  memset(made + *room * size, 0, (more - *room) * size);
  *room = more;
  return made;
}

/* The series of that key. NULL: no memory. */
static call_series *series_of(mpi_series *all, series_key key) {
  int is_new;
  uint32_t number = numbering_of(&all->numbers, upper(key), lower(key), &is_new);
  call_series *more = number ? grown(all->list, &all->room, number, sizeof *more) : NULL;
  if (!more) return NULL;
  all->list = more;
  return &all->list[number];
}

/* ---- Calls ---------------------------------------------------------------------------------------------------------- */

/* The arguments of one call; -1: it has none of that name. */
typedef struct call_args {
  int64_t values[KEY_NAMES];
  uint64_t starts[STARTS];
  uint32_t start_count;
} call_args;

static void read_args(const mpi_series *all, const dft_rows *rows, uint32_t row, call_args *args) {
  memset(args->values, -1, sizeof args->values);
  args->start_count = 0;
  for (uint32_t i = rows->arg_first[row]; i < rows->arg_first[row + 1]; i++) {
    const dft_cell *cell = &rows->args[i];
    if (cell->type != DFT_INT) continue;
    for (uint32_t key = 0; key < KEY_NAMES; key++) {
      if (cell->key == all->keys[key]) args->values[key] = cell->value.i;
    }
    for (uint32_t start = 0; start < STARTS; start++) {
      if (cell->key == all->keys[KEY_NAMES + start]) args->starts[args->start_count++] = cell->value.u;
    }
  }
}

static int is_rank(int64_t value) {
  return value >= 0 && value <= INT32_MAX;
}

/* Adds a moment to the series of that kind, with that peer and tag. Returns the place, as series_add. */
static uint32_t add_moment(mpi_series *all, series_key key, uint64_t tid, call_moment moment, const call_args *args,
                           uint32_t *number) {
  call_series *series = series_of(all, key);
  *number = series ? (uint32_t)(series - all->list) : 0;
  if (!series) return SERIES_NO_MEMORY;
  if (args->values[ERROR] >= 0) series->is_bad = 1; /* it may have sent or received something, or not */
  return series_add(series, tid, moment);
}

/* A receive that is not complete yet: the wait that completes it names its id. */
static int keep_pending(mpi_series *all, uint32_t source, uint64_t id, series_place place) {
  int is_new;
  uint32_t number = numbering_of(&all->pending_numbers, source, id, &is_new);
  series_place *more = number ? grown(all->pending, &all->pending_room, number, sizeof *more) : NULL;
  if (!more) return 0;
  all->pending = more;
  all->pending[number] = place;
  return 1;
}

static int add_wait(mpi_series *all, uint32_t source, const call_args *args, int64_t end) {
  for (uint32_t i = 0; i < args->start_count; i++) {
    uint32_t number = numbering_find(&all->pending_numbers, source, args->starts[i]);
    if (number) all->list[all->pending[number].series].kept[all->pending[number].kept].end = end;
  }
  return 1;
}

/* One row of the category MPI, of a call with that role. */
typedef struct series_call {
  uint32_t source;
  uint64_t id, tid;
  call_moment moment;
  call_args args;
} series_call;

static int add_send(mpi_series *all, const series_call *call, int is_prepared) {
  const int64_t *values = call->args.values;
  uint32_t number;
  if (!is_rank(values[PEER]) || !is_rank(values[TAG])) return 1;
  series_key key = {call->source, (uint32_t)values[COMM], SERIES_SEND, (uint32_t)values[PEER], (uint32_t)values[TAG]};
  if (add_moment(all, key, call->tid, call->moment, &call->args, &number) == SERIES_NO_MEMORY) return 0;
  if (is_prepared) all->list[number].is_bad = 1;
  return 1;
}

static int add_receive(mpi_series *all, const series_call *call, enum key_name peer, enum key_name tag, int is_later) {
  const int64_t *values = call->args.values;
  call_moment moment = call->moment;
  uint32_t number, kept;
  if (!is_rank(values[peer]) || !is_rank(values[tag])) return 1;
  series_key key = {call->source, (uint32_t)values[COMM], SERIES_RECEIVE, (uint32_t)values[peer],
                    (uint32_t)values[tag]};
  if (is_later) moment.end = MOMENT_UNKNOWN;
  kept = add_moment(all, key, call->tid, moment, &call->args, &number);
  if (kept == SERIES_NO_MEMORY) return 0;
  return !is_later || kept == SERIES_DROPPED || keep_pending(all, call->source, call->id, (series_place){number, kept});
}

static int add_collective(mpi_series *all, series_call *call, int is_barrier) {
  const int64_t *values = call->args.values;
  series_key key = {call->source, (uint32_t)values[COMM], SERIES_COLLECTIVE, (uint32_t)values[COMM_SIZE], 0};
  uint32_t number;
  if (!is_rank(values[COMM_SIZE]) || values[COMM_SIZE] < 2) return 1;
  if (values[REMOTE_SIZE] >= 0) return 1; /* nobody needs the ranks of its own group */
  call->moment.is_sure = is_barrier || values[BYTES] > 0;
  return add_moment(all, key, call->tid, call->moment, &call->args, &number) != SERIES_NO_MEMORY;
}

static int add_call(mpi_series *all, series_call *call, enum call_role role) {
  series_source *source = &all->sources[call->source];
  source->has_calls = 1;
  switch (role) {
    case ROLE_INIT:
      source->has_init = 1;
      if (is_rank(call->args.values[RANK])) source->rank = (int32_t)call->args.values[RANK];
      return 1;
    case ROLE_CANCEL: source->has_cancelled = 1; return 1;
    case ROLE_WAIT: return add_wait(all, call->source, &call->args, call->moment.end);
    default: break;
  }
  if (call->args.values[COMM] < 0) return 1;
  switch (role) {
    case ROLE_BARRIER: return add_collective(all, call, 1);
    case ROLE_ALL: return add_collective(all, call, 0);
    case ROLE_SEND: return add_send(all, call, 0);
    case ROLE_PREPARED_SEND: return add_send(all, call, 1);
    case ROLE_RECEIVE: return add_receive(all, call, PEER, TAG, 0);
    case ROLE_RECEIVE_LATER: return add_receive(all, call, PEER, TAG, 1);
    case ROLE_BOTH: return add_send(all, call, 0) && add_receive(all, call, SOURCE, SOURCE_TAG, 0);
    default: return add_send(all, call, 0) && add_receive(all, call, SOURCE, SOURCE_TAG, 1);
  }
}

/* ---- Rows ----------------------------------------------------------------------------------------------------------- */

static uint8_t role_of(const mpi_series *all, uint32_t name) {
  return name < all->role_count ? all->roles[name] : ROLE_NONE;
}

/* The trace rounds times down: an end may be later by less than a unit. */
static int64_t end_of(const dft_rows *rows, uint32_t row, int64_t unit_ns) {
  return rows->start_ns[row] + rows->dur_ns[row] + unit_ns;
}

/* The line that says which rank this is. MPI_Init knows it better, where it was recorded. */
static void add_rank(const mpi_series *all, series_source *source, const dft_rows *rows, uint32_t row) {
  char value[16] = "";
  int is_rank_line = 0;
  for (uint32_t i = rows->arg_first[row]; i < rows->arg_first[row + 1]; i++) {
    const dft_cell *cell = &rows->args[i];
    if (cell->type != DFT_STRING || cell->len >= sizeof value) continue;
    if (cell->key == all->keys[NAME]) is_rank_line = cell->len == 4 && memcmp(cell->value.text, "rank", 4) == 0;
    if (cell->key == all->keys[VALUE]) memcpy(value, cell->value.text, cell->len);
  }
  if (is_rank_line && !source->has_init) source->rank = atoi(value);
}

/* The events `start` and `end` of a trace. */
static void add_own(mpi_series *all, series_source *source, const dft_rows *rows, uint32_t row) {
  for (uint32_t i = rows->arg_first[row]; i < rows->arg_first[row + 1]; i++) {
    const dft_cell *cell = &rows->args[i];
    if (cell->key == all->keys[DROPPED]) source->has_gaps = 1;
    if (cell->key == all->keys[RUN] && cell->type == DFT_STRING)
      source->run = dft_reader_number(all->reader, DFT_NAMES, cell->value.text, cell->len);
  }
}

int mpi_series_add(mpi_series *all, const dft_rows *rows) {
  series_source *source = &all->sources[rows->source];
  dft_source facts = {.struct_size = sizeof facts};
  int64_t unit_ns = dft_reader_source(all->reader, rows->source, &facts) == DFT_OK ? (int64_t)facts.unit_ns - 1 : 999;
  int is_good = 1;
  for (uint32_t row = 0; is_good && row < rows->count; row++) {
    uint8_t role;
    series_call call;
    if (rows->host[row]) source->host = rows->host[row];
    if (rows->phase[row] == DFT_METADATA && rows->name[row] == all->rank_line) add_rank(all, source, rows, row);
    if (rows->phase[row] != DFT_COMPLETE) continue;
    if (rows->cat[row] == all->own_cat) add_own(all, source, rows, row);
    role = rows->cat[row] == all->cat ? role_of(all, rows->name[row]) : ROLE_NONE;
    if (role == ROLE_NONE) continue;
    read_args(all, rows, row, &call.args);
    call.source = rows->source;
    call.id = rows->id[row];
    call.tid = rows->tid[row];
    call.moment = (call_moment){rows->start_ns[row], end_of(rows, row, unit_ns), rows->name[row], 0};
    if (call.args.values[OPEN] >= 0) call.moment.end = MOMENT_UNKNOWN;
    is_good = add_call(all, &call, role);
  }
  return is_good;
}

/* ---- Life ----------------------------------------------------------------------------------------------------------- */

static int find_roles(mpi_series *all) {
  for (size_t i = 0; i < CALLS; i++) {
    for (int is_large = 0; is_large < 2; is_large++) {
      char name[64];
      int len = snprintf(name, sizeof name, "MPI_%s%s", calls[i].name, is_large ? "_c" : "");
      uint32_t number = dft_reader_number(all->reader, DFT_NAMES, name, (size_t)len);
      uint8_t *more = grown(all->roles, &all->role_count, number, 1);
      if (!more) return 0;
      all->roles = more;
      all->roles[number] = (uint8_t)calls[i].role;
    }
  }
  return 1;
}

int mpi_series_init(mpi_series *all, dft_reader *reader) {
  memset(all, 0, sizeof *all);
  all->reader = reader;
  all->numbers.limit = all->pending_numbers.limit = UINT32_MAX - 2;
  all->source_count = dft_reader_source_count(reader);
  all->sources = calloc((size_t)all->source_count + 1, sizeof *all->sources);
  all->cat = dft_reader_number(reader, DFT_CATS, "MPI", 3);
  all->own_cat = dft_reader_number(reader, DFT_CATS, "dftracer", 8);
  all->rank_line = dft_reader_number(reader, DFT_NAMES, "PR", 2);
  for (uint32_t i = 0; i < KEY_NAMES; i++)
    all->keys[i] = dft_reader_number(reader, DFT_KEYS, key_names[i], strlen(key_names[i]));
  for (uint32_t i = 0; i < STARTS; i++) {
    const char name[] = {'s', 't', 'a', 'r', 't', '_', (char)('1' + i)};
    all->keys[KEY_NAMES + i] = dft_reader_number(reader, DFT_KEYS, name, sizeof name);
  }
  for (uint32_t i = 0; all->sources && i < all->source_count; i++) all->sources[i].rank = -1;
  return all->sources && find_roles(all);
}

void mpi_series_free(mpi_series *all) {
  for (uint32_t i = 0; i < all->room; i++) free(all->list[i].kept);
  free(all->list);
  free(all->sources);
  free(all->pending);
  free(all->roles);
  numbering_free(&all->numbers);
  numbering_free(&all->pending_numbers);
  memset(all, 0, sizeof *all);
}
