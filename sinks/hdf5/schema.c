/* schema.c - the one list of tables and columns.
 * SPDX-License-Identifier: MIT */
#include "schema.h"

enum { ONE = 0, JOB = 1 };

#define SIZE_U8 1
#define SIZE_I32 4
#define SIZE_U32 4
#define SIZE_I64 8
#define SIZE_U64 8
#define SIZE_F64 8

const dft__h5_column_info dft__h5_columns[DFT__H5_COLUMNS] = {
#define COLUMN(table, column, type, use, unit, summary) \
  {DFT__H5_##table, DFT__H5_##type, SIZE_##type, use, #column, unit, summary},
  DFT__H5_COLUMN_LIST(COLUMN)};

const char *const dft__h5_groups[DFT__H5_TABLES] = {
#define GROUP(table, group, summary) group,
  DFT__H5_TABLE_LIST(GROUP)};

const char *const dft__h5_summaries[DFT__H5_TABLES] = {
#define SUMMARY(table, group, summary) summary,
  DFT__H5_TABLE_LIST(SUMMARY)};
