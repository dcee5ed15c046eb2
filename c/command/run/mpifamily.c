/* mpifamily.c - which family an MPI library is of.
 * SPDX-License-Identifier: MIT */
#include "mpifamily.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mpimarks.h"

typedef struct file_bytes {
  char *bytes; /* NULL: it cannot be read */
  size_t size;
} file_bytes;

static file_bytes map_file(const char *path) {
  file_bytes file = {NULL, 0};
  struct stat facts;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return file;
  if (fstat(fd, &facts) == 0 && facts.st_size > 0) {
    file.size = (size_t)facts.st_size;
    file.bytes = mmap(NULL, file.size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (file.bytes == MAP_FAILED) file.bytes = NULL;
  }
  close(fd);
  return file;
}

static int holds(const file_bytes *file, const char *mark) {
  return memmem(file->bytes, file->size, mark, strlen(mark)) != NULL;
}

const char *mpi_family_of(const char *library) {
  static const char *const mpich[] = {DFT__MPI_MARKS_MPICH};
  const char *slash = strrchr(library, '/'), *family = NULL;
  file_bytes file = map_file(library);
  if (!file.bytes) return NULL;
  if (strncmp(slash ? slash + 1 : library, DFT__MPI_MARK_ABI, strlen(DFT__MPI_MARK_ABI)) == 0) family = "the MPI 5 ABI";
  else if (holds(&file, DFT__MPI_MARK_OPEN_MPI)) family = "Open MPI";
  for (size_t i = 0; !family && i < sizeof mpich / sizeof mpich[0]; i++) {
    if (holds(&file, mpich[i])) family = i ? "one with the ABI of MPICH" : "MPICH, or one with its ABI";
  }
  munmap(file.bytes, file.size);
  return family;
}
