/* ranges.c - a program annotated for NVTX. Its first argument says what it does; it knows nothing of dftracer.
 * SPDX-License-Identifier: MIT */
#ifdef WITH_NVTX_2 /* linked with a library; NVTX 3 is in the headers */
#include <nvToolsExt.h>
#else
#include <nvtx3/nvToolsExt.h>
#endif
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 200, DEEP = 70000, MANY = 35000, UNIQUE = 70000, AGAIN = 1000000 };

static nvtxEventAttributes_t named(const char *message) {
  nvtxEventAttributes_t attributes = {0};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = message;
  return attributes;
}

static nvtxEventAttributes_t registered(nvtxStringHandle_t string) {
  nvtxEventAttributes_t attributes = named(NULL);
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = string;
  return attributes;
}

static void push(nvtxDomainHandle_t domain, const char *message) {
  nvtxEventAttributes_t attributes = named(message);
  nvtxDomainRangePushEx(domain, &attributes);
}

/* ---- Everything that is right ------------------------------------------------------------------------------------------ */

static void every_push(nvtxDomainHandle_t solver) {
  nvtxEventAttributes_t wide = named(NULL), string = registered(nvtxDomainRegisterStringA(solver, "registered"));
  nvtxEventAttributes_t plain = named("ex");
  wide.messageType = NVTX_MESSAGE_TYPE_UNICODE;
  wide.message.unicode = L"w\u00efde \u20ac \U0001f600";
  printf("%d", nvtxRangePushA("ascii"));
  printf(" %d", nvtxRangePushW(L"wide \u00e9"));
  printf(" %d", nvtxRangePushEx(&plain));
  printf(" %d", nvtxDomainRangePushEx(solver, &wide));
  printf(" %d", nvtxDomainRangePushEx(solver, &string));
  printf(" |");
  printf(" %d", nvtxDomainRangePop(solver));
  printf(" %d", nvtxDomainRangePop(solver));
  for (int i = 0; i < 3; i++) printf(" %d", nvtxRangePop());
  printf("\n");
}

static void every_payload(nvtxDomainHandle_t solver) {
  nvtxEventAttributes_t event = named("payload");
  nvtxDomainNameCategoryA(solver, 1, "before");
  nvtxDomainNameCategoryA(solver, 1, "input");
  nvtxDomainNameCategoryW(solver, 2, L"\u00fcbergabe");
  nvtxNameCategoryA(1, "of the default domain");
  for (int type = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64; type <= NVTX_PAYLOAD_TYPE_FLOAT; type++) {
    event.payloadType = type;
    event.category = (uint32_t)type - 1; /* 0: none; 1 and 2 have names */
    memset(&event.payload, 0xff, sizeof event.payload);
    if (type == NVTX_PAYLOAD_TYPE_UNSIGNED_INT64) event.payload.ullValue = UINT64_MAX;
    if (type == NVTX_PAYLOAD_TYPE_INT64) event.payload.llValue = INT64_MIN;
    if (type == NVTX_PAYLOAD_TYPE_DOUBLE) event.payload.dValue = 0.1;
    if (type == NVTX_PAYLOAD_TYPE_UNSIGNED_INT32) event.payload.uiValue = UINT32_MAX;
    if (type == NVTX_PAYLOAD_TYPE_INT32) event.payload.iValue = -7;
    if (type == NVTX_PAYLOAD_TYPE_FLOAT) event.payload.fValue = 0.25f;
    nvtxDomainRangePushEx(solver, &event);
    nvtxDomainRangePop(solver);
  }
  event = named("default");
  event.category = 1;
  nvtxMarkEx(&event);
}

static void every(void) {
  nvtxDomainHandle_t solver = nvtxDomainCreateA("solver"), again = nvtxDomainCreateW(L"solver");
  nvtxEventAttributes_t mark = named("mark ex");
  nvtxRangeId_t first, second, third;
  nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "captain");
  every_push(solver);
  every_payload(solver);
  nvtxMarkA("mark");
  nvtxMarkW(L"mark w");
  nvtxDomainMarkEx(again, &mark);
  first = nvtxRangeStartA("first");
  second = nvtxRangeStartW(L"second");
  mark.message.ascii = "third";
  mark.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  mark.payload.llValue = 3;
  third = nvtxDomainRangeStartEx(solver, &mark);
  nvtxRangeEnd(first);
  nvtxRangeEnd(second);
  nvtxDomainRangeEnd(solver, third);
  nvtxDomainDestroy(solver);
}

