/* threads.c - regions on several threads at once, begun and ended while others come and go. */
#include <dftracer/dftracer.h>
#include <pthread.h>
#include <unistd.h>

static int load(int item) {
  DFTRACER_C_FUNCTION_START();
  DFTRACER_C_FUNCTION_UPDATE_INT("item", item);
  usleep(300);
  return item * 2;
}

static void *worker(void *argument) {
  int number = *(int *)argument;
  DFTRACER_C_FUNCTION_START();
  DFTRACER_C_FUNCTION_UPDATE_INT("worker", number);
  for (int i = 0; i < 3; i++) {
    DFTRACER_C_REGION_START(ITEM);
    DFTRACER_C_REGION_UPDATE_INT(ITEM, "result", load(10 * number + i));
    usleep(200);
    DFTRACER_C_REGION_END(ITEM);
  }
  DFTRACER_C_FUNCTION_END();
  return NULL;
}

int main(void) {
  pthread_t threads[4];
  int numbers[4] = {1, 2, 3, 4};
  DFTRACER_C_INIT_NO_BIND(NULL, NULL, NULL);
  DFTRACER_C_REGION_START(ALL);
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, worker, &numbers[i]);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  DFTRACER_C_REGION_END(ALL);
  DFTRACER_C_FINI();
  return 0;
}
