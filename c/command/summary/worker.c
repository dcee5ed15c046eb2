/* worker.c - rows of one cursor: what is counted without regard to order, and what goes onto the lanes.
 * SPDX-License-Identifier: MIT */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"

/* ---- Tables that grow ----------------------------------------------------------------------------------------------- */

static void *grow(void *list, uint32_t *capacity, uint32_t number, size_t size) {
  uint32_t wanted = *capacity ? *capacity : 64;
  char *more;
  while (wanted <= number) wanted *= 2;
  more = realloc(list, wanted * size);
  if (!more) return NULL;
  memset(more + *capacity * size, 0, (wanted - *capacity) * size);
  *capacity = wanted;
  return more;
}

group_stats *worker_group(worker *of, uint32_t number) {
  if (number >= of->group_capacity) {
    group_stats *more = grow(of->groups_seen, &of->group_capacity, number, sizeof *more);
    if (!more) return NULL;
    of->groups_seen = more;
  }
  return &of->groups_seen[number];
}

io_stats *worker_file(worker *of, uint32_t file) {
  if (file > FILES_MAX) file = 0;
  if (file >= of->file_capacity) {
    io_stats *more = grow(of->files, &of->file_capacity, file, sizeof *more);
    if (!more) return NULL;
    of->files = more;
  }
  return &of->files[file];
}

epoch_stats *worker_epoch(worker *of, int64_t epoch) {
  int is_new;
  uint32_t number;
  of->epochs.limit = EPOCHS_MAX;
  number = numbering_of(&of->epochs, (uint64_t)epoch, 0, &is_new);
  if (number >= of->epoch_capacity) {
    epoch_stats *more = grow(of->epoch_list, &of->epoch_capacity, number, sizeof *more);
    if (!more) return NULL;
    of->epoch_list = more;
  }
  if (is_new) {
    of->epoch_list[number].first = INT64_MAX;
    of->epoch_list[number].last = INT64_MIN;
  }
  return &of->epoch_list[number];
}

/* ---- Numbers of the job --------------------------------------------------------------------------------------------- */

static int matches(const char *const *patterns, int count, const char *text) {
  for (int i = 0; i < count; i++) {
    if (fnmatch(patterns[i], text, 0) == 0) return 1;
  }
  return count == 0;
}

static uint32_t new_site(job *of, uint32_t name, uint32_t cat) {
  const job_question *question = of->question;
  int is_new;
  uint32_t number;
  pthread_mutex_lock(&of->lock);
  number = numbering_of(&of->site_numbers, name, cat, &is_new);
  if (is_new && !of->sites[number / BLOCK]) of->sites[number / BLOCK] = calloc(BLOCK, sizeof(site));
  if (is_new && of->sites[number / BLOCK]) {
    site *one = job_site(of, number);
    dft_text name_text = dft_reader_text(of->reader, DFT_NAMES, name);
    dft_text cat_text = dft_reader_text(of->reader, DFT_CATS, cat);
    *one = (site){.name = name, .cat = cat};
    site_classify(one, name_text, cat_text);
    one->is_wanted = matches(question->names, question->name_count, name_text.text) &&
                     matches(question->cats, question->cat_count, cat_text.text);
  }
  pthread_mutex_unlock(&of->lock);
  return number;
}

/* Looks into the cache; on a miss `number` is 0 and the slot is the one to fill. */
#define CACHED(cache, a, b) (&(cache)->slot[(uint32_t)(numbered_hash((a), (b)) >> 40) % NUMBERED_CACHE])

static uint32_t site_number(worker *of, uint32_t name, uint32_t cat) {
  __auto_type slot = CACHED(&of->sites, name, cat);
  if (slot->number && slot->a == name && slot->b == cat) return slot->number;
  slot->a = name;
  slot->b = cat;
  return slot->number = new_site(of->of, name, cat);
}

static uint32_t group_number(worker *of, uint64_t a, uint64_t b) {
  __auto_type slot = CACHED(&of->groups, a, b);
  int is_new;
  if (slot->number && slot->a == a && slot->b == b) return slot->number;
  pthread_mutex_lock(&of->of->lock);
  if (histogram_bytes() > GROUPS_BYTES) of->of->group_numbers.limit = of->of->group_numbers.count;
  slot->number = numbering_of(&of->of->group_numbers, a, b, &is_new);
  pthread_mutex_unlock(&of->of->lock);
  slot->a = a;
  slot->b = b;
  return slot->number;
}

/* With the lock held. */
static uint32_t process_number(job *of, uint32_t source, uint64_t pid) {
  int is_new;
  uint32_t number = numbering_of(&of->process_numbers, source, pid, &is_new);
  process **block = &of->processes[number / BLOCK];
  if (!*block) *block = calloc(BLOCK, sizeof **block);
  if (is_new && *block) {
    process *one = job_process(of, number);
    one->source = source;
    one->pid = pid;
    one->rank = NO_NUMBER;
  }
  return number;
}

