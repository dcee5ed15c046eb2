/* every_file.c - reads and writes a file through MPI in every way.
 * SPDX-License-Identifier: MIT */
#include "tally.h"

#define THREE 3, MPI_INT
#define OWN_PLACE (MPI_Offset)(4096 + 12 * me)

static MPI_File file;
static MPI_Status status;
static MPI_Request request;

#define TRANSFER(verb, s)                                                                                            \
  (DO(File_##verb##s, 12, file, out, THREE, &status), DO(File_##verb##_all##s, 12, file, out, THREE, &status),       \
   DO(File_##verb##_at##s, 12, file, OWN_PLACE, out, THREE, &status),                                                \
   DO(File_##verb##_at_all##s, 12, file, OWN_PLACE, out, THREE, MPI_STATUS_IGNORE),                                  \
   DO(File_##verb##_shared##s, 12, file, out, THREE, &status),                                                       \
   DO(File_##verb##_ordered##s, 12, file, out, THREE, &status), DO(File_i##verb##s, 12, file, out, THREE, &request), \
   FINISH(12), DO(File_i##verb##_all##s, 12, file, out, THREE, &request), FINISH(12),                                \
   DO(File_i##verb##_at##s, 12, file, OWN_PLACE, out, THREE, &request), FINISH(12),                                  \
   DO(File_i##verb##_at_all##s, 12, file, OWN_PLACE, out, THREE, &request), FINISH(12),                              \
   DO(File_i##verb##_shared##s, 12, file, out, THREE, &request), FINISH(12),                                         \
   DO(File_##verb##_all_begin##s, 12, file, out, THREE), DO(File_##verb##_all_end, 0, file, out, &status),           \
   DO(File_##verb##_at_all_begin##s, 12, file, OWN_PLACE, out, THREE),                                               \
   DO(File_##verb##_at_all_end, 0, file, out, &status), DO(File_##verb##_ordered_begin##s, 12, file, out, THREE),    \
   DO(File_##verb##_ordered_end, 0, file, out, &status))

void every_file(const char *folder) {
  char path[1024];
  snprintf(path, sizeof path, "%s/data", folder);
  DO(File_open, 0, MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  DO(File_set_size, 0, file, 8192);
  DO(File_preallocate, 0, file, 8192);
  TRANSFER(write, );
  DO(File_sync, 0, file);
  DO(File_seek, 0, file, 0, MPI_SEEK_SET);
  DO(File_seek_shared, 0, file, 0, MPI_SEEK_SET);
  TRANSFER(read, );
#if HAS_MPI_4
  TRANSFER(write, _c);
  TRANSFER(read, _c);
#endif
  DO(File_set_view, 0, file, 1000, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  DO(File_read_at, 12, file, 5, out, THREE, &status); /* at byte 1020 */
  DO(File_seek, 0, file, 3, MPI_SEEK_SET);
  DO(File_read, 12, file, out, THREE, &status); /* at byte 1012 */
  DO(File_close, 0, &file);
  DO(Barrier, 0, MPI_COMM_WORLD);
  if (me == 0) DO(File_delete, 0, path, MPI_INFO_NULL);
}
