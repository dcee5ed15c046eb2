/* processlabel.c - how a process is called.
 * SPDX-License-Identifier: MIT */
#include "processlabel.h"

#include <inttypes.h>
#include <string.h>

#define HOST_MOST 200 /* bytes of a host's name */

static dft_text meaning(const summary_state *state, const numbering *hashes, const state_name *names, uint32_t hash) {
  uint32_t found = numbering_find(hashes, hash, 0);
  return state_text_of(state, found && names[found].name ? names[found].name : hash);
}

/* "node:4711". Returns its length. */
static size_t put_place(char out[LABEL_BYTES], const summary_state *state, const state_process *process, int has_host) {
  dft_text host = meaning(state, &state->host_numbers, state->hosts, process->host);
  size_t len = !has_host ? 0 : host.len < HOST_MOST ? host.len : HOST_MOST;
  memcpy(out, host.text, len);
  return len + (size_t)snprintf(out + len, LABEL_BYTES - len, "%s%" PRIu64, len ? ":" : "", process->pid);
}

size_t process_label(char out[LABEL_BYTES], const summary_state *state, uint32_t process) {
  const int64_t rank = state->processes[process].rank;
  size_t len = put_place(out, state, &state->processes[process], 1);
  if (rank != NO_NUMBER) len += (size_t)snprintf(out + len, LABEL_BYTES - len, " rank %" PRId64, rank);
  return len;
}

dft_text process_command(const summary_state *state, uint32_t process) {
  uint32_t found = numbering_find(&state->command_numbers, state->processes[process].command, 0);
  return state_text_of(state, found ? state->commands[found].name : 0);
}

process_columns process_columns_of(const summary_state *state) {
  process_columns columns = {.has_host = state->host_numbers.count > 1};
  for (uint32_t i = 1; i <= state->process_count; i++) {
    if (!state->processes[i].threads) continue;
    columns.has_command |= process_command(state, i).len != 0;
    columns.has_rank |= state->processes[i].rank != NO_NUMBER;
  }
  return columns;
}

int process_columns_title(const process_columns *columns, table_column *titles) {
  int count = 0;
  titles[count++] = (table_column){"process", 't'};
  if (columns->has_rank) titles[count++] = (table_column){"rank", 'k'};
  if (columns->has_command) titles[count++] = (table_column){columns->has_host ? "host:pid" : "pid", 'k'};
  return count;
}

void process_columns_add(const process_columns *columns, table *sheet, const summary_state *state, uint32_t process) {
  const dft_text command = process_command(state, process);
  const int64_t rank = state->processes[process].rank;
  char text[LABEL_BYTES];
  if (columns->has_command) {
    commandline_short(text, command);
    table_format(sheet, "%s", *text ? text : "-");
  } else {
    table_add(sheet, text, put_place(text, state, &state->processes[process], 1));
  }
  if (columns->has_rank && rank == NO_NUMBER) table_format(sheet, "-");
  else if (columns->has_rank) table_format(sheet, "%" PRId64, rank);
  if (columns->has_command)
    table_add(sheet, text, put_place(text, state, &state->processes[process], columns->has_host));
}