uint32_t job_thread_number(job *of, uint32_t source, uint64_t pid, uint64_t tid, uint32_t host) {
  int is_new;
  uint32_t number, owner;
  lane *on = &of->lanes[source];
  pthread_mutex_lock(&of->lock);
  owner = process_number(of, source, pid);
  number = numbering_of(&of->thread_numbers, owner, tid, &is_new);
  if (!of->threads[number / BLOCK]) of->threads[number / BLOCK] = calloc(BLOCK, sizeof(thread));
  if (is_new) {
    thread *one = job_thread(of, number);
    one->process = owner;
    one->tid = tid;
    job_process(of, owner)->threads++;
    pthread_mutex_lock(&on->lock);
    if (on->thread_count == on->thread_capacity) {
      uint32_t capacity = on->thread_capacity;
      uint32_t *more = grow(on->threads, &capacity, on->thread_count, sizeof *more);
      if (more) {
        on->threads = more;
        on->thread_capacity = capacity;
      }
    }
    if (on->thread_count < on->thread_capacity) on->threads[on->thread_count++] = number;
    pthread_mutex_unlock(&on->lock);
  }
  if (host) job_process(of, owner)->host = host;
  pthread_mutex_unlock(&of->lock);
  return number;
}

static uint32_t thread_number(worker *of, uint32_t source, uint64_t pid, uint64_t tid, uint32_t host) {
  uint64_t a = pid ^ (uint64_t)source << 40;
  __auto_type slot = CACHED(&of->threads, a, tid);
  if (slot->number && slot->a == a && slot->b == tid) return slot->number;
  slot->a = a;
  slot->b = tid;
  return slot->number = job_thread_number(of->of, source, pid, tid, host);
}

/* ---- Rows ----------------------------------------------------------------------------------------------------------- */

/* Arguments the summary looks at. */
typedef struct facts {
  int64_t ret, offset, epoch, step, dropped, recovered, ppid;
  dft_text second_file; /* its hash */
} facts;

/* A number, or a text that is one: older tracers write "epoch":"1". */
static int64_t integer(const dft_cell *cell, int64_t otherwise) {
  char digits[24], *end;
  int64_t value;
  if (cell->type == DFT_INT || cell->type == DFT_BOOL) return cell->value.i;
  if (cell->type != DFT_STRING || !cell->len || cell->len >= sizeof digits) return otherwise;
  memcpy(digits, cell->value.text, cell->len);
  digits[cell->len] = '\0';
  value = strtoll(digits, &end, 10);
  return *end ? otherwise : value;
}

static facts facts_of(const job *of, const dft_rows *rows, uint32_t row) {
  facts found = {.ret = -1, .offset = -1, .epoch = NO_NUMBER, .step = NO_NUMBER};
  for (uint32_t i = rows->arg_first[row]; i < rows->arg_first[row + 1]; i++) {
    const dft_cell *cell = &rows->args[i];
    if (cell->key == of->key_ret) found.ret = integer(cell, -1);
    else if (cell->key == of->key_offset) found.offset = integer(cell, -1);
    else if (cell->key == of->key_epoch) found.epoch = integer(cell, NO_NUMBER);
    else if (cell->key == of->key_step) found.step = integer(cell, NO_NUMBER);
    else if (cell->key == of->key_num_dropped) found.dropped = integer(cell, 0);
    else if (cell->key == of->key_recovered) found.recovered = integer(cell, 0);
    else if (cell->key == of->key_ppid) found.ppid = integer(cell, 0);
    else if (cell->key == of->key_second_file && cell->type == DFT_STRING)
      found.second_file = (dft_text){cell->value.text, cell->len};
  }
  return found;
}

/* PR lines: {"name":"rank","value":"3"}. */
static void note_rank(worker *of, const dft_rows *rows, uint32_t row) {
  int64_t rank = NO_NUMBER;
  int is_rank = 0;
  if (dft_reader_text(of->of->reader, DFT_NAMES, rows->name[row]).len != 2) return;
  if (memcmp(dft_reader_text(of->of->reader, DFT_NAMES, rows->name[row]).text, "PR", 2) != 0) return;
  for (uint32_t i = rows->arg_first[row]; i < rows->arg_first[row + 1]; i++) {
    const dft_cell *cell = &rows->args[i];
    if (cell->key == of->of->key_name && cell->type == DFT_STRING)
      is_rank = cell->len == 4 && !memcmp(cell->value.text, "rank", 4);
    if (cell->key == of->of->key_value) rank = integer(cell, NO_NUMBER);
  }
  if (!is_rank) return;
  pthread_mutex_lock(&of->of->lock);
  job_process(of->of, process_number(of->of, rows->source, rows->pid[row]))->rank = rank;
  pthread_mutex_unlock(&of->of->lock);
}

