/* synthetic.c - synthetic traces.
 * SPDX-License-Identifier: MIT */
#include "synthetic.h"

#include <stdio.h>
#include <string.h>

#include "codec/number.h"

#define TURN_US 2000u
#define EPOCH_US UINT64_C(1767225600000000) /* the first event of every trace: 2026-01-01 */
#define FIRST_ID 256u                       /* ids below are for the opening lines */
#define COUNTER_ID (UINT64_C(1) << 40)      /* added to the id of the next event */
#define TURN_EVENTS_LEAST 8u                /* see train() and load() */
#define STEPS_PER_EPOCH 1000u
#define FILE_NAME "/data/train/part-%04u.npz"

/* A member that is being written. */
typedef struct writer {
  const synthetic *plan;
  char *at;
  uint64_t random;
  uint64_t next_id;
  uint32_t rank, pid, tid;
  char host[17]; /* hash */
  char file[SYNTHETIC_FILES][17];
} writer;

/* ---- Numbers -------------------------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t x) {
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

static uint32_t random_below(writer *to, uint32_t limit) {
  to->random += UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)((mix(to->random) >> 32) * limit >> 32);
}

static void hash_of(const char *text, char out[17]) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  while (*text) hash = (hash ^ (unsigned char)*text++) * UINT64_C(0x100000001b3);
  snprintf(out, 17, "%016llx", (unsigned long long)mix(hash));
}

static uint64_t events_of(const synthetic *plan, uint32_t rank) {
  return plan->events / plan->processes + (rank < plan->events % plan->processes);
}

uint64_t synthetic_members_of(const synthetic *plan, uint32_t rank) {
  uint64_t events = events_of(plan, rank);
  return events ? (events + SYNTHETIC_MEMBER_EVENTS - 1) / SYNTHETIC_MEMBER_EVENTS : 1;
}

uint32_t synthetic_node_of(const synthetic *plan, uint32_t rank) {
  return (uint32_t)((uint64_t)rank * plan->nodes / plan->processes);
}

/* ---- Lines ---------------------------------------------------------------------------------------------------------- */

static inline void put_n(writer *to, const char *text, size_t len) {
  memcpy(to->at, text, len);
  to->at += len;
}
#define PUT(to, text) put_n(to, text, sizeof(text) - 1)

static inline void put_text(writer *to, const char *text) {
  put_n(to, text, strlen(text));
}

static inline void put_number(writer *to, uint64_t number) {
  to->at = dft__number_uint(to->at, number);
}

static void begin_line(writer *to, uint64_t id, const char *name, const char *cat) {
  PUT(to, "{\"id\":");
  put_number(to, id);
  PUT(to, ",\"name\":\"");
  put_text(to, name);
  PUT(to, "\",\"cat\":\"");
  put_text(to, cat);
  PUT(to, "\",\"pid\":");
  put_number(to, to->pid);
  PUT(to, ",\"tid\":");
  put_number(to, to->tid);
}

static void put_host(writer *to) {
  PUT(to, "\"args\":{\"hhash\":\"");
  put_n(to, to->host, 16);
  PUT(to, "\"");
}

static void begin_event(writer *to, uint64_t id, const char *name, const char *cat, uint64_t start, uint64_t dur) {
  begin_line(to, id, name, cat);
  PUT(to, ",\"ts\":");
  put_number(to, start);
  PUT(to, ",\"dur\":");
  put_number(to, dur);
  PUT(to, ",\"ph\":\"X\",");
  put_host(to);
}

static void put_place(writer *to, uint64_t parent, uint32_t level) {
  if (parent) {
    PUT(to, ",\"p_idx\":");
    put_number(to, parent);
  } else {
    PUT(to, ",\"p_idx\":-1");
  }
  PUT(to, ",\"level\":");
  put_number(to, level);
}

static void put_value(writer *to, const char *key, uint64_t value) {
  PUT(to, ",\"");
  put_text(to, key);
  PUT(to, "\":");
  put_number(to, value);
}

static void end_line(writer *to) {
  PUT(to, "}}\n");
}

static void put_metadata(writer *to, uint64_t id, const char *kind, const char *name, const char *value) {
  begin_line(to, id, kind, "dftracer");
  PUT(to, ",\"ph\":\"M\",");
  put_host(to);
  PUT(to, ",\"name\":\"");
  put_text(to, name);
  if (value) {
    PUT(to, "\",\"value\":\"");
    put_text(to, value);
  }
  PUT(to, "\"");
  end_line(to);
}

/* ---- What threads do in a turn ---------------------------------------------------------------------------------------- */

/* A region without further arguments. The caller chooses the id, because parents are written after their children. */
static void put_region(writer *to, uint64_t id, const char *name, const char *cat, uint64_t start, uint64_t dur,
                       uint64_t parent, uint32_t level) {
  begin_event(to, id, name, cat, start, dur);
  put_place(to, parent, level);
}

