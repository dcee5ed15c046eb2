/* vocabularyfile.c - the user's own rows of the vocabulary.
 * SPDX-License-Identifier: MIT */
#include "vocabularyfile.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FIELDS 3

/* Takes the next word of a line out of it: blanks separate words, quotes keep blanks, # begins a comment. NULL: there is none;
 * *is_open: a quote has no end. */
static char *next_word(char **line, int *is_open) {
  char *at = *line, *word, *to, quote;
  while (isspace((unsigned char)*at)) at++;
  if (!*at || *at == '#') return NULL;
  quote = *at == '"' || *at == '\'' ? *at++ : '\0';
  word = to = at;
  while (*at && (quote ? *at != quote : !isspace((unsigned char)*at))) *to++ = *at++;
  *is_open = quote && !*at;
  *line = *at ? at + 1 : at;
  *to = '\0';
  return word;
}

static void list_words(char *text, size_t bytes) {
  size_t len = 0;
  for (int i = 0; i < ACTIVITIES && len < bytes; i++)
    len += (size_t)snprintf(text + len, bytes - len, "%s%s", i ? ", " : "", activity_word((enum activity)i));
}

static int find_activity(const char *word) {
  for (int i = 0; i < ACTIVITIES; i++) {
    if (strcmp(activity_word((enum activity)i), word) == 0) return i;
  }
  return -1;
}

static int add_row(vocabulary *own, int activity, const char *cat, const char *name) {
  vocabulary_row *row;
  if (own->count == own->capacity) {
    uint32_t capacity = own->capacity ? own->capacity * 2 : 16;
    vocabulary_row *more = realloc(own->rows, capacity * sizeof *more);
    if (!more) return 0;
    own->rows = more;
    own->capacity = capacity;
  }
  row = &own->rows[own->count];
  *row = (vocabulary_row){(enum activity)activity, strdup(cat), strdup(name), ""};
  own->count++;
  return row->cat && row->name;
}

/* 0: the line is wrong, and `problem` says why. */
static int read_line(vocabulary *own, char *line, char *problem, size_t bytes) {
  char *fields[FIELDS + 1] = {0}, words[512];
  int count = 0, is_open = 0, activity;
  while (count <= FIELDS && !is_open && (fields[count] = next_word(&line, &is_open)) != NULL) count++;
  if (is_open) return snprintf(problem, bytes, "a quote has no end") < 0;
  if (!count) return 1;
  if (count != FIELDS)
    return snprintf(problem, bytes, "a line has three words: class, category and name; quote names with blanks") < 0;
  activity = find_activity(fields[0]);
  list_words(words, sizeof words);
  if (activity < 0)
    return snprintf(problem, bytes, "there is no class \"%s\"; it is one of %s%s", fields[0], words,
                    strcasecmp(fields[0], "io") == 0 ? "; of I/O: read, write or metadata" : "") < 0;
  return add_row(own, activity, fields[1], fields[2]) || snprintf(problem, bytes, "out of memory") < 0;
}

int vocabulary_file_load(vocabulary *own, const char *path, char *problem, size_t problem_bytes) {
  FILE *file = fopen(path, "re");
  char *line = NULL, reason[640];
  size_t room = 0;
  uint64_t number = 0;
  int is_good = file != NULL;
  if (!file) snprintf(problem, problem_bytes, "%s", strerror(errno));
  while (is_good && getline(&line, &room, file) >= 0) {
    number++;
    is_good = read_line(own, line, reason, sizeof reason);
    if (!is_good) snprintf(problem, problem_bytes, "line %llu: %s", (unsigned long long)number, reason);
  }
  if (is_good && ferror(file)) {
    snprintf(problem, problem_bytes, "it cannot be read");
    is_good = 0;
  }
  free(line);
  if (file) fclose(file);
  return is_good;
}

void vocabulary_file_free(vocabulary *own) {
  for (uint32_t i = 0; i < own->count; i++) {
    free((char *)own->rows[i].cat);
    free((char *)own->rows[i].name);
  }
  free(own->rows);
  *own = (vocabulary){0};
}
