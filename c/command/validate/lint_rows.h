/* lint_rows.h - the rules of what lines say: identity, times, nesting, hashes. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_LINT_ROWS_H
#define DFTRACER_LINT_ROWS_H

#include <dftracer/reader.h>

#include "rules.h"

int lint_rows(dft_reader *reader, uint32_t source, findings *found); /* 0: no memory */

#endif
