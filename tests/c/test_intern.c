/* test_intern.c - names to references: a text is registered once, by whatever threads, until there is no more room.
 * SPDX-License-Identifier: MIT */
#include "spool/intern.h"

#include <sched.h>

#include "base/hash.h"
#include "session.h"

static dft__spool spool;

static void make(void) {
  CHECK_INT(dft__spool_create(&spool, "spool", 16 << 20), DFT_OK);
}

static uint32_t key(const char *text) {
  return dft__intern(&spool, DFT__NAME_KEY, 0, text, strlen(text));
}

static void the_same_text_has_the_same_reference(void) {
  const dft__name *name;
  uint32_t first;
  make();
  first = key("text");
  CHECK(first >= DFT__KEY_FIRST);
  CHECK_UINT(key("text"), first);
  CHECK(key("texT") != first);
  CHECK(key("text ") != first);
  name = dft__name_at(&spool, first);
  CHECK(name && name == dft__name_own(&spool, first));
  CHECK_BYTES(name->text, name->len, "text", 4);
  CHECK_INT(name->use, DFT__NAME_KEY);
  CHECK_UINT(dft__name_find(spool.base, DFT__NAME_KEY, 0, "text", 4), first);
  CHECK_UINT(dft__name_find(spool.base, DFT__NAME_KEY, 0, "missing", 7), 0);
}

static void uses_and_categories_are_kept_apart(void) {
  uint32_t refs[5];
  make();
  refs[0] = dft__intern(&spool, DFT__NAME_KEY, 0, "x", 1);
  refs[1] = dft__intern(&spool, DFT__NAME_TEXT, 0, "x", 1);
  refs[2] = dft__intern(&spool, DFT__NAME_PATH, 0, "x", 1);
  refs[3] = dft__intern_site(&spool, "x", 1, "a", 1);
  refs[4] = dft__intern_site(&spool, "x", 1, "b", 1);
  for (int i = 0; i < 5; i++) {
    for (int j = 0; j < i; j++) CHECK(refs[i] != refs[j]);
  }
  CHECK_UINT(dft__intern_site(&spool, "x", 1, "a", 1), refs[3]);
  CHECK_BYTES(dft__name_at(&spool, dft__name_at(&spool, refs[4])->cat)->text, 1, "b", 1);
}

/* A hash of a path is in the trace: it depends on nothing but the text. */
static void a_path_has_the_plain_hash(void) {
  make();
  CHECK_UINT(dft__name_at(&spool, dft__intern(&spool, DFT__NAME_PATH, 0, "/etc/hosts", 10))->hash,
             dft__hash("/etc/hosts", 10, 0));
}

static void texts_of_every_length_come_back(void) {
  static uint32_t refs[DFT__NAME_MAX + 1];
  static char text[DFT__NAME_MAX];
  make();
  for (size_t i = 0; i < sizeof text; i++) text[i] = (char)(i * 31);
  for (size_t len = 0; len <= DFT__NAME_MAX; len += 1 + len / 50) {
    refs[len] = dft__intern(&spool, DFT__NAME_TEXT, 0, text, len);
    CHECK(refs[len]);
  }
  for (size_t len = 0; len <= DFT__NAME_MAX; len += 1 + len / 50) {
    const dft__name *name = dft__name_at(&spool, refs[len]);
    CHECK(name);
    CHECK_BYTES(name->text, name->len, text, len);
    CHECK_UINT(dft__intern(&spool, DFT__NAME_TEXT, 0, text, len), refs[len]);
  }
}

static void references_that_lead_nowhere_are_noticed(void) {
  uint32_t ref;
  dft__name *name;
  make();
  ref = key("text");
  CHECK(!dft__name_at(&spool, 0));
  CHECK(!dft__name_at(&spool, 1)); /* in the header */
  CHECK(!dft__name_at(&spool, UINT32_MAX));
  CHECK(!dft__name_at(&spool, (uint32_t)(DFT__GET(spool.header->file_bytes) / 16)));
  name = (dft__name *)(spool.base + (uint64_t)ref * 16);
  name->len = UINT32_MAX;
  CHECK(!dft__name_at(&spool, ref));
  name->len = DFT__NAME_MAX + 1;
  CHECK(!dft__name_at(&spool, ref));
}

/* ---- Threads ------------------------------------------------------------------------------------------------------ */

enum { THREADS = 8, NAMES = FEWER(5000, 1000) };
static uint32_t found[THREADS][NAMES];

