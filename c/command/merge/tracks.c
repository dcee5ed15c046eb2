/* tracks.c - processes and threads of a timeline.
 * SPDX-License-Identifier: MIT */
#include "tracks.h"

#include <stdlib.h>
#include <string.h>

#define OWN_FIRST (1u << 23) /* above the kernel's ids, which end at 2^22, and those of lanes */

static uint64_t hash_of(const char *text, size_t len) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < len; i++) hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
  return hash ^ hash >> 29;
}

/* The place of the key in the index, or the empty place where it belongs. */
static size_t place_of(const track_list *tracks, const char *key, size_t len) {
  size_t at = hash_of(key, len) & (tracks->index_room - 1);
  while (tracks->index[at]) {
    const char *other = tracks->list[tracks->index[at] - 1].key;
    if (strlen(other) == len && memcmp(other, key, len) == 0) break;
    at = (at + 1) & (tracks->index_room - 1);
  }
  return at;
}

static int grow(track_list *tracks) {
  size_t room = tracks->index_room ? 2 * tracks->index_room : 256;
  uint32_t *index = calloc(room, sizeof *index);
  track_process *list = index ? realloc(tracks->list, room / 2 * sizeof *list) : NULL;
  if (!list) {
    free(index);
    return 0;
  }
  free(tracks->index);
  tracks->list = list;
  tracks->room = room / 2;
  tracks->index = index;
  tracks->index_room = room;
  for (size_t i = 0; i < tracks->count; i++) {
    tracks->index[place_of(tracks, list[i].key, strlen(list[i].key))] = (uint32_t)i + 1;
  }
  return 1;
}

static int is_taken(const track_list *tracks, uint64_t shown) {
  for (size_t i = 0; i < tracks->count; i++) {
    if (tracks->list[i].shown == shown) return 1;
  }
  return 0;
}

track_process *tracks_process(track_list *tracks, const char *key, size_t len, uint64_t pid, int is_guest) {
  track_process *made;
  size_t at;
  if (tracks->count == tracks->room && !grow(tracks)) return NULL;
  at = place_of(tracks, key, len);
  if (tracks->index[at]) return &tracks->list[tracks->index[at] - 1];
  made = &tracks->list[tracks->count];
  memset(made, 0, sizeof *made);
  made->key = strndup(key, len);
  if (!made->key) return NULL;
  made->pid = pid;
  made->rank = -1;
  made->is_guest = is_guest;
  made->shown = pid < OWN_FIRST && !is_taken(tracks, pid) ? (uint32_t)pid : OWN_FIRST + tracks->next_shown++;
  tracks->index[at] = (uint32_t)++tracks->count;
  return made;
}

track_process *tracks_host_of(track_list *tracks, int32_t rank, uint64_t pid) {
  track_process *found = NULL;
  for (size_t i = 0; i < tracks->count; i++) {
    track_process *at = &tracks->list[i];
    if (at->is_guest || at->pid != pid || (rank >= 0 && at->rank >= 0 && at->rank != rank)) continue;
    if (found) return NULL;
    found = at;
  }
  return found;
}

uint32_t tracks_thread(track_process *process, uint64_t tid, uint32_t origin, int *is_new) {
  int is_shared = 0;
  uint32_t most = OWN_FIRST;
  track_thread *made;
  *is_new = 0;
  for (size_t i = process->thread_count; i-- > 0;) {
    if (process->threads[i].tid == tid && process->threads[i].origin == origin) return process->threads[i].shown;
    if (process->threads[i].shown == tid) is_shared = 1;
    if (process->threads[i].shown >= most) most = process->threads[i].shown + 1;
  }
  if (process->thread_count == process->thread_room) {
    size_t room = process->thread_room ? 2 * process->thread_room : 8;
    made = realloc(process->threads, room * sizeof *made);
    if (!made) return (uint32_t)tid;
    process->threads = made;
    process->thread_room = room;
  }
  made = &process->threads[process->thread_count++];
  made->tid = tid;
  made->origin = origin;
  made->shown = is_shared || tid > UINT32_MAX ? most : (uint32_t)tid;
  *is_new = 1;
  return made->shown;
}

void tracks_free(track_list *tracks) {
  for (size_t i = 0; i < tracks->count; i++) {
    free(tracks->list[i].key);
    free(tracks->list[i].name);
    free(tracks->list[i].main_name);
    free(tracks->list[i].host);
    free(tracks->list[i].threads);
  }
  free(tracks->list);
  free(tracks->index);
  memset(tracks, 0, sizeof *tracks);
}
