/* processlabel.h - how a process is called: its command, its rank, its host and pid. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_PROCESSLABEL_H
#define DFTRACER_PROCESSLABEL_H

#include "command/cli/table.h"
#include "command/summary/state/summarystate.h"
#include "command/trace/commandline.h"

#define LABEL_BYTES 320 /* a host, a process and a rank */

/* "node:4711 rank 3": unique, for programs. Returns its length. */
size_t process_label(char out[LABEL_BYTES], const summary_state *state, uint32_t process);
/* Its command line as the trace has it; empty: not known. */
dft_text process_command(const summary_state *state, uint32_t process);

/* Up to three columns that tell processes apart: command, rank, pid. Without any command: host and pid, rank. */
typedef struct process_columns {
  int has_command, has_rank, has_host;
} process_columns;
process_columns process_columns_of(const summary_state *state);
int process_columns_title(const process_columns *columns, table_column *titles); /* returns their number */
void process_columns_add(const process_columns *columns, table *sheet, const summary_state *state, uint32_t process);

#endif