static void *register_the_same(void *number) {
  for (int i = 0; i < NAMES; i++) {
    char text[32];
    int which = (i * 7 + (int)(intptr_t)number * 13) % NAMES;
    snprintf(text, sizeof text, "name %d", which);
    found[(intptr_t)number][which] = key(text);
  }
  return NULL;
}

static void threads_find_what_others_registered(void) {
  make();
  on_threads(THREADS, register_the_same);
  for (int i = 0; i < NAMES; i++) {
    CHECK(found[0][i]);
    for (int thread = 1; thread < THREADS; thread++) CHECK_UINT(found[thread][i], found[0][i]);
  }
}

static void *register_own(void *number) {
  for (int i = 0; i < NAMES; i++) {
    char text[32];
    snprintf(text, sizeof text, "thread %d name %d", (int)(intptr_t)number, i);
    found[(intptr_t)number][i] = key(text);
    CHECK_UINT(key(text), found[(intptr_t)number][i]);
  }
  return NULL;
}

static void threads_register_beside_each_other(void) {
  make();
  on_threads(THREADS, register_own);
  for (int thread = 0; thread < THREADS; thread++) {
    for (int i = 0; i < NAMES; i++) {
      char text[32];
      const dft__name *name = dft__name_at(&spool, found[thread][i]);
      int len = snprintf(text, sizeof text, "thread %d name %d", thread, i);
      CHECK(name);
      CHECK_BYTES(name->text, name->len, text, (size_t)len);
    }
  }
}

enum { RACERS = 2 };
static _Atomic int arrived;

/* Each path by all threads in the same moment, as far as that can be had. */
static void *register_paths(void *number) {
  (void)number;
  for (int i = 0; i < NAMES; i++) {
    char text[32];
    int len = snprintf(text, sizeof text, "/path/%d", i);
    arrived++;
    for (int tries = 0; arrived < RACERS * (i + 1); tries++) {
      if (tries > 1000) sched_yield();
    }
    CHECK(dft__intern(&spool, DFT__NAME_PATH, 0, text, (size_t)len));
  }
  return NULL;
}

/* Whoever lost the race for a text is marked: its definition is not written twice. */
static void every_path_waits_for_its_definition_once(void) {
  int alive = 0, dead = 0;
  make();
  on_threads(RACERS, register_paths);
  for (uint32_t ref = DFT__GET(spool.header->pending_paths); ref;) {
    const dft__name *name = dft__name_at(&spool, ref);
    CHECK(name && name->use == DFT__NAME_PATH);
    if (DFT__GET(name->is_dead)) dead++;
    else alive++;
    ref = DFT__GET(name->pending);
  }
  CHECK_INT(alive, NAMES);
  CHECK(dead < NAMES);
}

/* ---- Room --------------------------------------------------------------------------------------------------------- */

static void a_million_names_are_too_many_and_do_no_harm(void) {
  enum { COUNT = FEWER(1000000, 200000) };
  int registered = 0;
  uint32_t first, top;
  make();
  first = key("a name 0");
  for (int i = 0; i < COUNT; i++) {
    char text[32];
    snprintf(text, sizeof text, "a name %d", i);
    registered += key(text) != 0;
  }
  top = (uint32_t)DFT__GET(spool.header->top);
  CHECK(registered > 60000 && registered <= (int)DFT__NAMES_MAX);
  CHECK(top < 2 * DFT__NAMES_BYTES);
  CHECK_UINT(key("a name 0"), first);
  CHECK_UINT(key("one more"), 0);
}

static void huge_names_have_a_limit_too(void) {
  static char text[DFT__NAME_MAX];
  int registered = 0;
  make();
  memset(text, 'x', sizeof text);
  for (int i = 0; i < 20000; i++) {
    snprintf(text, sizeof text, "%d", i);
    registered += dft__intern(&spool, DFT__NAME_TEXT, 0, text, sizeof text) != 0;
  }
  CHECK(registered > 1000);
  CHECK(DFT__GET(spool.header->top) < 2 * DFT__NAMES_BYTES);
}

int main(void) {
  RUN(the_same_text_has_the_same_reference);
  RUN(uses_and_categories_are_kept_apart);
  RUN(a_path_has_the_plain_hash);
  RUN(texts_of_every_length_come_back);
  RUN(references_that_lead_nowhere_are_noticed);
  RUN(threads_find_what_others_registered);
  RUN(threads_register_beside_each_other);
  RUN(every_path_waits_for_its_definition_once);
  RUN(a_million_names_are_too_many_and_do_no_harm);
  RUN(huge_names_have_a_limit_too);
  return failed_cases;
}