static void count_epoch(worker *of, const site *what, const moment *event, int64_t epoch) {
  epoch_stats *stats;
  if (epoch == NO_NUMBER || epoch < 0) return;
  stats = worker_epoch(of, epoch);
  if (!stats) {
    of->is_good = 0;
    return;
  }
  if (what->ai == AI_FETCH || what->ai == AI_START) {
    stats->fetches += what->ai == AI_FETCH;
    stats->fetch_ns += (uint64_t)(event->end - event->start);
  } else if (what->ai == AI_COMPUTE) {
    stats->computes++;
    stats->compute_ns += (uint64_t)(event->end - event->start);
  }
  if (event->start < stats->first) stats->first = event->start;
  if (event->end > stats->last) stats->last = event->end;
}

static uint32_t group_of(worker *of, const dft_rows *rows, const moment *event, const facts *found) {
  switch (of->of->question->by) {
    case BY_FILE: return group_number(of, event->file, 0);
    case BY_PROCESS:
      return group_number(of, rows->source, job_process(of->of, job_thread(of->of, event->thread)->process)->pid);
    case BY_THREAD: return group_number(of, event->thread, 0);
    case BY_STEP: return group_number(of, (uint64_t)found->epoch, (uint64_t)found->step);
    default: return event->site;
  }
}

static void count_event(worker *of, const moment *event) {
  uint64_t time = (uint64_t)(event->end - event->start);
  group_stats *stats = event->group == NO_GROUP ? NULL : worker_group(of, event->group);
  if (!stats) {
    of->is_good &= event->group == NO_GROUP;
    return;
  }
  job_add(&stats->total_ns, time);
  of->is_good &= histogram_add(&stats->durations, time);
}

static void note_time(worker *of, int64_t start, int64_t end) {
  if (start < of->first) of->first = start;
  if (end > of->last) of->last = end;
}

/* What start and end say counts whenever they lie. */
static void note_bookkeeping(worker *of, const dft_rows *rows, uint32_t row, const facts *found) {
  of->dropped += (uint64_t)found->dropped;
  of->recovered += found->recovered != 0;
  if (found->ppid <= 0) return;
  pthread_mutex_lock(&of->of->lock);
  job_process(of->of, process_number(of->of, rows->source, rows->pid[row]))->ppid = (uint64_t)found->ppid;
  pthread_mutex_unlock(&of->of->lock);
}

/* One complete event; 0: it is not in the time that was asked for. */
static int take_event(worker *of, const dft_rows *rows, uint32_t row, moment *event) {
  const job_question *question = of->of->question;
  const uint32_t number = site_number(of, rows->name[row], rows->cat[row]);
  const site *what = job_site(of->of, number);
  facts found = {.ret = -1, .offset = -1, .epoch = NO_NUMBER, .step = NO_NUMBER};
  int64_t start = rows->start_ns[row];
  if (what->io || what->ai || what->is_ours || question->by == BY_STEP) found = facts_of(of->of, rows, row);
  if (what->is_ours) note_bookkeeping(of, rows, row, &found);
  if (question->has_from && start < of->of->origin + question->from_ns) return 0;
  if (question->has_to && start >= of->of->origin + question->to_ns) return 0;
  *event = (moment){.start = start,
                    .end = start + (rows->dur_ns[row] > 0 ? rows->dur_ns[row] : 0),
                    .parent = rows->parent[row],
                    .site = number,
                    .group = NO_GROUP,
                    .file = rows->file[row],
                    .level = rows->level[row] > UINT16_MAX ? UINT16_MAX : (uint16_t)rows->level[row]};
  event->thread = thread_number(of, rows->source, rows->pid[row], rows->tid[row], rows->host[row]);
  event->offset = found.offset;
  event->bytes = found.ret;
  if (what->io == IO_COPY && found.second_file.len)
    event->second_file = dft_reader_number(of->of->reader, DFT_FILES, found.second_file.text, found.second_file.len);
  note_time(of, event->start, event->end);
  if (what->is_ours) return 1;
  of->events++;
  if (what->ai) count_epoch(of, what, event, found.epoch);
  if (question->by == BY_STEP) { /* lane_bring knows what is around it */
    event->group = group_of(of, rows, event, &found);
    return 1;
  }
  if (what->is_wanted) event->group = group_of(of, rows, event, &found);
  count_event(of, event);
  return 1;
}

void worker_rows(worker *of, const dft_rows *rows) {
  uint32_t count = 0;
  if (rows->count > of->moment_capacity) {
    moment *more = realloc(of->moments, rows->count * sizeof *more);
    if (!more) {
      of->is_good = 0;
      return;
    }
    of->moments = more;
    of->moment_capacity = rows->count;
  }
  for (uint32_t i = 0; i < rows->count; i++) {
    switch (rows->phase[i]) {
      case DFT_COMPLETE: count += (uint32_t)take_event(of, rows, i, &of->moments[count]); break;
      case DFT_METADATA:
        of->metadata++;
        note_rank(of, rows, i);
        break;
      case DFT_COUNTER: of->counters++; break;
      default: of->others++;
    }
  }
  lane_bring(of, rows, count);
}
