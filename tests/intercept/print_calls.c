/* print_calls.c - the table of intercepted calls as docs/interception.md has it. SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#define A0 ""
#define A1(a) #a
#define A2(a, b) #a ", " #b
#define A3(a, b, c) #a ", " #b ", " #c
#define A4(a, b, c, d) #a ", " #b ", " #c ", " #d

static const struct row {
  const char *kind, *name, *items;
} rows[] = {
#define CALL(cat, type, name, params, args, subject, result, items) {#cat, #name, items},
#define SPECIAL(cat, name, items) {#cat, #name, items},
#include "../../c/intercept/calls.inc"
};

static const struct other {
  const char *plain, *symbol;
} others[] = {
#define VARIANT(plain, type, symbol, params, args, subject, result, items) {#plain, #symbol},
#define OTHER(plain, symbol) {#plain, #symbol},
#define ALIAS(plain, symbol) {#plain, #symbol},
#include "../../c/intercept/calls.inc"
};
#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* An alias may be one of another form. */
static const char *plain_of(const char *symbol) {
  for (size_t i = 0; i < COUNT(others); i++) {
    if (strcmp(others[i].symbol, symbol) == 0) return plain_of(others[i].plain);
  }
  return symbol;
}

static void print_items(const char *items) {
  while (*items) {
    size_t len = strcspn(items, ", ");
    int is_mode = len == 11 && strncmp(items, "access_mode", len) == 0;
    int is_command = len == 7 && strncmp(items, "command", len) == 0;
    int is_argument = len == 8 && strncmp(items, "argument", len) == 0;
    if (is_mode) printf("mode");
    else if (is_command) printf("cmd");
    else if (is_argument) printf("arg");
    else printf("%.*s", (int)len, items);
    items += len;
    if (*items) printf(", ");
    items += strspn(items, ", ");
  }
}

int main(void) {
  printf("| category | call | arguments | also for |\n|---|---|---|---|\n");
  for (size_t i = 0; i < COUNT(rows); i++) {
    const char *between = "";
    printf("| %s | `%s` | ", rows[i].kind, rows[i].name);
    print_items(rows[i].items);
    printf(" | ");
    for (size_t k = 0; k < COUNT(others); k++) {
      if (strcmp(plain_of(others[k].symbol), rows[i].name) != 0) continue;
      printf("%s`%s`", between, others[k].symbol);
      between = " ";
    }
    printf(" |\n");
  }
  return 0;
}