static void put_io(writer *to, const char *name, uint64_t start, uint64_t dur, uint64_t parent, uint32_t level,
                   uint32_t file, uint32_t bytes) {
  put_region(to, to->next_id++, name, "POSIX", start, dur, parent, level);
  PUT(to, ",\"fhash\":\"");
  put_n(to, to->file[file], 16);
  PUT(to, "\"");
  if (bytes) put_value(to, "count", bytes);
  put_value(to, "ret", bytes);
  end_line(to);
}

/* Divides `dur` into `count` pieces with gaps between them; piece i is starts[i], lengths[i]. */
static void divide(writer *to, uint64_t start, uint64_t dur, uint32_t count, uint64_t *starts, uint64_t *lengths) {
  uint64_t share = dur / count;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t gap = random_below(to, (uint32_t)(share / 4 + 1));
    starts[i] = start + i * share + gap;
    lengths[i] = share - gap - random_below(to, (uint32_t)(share / 4 + 1));
  }
}

/* The main thread, 8 to 10 events. */
static void train(writer *to, uint64_t start, uint64_t step) {
  static const struct {
    const char *name, *cat;
  } parts[] = {{"fetch.iter", "dataloader"}, {"forward", "compute"}, {"backward", "compute"}, {"all_reduce", "comm"}};
  uint64_t starts[4], lengths[4], inner[2], inner_lengths[2];
  uint64_t root = to->next_id++;
  uint64_t dur = TURN_US - 20 - random_below(to, TURN_US / 8);
  uint32_t reads = 2 + random_below(to, 2);
  divide(to, start, dur, 4, starts, lengths);
  for (uint32_t i = 0; i < 4; i++) {
    uint64_t id = to->next_id++;
    if (i == 0) {
      uint64_t at = starts[0], each = lengths[0] / reads;
      for (uint32_t j = 0; j < reads; j++, at += each) {
        put_io(to, "read", at, each - random_below(to, (uint32_t)each / 2 + 1), id, 3,
               random_below(to, SYNTHETIC_FILES), 4096u << random_below(to, 6));
      }
    } else if (i == 2) {
      divide(to, starts[2], lengths[2], 1, inner, inner_lengths);
      put_region(to, to->next_id++, "optimizer", "compute", inner[0], inner_lengths[0], id, 3);
      end_line(to);
    }
    put_region(to, id, parts[i].name, parts[i].cat, starts[i], lengths[i], root, 2);
    end_line(to);
  }
  put_region(to, root, "step", "pipeline", start, dur, 0, 1);
  put_value(to, "epoch", step / STEPS_PER_EPOCH + 1);
  put_value(to, "step", step % STEPS_PER_EPOCH);
  end_line(to);
}

/* A counter value beside a step; it does not count as an event. */
static void note(writer *to, uint64_t start, uint64_t step) {
  begin_line(to, COUNTER_ID + to->next_id, "loss", "train");
  PUT(to, ",\"ts\":");
  put_number(to, start);
  PUT(to, ",\"ph\":\"C\",\"args\":{\"loss\":");
  to->at = dft__number_double(to->at, 4.0 / (1.0 + (double)step / 100.0) + (double)random_below(to, 1000) / 10000.0);
  end_line(to);
}

/* A worker, 8 to 12 events. */
static void load(writer *to, uint64_t start, uint64_t item) {
  uint64_t root = to->next_id++;
  uint64_t dur = TURN_US - 10 - random_below(to, TURN_US / 4);
  uint32_t file = random_below(to, SYNTHETIC_FILES);
  uint32_t reads = 4 + random_below(to, 5);
  uint64_t io = dur / 2, each = io / (reads + 2), at = start;
  put_io(to, "open", at, each / 2, root, 2, file, 0);
  for (uint32_t i = 0; i < reads; i++) {
    at += each;
    put_io(to, "read", at, each / 2 + random_below(to, (uint32_t)each / 2), root, 2, file, 65536);
  }
  put_io(to, "close", at + each, each / 4, root, 2, file, 0);
  put_region(to, to->next_id++, "decode", "data", start + io, dur / 4 + random_below(to, (uint32_t)dur / 4), root, 2);
  end_line(to);
  put_region(to, root, "item", "data", start, dur, 0, 1);
  put_value(to, "index", item);
  end_line(to);
}

/* Fills the end of a member, where no whole turn fits. */
static void idle(writer *to, uint64_t start) {
  put_region(to, to->next_id++, "idle", "other", start, random_below(to, TURN_US / 64), 0, 1);
  end_line(to);
}

/* ---- Members -------------------------------------------------------------------------------------------------------- */

/* Thread ids are unique across processes. */
static uint32_t tid_of(const writer *to, uint32_t thread) {
  return to->pid + thread * 200000u;
}

