/* matrixtable.h - the summary for people: how much went from rank to rank, and through MPI-IO. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_MATRIXTABLE_H
#define DFTRACER_MATRIXTABLE_H

#include <stdio.h>

#include "command/summary/answer/answer.h"

/* At most `top` lines, unless it is a square of all ranks. */
void matrix_table(FILE *out, const summary_answer *answer, uint32_t top);
/* Calls of MPI-IO. What they move is moved again by POSIX calls below them. */
void mpiio_table(FILE *out, const summary_answer *answer, uint32_t top);

#endif