/* ---- Everything that is wrong ------------------------------------------------------------------------------------------ */

/* Fields behind `size` are poison: who reads them, crashes or records what is not there. */
static void sizes(void) {
  static const uint16_t cuts[] = {0, 4, 8, 16, 24, 31, 32, 40, 47, 48, 64, 65535};
  for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
    union {
      nvtxEventAttributes_t event;
      char bytes[48];
    } cut;
    cut.event = named("whole");
    cut.event.category = 5;
    cut.event.payloadType = NVTX_PAYLOAD_TYPE_INT64;
    cut.event.payload.llValue = 6;
    cut.event.size = cuts[i];
    if (cuts[i] < 48) memset(cut.bytes + (cuts[i] < 4 ? 4 : cuts[i]), 0x01, 48 - (cuts[i] < 4 ? 4 : cuts[i]));
    nvtxRangePushEx(&cut.event);
    nvtxRangePop();
  }
}

static void handles(void) {
  nvtxDomainHandle_t wrong = (nvtxDomainHandle_t)(uintptr_t)0xdeadbeefdeadbeef, one = nvtxDomainCreateA("one");
  nvtxDomainHandle_t other = nvtxDomainCreateA("other"), none = nvtxDomainCreateA(NULL);
  nvtxStringHandle_t of_one = nvtxDomainRegisterStringA(one, "of one");
  nvtxEventAttributes_t events[] = {
    registered((nvtxStringHandle_t)(uintptr_t)0x10),       registered(NULL),
    registered((nvtxStringHandle_t)(uintptr_t)0xfffffff0), registered((nvtxStringHandle_t)(uintptr_t)other),
    registered(nvtxDomainRegisterStringA(one, NULL)),      registered(of_one)};
  for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
    nvtxDomainRangePushEx(other, &events[i]);
    nvtxDomainRangePop(other);
  }
  push(wrong, "wrong domain");
  nvtxDomainRangePop(wrong);
  push((nvtxDomainHandle_t)of_one, "a string for a domain");
  nvtxDomainRangePop((nvtxDomainHandle_t)of_one);
  push(none, "no domain");
  nvtxDomainRangePop(none);
}

static void wrong(void) {
  nvtxEventAttributes_t event = named("strange");
  nvtxRangeId_t id = nvtxRangeStartA("ended twice");
  nvtxRangeEnd(id);
  nvtxRangeStartA("never ended");
  nvtxRangeEnd(id); /* in whose place that one is */
  nvtxRangeEnd(0);
  nvtxRangeEnd(id + 1);
  nvtxRangeEnd(UINT64_MAX);
  event.messageType = 77;
  event.payloadType = (int32_t)0xdfbd0009; /* of the payload extension */
  event.payload.ullValue = 1;
  nvtxRangePushEx(&event);
  nvtxRangePop();
  nvtxRangePushA(NULL);
  nvtxRangePop();
  nvtxRangePushW(NULL);
  nvtxRangePop();
  nvtxRangePushEx(NULL);
  nvtxRangePop();
  nvtxMarkA("\xff\xfe not UTF-8");
  nvtxNameCategoryA(9, NULL);
  nvtxNameOsThreadA(1, "not this thread");
  nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), NULL);
  sizes();
  handles();
  nvtxRangePushA("outer");
  printf("%d", nvtxDomainRangePop(nvtxDomainCreateA("never pushed")));
  printf(" %d", nvtxRangePop());
  printf(" %d\n", nvtxRangePop());
  nvtxMarkA("last");
}

static void interleaved(void) {
  nvtxDomainHandle_t one = nvtxDomainCreateA("one"), two = nvtxDomainCreateA("two");
  for (int i = 0; i < 100; i++) {
    push(one, "a");
    push(two, "b");
    nvtxDomainRangePop(one);
    push(one, "c");
    nvtxDomainRangePop(two);
    nvtxDomainRangePop(one);
  }
}

