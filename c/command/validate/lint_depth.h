/* lint_depth.h - whether levels and parents fit together (A3, W4, W5). SPDX-License-Identifier: MIT */
#ifndef DFTRACER_LINT_DEPTH_H
#define DFTRACER_LINT_DEPTH_H

#include <dftracer/reader.h>

#include "rules.h"

typedef struct depth_check depth_check;

depth_check *depth_check_new(findings *found); /* NULL: no memory */
void depth_check_add(depth_check *check, const dft_rows *rows, uint32_t row, uint64_t line);
/* Reports the parents that never came, and frees the check. NULL is allowed. */
void depth_check_end(depth_check *check);

#endif
