/* test_request.c - requests are found by their handles, also if several have the same one.
 * SPDX-License-Identifier: MIT */
#include <pthread.h>

#include "check.h"
#include "intercept/mpi/request.h"

static dft__request take(uint64_t handle) {
  dft__request request = {0, -1};
  CHECK_INT(dft__request_take(handle, &request), DFT__REQUEST_COMPLETE);
  return request;
}

static void a_request_is_found_once(void) {
  dft__request request;
  CHECK(!dft__request_take(7, &request));
  dft__request_begin(7, 100, 8);
  request = take(7);
  CHECK_INT(request.id, 100);
  CHECK_INT(request.bytes, 8);
  CHECK(!dft__request_take(7, &request));
}

static void the_same_handle_keeps_the_order(void) {
  dft__request request;
  for (uint64_t i = 1; i <= 3; i++) dft__request_begin(9, i, (int64_t)i * 10);
  for (uint64_t i = 1; i <= 3; i++) CHECK_INT(take(9).id, i);
  CHECK(!dft__request_take(9, &request));
}

static void *begin_elsewhere(void *unused) {
  dft__request_begin(11, 500, 5);
  return unused;
}

static void a_thread_gets_its_own_first(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, begin_elsewhere, NULL);
  pthread_join(thread, NULL);
  dft__request_begin(11, 600, 6);
  CHECK_INT(take(11).id, 600);
  CHECK_INT(take(11).id, 500); /* a request may be waited for by another thread */
}

#define MANY 60000u

static void *begin_many(void *unused) {
  for (uint64_t id = 1; id <= MANY; id++) dft__request_begin(15, id, (int64_t)id);
  return unused;
}

/* With one that this thread began between them. A list of all that is searched for each takes minutes. */
static void one_thread_begins_many_and_another_completes_them(void) {
  for (int i = 0; i < 20; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, begin_many, NULL);
    pthread_join(thread, NULL);
    dft__request_begin(15, MANY + 1, 1);
    CHECK_INT(take(15).id, MANY + 1);
    for (uint64_t id = 1; id <= MANY; id++) CHECK_INT(take(15).id, id);
  }
}

#define THREADS 300 /* more than have a place in the list of threads */
static pthread_barrier_t barrier;

static void *begin_one(void *bytes) {
  dft__request_begin(17, 1, (int64_t)(intptr_t)bytes);
  pthread_barrier_wait(&barrier); /* all have begun */
  pthread_barrier_wait(&barrier); /* all are taken */
  return NULL;
}

static void requests_of_many_threads_are_found(void) {
  pthread_t threads[THREADS];
  dft__request request;
  int64_t bytes = 0;
  pthread_barrier_init(&barrier, NULL, THREADS + 1);
  for (intptr_t i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, begin_one, (void *)(i + 1)) == 0);
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < THREADS; i++) bytes += take(17).bytes;
  CHECK_INT(bytes, THREADS * (THREADS + 1) / 2);
  CHECK_INT(dft__request_take(17, &request), DFT__REQUEST_UNKNOWN);
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

static void a_persistent_request_stays(void) {
  dft__request request;
  dft__request_prepare(13, 24);
  CHECK_INT(dft__request_take(13, &request), DFT__REQUEST_IDLE);
  for (uint64_t id = 1; id <= 2; id++) {
    CHECK_INT(dft__request_start(13, id), 24);
    request = take(13);
    CHECK_INT(request.id, id);
    CHECK_INT(request.bytes, 24);
  }
  CHECK_INT(dft__request_take(13, &request), DFT__REQUEST_IDLE);
  dft__request_drop(13);
  CHECK(!dft__request_take(13, &request));
  CHECK_INT(dft__request_start(13, 1), -1);
}

static void what_finds_no_room_is_not_found(void) {
  dft__request request;
  int64_t found = 0;
  for (uint64_t i = 1; i <= 70000; i++) dft__request_begin(i << 4, i, 1);
  for (uint64_t i = 1; i <= 70000; i++) {
    if (!dft__request_take(i << 4, &request)) continue;
    CHECK_INT(request.id, i);
    found++;
  }
  CHECK_INT(found, 65536);
  dft__request_begin(7, 1, 1); /* all cells are free again */
  CHECK_INT(take(7).id, 1);
}

int main(void) {
  a_request_is_found_once();
  the_same_handle_keeps_the_order();
  a_thread_gets_its_own_first();
  one_thread_begins_many_and_another_completes_them();
  requests_of_many_threads_are_found();
  a_persistent_request_stays();
  what_finds_no_room_is_not_found();
  return 0;
}
