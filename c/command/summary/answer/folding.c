/* folding.c - lines of a table of files are folded into their folder.
 *
 * The lines are sorted by their pattern: what is below a folder is one range. SPDX-License-Identifier: MIT */
#include "folding.h"

#include <stdlib.h>
#include <string.h>

#define LINES_MOST 4u   /* of a folder, or of an extension in it, that are not folded */
#define LARGE_PART 20u  /* a line with more than this part of the time or the bytes is not folded */
#define DEPTH_MOST 256u /* of folders; deeper ones are not looked into */

static int by_bytes(dft_text one, dft_text two) {
  int order = memcmp(one.text, two.text, one.len < two.len ? one.len : two.len);
  return order ? order : (one.len > two.len) - (one.len < two.len);
}

static int by_pattern(const void *a, const void *b) {
  const file_line *one = *(file_line *const *)a, *two = *(file_line *const *)b;
  int order = by_bytes(one->pattern, two->pattern);
  return order ? order : (one > two) - (one < two);
}

static int by_extension(const void *a, const void *b) {
  const file_line *one = *(file_line *const *)a, *two = *(file_line *const *)b;
  int order = by_bytes(one->extension, two->extension);
  return order ? order : by_pattern(a, b);
}

/* The length of the folder's name below `from`, with the slash; 0: the pattern has no more folders. */
static size_t folder_below(dft_text pattern, size_t from) {
  const char *slash = memchr(pattern.text + from, '/', pattern.len - from);
  return slash ? (size_t)(slash - pattern.text) + 1 - from : 0;
}

static int is_direct(const file_line *line, size_t folder_len) {
  return !line->is_deep && !folder_below(line->pattern, folder_len);
}

/* Makes one line of these; it stands for what is in the folder, or also below. */
static void join(file_line **lines, uint32_t count, size_t folder_len) {
  file_line *first = lines[0];
  int is_deep = 0, is_mixed = 0;
  for (uint32_t i = 0; i < count; i++) {
    is_deep |= !is_direct(lines[i], folder_len);
    is_mixed |= by_bytes(lines[i]->extension, first->extension) != 0;
    if (i) {
      lines[i]->joined = first;
      first->files += lines[i]->files;
    }
  }
  first->is_folded = 1;
  first->folder_len = folder_len;
  first->is_deep = is_deep;
  if (is_mixed) first->extension.len = 0;
}

/* Folds lines of one folder that have the same extension. Returns how many lines are left, at the front. */
static uint32_t fold_extensions(file_line **lines, uint32_t count, size_t folder_len) {
  uint32_t left = 0, end;
  qsort(lines, count, sizeof(void *), by_extension);
  for (uint32_t i = 0; i < count; i = end) {
    for (end = i + 1; end < count && by_bytes(lines[i]->extension, lines[end]->extension) == 0;) end++;
    if (lines[i]->extension.len && end - i > LINES_MOST) {
      join(lines + i, end - i, folder_len);
      lines[left++] = lines[i];
    } else {
      while (i < end) lines[left++] = lines[i++];
    }
  }
  return left;
}

/* Folds what is in a folder and below. Returns how many lines are left, at the front. */
static uint32_t fold_folder(file_line **lines, uint32_t count, size_t folder_len, uint32_t depth) {
  const int is_root = folder_len < 2; /* "/", or nothing: only its own files are folded */
  uint32_t direct = 0, left = 0, end;
  file_line **own = lines;
  for (uint32_t i = 0; i < count; i = end) { /* below; the lines of each folder are neighbours */
    const size_t len = depth < DEPTH_MOST ? folder_below(lines[i]->pattern, folder_len) : 0;
    const char *name = lines[i]->pattern.text + folder_len;
    uint32_t kept = 1;
    for (end = i + 1; len && end < count; end++) {
      dft_text other = lines[end]->pattern;
      if (other.len < folder_len + len || memcmp(other.text + folder_len, name, len) != 0) break;
    }
    if (len) kept = fold_folder(lines + i, end - i, folder_len + len, depth + 1);
    memmove(lines + left, lines + i, kept * sizeof(void *));
    left += kept;
  }
  for (uint32_t i = 0; i < left; i++) { /* the folder's own lines to the front */
    file_line *line = lines[i];
    if (!is_direct(line, folder_len)) continue;
    lines[i] = lines[direct];
    lines[direct++] = line;
  }
  end = fold_extensions(own, direct, folder_len);
  memmove(lines + end, lines + direct, (left - direct) * sizeof(void *));
  left -= direct - end;
  direct = end;
  if (is_root && direct > LINES_MOST) {
    join(lines, direct, folder_len);
    memmove(lines + 1, lines + direct, (left - direct) * sizeof(void *));
    return left - direct + 1;
  }
  if (is_root || left <= LINES_MOST) return left;
  join(lines, left, folder_len);
  return 1;
}

/* Whether a line that was not folded would belong to this one. */
static int covers(const file_line *folded, const file_line *line) {
  const size_t len = folded->folder_len;
  return line->pattern.len > len && memcmp(line->pattern.text, folded->pattern.text, len) == 0 &&
         (folded->is_deep || !folder_below(line->pattern, len)) &&
         (!folded->extension.len || by_bytes(folded->extension, path_pattern_extension(line->pattern)) == 0);
}

int fold_lines(file_line *lines, uint32_t count, uint64_t all_ns, uint64_t all_bytes) {
  file_line **order = calloc((size_t)count + 1, sizeof(void *));
  uint32_t small = 0, large = count, left;
  if (!order) return 0;
  for (uint32_t i = 0; i < count; i++) { /* small lines from the front, large ones from the end */
    file_line *line = &lines[i];
    line->extension = path_pattern_extension(line->pattern);
    if (!line->pattern.len) continue;
    if (line->ns > all_ns / LARGE_PART || line->bytes > all_bytes / LARGE_PART) order[--large] = line;
    else order[small++] = line;
  }
  qsort(order, small, sizeof(void *), by_pattern);
  left = fold_folder(order, small, 0, 0);
  for (uint32_t i = 0; i < left; i++) {
    for (uint32_t k = large; k < count; k++) order[i]->is_rest |= order[i]->is_folded && covers(order[i], order[k]);
  }
  free(order);
  return 1;
}
