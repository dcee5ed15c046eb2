/* commcodec.c - how a process communicated, as bytes of a state's file.
 * SPDX-License-Identifier: MIT */
#include "commcodec.h"

#include <string.h>

#define NO_MEMORY "out of memory"
#define DAMAGED "the file is damaged"

static void fail(state_codec *codec, const char *problem) {
  if (!codec->problem) codec->problem = problem;
}

static uint32_t code_count(state_codec *codec, uint32_t count) {
  codec_uint32(codec, &count, UINT32_MAX - 1);
  return count;
}

/* A number that may be -1. */
static void code_rank(state_codec *codec, int32_t *rank) {
  uint32_t shifted = (uint32_t)(*rank + 1);
  codec_uint32(codec, &shifted, (uint32_t)INT32_MAX + 1);
  *rank = (int32_t)shifted - 1;
}

static void code_id(state_codec *codec, uint32_t *id) {
  uint64_t wide = *id;
  codec_uint(codec, &wide);
  if (wide > UINT32_MAX) fail(codec, DAMAGED);
  *id = (uint32_t)wide;
}

/* A time, as the distance from another one. */
static void code_time(state_codec *codec, int64_t *time, int64_t from) {
  int64_t gap = codec_is_reading(codec) ? 0 : (int64_t)((uint64_t)*time - (uint64_t)from);
  codec_int(codec, &gap);
  *time = (int64_t)((uint64_t)from + (uint64_t)gap);
  if (*time > ARRIVAL_TIME_MOST || *time < -ARRIVAL_TIME_MOST) fail(codec, DAMAGED);
}

static void code_call(state_codec *codec, comm_call *call) {
  uint64_t *const numbers[] = {&call->calls, &call->time_ns, &call->bytes, &call->collective};
  codec_uint32(codec, &call->is_begun, 2);
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) codec_uint(codec, numbers[i]);
  codec_histogram(codec, &call->sizes);
}

static void code_calls(state_codec *codec, comm_counts *counts, uint32_t texts) {
  const uint32_t count = code_count(codec, counts->count);
  for (uint32_t i = 0; codec_has_more(codec, i, count); i++) {
    comm_call *call = codec_is_reading(codec) ? NULL : &counts->calls[i];
    uint32_t name = call ? call->name : 0, kind = call ? call->kind : 0;
    codec_uint32(codec, &name, texts);
    codec_uint32(codec, &kind, MPI_KINDS);
    if (codec->problem) return;
    if (!call) call = comm_counts_call(counts, name, kind);
    if (!call) fail(codec, NO_MEMORY);
    else if (counts->count < i + 1) fail(codec, DAMAGED); /* it is there twice */
    else code_call(codec, call);
  }
}

/* ---- Piles ---------------------------------------------------------------------------------------------------------- */

/* The record's form in the file; `before` is the one before it. */
typedef void code_record(state_codec *codec, void *record, const void *before);

static void code_arrival(state_codec *codec, void *record, const void *before) {
  arrival *call = record;
  const arrival *last = before;
  code_time(codec, &call->start, last->start);
  code_time(codec, &call->wait_start, call->start);
  code_time(codec, &call->wait_end, call->wait_start);
  code_rank(codec, &call->root);
  codec_uint32(codec, &call->has_data, 2);
}

static void code_message(state_codec *codec, void *record, const void *before) {
  mpi_message *sent = record;
  const mpi_message *last = before;
  code_id(codec, &sent->comm);
  code_rank(codec, &sent->peer);
  code_rank(codec, &sent->tag);
  code_time(codec, &sent->start, last->start);
  code_time(codec, &sent->wait_start, sent->start);
  code_time(codec, &sent->wait_end, sent->wait_start);
}

/* A record, or the sign that there are no more. */
static int code_more(state_codec *codec, int is_there) {
  uint32_t sign = (uint32_t)is_there;
  codec_uint32(codec, &sign, 2);
  return !codec->problem && sign;
}

static void write_pile(state_codec *codec, record_pile *pile, code_record *code) {
  union {
    arrival call;
    mpi_message sent;
  } record = {{0}}, last = {{0}};
  run_merge merge;
  const void *next;
  record_pile_read(pile, &merge);
  while ((next = run_merge_next(&merge)) != NULL && code_more(codec, 1)) {
    memcpy(&record, next, pile->record_bytes);
    code(codec, &record, &last);
    last = record;
  }
  code_more(codec, 0);
  if (!merge.is_good) fail(codec, NO_MEMORY);
  run_merge_free(&merge);
}

static void code_list(state_codec *codec, arrival_list *list) {
  arrival call = {0}, last = {0};
  if (!codec_is_reading(codec)) {
    write_pile(codec, &list->calls, code_arrival);
    return;
  }
  for (; code_more(codec, 0); last = call) {
    code_arrival(codec, &call, &last);
    if (!codec->problem && !arrival_list_add(list, &call)) fail(codec, NO_MEMORY);
  }
}

