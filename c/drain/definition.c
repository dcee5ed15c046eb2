/* definition.c - definitions of paths: the events that say which path a hash stands for.
 *
 * New paths wait in a list. The next batch takes all of it and hands the definitions out before its records; batches are
 * appended in order, so a hash is defined before its first use, however many threads encode. When the registry had no room for
 * a path, it comes as text, and its definition goes right before its event.
 * SPDX-License-Identifier: MIT */
#include "definition.h"

#include "base/hash.h"
#include "bookkeeping.h"
#include "spool/intern.h"

static dft__name *path_at(const dft_batch *batch, uint32_t ref) {
  dft__name *name = (dft__name *)(uintptr_t)dft__name_at(batch->spool, ref);
  return name && name->use == DFT__NAME_PATH ? name : NULL;
}

void dft__definition_take(dft_batch *batch) {
  uint32_t ref = atomic_exchange_explicit(&batch->spool->header->pending_paths, 0, memory_order_acquire);
  dft__name *name;
  batch->definition = batch->first_definition = ref;
  for (; ref && (name = path_at(batch, ref)) != NULL; ref = DFT__GET(name->pending))
    DFT__SET(name->defined, batch->seq);
}

static void await_batch(dft__spool *spool, dft__name *name, uint32_t ref) {
  uint32_t head = DFT__GET(spool->header->pending_paths);
  DFT__SET(name->defined, 0);
  do DFT__SET(name->pending, head);
  while (!atomic_compare_exchange_weak_explicit(&spool->header->pending_paths, &head, ref, memory_order_release,
                                                memory_order_relaxed));
}

void dft__definition_return(dft_batch *batch) {
  uint32_t ref = batch->first_definition;
  dft__name *name;
  while (ref && (name = path_at(batch, ref)) != NULL) {
    uint32_t next = DFT__GET(name->pending);
    await_batch(batch->spool, name, ref);
    ref = next;
  }
  batch->definition = batch->first_definition = 0;
}

void dft__definition_repeat(dft__spool *spool) {
  for (uint32_t bucket = 0; bucket < DFT__BUCKETS; bucket++) {
    uint32_t ref = DFT__ACQUIRE(spool->header->bucket[bucket]);
    dft__name *name;
    for (; (name = (dft__name *)(uintptr_t)dft__name_at(spool, ref)) != NULL; ref = DFT__GET(name->next)) {
      if (name->use == DFT__NAME_PATH && DFT__GET(name->defined)) await_batch(spool, name, ref);
    }
  }
}

int dft__definition_next(dft_batch *batch, dft_event *event) {
  while (batch->definition) {
    dft__name *name = path_at(batch, batch->definition);
    if (!name) {
      batch->definition = 0;
      break;
    }
    batch->definition = DFT__GET(name->pending);
    if (DFT__GET(name->is_dead) || name->hash == batch->cwd_hash) continue;
    dft__hex(batch->path_hash[0], name->hash);
    dft__bookkeeping_metadata(batch, event, dft__bookkeeping_id(batch), "FH", (dft_text){name->text, name->len},
                              (dft_text){batch->path_hash[0], 16});
    return 1;
  }
  return 0;
}

/* The held event waits meanwhile, so its values stay as they are. */
int dft__definition_of_text(dft_batch *batch, dft_event *event) {
  dft_text path;
  if (!batch->undefined_count) return 0;
  path = batch->undefined[--batch->undefined_count];
  for (uint32_t i = 0; i < 2; i++) batch->own_values[i] = (dft_value){.type = DFT_STRING};
  *event = (dft_event){.id = dft__bookkeeping_id(batch),
                       .parent = -1,
                       .phase = DFT_METADATA,
                       .pid = batch->spool->header->pid,
                       .tid = batch->spool->header->pid,
                       .name = {"FH", 2},
                       .cat = {"dftracer", 8},
                       .value_count = 2,
                       .values = batch->own_values};
  batch->own_values[0].key = (dft_text){"name", 4};
  batch->own_values[0].value.s = path;
  batch->own_values[1].key = (dft_text){"value", 5};
  batch->own_values[1].value.s = (dft_text){batch->text, 16};
  dft__hex(batch->text, dft__hash(path.text, path.len, 0));
  return 1;
}
