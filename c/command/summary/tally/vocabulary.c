/* vocabulary.c - what names and categories of regions mean.
 * SPDX-License-Identifier: MIT */
#include "vocabulary.h"

#include <stdio.h>
#include <string.h>

static const struct {
  const char *word;
  const char *meaning; /* for docs/summary.md */
} activities[ACTIVITIES] = {
  [ACTIVITY_OTHER] = {"other", "any other region; it counts as compute, except for what is inside"},
  [ACTIVITY_COMPUTE] = {"compute", "computes"},
  [ACTIVITY_UPDATE] = {"update", "computes: the step of an optimizer"},
  [ACTIVITY_FETCH] = {"fetch", "waits for a batch"},
  [ACTIVITY_LOADER] = {"loader", "start or end of a loader and its workers: part of fetch, but not counted as one"},
  [ACTIVITY_DATA] = {"data", "loads: reads and prepares samples"},
  [ACTIVITY_EMPTY] = {"empty", "a worker finds no more data; it counts as data"},
  [ACTIVITY_COMMUNICATION] = {"communication", "communicates"},
  [ACTIVITY_MPI] = {"mpi", "communicates: a call of MPI"},
  [ACTIVITY_COMPILE] = {"compile", "compiles functions while the program runs"},
  [ACTIVITY_DEVICE] = {"device", "moves data to or from a device"},
  [ACTIVITY_CHECKPOINT] = {"checkpoint", "saves or restores a model"},
  [ACTIVITY_READ] = {"read", "a region that reads"},
  [ACTIVITY_WRITE] = {"write", "a region that writes"},
  [ACTIVITY_METADATA] = {"metadata", "a region of I/O that moves no data"},
  [ACTIVITY_EPOCH] = {"epoch", "encloses an epoch"},
  [ACTIVITY_STEP] = {"step", "encloses a step"},
  [ACTIVITY_EVALUATION] = {"evaluation", "encloses an evaluation or a test"},
  [ACTIVITY_STARTUP] = {"start-up", "comes before the main loop; otherwise like other"},
  [ACTIVITY_FRAME] = {"frame", "encloses work of any kind; its own time counts as outside"},
  [ACTIVITY_FINAL] = {"final",
                      "the last call of a rank: waiting in it for others is imbalance; the verdict names the rest"},
};

