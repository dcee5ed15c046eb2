/* filegroups.c - files in groups.
 * SPDX-License-Identifier: MIT */
#include "filegroups.h"

#include <stdlib.h>
#include <string.h>

#include "command/cli/terminal.h"
#include "folding.h"
#include "runtimefiles.h"

#define PATTERN_LEAST 3u /* files */
#define COUNT_ROOM 64u   /* for "**" and the number of files */

/* Files on their way into groups. */
typedef struct file_lines {
  text_pool patterns;
  uint32_t *pattern_of; /* by number of the file; 0: it has none */
  file_line *lines;
  uint32_t count;
  uint32_t *line_of; /* by number of the file, + 1; 0: no calls; FILE_LEFT_OUT */
  uint64_t all_ns, all_bytes;
} file_lines;

static void free_lines(file_lines *all) {
  text_pool_free(&all->patterns);
  free(all->pattern_of);
  free(all->lines);
  free(all->line_of);
}

/* ---- Patterns ------------------------------------------------------------------------------------------------------- */

static dft_text path_of(const summary_state *state, uint32_t file) {
  return state_text_of(state, state->files[file].name); /* empty: it has no name */
}

/* Marks the files that are left out. Returns their number. */
static uint32_t leave_out(file_lines *all, const summary_state *state) {
  uint32_t count = 0;
  for (uint32_t i = 1; i <= state->file_numbers.count; i++) {
    if (!io_stats_calls(state_file_io(state, i)) || !is_runtime_file(path_of(state, i))) continue;
    all->line_of[i] = FILE_LEFT_OUT;
    count++;
  }
  return count;
}

/* Has the file calls, and a place in a group? */
static int is_grouped(const file_lines *all, const summary_state *state, uint32_t file) {
  return io_stats_calls(state_file_io(state, file)) && all->line_of[file] != FILE_LEFT_OUT;
}

static int find_patterns(file_lines *all, const summary_state *state) {
  size_t room = 1;
  char *text;
  int is_good;
  for (uint32_t i = 1; i <= state->file_numbers.count; i++) {
    if (path_of(state, i).len > room) room = path_of(state, i).len;
  }
  text = malloc(room);
  is_good = text && text_pool_add(&all->patterns, "", 0) == 0;
  for (uint32_t i = 1; is_good && i <= state->file_numbers.count; i++) {
    if (!is_grouped(all, state, i)) continue;
    all->pattern_of[i] = text_pool_add(&all->patterns, text, path_pattern(text, path_of(state, i)));
    is_good = all->pattern_of[i] != UINT32_MAX;
  }
  free(text);
  return is_good;
}

static void add_file(file_lines *all, file_line *line, const io_stats *io) {
  const uint64_t ns = io_stats_ns(io);
  uint64_t bytes = io->read.bytes;
  add_saturating(&bytes, io->write.bytes);
  line->files++;
  add_saturating(&line->ns, ns);
  add_saturating(&line->bytes, bytes);
  add_saturating(&all->all_ns, ns);
  add_saturating(&all->all_bytes, bytes);
}

/* A line for each pattern of enough files, and for each other file. */
static int make_lines(file_lines *all, const summary_state *state) {
  uint32_t *files = calloc((size_t)all->patterns.count + 1, sizeof *files); /* of a pattern */
  uint32_t *known = calloc((size_t)all->patterns.count + 1, sizeof *known); /* the line of a pattern */
  if (files && known) {
    for (uint32_t i = 1; i <= state->file_numbers.count; i++) files[all->pattern_of[i]]++;
    for (uint32_t i = 1; i <= state->file_numbers.count; i++) {
      const uint32_t pattern = all->pattern_of[i];
      if (!is_grouped(all, state, i)) continue;
      if (!pattern || files[pattern] < PATTERN_LEAST || !known[pattern]) {
        all->lines[all->count] = (file_line){.pattern = text_pool_get(&all->patterns, pattern)};
        known[pattern] = ++all->count;
      }
      all->line_of[i] = known[pattern];
      add_file(all, &all->lines[known[pattern] - 1], state_file_io(state, i));
    }
  }
  free(known);
  free(files);
  return files && known;
}

/* ---- Labels --------------------------------------------------------------------------------------------------------- */

/* The line that a file's line became part of. */
static const file_line *final_line(const file_line *line) {
  while (line->joined) line = line->joined;
  return line;
}

static size_t common_len(const file_line *line) {
  return line->is_folded ? line->folder_len : line->pattern.len;
}

static size_t put(char *out, const char *text, size_t len) {
  memcpy(out, text, len);
  return len;
}

/* "data/{1,203 other files}.bin" */
static dft_text label_of(const file_line *line, const number_range *ranges, uint32_t range_count) {
  const size_t len = common_len(line);
  char *text = malloc(number_ranges_room(ranges, range_count, len) + COUNT_ROOM + line->extension.len);
  char count[FORMAT_BYTES];
  size_t used;
  if (!text) return (dft_text){NULL, 0};
  used = number_ranges_put(text, ranges, line->pattern, len);
  if (line->is_folded)
    used += (size_t)snprintf(text + used, COUNT_ROOM, "%s{%s %sfiles}%s", line->is_deep ? "**/" : "",
                             format_count(count, line->files), line->is_rest ? "other " : "",
                             line->extension.len ? "." : "");
  if (line->is_folded) used += put(text + used, line->extension.text, line->extension.len);
  return (dft_text){text, used};
}

/* ---- Groups --------------------------------------------------------------------------------------------------------- */

