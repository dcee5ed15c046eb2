/* facts.c - facts of the process: application metadata, layers used, rank, names of threads.
 * SPDX-License-Identifier: MIT */
#include "facts.h"

#include <sched.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/config.h"
#include "base/hash.h"
#include "base/rank.h"
#include "base/run.h"
#include "base/signals.h"
#include "drain/decode.h"
#include "drain/drain.h"
#include "record/emit.h"
#include "spool/gate.h"
#include "spool/intern.h"

static int is_recording(dft__own *own) {
  return dft_is_active() && dft__thread_take(own) != DFT__OFF;
}

/* ---- Application metadata and layers --------------------------------------------------------------------------------- */

/* Copies what no later item replaces, and leaves out items with the key, into the other half. */
static uint32_t tidy(dft__header *header, uint32_t half, uint32_t used, uint32_t without) {
  uint32_t kept = 0;
  for (uint32_t at = 0; at < used;) {
    const dft__item *item = (const dft__item *)(header->facts[half] + at);
    uint32_t bytes = dft__item_bytes(item, 0);
    if (item->key != without) {
      memcpy(header->facts[!half] + kept, item, bytes);
      kept += bytes;
    }
    at += bytes;
  }
  return kept;
}

/* The last value of a key replaces earlier ones. Facts are few, so each change writes the other half anew and then switches to
 * it. A death at any moment leaves one half whole. */
static void keep(dft__header *header, const dft__ready_item *ready, uint32_t bytes) {
  uint32_t tid = dft__thread_id();
  uint32_t nobody = 0;
  uint32_t used, half, kept;
  uint64_t before = dft__signals_block(); /* a handler that jumps away would keep the lock for ever */
  while (!atomic_compare_exchange_weak(&header->facts_lock, &nobody, tid)) {
    nobody = 0;
    sched_yield();
  }
  used = DFT__GET(header->facts_used);
  half = used >= DFT__FACTS_BYTES;
  kept = tidy(header, half, used % DFT__FACTS_BYTES, ready->item.key);
  if (kept + bytes < DFT__FACTS_BYTES) {
    dft__out out = {header->facts[!half] + kept, UINT32_MAX};
    dft__out_item(&out, ready);
    DFT__RELEASE(header->facts_used, kept + bytes + (half ? 0 : DFT__FACTS_BYTES));
  } else {
    dft__count_drop(header);
  }
  DFT__RELEASE(header->facts_lock, 0);
  dft__signals_restore(before);
}

/* The key as it will stand in the trace: "app.KEY". */
static uint32_t fact_key(const char *prefix, const char *key, size_t len) {
  char text[256];
  size_t prefix_len = strlen(prefix);
  if (len > 200) len = 200;
  memcpy(text, prefix, prefix_len);
  memcpy(text + prefix_len, key, len);
  return dft__key_ref(text, prefix_len + len);
}

static void keep_number(const char *prefix, const char *key, size_t len, int64_t value) {
  dft__own own;
  dft__ready_item ready;
  uint32_t ref, bytes;
  if (!is_recording(&own) || !key || !len || !(ref = fact_key(prefix, key, len))) return;
  bytes = dft__item_number(&ready, ref, NULL, 0, DFT_INT, (uint64_t)value);
  keep((dft__header *)own.base, &ready, bytes);
}

void dft_app_metadata_int_n(const char *key, size_t key_len, int64_t value) {
  keep_number("app.", key, key_len, value);
}

void dft_mark_used_n(const char *name, size_t name_len) {
  keep_number("used.", name, name_len, 1);
}

void dft_app_metadata_string_n(const char *key, size_t key_len, const char *text, size_t len) {
  dft__own own;
  dft__ready_item ready;
  uint32_t ref, bytes;
  if (!is_recording(&own) || !key || !key_len || !(ref = fact_key("app.", key, key_len))) return;
  bytes = dft__item_text(&ready, ref, NULL, 0, DFT_STRING, text, len);
  keep((dft__header *)own.base, &ready, bytes);
}

/* ---- Rank --------------------------------------------------------------------------------------------------------- */

static int32_t known_rank = -1;
static int32_t known_size = -1;

void dft_set_rank(int32_t rank, int32_t size) {
  known_rank = rank < 0 ? -1 : rank;
  known_size = size < 0 ? -1 : size;
  if (!dft__session.is_open) return;
  DFT__SET(dft__session.spool->header->rank, known_rank);
  DFT__SET(dft__session.spool->header->size, known_size);
}

