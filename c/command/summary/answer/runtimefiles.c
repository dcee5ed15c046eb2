/* runtimefiles.c - files that a program does not open for its data.
 * SPDX-License-Identifier: MIT */
#include "runtimefiles.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#define PATH_MOST 4096

/* Here * also matches slashes. Names are as narrow as they can be: a file of the program must not be among them. */
static const char *const patterns[] = {
  /* Open MPI, PMIx, PRRTE */
  "*/mca_*_*.so",
  "*/pmix_mca_*.so",
  "*/prte_mca_*.so",
  "*/libompi_dbg_*.so",
  "*mca-params*.conf",
  "*/lib*/openmpi",
  "*/lib*/openmpi/lib",
  "*/lib*/openmpi[0-9]",
  "*/lib*/pmix",
  "*/lib*/pmix[0-9]/lib",
  "*/.openmpi/components",
  "*/.pmix/components",
  "*/ompi.*[0-9]",
  "*/ompi.*[0-9]/*",
  "*/openmpi-sessions-*",
  "*/prte.*[0-9]/*",
  "*/pmix-*[0-9]",
  "*/pmix_dstor_*",
  "*/vader_segment.*",
  "*/sm_segment.*",
  "*/osc_rdma.*",
  /* MPICH and its relatives */
  "*/mpich.conf",
  "*/mpich_shar_tmp*",
  "*/hydra_hwloc_xmlfile_*",
  "/dev/shm/Intel_MPI_*",
  "/dev/shm/cray-shared-mem-*",
  "/dev/shm/mvapich*",
  "/var/run/palsd/*",
  /* What is below them: UCX, libfabric, PSM, hwloc, libnl */
  "*/ucx.conf",
  "*/ucx/libu*.so*",
  "/dev/shm/ucx_shm_*",
  "*/libfabric.conf",
  "*/libfabric/lib*-fi.so*",
  "/dev/shm/psm[23]_*",
  "/dev/infiniband*",
  "/sys/class/infiniband*",
  "*/hwloc.sm",
  "*/lib*/hwloc",
  "*/hwloc/hwloc_*.so",
  "*/share/misc/pci.ids",
  "*/share/misc/pci.ids.gz",
  "/run/udev/data/*",
  "*/libnl*/classid",
};

/* Whether the path has the pattern's first letters: few have, and fnmatch takes long. */
static int may_match(const char *pattern, dft_text path) {
  const char *letters = pattern + (*pattern == '*');
  return memmem(path.text, path.len, letters, strcspn(letters, "*?[")) != NULL;
}

int is_runtime_file(dft_text path) {
  char text[PATH_MOST];
  if (path.len >= sizeof text) return 0;
  snprintf(text, sizeof text, "%.*s", (int)path.len, path.text);
  for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
    if (may_match(patterns[i], path) && fnmatch(patterns[i], text, FNM_NOESCAPE) == 0) return 1;
  }
  return 0;
}

/* In the folder of an interpreter, such as lib/python3 or lib/python3.11, or in one of packages. */
int is_module_file(dft_text path) {
  static const char *const parts[] = {"/lib/python", "/lib64/python"};
  const char *found;
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    const size_t len = strlen(parts[i]);
    found = memmem(path.text, path.len, parts[i], len);
    if (found && found + len < path.text + path.len && found[len] >= '0' && found[len] <= '9') return 1;
  }
  return memmem(path.text, path.len, "/site-packages", strlen("/site-packages")) != NULL;
}