/* Defines a text and its hash, as FH or SH. */
static void define(writer *to, uint64_t id, const char *kind, const char *text, char hash[17]) {
  hash_of(text, hash);
  put_metadata(to, id, kind, text, hash);
}

static void put_start(writer *to, uint64_t *id) {
  char folder[17], line[17], program[17];
  define(to, ++*id, "FH", "/home/user/train", folder);
  define(to, ++*id, "SH", "./train;--epochs;10", line);
  define(to, ++*id, "SH", "/home/user/train/train", program);
  begin_event(to, ++*id, "start", "dftracer", EPOCH_US, 0);
  PUT(to, ",\"cmd_hash\":\"");
  put_text(to, line);
  PUT(to, "\",\"exec_hash\":\"");
  put_text(to, program);
  PUT(to, "\",\"cwd\":\"");
  put_text(to, folder);
  PUT(to, "\",\"version\":\"generated\",\"date\":\"2026-01-01T00:00:00Z\",\"ppid\":1");
  end_line(to);
}

static void put_opening(writer *to) {
  char text[64];
  uint64_t id = 0;
  PUT(to, "[\n");
  snprintf(text, sizeof text, "node%03u", synthetic_node_of(to->plan, to->rank));
  put_metadata(to, ++id, "HH", text, to->host);
  snprintf(text, sizeof text, "Rank %u", to->rank);
  put_metadata(to, ++id, "thread_name", text, NULL);
  put_metadata(to, ++id, "CM", "time_metric", "US");
  put_start(to, &id);
  put_metadata(to, ++id, "PR", "rank", text + 5);
  put_metadata(to, ++id, "process_name", text, NULL);
  for (uint32_t i = 0; i < SYNTHETIC_FILES; i++) {
    snprintf(text, sizeof text, FILE_NAME, i);
    put_metadata(to, ++id, "FH", text, to->file[i]);
  }
  for (uint32_t i = 1; i < to->plan->threads; i++) {
    to->tid = tid_of(to, i);
    snprintf(text, sizeof text, "DataLoader worker %u", i - 1);
    put_metadata(to, ++id, "thread_name", text, NULL);
  }
}

static void put_end(writer *to, uint64_t events, uint64_t now) {
  to->tid = to->pid;
  begin_event(to, to->next_id++, "end", "dftracer", now, 0);
  put_value(to, "num_events", events);
  end_line(to);
}

/* The threads take turns until the member is full. */
static uint64_t put_turns(writer *to, uint64_t count, uint64_t member) {
  uint32_t threads = to->plan->threads;
  uint64_t rounds = SYNTHETIC_MEMBER_EVENTS / (TURN_EVENTS_LEAST * threads) + 2;
  uint64_t start = EPOCH_US + member * rounds * TURN_US;
  uint64_t last = to->next_id + count;
  uint64_t turn;
  for (turn = 0; to->next_id + 12 < last; turn++) {
    uint32_t thread = (uint32_t)(turn % threads);
    uint64_t round = turn / threads;
    to->tid = tid_of(to, thread);
    if (thread) {
      load(to, start + round * TURN_US, member * rounds + round);
    } else {
      train(to, start + round * TURN_US, member * rounds + round);
      if (round % 8 == 0) note(to, start + round * TURN_US + TURN_US / 2, member * rounds + round);
    }
  }
  to->tid = to->pid;
  start += (turn / threads + 1) * TURN_US;
  for (uint64_t i = 0; to->next_id < last; i++) idle(to, start + i * (TURN_US / 32));
  return start + TURN_US;
}

size_t synthetic_member(const synthetic *plan, uint32_t rank, uint64_t member, char text[SYNTHETIC_MEMBER_BYTES]) {
  writer to = {.plan = plan, .at = text, .rank = rank, .pid = SYNTHETIC_PID + rank};
  uint64_t events = events_of(plan, rank);
  uint64_t before = member * SYNTHETIC_MEMBER_EVENTS;
  uint64_t count = events - before < SYNTHETIC_MEMBER_EVENTS ? events - before : SYNTHETIC_MEMBER_EVENTS;
  uint64_t now;
  char name[64];
  to.random = mix(plan->seed ^ mix(rank + 1)) ^ mix(member + 77);
  to.tid = to.pid;
  snprintf(name, sizeof name, "node%03u", synthetic_node_of(plan, rank));
  hash_of(name, to.host);
  for (uint32_t i = 0; i < SYNTHETIC_FILES; i++) {
    snprintf(name, sizeof name, FILE_NAME, i);
    hash_of(name, to.file[i]);
  }
  to.next_id = FIRST_ID + SYNTHETIC_THREADS_MOST + before;
  if (member == 0) put_opening(&to);
  now = put_turns(&to, count, member);
  if (member + 1 == synthetic_members_of(plan, rank)) put_end(&to, events, now);
  return (size_t)(to.at - text);
}