static const vocabulary_row rows[] = {
  {ACTIVITY_FRAME, "pipeline", "step.iter.cut", "a step that was left is not counted"},
  {ACTIVITY_STEP, "pipeline", "step", "the ai tree"},
  {ACTIVITY_STEP, "pipeline", "step.iter", ""},
  {ACTIVITY_EPOCH, "pipeline", "epoch", ""},
  {ACTIVITY_EPOCH, "pipeline", "epoch.block", ""},
  {ACTIVITY_EPOCH, "dlio_benchmark", "*._train", "DLIO"},
  {ACTIVITY_EVALUATION, "pipeline", "evaluate", ""},
  {ACTIVITY_EVALUATION, "pipeline", "evaluate.*", ""},
  {ACTIVITY_EVALUATION, "pipeline", "test", ""},
  {ACTIVITY_EVALUATION, "pipeline", "test.*", ""},
  {ACTIVITY_EVALUATION, "pipeline", "validate", ""},
  {ACTIVITY_EVALUATION, "pipeline", "validate.*", ""},
  {ACTIVITY_EVALUATION, "dlio_benchmark", "*._eval", "DLIO"},
  {ACTIVITY_FRAME, "pipeline", "*", "train, and bodies of loops"},
  {ACTIVITY_STARTUP, "dlio_benchmark", "*.initialize", "DLIO"},
  {ACTIVITY_FRAME, "dlio_benchmark", "*", "DLIO"},
  {ACTIVITY_LOADER, "dataloader", "fetch.init", ""},
  {ACTIVITY_LOADER, "dataloader", "fetch.end", ""},
  {ACTIVITY_OTHER, "*", "*.block", "the body of a loop"},
  {ACTIVITY_OTHER, "*", "*.init", "a constructor"},
  {ACTIVITY_UPDATE, "compute", "step", ""},
  {ACTIVITY_COMPUTE, "compute", "*", ""},
  {ACTIVITY_COMPUTE, "ai_framework", "*.compute", "DLIO"},
  {ACTIVITY_FETCH, "dataloader", "fetch*", ""},
  {ACTIVITY_FETCH, "data_loader", "loop.iter", "DLIO"},
  {ACTIVITY_EMPTY, "data", "data.batch.cut", "the DataLoader"},
  {ACTIVITY_DATA, "data", "*", ""},
  {ACTIVITY_DATA, "reader", "*", "DLIO"},
  {ACTIVITY_COMMUNICATION, "comm", "*", ""},
  {ACTIVITY_COMMUNICATION, "communication", "*", ""},
  {ACTIVITY_COMMUNICATION, "collective", "*", ""},
  {ACTIVITY_COMMUNICATION, "nccl", "*", "also NCCL"},
  {ACTIVITY_COMMUNICATION, "NCCL", "*", ""},
  {ACTIVITY_COMPILE, "dynamo", "*", "torch.compile"},
  {ACTIVITY_DEVICE, "device", "*", ""},
  {ACTIVITY_CHECKPOINT, "checkpoint", "*", ""},
  {ACTIVITY_CHECKPOINT, "checkpointing", "*", ""},
  {ACTIVITY_STARTUP, "MPI", "MPI_Init*", "MPI calls that dftracer records"},
  {ACTIVITY_STARTUP, "MPI", "MPI_Session_init", ""},
  {ACTIVITY_FINAL, "MPI", "MPI_Finalize", ""},
  {ACTIVITY_FRAME, "MPI", "MPI_Session_finalize", ""},
  {ACTIVITY_MPI, "MPI", "*", ""},
  {ACTIVITY_MPI, "mpi", "*", ""},
  {ACTIVITY_READ, "MPIIO", "MPI_File_*read*", "MPI-IO"},
  {ACTIVITY_WRITE, "MPIIO", "MPI_File_*write*", ""},
  {ACTIVITY_METADATA, "MPIIO", "*", ""},
  {ACTIVITY_READ, "io", "*read*", "a user's own regions"},
  {ACTIVITY_READ, "io", "*load*", ""},
  {ACTIVITY_READ, "io", "*input*", ""},
  {ACTIVITY_WRITE, "io", "*write*", ""},
  {ACTIVITY_WRITE, "io", "*save*", ""},
  {ACTIVITY_WRITE, "io", "*dump*", ""},
  {ACTIVITY_WRITE, "io", "*output*", ""},
  {ACTIVITY_READ, "IO", "*read*", ""},
  {ACTIVITY_READ, "IO", "*load*", ""},
  {ACTIVITY_READ, "IO", "*input*", ""},
  {ACTIVITY_WRITE, "IO", "*write*", ""},
  {ACTIVITY_WRITE, "IO", "*save*", ""},
  {ACTIVITY_WRITE, "IO", "*dump*", ""},
  {ACTIVITY_WRITE, "IO", "*output*", ""},
  {ACTIVITY_OTHER, "*", "gradient_checkpoint*", "in any other category: it recomputes"},
  {ACTIVITY_OTHER, "*", "activation_checkpoint*", ""},
  {ACTIVITY_CHECKPOINT, "*", "checkpoint*", "in any other category"},
  {ACTIVITY_CHECKPOINT, "*", "*_checkpoint", ""},
  {ACTIVITY_CHECKPOINT, "*", "write_restart*", ""},
  {ACTIVITY_CHECKPOINT, "*", "read_restart*", ""},
  {ACTIVITY_CHECKPOINT, "*", "restart_write*", ""},
  {ACTIVITY_CHECKPOINT, "*", "restart_read*", ""},
  {ACTIVITY_STARTUP, "*", "MPI_Init*", "MPI that other tracers or people record"},
  {ACTIVITY_STARTUP, "*", "mpi_init*", ""},
  {ACTIVITY_FINAL, "*", "MPI_Finalize", ""},
  {ACTIVITY_FRAME, "*", "mpi_finalize", ""},
  {ACTIVITY_READ, "*", "MPI_File_*read*", ""},
  {ACTIVITY_WRITE, "*", "MPI_File_*write*", ""},
  {ACTIVITY_METADATA, "*", "MPI_File_*", ""},
  {ACTIVITY_COMMUNICATION, "*", "MPI_*", ""},
  {ACTIVITY_COMMUNICATION, "*", "mpi_*", ""},
  {ACTIVITY_OTHER, "*", "exchange_corr*", "physics that is no communication"},
  {ACTIVITY_OTHER, "*", "exact_exchange", ""},
  {ACTIVITY_OTHER, "*", "fock_exchange", ""},
  {ACTIVITY_OTHER, "*", "heat_exchange", ""},
  {ACTIVITY_OTHER, "*", "halo_find*", ""},
  {ACTIVITY_OTHER, "*", "halo_mass*", ""},
  {ACTIVITY_COMMUNICATION, "*", "exchange", "what ranks do together, in any other category"},
  {ACTIVITY_COMMUNICATION, "*", "exchange_*", ""},
  {ACTIVITY_COMMUNICATION, "*", "*_exchange", ""},
  {ACTIVITY_COMMUNICATION, "*", "halo", ""},
  {ACTIVITY_COMMUNICATION, "*", "halo_*", ""},
  {ACTIVITY_COMMUNICATION, "*", "allreduce*", ""},
  {ACTIVITY_COMMUNICATION, "*", "all_reduce*", ""},
  {ACTIVITY_COMMUNICATION, "*", "allgather*", ""},
  {ACTIVITY_COMMUNICATION, "*", "all_gather*", ""},
  {ACTIVITY_COMMUNICATION, "*", "alltoall*", ""},
  {ACTIVITY_COMMUNICATION, "*", "all_to_all*", ""},
  {ACTIVITY_COMMUNICATION, "*", "reduce_scatter*", ""},
  {ACTIVITY_COMMUNICATION, "*", "sendrecv*", ""},
  {ACTIVITY_COMMUNICATION, "*", "barrier", ""},
  {ACTIVITY_WRITE, "*", "output", "files, in any other category"},
  {ACTIVITY_WRITE, "*", "write_output*", ""},
  {ACTIVITY_WRITE, "*", "write_results*", ""},
  {ACTIVITY_WRITE, "*", "write_snapshot*", ""},
  {ACTIVITY_WRITE, "*", "write_file*", ""},
  {ACTIVITY_READ, "*", "read_input*", ""},
  {ACTIVITY_READ, "*", "read_mesh*", ""},
  {ACTIVITY_READ, "*", "read_file*", ""},
  {ACTIVITY_STARTUP, "*", "init", "in any other category"},
  {ACTIVITY_STARTUP, "*", "initialize*", ""},
  {ACTIVITY_STARTUP, "*", "setup*", ""},
  {ACTIVITY_STARTUP, "*", "startup", ""},
  {ACTIVITY_STARTUP, "*", "start-up", ""},
  {ACTIVITY_STARTUP, "*", "start_up", ""},
};

