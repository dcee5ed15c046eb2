/* print_calls.c - the table of intercepted calls as docs/interception.md has it. SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define A0 ""
#define A1(a) #a
#define A2(a, b) #a ", " #b
#define A3(a, b, c) #a ", " #b ", " #c
#define A4(a, b, c, d) #a ", " #b ", " #c ", " #d

static const struct row {
  const char *cat, *action, *name, *items;
} rows[] = {
#define CALL(cat, action, type, name, params, args, subject, result, items) {#cat, #action, #name, items},
#define SPECIAL(cat, action, name, items) {#cat, #action, #name, items},
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

static const struct item {
  const char *id, *name;
} names[] = {
#define ITEM(id, name, type) {#id, name},
#include "../../c/intercept/calls.inc"
};
#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* An alias may name a variant. */
static const char *plain_of(const char *symbol) {
  for (size_t i = 0; i < COUNT(others); i++) {
    if (strcmp(others[i].symbol, symbol) == 0) return plain_of(others[i].plain);
  }
  return symbol;
}

static void print_items(const char *items) {
  while (*items) {
    size_t len = strcspn(items, ", ");
    for (size_t i = 0; i < COUNT(names); i++) {
      if (strlen(names[i].id) == len && strncmp(items, names[i].id, len) == 0) printf("%s", names[i].name);
    }
    items += len;
    if (*items) printf(", ");
    items += strspn(items, ", ");
  }
}

int main(void) {
  printf("| category | call | action | arguments | also for |\n|---|---|---|---|---|\n");
  for (size_t i = 0; i < COUNT(rows); i++) {
    const char *between = "";
    printf("| %s | `%s` | ", rows[i].cat, rows[i].name);
    if (strcmp(rows[i].action, "OTHER") != 0) {
      for (const char *c = rows[i].action; *c; c++) putchar(tolower(*c));
    }
    printf(" | ");
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
