/* tracks.c - processes and threads of a timeline.
 * SPDX-License-Identifier: MIT */
#include "tracks.h"

#include <stdlib.h>
#include <string.h>

#define OWN_FIRST (1u << 23) /* ids above the kernel's (2^22) and above lanes */

static uint64_t hash_of(const char *text, size_t len) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < len; i++) hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
  return hash ^ hash >> 29;
}

/* The place of the key in the index, or the empty one where it goes. */
static size_t place_of(const tracks *of, const char *key, size_t len) {
  size_t at = hash_of(key, len) & (of->index_room - 1);
  while (of->index[at]) {
    const char *other = of->list[of->index[at] - 1].key;
    if (strlen(other) == len && memcmp(other, key, len) == 0) break;
    at = (at + 1) & (of->index_room - 1);
  }
  return at;
}

static int grow(tracks *of) {
  size_t room = of->index_room ? 2 * of->index_room : 256;
  uint32_t *index = calloc(room, sizeof *index);
  track_process *list = index ? realloc(of->list, room / 2 * sizeof *list) : NULL;
  if (!list) {
    free(index);
    return 0;
  }
  free(of->index);
  of->list = list;
  of->room = room / 2;
  of->index = index;
  of->index_room = room;
  for (size_t i = 0; i < of->count; i++) {
    of->index[place_of(of, list[i].key, strlen(list[i].key))] = (uint32_t)i + 1;
  }
  return 1;
}

static int is_taken(const tracks *of, uint64_t shown) {
  for (size_t i = 0; i < of->count; i++) {
    if (of->list[i].shown == shown) return 1;
  }
  return 0;
}

track_process *tracks_process(tracks *of, const char *key, size_t len, uint64_t pid, int is_guest) {
  track_process *made;
  size_t at;
  if (of->count == of->room && !grow(of)) return NULL;
  at = place_of(of, key, len);
  if (of->index[at]) return &of->list[of->index[at] - 1];
  made = &of->list[of->count];
  memset(made, 0, sizeof *made);
  made->key = strndup(key, len);
  if (!made->key) return NULL;
  made->pid = pid;
  made->rank = -1;
  made->is_guest = is_guest;
  made->shown = pid < OWN_FIRST && !is_taken(of, pid) ? (uint32_t)pid : OWN_FIRST + of->next_shown++;
  of->index[at] = (uint32_t)++of->count;
  return made;
}

track_process *tracks_host_of(tracks *of, int32_t rank, uint64_t pid) {
  track_process *found = NULL;
  for (size_t i = 0; i < of->count; i++) {
    track_process *at = &of->list[i];
    if (at->is_guest || at->pid != pid || (rank >= 0 && at->rank >= 0 && at->rank != rank)) continue;
    if (found) return NULL;
    found = at;
  }
  return found;
}

uint32_t tracks_thread(track_process *of, uint64_t tid, uint32_t origin, int *is_new) {
  int is_shared = 0;
  uint32_t most = OWN_FIRST;
  track_thread *made;
  *is_new = 0;
  for (size_t i = of->thread_count; i-- > 0;) {
    if (of->threads[i].tid == tid && of->threads[i].origin == origin) return of->threads[i].shown;
    if (of->threads[i].shown == tid) is_shared = 1;
    if (of->threads[i].shown >= most) most = of->threads[i].shown + 1;
  }
  if (of->thread_count == of->thread_room) {
    size_t room = of->thread_room ? 2 * of->thread_room : 8;
    made = realloc(of->threads, room * sizeof *made);
    if (!made) return (uint32_t)tid;
    of->threads = made;
    of->thread_room = room;
  }
  made = &of->threads[of->thread_count++];
  made->tid = tid;
  made->origin = origin;
  made->shown = is_shared || tid > UINT32_MAX ? most : (uint32_t)tid;
  *is_new = 1;
  return made->shown;
}

void tracks_free(tracks *of) {
  for (size_t i = 0; i < of->count; i++) {
    free(of->list[i].key);
    free(of->list[i].name);
    free(of->list[i].main_name);
    free(of->list[i].host);
    free(of->list[i].threads);
  }
  free(of->list);
  free(of->index);
  memset(of, 0, sizeof *of);
}