/* ---- Threads and processes --------------------------------------------------------------------------------------------- */

static nvtxRangeId_t started[THREADS][ROUNDS];

static void *work(void *argument) {
  long number = (long)argument;
  nvtxDomainHandle_t domain = nvtxDomainCreateA("worker");
  for (int i = 0; i < ROUNDS; i++) {
    char name[32];
    nvtxEventAttributes_t event = registered(nvtxDomainRegisterStringA(domain, "outer"));
    event.payloadType = NVTX_PAYLOAD_TYPE_INT64;
    event.payload.llValue = number * ROUNDS + i;
    snprintf(name, sizeof name, "inner %ld", number);
    nvtxDomainRangePushEx(domain, &event);
    nvtxRangePushA(name);
    event.message.registered = nvtxDomainRegisterStringA(domain, "handed over");
    started[number][i] = nvtxDomainRangeStartEx(domain, &event);
    nvtxRangePop();
    nvtxDomainRangePop(domain);
  }
  nvtxRangePushA("open at the thread's end");
  return NULL;
}

static void *finish(void *argument) {
  for (int i = 0; i < ROUNDS; i++) nvtxRangeEnd(started[(long)argument][i]);
  return NULL;
}

static void run_threads(void *(*body)(void *)) {
  pthread_t threads[THREADS];
  for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, body, (void *)i);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

static void forks(void) {
  nvtxDomainHandle_t one = nvtxDomainCreateA("one"), two = nvtxDomainCreateA("two");
  nvtxRangeId_t before = nvtxRangeStartA("started before");
  push(one, "before");
  fflush(stdout);
  if (fork() == 0) {
    push(two, "in the child");
    nvtxDomainRangePop(one); /* began before the fork: must not end the one above */
    nvtxMarkA("after the pop");
    nvtxDomainRangePop(two);
    nvtxRangeEnd(before);
    exit(0);
  }
  wait(NULL);
  nvtxDomainRangePop(one);
  nvtxRangeEnd(before);
}

/* ---- Too much ---------------------------------------------------------------------------------------------------------- */

static void deep(void) {
  for (int i = 0; i < DEEP; i++) nvtxRangePushA("deep");
  for (int i = 0; i < DEEP; i++) nvtxRangePop();
  printf("%d\n", nvtxRangePop());
}

static void many(void) {
  static nvtxRangeId_t ids[MANY];
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < MANY; i++) ids[i] = nvtxRangeStartA("many");
    for (int i = 0; i < MANY; i++) nvtxRangeEnd(ids[i]);
  }
}

/* More names than a trace registers. */
static void unique(void) {
  for (int i = 0; i < UNIQUE; i++) {
    char name[32];
    nvtxRangeId_t id;
    snprintf(name, sizeof name, "pushed %d", i);
    nvtxRangePushA(name);
    snprintf(name, sizeof name, "started %d", i);
    id = nvtxRangeStartA(name);
    snprintf(name, sizeof name, "mark %d", i);
    nvtxMarkA(name);
    nvtxRangeEnd(id);
    nvtxRangePop();
  }
}

static long peak_kib(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

static void again(void) {
  long before;
  for (int i = 0; i < AGAIN + 1000; i++) {
    if (i == 1000) before = peak_kib();
    nvtxDomainRegisterStringA(nvtxDomainCreateA("again"), "and again");
    nvtxDomainNameCategoryA(NULL, 1, i % 2 ? "odd" : "even");
  }
  printf("%ld\n", peak_kib() - before);
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "every") == 0) every();
  else if (strcmp(what, "wrong") == 0) wrong();
  else if (strcmp(what, "interleaved") == 0) interleaved();
  else if (strcmp(what, "fork") == 0) forks();
  else if (strcmp(what, "deep") == 0) deep();
  else if (strcmp(what, "many") == 0) many();
  else if (strcmp(what, "again") == 0) again();
  else if (strcmp(what, "unique") == 0) unique();
  else if (strcmp(what, "threads") == 0) {
    run_threads(work);
    run_threads(finish);
  } else return 2;
  return 0;
}
