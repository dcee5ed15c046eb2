/* jobs.c - jobs with an unusual end or set-up; the first argument says which.
 * SPDX-License-Identifier: MIT */
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define CALLS 100
static int me, ranks;

static void reduce_often(void) {
  for (int i = 0; i < CALLS; i++) {
    double value = i, sum;
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

/* Each thread sends to itself in a communicator of its own. */
static void *exchange(void *own) {
  MPI_Comm comm = *(MPI_Comm *)own;
  for (int i = 0; i < CALLS; i++) {
    int from = i, to;
    MPI_Request requests[2];
    MPI_Irecv(&to, 1, MPI_INT, me, i, comm, &requests[0]);
    MPI_Isend(&from, 1, MPI_INT, me, i, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  return NULL;
}

static void threads(void) {
  pthread_t thread[4];
  MPI_Comm comm[4];
  for (int i = 0; i < 4; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
  for (int i = 0; i < 4; i++) pthread_create(&thread[i], NULL, exchange, &comm[i]);
  for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
  for (int i = 0; i < 4; i++) MPI_Comm_free(&comm[i]);
}

static jmp_buf back;
static void jump_back(MPI_Comm *comm, int *code, ...) {
  (void)comm, (void)code;
  longjmp(back, 1);
}

/* Deeper than the call that was left, with something of its own in its place. */
static __attribute__((noinline)) int reduce_deeply(int levels) {
  volatile int room[100] = {levels};
  if (levels) reduce_deeply(levels - 1);
  else reduce_often();
  return room[levels];
}

static void leave_a_call(void) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(jump_back, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  if (!setjmp(back)) MPI_Send(&me, 1, MPI_INT, ranks + 5, 0, MPI_COMM_WORLD);
  reduce_deeply(5);
  MPI_Errhandler_free(&handler);
}

static ucontext_t main_line;
static void switch_back(MPI_Comm *comm, int *code, ...) {
  (void)comm, (void)code;
  setcontext(&main_line);
}

static void send_to_nobody(void) {
  MPI_Send(&me, 1, MPI_INT, ranks + 5, 0, MPI_COMM_WORLD);
}

#define STACK_BYTES (1 << 20)

static void run_on(char *stack, void (*function)(void)) {
  ucontext_t own;
  getcontext(&own);
  own.uc_stack.ss_sp = stack;
  own.uc_stack.ss_size = STACK_BYTES;
  own.uc_link = &main_line;
  makecontext(&own, function, 0);
  swapcontext(&main_line, &own);
}

/* On a stack that is gone then. The next calls are on another one, below it. */
static void leave_a_stack(void) {
  MPI_Errhandler handler;
  char *stacks = mmap(NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MPI_Comm_create_errhandler(switch_back, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  run_on(stacks + STACK_BYTES, send_to_nobody);
  munmap(stacks + STACK_BYTES, STACK_BYTES);
  run_on(stacks, reduce_often);
  MPI_Errhandler_free(&handler);
}

static MPI_Comm freed;
static void *free_slowly(void *unused) {
  MPI_Comm_free(&freed); /* with tool.c, it returns long after the library has the handle back */
  return unused;
}

/* Another thread gets the handle, while the one that gave it back is still in its call. */
static void use_again(void) {
  pthread_t thread;
  MPI_Comm used;
  MPI_Request request;
  MPI_Comm_dup(MPI_COMM_WORLD, &freed);
  pthread_create(&thread, NULL, free_slowly, NULL);
  usleep(100 * 1000);
  MPI_Comm_dup(MPI_COMM_WORLD, &used);
  for (int tag = 0; tag < 2; tag++) {
    MPI_Isend(&me, 1, MPI_INT, MPI_PROC_NULL, tag, used, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (tag == 0) pthread_join(thread, NULL);
  }
  MPI_Comm_free(&used);
}

static void spawn(char *program, int is_multiple) {
  char *words[] = {"child", NULL}, **each[] = {words};
  MPI_Info info = MPI_INFO_NULL;
  MPI_Comm children, all;
  int value = 1, sum = 0, one = 1;
  if (is_multiple)
    MPI_Comm_spawn_multiple(1, &program, each, &one, &info, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
  else MPI_Comm_spawn(program, words, 1, info, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
  MPI_Intercomm_merge(children, 0, &all);
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, all);
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&children);
  if (sum != ranks + 1) exit(3);
}

static void be_spawned(void) {
  MPI_Comm parent, all;
  int value = 1, sum;
  MPI_Comm_get_parent(&parent);
  MPI_Intercomm_merge(parent, 1, &all);
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, all);
  MPI_Comm_free(&all);
  MPI_Comm_disconnect(&parent);
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  int provided, code;
  if (strcmp(what, "threads") == 0 || strcmp(what, "again") == 0)
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  else MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (strcmp(what, "threads") == 0) {
    if (provided == MPI_THREAD_MULTIPLE) threads();
    else puts("no threads");
  } else if (strcmp(what, "abort") == 0) {
    reduce_often();
    if (me == 1) MPI_Abort(MPI_COMM_WORLD, 7);
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (strcmp(what, "kill") == 0) {
    reduce_often();
    if (me == 1) raise(SIGKILL);
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (strcmp(what, "errors") == 0) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    code = MPI_Send(&me, 1, MPI_INT, ranks + 5, 0, MPI_COMM_WORLD);
    printf("failed %d\n", code != MPI_SUCCESS);
  } else if (strcmp(what, "jump") == 0) {
    leave_a_call();
  } else if (strcmp(what, "fiber") == 0) {
    leave_a_stack();
  } else if (strcmp(what, "again") == 0) {
    use_again();
  } else if (strcmp(what, "spawn") == 0) {
    spawn(argv[0], 0);
    spawn(argv[0], 1);
  } else if (strcmp(what, "child") == 0) {
    be_spawned();
  } else if (strcmp(what, "pmpi") == 0) {
    int value = 1, sum;
    for (int i = 0; i < 3; i++) PMPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++) MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
