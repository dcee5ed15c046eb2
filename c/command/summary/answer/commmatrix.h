/* commmatrix.h - how much went from one rank to another: messages, and one-sided puts and gets. Collectives are not in it. If
 * more than MATRIX_RANKS ranks took part, it is from node to node.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_COMMMATRIX_H
#define DFTRACER_COMMMATRIX_H

#include "command/summary/state/summarystate.h"

#define MATRIX_RANKS 64u
#define NO_NODE INT64_MAX /* of a rank that has no trace */

typedef struct matrix_pair {
  int64_t from, to; /* ranks, or texts that are hashes of hosts */
  peer_stats stats;
} matrix_pair;

typedef struct comm_matrix {
  matrix_pair *pairs; /* by from, then by to */
  uint32_t count;
  int is_by_node;
  uint32_t ranks;     /* that took part */
  peer_stats started; /* by MPI_Start: nothing tells the peers */
} comm_matrix;

int comm_matrix_init(comm_matrix *matrix, const summary_state *state); /* of a sorted state; 0: no memory */
void comm_matrix_free(comm_matrix *matrix);

#endif
