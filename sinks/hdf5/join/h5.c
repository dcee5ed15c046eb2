/* h5.c - small things in HDF5, and failing with a message.
 * SPDX-License-Identifier: MIT */
#include "h5.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_FAILED 1
#define EXIT_NO_SPACE 3

static const char *unfinished; /* removed when something fails */

__attribute__((noreturn)) static void end(const char *message) {
  int is_space = strstr(message, "No space left") || strstr(message, "File too large") || strstr(message, "quota");
  printf("%s", message);
  fflush(stdout);
  if (unfinished) remove(unfinished);
  _Exit(is_space ? EXIT_NO_SPACE : EXIT_FAILED);
}

void fail(const char *format, ...) {
  char message[480];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  end(message);
}

/* The innermost entry says most: it has the system's own error. */
static herr_t keep_reason(unsigned number, const H5E_error2_t *error, void *text) {
  if (number == 0 && error->desc) snprintf(text, 300, "%s", error->desc);
  return 0;
}

int64_t need(int64_t result, const char *what) {
  char reason[300] = "HDF5 does not say why";
  if (result >= 0) return result;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_reason, reason);
  fail("%s: %s", what, reason);
}

void *need_memory(void *memory) {
  if (!memory) fail("no memory");
  return memory;
}

void remove_on_failure(const char *path) {
  unfinished = path;
}

/* ---- Types -------------------------------------------------------------------------------------------------------- */

hid_t type_in_file(uint32_t type) {
  switch (type) {
    case DFT__H5_U8: return H5T_STD_U8LE;
    case DFT__H5_I32: return H5T_STD_I32LE;
    case DFT__H5_U32: return H5T_STD_U32LE;
    case DFT__H5_I64: return H5T_STD_I64LE;
    case DFT__H5_U64: return H5T_STD_U64LE;
    default: return H5T_IEEE_F64LE;
  }
}

hid_t type_in_memory(uint32_t type) {
  switch (type) {
    case DFT__H5_U8: return H5T_NATIVE_UINT8;
    case DFT__H5_I32: return H5T_NATIVE_INT32;
    case DFT__H5_U32: return H5T_NATIVE_UINT32;
    case DFT__H5_I64: return H5T_NATIVE_INT64;
    case DFT__H5_U64: return H5T_NATIVE_UINT64;
    default: return H5T_NATIVE_DOUBLE;
  }
}

/* Of fixed length, zeros behind the text: every reader knows it, also Fortran's and PyTables. */
hid_t text_type(size_t width) {
  hid_t type = need(H5Tcopy(H5T_C_S1), "string type");
  need(H5Tset_size(type, width ? width : 1), "string type");
  need(H5Tset_strpad(type, H5T_STR_NULLPAD), "string type");
  need(H5Tset_cset(type, H5T_CSET_UTF8), "string type");
  return type;
}

/* ---- Attributes --------------------------------------------------------------------------------------------------- */

static void describe(hid_t object, const char *name, hid_t type, hid_t memory_type, const void *value) {
  hid_t space = need(H5Screate(H5S_SCALAR), name);
  hid_t attribute = need(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT), name);
  need(H5Awrite(attribute, memory_type, value), name);
  H5Aclose(attribute);
  H5Sclose(space);
}

void describe_text(hid_t object, const char *name, const char *text) {
  hid_t type = text_type(strlen(text));
  describe(object, name, type, type, text);
  H5Tclose(type);
}

void describe_number(hid_t object, const char *name, int64_t number) {
  describe(object, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &number);
}

/* ---- Data sets ---------------------------------------------------------------------------------------------------- */

hid_t make_group(hid_t file, const char *name) {
  hid_t links = need(H5Pcreate(H5P_LINK_CREATE), name);
  hid_t group;
  if (H5Lexists(file, "args", H5P_DEFAULT) <= 0 && strncmp(name, "args/", 5) == 0)
    H5Gclose(need(H5Gcreate2(file, "args", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "args"));
  if (H5Lexists(file, name, H5P_DEFAULT) > 0) group = need(H5Gopen2(file, name, H5P_DEFAULT), name);
  else group = need(H5Gcreate2(file, name, links, H5P_DEFAULT, H5P_DEFAULT), name);
  H5Pclose(links);
  return group;
}

hid_t make_column(hid_t place, const char *name, hid_t type, uint64_t rows, uint64_t chunk_rows, int level) {
  hsize_t dims[1] = {rows};
  hsize_t most[1] = {H5S_UNLIMITED};
  hsize_t chunk[1] = {chunk_rows};
  hid_t space = need(H5Screate_simple(1, dims, most), name);
  hid_t how = need(H5Pcreate(H5P_DATASET_CREATE), name);
  hid_t data_set;
  need(H5Pset_chunk(how, 1, chunk), name);
  if (H5Tget_size(type) > 1) need(H5Pset_shuffle(how), name);
  need(H5Pset_deflate(how, level >= 1 && level <= 9 ? (unsigned)level : 1), name);
  data_set = need(H5Dcreate2(place, name, type, space, H5P_DEFAULT, how, H5P_DEFAULT), name);
  H5Pclose(how);
  H5Sclose(space);
  return data_set;
}
