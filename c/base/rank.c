/* rank.c - rank and size of the job, without MPI.
 * SPDX-License-Identifier: MIT */
#include "rank.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "config.h"

/* The first pair whose rank is set wins: MPI libraries first, then the resource managers that may have started them. */
static const struct launcher {
  const char *rank;
  const char *size;
} launchers[] = {
  {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
  {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
  {"PMI_RANK", "PMI_SIZE"},
  {"PMIX_RANK", "PMIX_SIZE"},
  {"PALS_RANKID", "PALS_SIZE"},
  {"FLUX_TASK_RANK", "FLUX_JOB_SIZE"},
  {"RANK", "WORLD_SIZE"}, /* torchrun; only with both, the first word is too common */
  {"SLURM_PROCID", "SLURM_NTASKS"},
};

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

void dft__rank_find(int32_t *rank, int32_t *size) {
  int64_t given = dft__config_number(DFT__RANK);
  *rank = -1;
  *size = -1;
  for (size_t i = 0; i < sizeof launchers / sizeof launchers[0] && *rank < 0; i++) {
    *rank = number_of(launchers[i].rank);
    *size = number_of(launchers[i].size);
    if (launchers[i].rank[0] == 'R' && *size < 0) *rank = -1;
  }
  if (*rank < 0) *size = -1;
  if (given >= 0) *rank = (int32_t)given;
}
