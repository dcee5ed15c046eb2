/* summary_comm_json.c - the summary for programs: communication.
 * SPDX-License-Identifier: MIT */
#include "summary_comm_json.h"

#include <inttypes.h>
#include <string.h>

#include "command/trace/jsontext.h"

static void print_text(FILE *out, const summary_state *state, uint32_t text) {
  dft_text name = state_text_of(state, text);
  json_text(out, name.text, name.len);
}

static void print_rank(FILE *out, int64_t rank) {
  if (rank == NO_NUMBER) fprintf(out, "null");
  else fprintf(out, "%" PRId64, rank);
}

static void print_call(FILE *out, const summary_state *state, const collective *call) {
  fprintf(out, "\n      {\"name\": ");
  print_text(out, state, call->name);
  fprintf(out,
          ", \"cat\": \"%s\", \"processes\": %" PRIu64 ", \"hosts\": %" PRIu64 ", \"calls\": %" PRIu64
          ", \"calls_least\": %" PRIu64 ", \"calls_most\": %" PRIu64 ", \"time_ns\": %" PRIu64 ", \"unknown\": ",
          call->kind == MPI_NONE ? "comm" : "MPI", call->processes, call->hosts, call->calls, call->least, call->most,
          call->time_ns);
  if (call->unknown) json_text(out, call->unknown, strlen(call->unknown));
  else fprintf(out, "null");
  if (call->unknown) fprintf(out, ", \"waited_ns\": null");
  else fprintf(out, ", \"waited_ns\": %" PRIu64, call->waited_ns);
  fprintf(out, ", \"last_rank\": ");
  print_rank(out, call->last_rank);
  fprintf(out, ", \"last_calls\": %" PRIu64 ", \"meetings\": %" PRIu64 "}", call->last_calls, call->meetings);
}

static void print_calls(FILE *out, const summary_answer *answer) {
  const collective_list *list = &answer->collectives;
  int is_first = 1;
  fprintf(out, "    \"calls\": [");
  for (uint32_t i = 0; i < list->count; i++) {
    if (list->calls[i].kind == MPI_FILE) continue;
    if (!is_first) fprintf(out, ",");
    print_call(out, answer->state, &list->calls[i]);
    is_first = 0;
  }
  fprintf(out, "],\n");
}

static void print_waits(FILE *out, const wait_sums *waits) {
  fprintf(out,
          ", \"waited_ns\": %" PRIu64 ", \"caused_ns\": %" PRIu64 ", \"late_sender_ns\": %" PRIu64
          ", \"late_sender_caused_ns\": %" PRIu64 ", \"unsure_ns\": %" PRIu64,
          waits->waited_ns, waits->caused_ns, waits->late_ns, waits->late_caused_ns, waits->unsure_ns);
}

static void print_ranks(FILE *out, const summary_answer *answer) {
  const collective_list *list = &answer->collectives;
  fprintf(out, "    \"all\": {\"comm_ns\": %" PRIu64, list->comm_ns);
  print_waits(out, &list->waits);
  fprintf(out, "},\n    \"ranks\": [");
  for (uint32_t i = 0; i < list->rank_count; i++) {
    const comm_rank *rank = &list->ranks[i];
    answer_label label;
    answer_process_label(answer->state, rank->process, &label);
    fprintf(out, "%s\n      {\"rank\": ", i ? "," : "");
    print_rank(out, rank->rank);
    fprintf(out, ", \"process\": ");
    json_text(out, label.text.text, label.text.len);
    fprintf(out,
            ", \"calls\": %" PRIu64 ", \"comm_ns\": %" PRIu64 ", \"mpi_ns\": %" PRIu64 ", \"last_calls\": %" PRIu64,
            rank->calls, rank->comm_ns, rank->mpi_ns, rank->last_count);
    print_waits(out, &rank->waits);
    fprintf(out, ", \"top\": ");
    if (rank->top == NO_CALL) fprintf(out, "null");
    else print_text(out, answer->state, rank->top);
    fprintf(out, ", \"top_ns\": %" PRIu64 "}", rank->top_ns);
  }
  fprintf(out, "]");
}

void summary_json_communication(FILE *out, const summary_answer *answer) {
  fprintf(out, "  \"communication\": {\n");
  print_calls(out, answer);
  print_ranks(out, answer);
  fprintf(out, "},\n");
}
