/* parallel.c - ranks that write one file together with parallel HDF5, each traced into an HDF5 file of its own.
 * Usage: mpirun parallel FILE. SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>

#define ROWS 10000

static void require(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "parallel: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void write_together(hid_t file, const char *name, int rank, int size) {
  static int values[ROWS];
  static dft_site site = DFT_SITE("write_together", "host");
  hsize_t all[1] = {(hsize_t)ROWS * (hsize_t)size}, own[1] = {ROWS}, start[1] = {(hsize_t)ROWS * (hsize_t)rank};
  hid_t space = H5Screate_simple(1, all, NULL), memory = H5Screate_simple(1, own, NULL);
  hid_t how = H5Pcreate(H5P_DATASET_XFER);
  hid_t rows = H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  dft_region_begin(&site);
  for (int i = 0; i < ROWS; i++) values[i] = rank * ROWS + i;
  H5Pset_dxpl_mpio(how, H5FD_MPIO_COLLECTIVE);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, own, NULL);
  require(H5Dwrite(rows, H5T_NATIVE_INT, memory, space, how, values) >= 0, "cannot write");
  H5Dclose(rows);
  H5Pclose(how);
  H5Sclose(memory);
  H5Sclose(space);
  dft_region_end();
}

int main(int argc, char **argv) {
  int rank, size;
  hid_t access, file;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  require(argc == 2 && dft_start(NULL) == DFT_OK, "no trace");
  access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
  require(file >= 0, "no file");
  write_together(file, "before", rank, size);
  require(dft_stop() == DFT_OK, "the trace is not complete"); /* with the common file open */
  write_together(file, "after", rank, size);
  require(H5Fclose(file) >= 0, "cannot close");
  H5Pclose(access);
  MPI_Finalize();
  return 0;
}
