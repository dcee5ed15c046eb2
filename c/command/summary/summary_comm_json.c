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

/* What the late ones did. */
static void print_before(FILE *out, const summary_state *state, const delay_cause *before) {
  fprintf(out, ", \"before\": ");
  if (!before->is_known) {
    fprintf(out, "null");
    return;
  }
  fprintf(out, "{\"name\": ");
  if (before->name) print_text(out, state, before->name);
  else fprintf(out, "null");
  fprintf(out, ", \"cat\": ");
  if (before->name) print_text(out, state, before->cat);
  else fprintf(out, "null");
  fprintf(out, ", \"share\": %.6f}", before->share);
}

static void print_sizes(FILE *out, const collective *call) {
  fprintf(out,
          ", \"bytes\": %" PRIu64 ", \"size_median\": %" PRIu64 ", \"size_p95\": %" PRIu64 ", \"size_max\": %" PRIu64
          "}",
          call->bytes, histogram_percentile(&call->sizes, 0.5, 1), histogram_percentile(&call->sizes, 0.95, 1),
          call->sizes.most);
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
  fprintf(out, ", \"last_calls\": %" PRIu64 ", \"meetings\": %" PRIu64, call->last_calls, call->meetings);
  print_before(out, state, &call->before);
  print_sizes(out, call);
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
    print_before(out, answer->state, &rank->before);
    fprintf(out, ", \"top\": ");
    if (rank->top == NO_CALL) fprintf(out, "null");
    else print_text(out, answer->state, rank->top);
    fprintf(out, ", \"top_ns\": %" PRIu64 "}", rank->top_ns);
  }
  fprintf(out, "]");
}

/* ---- Messages ------------------------------------------------------------------------------------------------------- */

static void print_place(FILE *out, const summary_answer *answer, int64_t place) {
  dft_text host;
  if (!answer->matrix.is_by_node) {
    print_rank(out, place);
    return;
  }
  host = place == NO_NODE ? (dft_text){"", 0} : answer_host(answer->state, (uint32_t)place);
  if (place == NO_NODE) fprintf(out, "null");
  else json_text(out, host.text, host.len);
}

static void print_matrix(FILE *out, const summary_answer *answer) {
  const comm_matrix *matrix = &answer->matrix;
  fprintf(out, "    \"matrix\": {\"by\": \"%s\", \"pairs\": [", matrix->is_by_node ? "node" : "rank");
  for (uint32_t i = 0; i < matrix->count; i++) {
    fprintf(out, "%s\n      {\"from\": ", i ? "," : "");
    print_place(out, answer, matrix->pairs[i].from);
    fprintf(out, ", \"to\": ");
    print_place(out, answer, matrix->pairs[i].to);
    fprintf(out, ", \"calls\": %" PRIu64 ", \"bytes\": %" PRIu64 "}", matrix->pairs[i].stats.calls,
            matrix->pairs[i].stats.bytes);
  }
  fprintf(out, "], \"started_calls\": %" PRIu64 ", \"started_bytes\": %" PRIu64 "},\n", matrix->started.calls,
          matrix->started.bytes);
}

/* ---- Clocks --------------------------------------------------------------------------------------------------------- */

static void print_clocks(FILE *out, const summary_answer *answer) {
  const host_clocks *clocks = &answer->collectives.clocks;
  fprintf(out, "    \"clocks\": [");
  for (uint32_t i = 0; clocks->count > 1 && i < clocks->count; i++) {
    const host_clock *host = &clocks->hosts[i];
    const dft_text name = answer_host(answer->state, host->host);
    const int is_known = i == 0 || host->fit.knowledge != CLOCK_UNKNOWN;
    fprintf(out, "%s\n      {\"host\": ", i ? "," : "");
    json_text(out, name.text, name.len);
    fprintf(out, ", \"moved\": %s, \"contradicted\": %s", host->is_moved ? "true" : "false",
            host->fit.knowledge == CLOCK_CONTRADICTED ? "true" : "false");
    if (is_known)
      fprintf(out, ", \"at_ns\": %" PRId64 ", \"offset_ns\": %.0f, \"drift\": %.9g, \"bound_ns\": %.0f}", host->fit.at,
              host->fit.offset_ns, host->fit.drift, host->bound_ns);
    else fprintf(out, ", \"at_ns\": null, \"offset_ns\": null, \"drift\": null, \"bound_ns\": null}");
  }
  fprintf(out, "],\n");
}

/* ---- All ------------------------------------------------------------------------------------------------------------ */

static void print_file_calls(FILE *out, const summary_answer *answer) {
  const collective_list *list = &answer->collectives;
  int is_first = 1;
  fprintf(out, "  \"mpiio\": [");
  for (uint32_t i = 0; i < list->count; i++) {
    const collective *call = &list->calls[i];
    if (call->kind != MPI_FILE) continue;
    fprintf(out, "%s\n    {\"name\": ", is_first ? "" : ",");
    print_text(out, answer->state, call->name);
    fprintf(out,
            ", \"processes\": %" PRIu64 ", \"calls\": %" PRIu64 ", \"collective\": %" PRIu64 ", \"time_ns\": %" PRIu64,
            call->processes, call->calls, call->on_files, call->time_ns);
    print_sizes(out, call);
    is_first = 0;
  }
  fprintf(out, "],\n");
}

void summary_json_communication(FILE *out, const summary_answer *answer) {
  const collective_list *list = &answer->collectives;
  fprintf(out, "  \"communication\": {\n");
  print_calls(out, answer);
  print_matrix(out, answer);
  print_clocks(out, answer);
  fprintf(out,
          "    \"messages\": {\"received\": %" PRIu64 ", \"matched\": %" PRIu64 ", \"unknown_sources\": %" PRIu64
          ", \"unknown_waits\": %" PRIu64 "},\n",
          list->received, list->matched, list->unknown_sources, list->unknown_waits);
  print_ranks(out, answer);
  fprintf(out, "},\n");
  print_file_calls(out, answer);
}
