/* serial.c - a program that uses HDF5 itself while it is traced into HDF5: threads record, its own file is written and read
 * before and after the trace is completed. Usage: serial FILE. SPDX-License-Identifier: MIT */
#include <dftracer/dft.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 100000

static void require(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "serial: %s\n", what);
  exit(1);
}

static void write_rows(hid_t file, const char *name) {
  static int values[ROWS];
  hsize_t dims[1] = {ROWS}, chunk[1] = {1000};
  hid_t space = H5Screate_simple(1, dims, NULL);
  hid_t how = H5Pcreate(H5P_DATASET_CREATE);
  hid_t rows;
  for (int i = 0; i < ROWS; i++) values[i] = i * 3;
  H5Pset_chunk(how, 1, chunk);
  H5Pset_deflate(how, 1);
  rows = H5Dcreate2(file, name, H5T_NATIVE_INT, space, H5P_DEFAULT, how, H5P_DEFAULT);
  require(rows >= 0 && H5Dwrite(rows, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0, "cannot write");
  H5Dclose(rows);
  H5Pclose(how);
  H5Sclose(space);
}

static void read_rows(hid_t file, const char *name) {
  static int values[ROWS];
  hid_t rows = H5Dopen2(file, name, H5P_DEFAULT);
  require(rows >= 0 && H5Dread(rows, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0, "cannot read");
  for (int i = 0; i < ROWS; i++) require(values[i] == i * 3, "other values");
  H5Dclose(rows);
}

int main(int argc, char **argv) {
  static dft_site site = DFT_SITE("step", "host");
  hid_t file;
  require(argc == 2 && dft_start(NULL) == DFT_OK, "no trace");
  file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  require(file >= 0, "no file");
  write_rows(file, "before");
  for (int i = 0; i < 100000; i++) {
    dft_region_begin(&site);
    dft_region_end();
  }
  require(dft_stop() == DFT_OK, "the trace is not complete"); /* with its own file open */
  read_rows(file, "before");
  write_rows(file, "after");
  read_rows(file, "after");
  require(H5Fclose(file) >= 0, "cannot close");
  return 0;
}
