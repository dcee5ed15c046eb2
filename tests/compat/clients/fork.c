/* fork.c - the child of a traced process records into a trace of its own, without another initialise call. */
#include <dftracer/dftracer.h>
#include <sys/wait.h>
#include <unistd.h>

static void work(int number) {
  DFTRACER_C_FUNCTION_START();
  DFTRACER_C_FUNCTION_UPDATE_INT("number", number);
  usleep(300);
  DFTRACER_C_FUNCTION_END();
}

int main(void) {
  int status;
  pid_t child;
  DFTRACER_C_INIT(NULL, NULL, NULL);
  work(1);
  child = fork();
  if (child == 0) {
    work(2);
    work(3);
    return 0;
  }
  waitpid(child, &status, 0);
  work(4);
  DFTRACER_C_FINI();
  return status;
}
