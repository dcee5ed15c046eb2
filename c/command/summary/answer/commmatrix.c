/* commmatrix.c - how much went from one rank to another.
 * SPDX-License-Identifier: MIT */
#include "commmatrix.h"

#include <stdlib.h>

/* Ranks that have a trace, and their nodes. */
typedef struct rank_nodes {
  numbering ranks;
  int64_t *nodes; /* by number */
} rank_nodes;

/* 0: no memory. */
static int find_nodes(rank_nodes *all, const summary_state *state) {
  *all = (rank_nodes){.nodes = calloc((size_t)state->process_count + 1, sizeof *all->nodes)};
  all->ranks.limit = UINT32_MAX - 1;
  for (uint32_t i = 1; all->nodes && i <= state->process_count; i++) {
    const state_process *process = &state->processes[i];
    uint32_t number;
    int is_new;
    if (process->rank == NO_NUMBER || !process->counts.comm.mail.peer_numbers.count) continue;
    number = numbering_of(&all->ranks, (uint64_t)process->rank, 0, &is_new);
    if (!number) return 0;
    all->nodes[number] = process->host;
  }
  return all->nodes != NULL;
}

static int64_t node_of(const rank_nodes *all, int64_t rank) {
  uint32_t number = numbering_find(&all->ranks, (uint64_t)rank, 0);
  return number ? all->nodes[number] : NO_NODE;
}

/* How many ranks sent or received; 0: no memory. */
static uint32_t count_ranks(const summary_state *state) {
  numbering ranks = {.limit = UINT32_MAX - 1};
  uint32_t count;
  int is_new, is_good = 1;
  for (uint32_t i = 1; i <= state->process_count; i++) {
    const messages *mail = &state->processes[i].counts.comm.mail;
    if (mail->peer_numbers.count) is_good &= numbering_of(&ranks, (uint64_t)state->processes[i].rank, 0, &is_new) != 0;
    for (uint32_t j = 1; j <= mail->peer_numbers.count; j++)
      is_good &= numbering_of(&ranks, mail->peer_numbers.keys[j].a >> 1, 0, &is_new) != 0;
  }
  count = ranks.count;
  numbering_free(&ranks);
  return is_good ? count : 0;
}

static int by_place(const void *a, const void *b) {
  const matrix_pair *one = a, *two = b;
  if (one->from != two->from) return one->from < two->from ? -1 : 1;
  return (one->to > two->to) - (one->to < two->to);
}

/* Makes one of pairs that are equal. */
static void join_pairs(comm_matrix *matrix) {
  uint32_t kept = 0;
  if (matrix->count) qsort(matrix->pairs, matrix->count, sizeof *matrix->pairs, by_place);
  for (uint32_t i = 0; i < matrix->count; i++) {
    if (kept && by_place(&matrix->pairs[kept - 1], &matrix->pairs[i]) == 0) {
      matrix->pairs[kept - 1].stats.calls += matrix->pairs[i].stats.calls;
      matrix->pairs[kept - 1].stats.bytes += matrix->pairs[i].stats.bytes;
    } else {
      matrix->pairs[kept++] = matrix->pairs[i];
    }
  }
  matrix->count = kept;
}

static void add_process(comm_matrix *matrix, const state_process *process, const rank_nodes *nodes) {
  const messages *mail = &process->counts.comm.mail;
  matrix->started.calls += mail->started.calls;
  matrix->started.bytes += mail->started.bytes;
  for (uint32_t i = 1; i <= mail->peer_numbers.count; i++) {
    const uint64_t key = mail->peer_numbers.keys[i].a;
    const int64_t peer = (int64_t)(key >> 1), own = process->rank;
    matrix_pair pair = {own, peer, mail->peers[i]};
    if (key & 1) pair = (matrix_pair){peer, own, mail->peers[i]};
    if (matrix->is_by_node) {
      pair.from = pair.from == own ? (int64_t)process->host : node_of(nodes, pair.from);
      pair.to = pair.to == own ? (int64_t)process->host : node_of(nodes, pair.to);
    }
    matrix->pairs[matrix->count++] = pair;
  }
}

int comm_matrix_init(comm_matrix *matrix, const summary_state *state) {
  size_t all = 0;
  rank_nodes nodes = {0};
  int is_good;
  *matrix = (comm_matrix){0};
  for (uint32_t i = 1; i <= state->process_count; i++) all += state->processes[i].counts.comm.mail.peer_numbers.count;
  matrix->ranks = count_ranks(state);
  matrix->is_by_node = matrix->ranks > MATRIX_RANKS;
  matrix->pairs = calloc(all + 1, sizeof *matrix->pairs);
  is_good = matrix->pairs && (matrix->ranks || !all) && find_nodes(&nodes, state);
  for (uint32_t i = 1; is_good && i <= state->process_count; i++) add_process(matrix, &state->processes[i], &nodes);
  if (is_good) join_pairs(matrix);
  numbering_free(&nodes.ranks);
  free(nodes.nodes);
  return is_good;
}

void comm_matrix_free(comm_matrix *matrix) {
  free(matrix->pairs);
  *matrix = (comm_matrix){0};
}