int32_t dft_rank(void) {
  int32_t rank = known_rank;
  int32_t size;
  if (rank < 0) dft__rank_find(&rank, &size);
  return rank;
}

int32_t dft_size(void) {
  int32_t rank;
  int32_t size = known_size;
  if (size < 0) dft__rank_find(&rank, &size);
  return size;
}

/* ---- Names of threads ----------------------------------------------------------------------------------------------- */

void dft_thread_name_n(const char *name, size_t name_len) {
  dft__own own;
  dft__header *header;
  uint32_t tid;
  if (!name || !name_len || !is_recording(&own)) return;
  header = (dft__header *)own.base;
  if (name_len > 255) name_len = 255;
  tid = own.thread->tid;
  /* The main thread's name opens the trace, if that is not written yet. */
  if (tid == header->pid && !dft__drain_has_begun()) {
    DFT__SET(header->main_name, dft__intern(dft__thread_spool(), DFT__NAME_TEXT, 0, name, name_len));
    DFT__SET(header->main_is_named, 1);
  } else {
    dft__emit_thread_name(&own, tid, name, name_len);
  }
}

/* ---- What opens a trace ---------------------------------------------------------------------------------------------- */

static uint32_t text_ref(dft__spool *spool, const char *text, size_t len) {
  if (!len) {
    text = "(unknown)";
    len = 9;
  }
  return dft__intern(spool, DFT__NAME_TEXT, 0, text, len < DFT__NAME_MAX ? len : DFT__NAME_MAX);
}

/* Arguments with ';' between them. They may hold secrets, and can be left out. */
static uint32_t command_ref(dft__spool *spool) {
  char text[DFT__NAME_MAX];
  size_t len = dft__read_file("/proc/self/cmdline", text, sizeof text);
  if (!dft__config_number(DFT__COMMAND_LINE)) len = strlen(text);
  while (len && !text[len - 1]) len--;
  for (size_t i = 0; i < len; i++) {
    if (!text[i]) text[i] = ';';
  }
  return text_ref(spool, text, len);
}

static uint32_t affinity_ref(dft__spool *spool) {
  cpu_set_t cores;
  char text[DFT__NAME_MAX];
  size_t len = 0;
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) return 0;
  for (int core = 0; core < CPU_SETSIZE && len + 8 < sizeof text; core++) {
    if (CPU_ISSET(core, &cores)) len += (size_t)snprintf(text + len, sizeof text - len, "%s%d", len ? "," : "", core);
  }
  return text_ref(spool, text, len);
}

/* 0 when there is no parent, or the parent has no such text. */
static uint32_t copied_ref(dft__spool *spool, const dft__spool *parent, uint32_t ref) {
  dft_text text = parent ? dft__text_at(parent, ref) : (dft_text){0};
  return text.len ? text_ref(spool, text.text, text.len) : 0;
}

static uint32_t executable_ref(dft__spool *spool) {
  char text[DFT__NAME_MAX];
  ssize_t len = readlink("/proc/self/exe", text, sizeof text);
  return text_ref(spool, text, len > 0 ? (size_t)len : 0);
}

void dft__facts_fill(dft__spool *spool, const dft__spool *parent) {
  dft__header *header = spool->header;
  char text[DFT__NAME_MAX];
  char path[64];
  uint32_t command, executable;
  DFT__SET(header->rank, dft_rank()); /* of this image: a launcher's child may have recorded before it called exec */
  DFT__SET(header->size, dft_size());
  DFT__SET(header->main_is_named, 0);
  header->host_hash = dft__hash(header->host, strlen(header->host), 0);
  /* The main thread, which need not be the one that starts the trace. */
  if (dft__thread_id() != header->pid || prctl(PR_GET_NAME, text) != 0) {
    snprintf(path, sizeof path, "/proc/self/task/%u/comm", header->pid);
    dft__read_file(path, text, sizeof text);
  }
  DFT__SET(header->main_name, text_ref(spool, text, strcspn(text, "\n")));
  if (dft__config_number(DFT__SET_CORE_AFFINITY)) header->affinity = affinity_ref(spool);
  if (!header->metadata) return;
  dft__run_find(header->run, sizeof header->run, &dft__session.identity);
  header->cwd = text_ref(spool, text, getcwd(text, sizeof text) ? strlen(text) : 0);
  /* Each is stored once: after exec the spool holds events already, and this process may be killed in between. */
  command = copied_ref(spool, parent, parent ? parent->header->command : 0);
  header->command = command ? command : command_ref(spool);
  executable = copied_ref(spool, parent, parent ? parent->header->executable : 0);
  header->executable = executable ? executable : executable_ref(spool);
}