/* What is known of the group of a line. */
typedef struct group_plan {
  uint32_t number;                   /* its place in the list, + 1 */
  uint32_t first_range, range_count; /* numbers in what its files have in common */
} group_plan;

/* Plans a group for each line that is one. Returns how many ranges there are. */
static uint32_t plan_groups(group_plan *plans, const file_lines *all, uint32_t *group_count) {
  uint32_t ranges = 0;
  *group_count = 0;
  for (uint32_t i = 0; i < all->count; i++) {
    const file_line *line = &all->lines[i];
    if (line->joined) continue;
    plans[i] = (group_plan){++*group_count, ranges, path_pattern_numbers(line->pattern, common_len(line))};
    ranges += plans[i].range_count;
  }
  return ranges;
}

static int sum_files(file_groups *groups, const file_lines *all, const group_plan *plans, number_range *ranges,
                     const summary_state *state) {
  int is_good = 1;
  for (uint32_t i = 1; is_good && i <= state->file_numbers.count; i++) {
    if (all->line_of[i] == FILE_LEFT_OUT) groups->of_file[i] = FILE_LEFT_OUT;
    if (!is_grouped(all, state, i)) continue;
    const file_line *own = &all->lines[all->line_of[i] - 1], *line = final_line(own);
    const group_plan *plan = &plans[line - all->lines];
    file_group *group = &groups->list[plan->number - 1];
    groups->of_file[i] = plan->number;
    group->files++;
    is_good = io_stats_merge(&group->io, state_file_io(state, i));
    number_ranges_widen(ranges + plan->first_range, plan->range_count, own->pattern, path_of(state, i));
    if (line->pattern.len || !is_good) continue;
    dft_text name = answer_file(state, i); /* a file without a pattern is a group of its own */
    char *copy = malloc(name.len + 1);
    if (copy) memcpy(copy, name.text, name.len);
    group->label = (dft_text){copy, name.len};
    is_good = copy != NULL;
  }
  for (uint32_t i = 0; is_good && i < all->count; i++) {
    const file_line *line = &all->lines[i];
    if (line->joined || !line->pattern.len) continue;
    file_group *group = &groups->list[plans[i].number - 1];
    group->label = label_of(line, ranges + plans[i].first_range, plans[i].range_count);
    is_good = group->label.text != NULL;
  }
  return is_good;
}

static int by_time(const void *a, const void *b) {
  const file_group *one = a, *two = b;
  uint64_t one_ns = io_stats_ns(&one->io), two_ns = io_stats_ns(&two->io);
  if (one_ns != two_ns) return one_ns > two_ns ? -1 : 1;
  return (one->number > two->number) - (one->number < two->number);
}

/* Puts the list in order. 0: no memory. */
static int sort_groups(file_groups *groups, uint32_t file_count) {
  uint32_t *moved = calloc((size_t)groups->count + 1, sizeof *moved);
  if (!moved) return 0;
  for (uint32_t i = 0; i < groups->count; i++) groups->list[i].number = i + 1;
  qsort(groups->list, groups->count, sizeof *groups->list, by_time);
  for (uint32_t i = 0; i < groups->count; i++) moved[groups->list[i].number] = i + 1;
  for (uint32_t i = 1; i <= file_count; i++) {
    if (groups->of_file[i] != FILE_LEFT_OUT) groups->of_file[i] = moved[groups->of_file[i]];
  }
  free(moved);
  return 1;
}

static int make_groups(file_groups *groups, const file_lines *all, const summary_state *state) {
  group_plan *plans = calloc((size_t)all->count + 1, sizeof *plans);
  number_range *ranges = NULL;
  int is_good = 0;
  if (plans) ranges = calloc((size_t)plan_groups(plans, all, &groups->count) + 1, sizeof *ranges);
  groups->list = calloc((size_t)groups->count + 1, sizeof *groups->list);
  groups->of_file = calloc((size_t)state->file_numbers.count + 1, sizeof *groups->of_file);
  if (!groups->list) groups->count = 0;
  if (ranges && groups->list && groups->of_file)
    is_good = sum_files(groups, all, plans, ranges, state) && sort_groups(groups, state->file_numbers.count);
  free(plans);
  free(ranges);
  return is_good;
}

int file_groups_make(file_groups *groups, const summary_state *state, enum file_grouping grouping) {
  const size_t room = (size_t)state->file_numbers.count + 1;
  file_lines all = {.pattern_of = calloc(room, sizeof *all.pattern_of),
                    .lines = calloc(room, sizeof *all.lines),
                    .line_of = calloc(room, sizeof *all.line_of)};
  int is_good = all.pattern_of && all.lines && all.line_of;
  *groups = (file_groups){0};
  if (is_good && grouping == FILES_OF_PROGRAM) groups->left_out = leave_out(&all, state);
  if (is_good && grouping == FILES_SINGLE) is_good = text_pool_add(&all.patterns, "", 0) == 0;
  else if (is_good) is_good = find_patterns(&all, state);
  is_good = is_good && make_lines(&all, state) &&
            (grouping == FILES_SINGLE || fold_lines(all.lines, all.count, all.all_ns, all.all_bytes)) &&
            make_groups(groups, &all, state);
  free_lines(&all);
  return is_good;
}

void file_groups_free(file_groups *groups) {
  for (uint32_t i = 0; i < groups->count; i++) {
    free((char *)groups->list[i].label.text);
    histogram_free(&groups->list[i].io.sizes);
  }
  free(groups->list);
  free(groups->of_file);
  *groups = (file_groups){0};
}
