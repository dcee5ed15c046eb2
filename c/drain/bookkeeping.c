/* bookkeeping.c - events that have no record, and how a trace opens.
 * SPDX-License-Identifier: MIT */
#include "bookkeeping.h"

#include <stdio.h>

#include "base/hash.h"
#include "decode.h"
#include "spool/intern.h"

/* ---- The opening ------------------------------------------------------------------------------------------------------ */

uint64_t dft__bookkeeping_id(dft_batch *batch) {
  if (batch->next_id % DFT__ID_BLOCK == 0) {
    batch->next_id = atomic_fetch_add(&batch->spool->header->next_id, DFT__ID_BLOCK) + 1;
    if (!batch->first_id) batch->first_id = batch->next_id;
  }
  return batch->next_id++;
}

void dft__bookkeeping_event(dft_batch *batch, dft_event *event, uint64_t id, const char *name, uint32_t phase) {
  uint32_t pid = batch->spool->header->pid;
  batch->value_count = 0;
  *event = (dft_event){.id = id,
                       .parent = -1,
                       .phase = phase,
                       .pid = pid,
                       .tid = pid,
                       .name = {name, strlen(name)},
                       .cat = {"dftracer", 8}};
}

void dft__bookkeeping_finish(dft_batch *batch, dft_event *event) {
  event->values = batch->values;
  event->value_count = batch->value_count;
}

void dft__bookkeeping_metadata(dft_batch *batch, dft_event *event, uint64_t id, const char *kind, dft_text name,
                               dft_text value) {
  dft__bookkeeping_event(batch, event, id, kind, DFT_METADATA);
  dft__add_text(batch, "name", name.text, name.len);
  if (value.len) dft__add_text(batch, "value", value.text, value.len);
  dft__bookkeeping_finish(batch, event);
}

static void named(dft_batch *batch, dft_event *event, uint64_t id, const char *kind, dft_text name) {
  dft__bookkeeping_metadata(batch, event, id, kind, name, (dft_text){"", 0});
}

static dft_text hash_text(dft_batch *batch, uint32_t slot, uint32_t ref) {
  const dft__name *name = dft__name_at(batch->spool, ref);
  dft__hex(batch->path_hash[slot], name ? name->hash : 0);
  return (dft_text){batch->path_hash[slot], 16};
}

static dft_text formatted(dft_batch *batch, const char *format, int32_t number) {
  int len = snprintf(batch->text, sizeof batch->text, format, number);
  return (dft_text){batch->text, len > 0 ? (size_t)len : 0};
}

/* The name that the program gave the thread, else the rank, else the name that the launcher gave it. */
static void main_thread_name(dft_batch *batch, dft_event *event, uint64_t id) {
  const dft__header *header = batch->spool->header;
  int32_t rank = DFT__GET(header->rank);
  dft_text name = dft__text_at(batch->spool, DFT__GET(header->main_name));
  if (rank >= 0 && !DFT__GET(header->main_is_named)) name = formatted(batch, "Rank %d", rank);
  else if (!name.len) name = formatted(batch, "%d", (int32_t)header->pid);
  named(batch, event, id, "thread_name", name);
}

/* Seconds since the epoch as a date. The function of the C library reads time zones from files and takes locks. */
static size_t put_date(char *text, size_t size, uint64_t seconds) {
  uint64_t days = seconds / 86400;
  uint64_t second = seconds % 86400;
  /* Years begin in March here, so that the day that is not always there comes last. */
  uint64_t shifted = days + 719468;
  uint64_t era = shifted / 146097;
  uint64_t day_of_era = shifted % 146097;
  uint64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  uint64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  uint64_t month_from_march = (5 * day_of_year + 2) / 153;
  uint64_t day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
  uint64_t month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
  uint64_t year = year_of_era + era * 400 + (month <= 2);
  return (size_t)snprintf(text, size, "%04u-%02u-%02uT%02u:%02u:%02uZ", (unsigned)year, (unsigned)month, (unsigned)day,
                          (unsigned)(second / 3600), (unsigned)(second / 60 % 60), (unsigned)(second % 60));
}

