/* processjson.c - who a process is, as members of a JSON object.
 * SPDX-License-Identifier: MIT */
#include "processjson.h"

#include <inttypes.h>
#include <stdlib.h>

#include "command/trace/jsontext.h"
#include "command/trace/typedcommand.h"

void json_process(FILE *out, const summary_state *state, uint32_t process) {
  const int64_t rank = state->processes[process].rank;
  char *typed = typed_command(process_command(state, process));
  fprintf(out, ", \"rank\": ");
  if (rank == NO_NUMBER) fprintf(out, "null");
  else fprintf(out, "%" PRId64, rank);
  fprintf(out, ", \"command\": ");
  if (typed && *typed) json_text(out, typed, process_command(state, process).len);
  else fprintf(out, "null");
  free(typed);
}

void json_whole_process(FILE *out, const summary_state *state, uint32_t process) {
  answer_label label;
  answer_process_label(state, process, &label);
  fprintf(out, "\"process\": ");
  json_text(out, label.text.text, label.text.len);
  json_process(out, state, process);
}
