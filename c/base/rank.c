/* rank.c - rank, size and id of a launch, without MPI.
 * SPDX-License-Identifier: MIT */
#include "rank.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"

#define IDS_MOST 3

/* The first row whose rank is set wins: MPI libraries first, then the resource managers that may have started them. The ids
 * are the same in all ranks of one launch, on every node, and others in the next launch; `least` of them must be set. */
static const struct launcher {
  const char *rank, *size;
  size_t least;
  const char *ids[IDS_MOST];
} launchers[] = {
  {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", 1, {"PMIX_NAMESPACE", "OMPI_MCA_orte_precondition_transports"}},
  {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", 1, {"PMI_JOBID"}},
  {"PMI_RANK", "PMI_SIZE", 1, {"PMI_JOBID", "PALS_APID", "I_MPI_HYDRA_UUID"}},
  {"PMIX_RANK", "PMIX_SIZE", 1, {"PMIX_NAMESPACE"}},
  {"PALS_RANKID", "PALS_SIZE", 1, {"PALS_APID"}},
  {"FLUX_TASK_RANK", "FLUX_JOB_SIZE", 1, {"FLUX_JOB_ID"}},
  /* torchrun; only with both, the first word is too common */
  {"RANK", "WORLD_SIZE", 3, {"TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT"}},
  /* A batch script has rank 0, but no step. */
  {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", 2, {"SLURM_JOB_ID", "SLURM_STEP_ID"}},
};
#define LAUNCHERS (sizeof launchers / sizeof launchers[0])

static int32_t number_of(const char *name) {
  const char *text = secure_getenv(name);
  int saved = errno;
  char *end;
  long value;
  if (!text || !*text) return -1;
  value = strtol(text, &end, 10); /* what does not fit is LONG_MAX */
  errno = saved;
  return *end || value < 0 || value > INT_MAX ? -1 : (int32_t)value;
}

/* Zero when the launcher has not started this process. */
static int is_rank_of(const struct launcher *launcher, int32_t *rank, int32_t *size) {
  *rank = number_of(launcher->rank);
  *size = number_of(launcher->size);
  return *rank >= 0 && (launcher->rank[0] != 'R' || *size >= 0);
}

void dft__rank_find(int32_t *rank, int32_t *size) {
  int64_t given = dft__config_number(DFT__RANK);
  size_t i = 0;
  while (i < LAUNCHERS && !is_rank_of(&launchers[i], rank, size)) i++;
  if (i == LAUNCHERS) *rank = *size = -1;
  if (given >= 0) *rank = (int32_t)given;
}

const char *dft__rank_variable(void) {
  int32_t rank, size;
  for (size_t i = 0; i < LAUNCHERS; i++) {
    if (is_rank_of(&launchers[i], &rank, &size)) return size == 1 ? NULL : launchers[i].rank;
  }
  return NULL;
}

/* NULL when it says nothing: torchrun calls every run `none` that nobody named. On several nodes that must do, with the port. */
static const char *id_of(const char *name) {
  const char *text = secure_getenv(name);
  if (!text || !*text) return NULL;
  return strcmp(text, "none") == 0 && number_of("GROUP_WORLD_SIZE") <= 1 ? NULL : text;
}

static size_t launch_of(const struct launcher *launcher, char *text, size_t size) {
  size_t count = 0, len = 0;
  for (size_t i = 0; i < IDS_MOST && launcher->ids[i]; i++) {
    const char *id = id_of(launcher->ids[i]);
    if (id && len < size) len += (size_t)snprintf(text + len, size - len, "%s%s", count++ ? "." : "", id);
  }
  return count >= launcher->least ? len : 0;
}

size_t dft__rank_launch(char *text, size_t size) {
  int32_t rank, of;
  for (size_t i = 0; i < LAUNCHERS; i++) {
    size_t len = is_rank_of(&launchers[i], &rank, &of) && of != 1 ? launch_of(&launchers[i], text, size) : 0;
    if (len) return len < size ? len : size - 1;
  }
  return 0;
}