static void start_line(dft_batch *batch, dft_event *event, uint64_t id) {
  const dft__header *header = batch->spool->header;
  uint64_t seconds = dft__epoch_ns(&batch->clock, header->opened_ticks) / 1000000000u;
  int32_t size = DFT__GET(header->size);
  dft__bookkeeping_event(batch, event, id, "start", DFT_COMPLETE);
  event->start = dft__batch_time(batch, header->opened_ticks);
  if (header->metadata) {
    dft_text command = hash_text(batch, 0, header->command);
    dft_text executable = hash_text(batch, 1, header->executable);
    dft_text cwd = hash_text(batch, 2, header->cwd);
    dft__add_text(batch, "cmd_hash", command.text, command.len);
    dft__add_text(batch, "exec_hash", executable.text, executable.len);
    dft__add_text(batch, "cwd", cwd.text, cwd.len);
    dft__add_text(batch, "version", DFT_VERSION, sizeof DFT_VERSION - 1);
    dft__add_text(batch, "date", batch->text, put_date(batch->text, sizeof batch->text, seconds));
    dft__add_number(batch, "ppid", DFT_INT, header->ppid);
    if (header->run[0]) dft__add_text(batch, "run", header->run, strnlen(header->run, sizeof header->run));
    if (size >= 0) dft__add_number(batch, "world_size", DFT_INT, (uint64_t)size);
    if (header->age_ns) dft__add_number(batch, "process_age_ns", DFT_INT, header->age_ns);
  }
  dft__bookkeeping_finish(batch, event);
}

/* Events that do not apply are left out, but their ids are used up. */
int dft__bookkeeping_opening(dft_batch *batch, dft_event *event) {
  const dft__header *header = batch->spool->header;
  const dft__spool *spool = batch->spool;
  const int32_t rank = DFT__GET(header->rank);
  for (;;) {
    uint64_t id = header->first_id + ++batch->line;
    switch (batch->line) {
      case 1:
        dft__bookkeeping_metadata(batch, event, id, "HH", (dft_text){header->host, strlen(header->host)},
                                  (dft_text){batch->host_hash, 16});
        return 1;
      case 2: main_thread_name(batch, event, id); return 1;
      case 3:
        dft__bookkeeping_metadata(batch, event, id, "CM", (dft_text){"time_metric", 11},
                                  (dft_text){header->unit, strlen(header->unit)});
        return 1;
      case 4:
        if (!header->metadata) break;
        dft__bookkeeping_metadata(batch, event, id, "FH", dft__text_at(spool, header->cwd),
                                  hash_text(batch, 0, header->cwd));
        return 1;
      case 5:
        if (!header->metadata) break;
        dft__bookkeeping_metadata(batch, event, id, "SH", dft__text_at(spool, header->command),
                                  hash_text(batch, 0, header->command));
        return 1;
      case 6:
        if (!header->metadata) break;
        dft__bookkeeping_metadata(batch, event, id, "SH", dft__text_at(spool, header->executable),
                                  hash_text(batch, 0, header->executable));
        return 1;
      case 7: start_line(batch, event, id); return 1;
      case 8:
        if (rank < 0) break;
        dft__bookkeeping_metadata(batch, event, id, "PR", (dft_text){"rank", 4}, formatted(batch, "%d", rank));
        return 1;
      case 9:
        if (rank < 0) break;
        named(batch, event, id, "process_name", formatted(batch, "Rank %d", rank));
        return 1;
      case 10:
        if (!header->affinity) break;
        dft__bookkeeping_metadata(batch, event, id, "PR", (dft_text){"core_affinity", 13},
                                  dft__text_at(spool, header->affinity));
        return 1;
      default: return 0;
    }
  }
}
