/* rowargs.h - the arguments of a row as a JSON object. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_ROWARGS_H
#define DFTRACER_ROWARGS_H

#include <dftracer/reader.h>

#include "outfile.h"

/* Hashes of files and texts are replaced by what they stand for. with_file: the row's file name becomes an argument, too. */
void rowargs_put(outfile *out, dft_reader *reader, const dft_rows *rows, uint32_t row, int with_file);

#endif
