/* mpicall.c - what a function of MPI does.
 * SPDX-License-Identifier: MIT */
#include "mpicall.h"

#include <string.h>

/* Names without MPI_, _c, _init, and the I of those that only begin; in lower case. A function that is not here is
 * MPI_OTHER. */
static const struct {
  const char *name;
  uint8_t kind, fence;
} calls[] = {
  {"send", MPI_SEND, FENCE_NEVER},
  {"bsend", MPI_SEND, FENCE_NEVER},
  {"ssend", MPI_SEND, FENCE_NEVER},
  {"rsend", MPI_SEND, FENCE_NEVER},
  {"recv", MPI_RECEIVE, FENCE_NEVER},
  {"probe", MPI_RECEIVE, FENCE_NEVER},  /* see is_probe */
  {"mprobe", MPI_RECEIVE, FENCE_NEVER}, /* the wait for a message that only MPI_Mrecv can take then */
  {"iprobe", MPI_OTHER, FENCE_NEVER},
  {"improbe", MPI_OTHER, FENCE_NEVER}, /* nothing tells whether it found one */
  {"sendrecv", MPI_EXCHANGE, FENCE_NEVER},
  {"sendrecv_replace", MPI_EXCHANGE, FENCE_NEVER},
  {"put", MPI_PUT, FENCE_NEVER},
  {"rput", MPI_PUT, FENCE_NEVER},
  {"accumulate", MPI_PUT, FENCE_NEVER},
  {"raccumulate", MPI_PUT, FENCE_NEVER},
  {"get", MPI_GET, FENCE_NEVER},
  {"rget", MPI_GET, FENCE_NEVER},
  {"wait", MPI_COMPLETE, FENCE_NEVER},
  {"waitall", MPI_COMPLETE, FENCE_NEVER},
  {"waitany", MPI_COMPLETE, FENCE_NEVER},
  {"waitsome", MPI_COMPLETE, FENCE_NEVER},
  {"test", MPI_COMPLETE, FENCE_NEVER},
  {"testall", MPI_COMPLETE, FENCE_NEVER},
  {"testany", MPI_COMPLETE, FENCE_NEVER},
  {"testsome", MPI_COMPLETE, FENCE_NEVER},
  {"start", MPI_START, FENCE_NEVER},
  {"startall", MPI_START, FENCE_NEVER},
  {"barrier", MPI_ALL, FENCE_ALWAYS},
  {"allreduce", MPI_ALL, FENCE_WITH_DATA},
  {"allgather", MPI_ALL, FENCE_WITH_DATA},
  {"alltoall", MPI_ALL, FENCE_WITH_DATA},
  {"reduce_scatter_block", MPI_ALL, FENCE_WITH_DATA},
  {"allgatherv", MPI_ALL, FENCE_NEVER}, /* a rank may contribute nothing to these */
  {"alltoallv", MPI_ALL, FENCE_NEVER},
  {"alltoallw", MPI_ALL, FENCE_NEVER},
  {"reduce_scatter", MPI_ALL, FENCE_NEVER},
  {"bcast", MPI_FROM_ROOT, FENCE_NEVER},
  {"scatter", MPI_FROM_ROOT, FENCE_NEVER},
  {"scatterv", MPI_FROM_ROOT, FENCE_NEVER},
  {"reduce", MPI_TO_ROOT, FENCE_NEVER},
  {"gather", MPI_TO_ROOT, FENCE_NEVER},
  {"gatherv", MPI_TO_ROOT, FENCE_NEVER},
  {"scan", MPI_PARTLY, FENCE_NEVER},
  {"exscan", MPI_PARTLY, FENCE_NEVER},
  {"neighbor_allgather", MPI_PARTLY, FENCE_NEVER},
  {"neighbor_allgatherv", MPI_PARTLY, FENCE_NEVER},
  {"neighbor_alltoall", MPI_PARTLY, FENCE_NEVER},
  {"neighbor_alltoallv", MPI_PARTLY, FENCE_NEVER},
  {"neighbor_alltoallw", MPI_PARTLY, FENCE_NEVER},
  {"comm_dup", MPI_ALL, FENCE_NEVER},
  {"comm_dup_with_info", MPI_ALL, FENCE_NEVER},
  {"comm_split", MPI_ALL, FENCE_NEVER},
  {"comm_split_type", MPI_ALL, FENCE_NEVER},
  {"comm_create", MPI_ALL, FENCE_NEVER},
  {"cart_create", MPI_ALL, FENCE_NEVER},
  {"cart_sub", MPI_ALL, FENCE_NEVER},
  {"graph_create", MPI_ALL, FENCE_NEVER},
  {"dist_graph_create", MPI_ALL, FENCE_NEVER},
  {"dist_graph_create_adjacent", MPI_ALL, FENCE_NEVER},
  {"comm_idup", MPI_ALL, FENCE_NEVER}, /* the I is not the first letter; see is_begun below */
  {"comm_idup_with_info", MPI_ALL, FENCE_NEVER},
  {"win_create", MPI_ALL, FENCE_NEVER},
  {"win_allocate", MPI_ALL, FENCE_NEVER},
  {"win_allocate_shared", MPI_ALL, FENCE_NEVER},
  {"win_create_dynamic", MPI_ALL, FENCE_NEVER},
};

#define NAME_MOST 48

static int cut(char *name, const char *end) {
  size_t len = strlen(name), end_len = strlen(end);
  if (len <= end_len || strcmp(name + len - end_len, end) != 0) return 0;
  name[len - end_len] = '\0';
  return 1;
}

static int find(const char *name, mpi_call *found) {
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    if (strcmp(name, calls[i].name) != 0) continue;
    found->kind = calls[i].kind;
    found->fence = calls[i].fence;
    return 1;
  }
  return 0;
}

static int is(dft_text text, const char *word) {
  return text.len == strlen(word) && memcmp(text.text, word, text.len) == 0;
}

mpi_call mpi_call_classify(dft_text name, dft_text cat) {
  mpi_call found = {.kind = MPI_NONE};
  char plain[NAME_MOST];
  if (is(cat, "MPIIO"))
    return (mpi_call){.kind = MPI_FILE, .is_begun = name.len > 10 && memcmp(name.text, "MPI_File_i", 10) == 0};
  if (!is(cat, "MPI")) return found;
  found.kind = MPI_OTHER;
  if (name.len < 5 || name.len >= NAME_MOST || memcmp(name.text, "MPI_", 4) != 0) return found;
  for (size_t i = 4; i <= name.len; i++) {
    const char letter = i < name.len ? name.text[i] : '\0';
    plain[i - 4] = letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
  }
  cut(plain, "_c");
  found.is_prepared = (uint8_t)cut(plain, "_init");
  found.is_begun = strncmp(plain, "comm_idup", 9) == 0 || strcmp(plain, "rput") == 0 || strcmp(plain, "rget") == 0 ||
                   strcmp(plain, "raccumulate") == 0;
  found.is_probe = strcmp(plain, "probe") == 0;
  if (!find(plain, &found) && plain[0] == 'i') found.is_begun = (uint8_t)find(plain + 1, &found);
  return found;
}