static void code_arrivals(state_codec *codec, arrivals *meetings, uint32_t texts) {
  const uint32_t count = code_count(codec, meetings->count);
  for (uint32_t i = 0; codec_has_more(codec, i, count); i++) {
    arrival_key key = codec_is_reading(codec) ? (arrival_key){0} : meetings->lists[i].key;
    arrival_list *list;
    codec_uint32(codec, &key.name, texts);
    codec_uint32(codec, &key.is_mpi, 2);
    code_id(codec, &key.comm);
    code_id(codec, &key.comm_size);
    if (codec->problem) return;
    list = codec_is_reading(codec) ? arrivals_add_list(meetings, key) : &meetings->lists[i];
    if (list) code_list(codec, list);
    else fail(codec, NO_MEMORY);
  }
}

static void code_messages(state_codec *codec, messages *mail, int are_sends) {
  mpi_message sent = {0}, last = {0};
  if (!codec_is_reading(codec)) {
    write_pile(codec, are_sends ? &mail->sends : &mail->receives, code_message);
    return;
  }
  for (; code_more(codec, 0); last = sent) {
    code_message(codec, &sent, &last);
    if (codec->problem) return;
    if (!(are_sends ? messages_add_send(mail, &sent) : messages_add_receive(mail, &sent))) fail(codec, NO_MEMORY);
  }
}

static void code_peers(state_codec *codec, messages *mail) {
  const uint32_t count = code_count(codec, mail->peer_numbers.count);
  for (uint32_t i = 1; codec_has_more(codec, i, count + 1); i++) {
    uint64_t key = codec_is_reading(codec) ? 0 : mail->peer_numbers.keys[i].a;
    peer_stats stats = codec_is_reading(codec) ? (peer_stats){0} : mail->peers[i];
    codec_uint(codec, &key);
    codec_uint(codec, &stats.calls);
    codec_uint(codec, &stats.bytes);
    if (key >> 1 > INT32_MAX) fail(codec, DAMAGED);
    if (codec->problem || !codec_is_reading(codec)) continue;
    if (!messages_add_peer(mail, (int64_t)(key >> 1), key & 1, stats.calls, stats.bytes)) fail(codec, NO_MEMORY);
  }
}

void codec_comm(state_codec *codec, comm_counts *counts, uint32_t texts) {
  messages *mail = &counts->mail;
  uint64_t *const numbers[] = {&mail->unknown_sources, &mail->unknown_waits, &mail->started.calls,
                               &mail->started.bytes};
  code_calls(codec, counts, texts);
  code_arrivals(codec, &counts->meetings, texts);
  code_messages(codec, mail, 1);
  code_messages(codec, mail, 0);
  code_peers(codec, mail);
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) codec_uint(codec, numbers[i]);
  codec_spans(codec, &counts->busy);
}

/* ---- Pursuits ----------------------------------------------------------------------------------------------------- */

static void code_pursuit(state_codec *codec, pursuit *one, int64_t last_end, uint32_t names) {
  uint64_t length = (uint64_t)one->end - (uint64_t)one->start, idle = length - one->ns;
  code_time(codec, &one->end, last_end);
  codec_uint(codec, &length);
  codec_uint(codec, &idle);
  codec_uint32(codec, &one->what, names + 1);
  if (idle >= length) fail(codec, DAMAGED);
  if (!codec->problem && length > (uint64_t)(one->end + ARRIVAL_TIME_MOST)) fail(codec, DAMAGED);
  if (codec->problem) return;
  one->start = (int64_t)((uint64_t)one->end - length);
  one->ns = length - idle;
}

static void write_pursuits(state_codec *codec, pursuits *all) {
  int64_t last_end = 0;
  run_merge merge;
  const pursuit *next;
  record_pile_read(&all->times, &merge);
  while ((next = run_merge_next(&merge)) != NULL && code_more(codec, 1)) {
    pursuit one = *next;
    code_pursuit(codec, &one, last_end, all->count);
    last_end = one.end;
  }
  code_more(codec, 0);
  if (!merge.is_good) fail(codec, NO_MEMORY);
  run_merge_free(&merge);
}

void codec_pursuits(state_codec *codec, pursuits *all, uint32_t texts) {
  uint32_t count = all->count;
  int64_t last_end = 0;
  codec_uint32(codec, &count, PURSUIT_NAMES_MOST + 1);
  for (uint32_t i = 0; codec_has_more(codec, i, count); i++) {
    pursuit_name name = codec_is_reading(codec) ? (pursuit_name){0} : all->names[i];
    codec_uint32(codec, &name.name, texts);
    codec_uint32(codec, &name.cat, texts);
    if (codec->problem || !codec_is_reading(codec)) continue;
    if (!pursuits_add_name(all, name)) fail(codec, NO_MEMORY);
  }
  if (!codec_is_reading(codec)) {
    write_pursuits(codec, all);
    return;
  }
  while (code_more(codec, 0)) {
    pursuit one = {0};
    code_pursuit(codec, &one, last_end, all->count);
    if (!codec->problem && !pursuits_add(all, &one)) fail(codec, NO_MEMORY);
    last_end = one.end;
  }
}