const char *activity_word(enum activity activity) {
  return activities[activity].word;
}

void vocabulary_row_text(const vocabulary_row *row, char *text, size_t bytes) {
  snprintf(text, bytes, "%s %s %s", activity_word(row->activity), row->cat, row->name);
}

/* ---- Matching ------------------------------------------------------------------------------------------------------- */

/* The pattern's last * takes as much as it must: there is never a reason to go back to one before it. */
static int matches(const char *pattern, dft_text text) {
  const char *star = NULL;
  size_t at = 0, star_at = 0;
  while (at < text.len) {
    if (*pattern == '*') {
      star = pattern++;
      star_at = at;
    } else if (*pattern && (*pattern == '?' || *pattern == text.text[at])) {
      pattern++;
      at++;
    } else if (star) {
      pattern = star + 1;
      at = ++star_at;
    } else {
      return 0;
    }
  }
  while (*pattern == '*') pattern++;
  return !*pattern;
}

static int ends(dft_text text, const char *word) {
  size_t len = strlen(word);
  return text.len >= len && memcmp(text.text + text.len - len, word, len) == 0;
}

/* The item in hand of a loop that was left counts as the others do. */
static dft_text without_cut(dft_text name) {
  if (ends(name, ".iter.cut") || ends(name, ".block.cut")) name.len -= strlen(".cut");
  return name;
}

static int row_matches(const vocabulary_row *row, dft_text name, dft_text cat) {
  return matches(row->cat, cat) && (matches(row->name, name) || matches(row->name, without_cut(name)));
}

enum activity vocabulary_find(const vocabulary *own, dft_text name, dft_text cat) {
  for (uint32_t i = 0; own && i < own->count; i++) {
    if (row_matches(&own->rows[i], name, cat)) return own->rows[i].activity;
  }
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (row_matches(&rows[i], name, cat)) return rows[i].activity;
  }
  return ACTIVITY_OTHER;
}
