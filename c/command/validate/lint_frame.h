/* lint_frame.h - the first lines of a trace, its start and end, and what they say of the rest (F6, F7, F10, T4 of lanes).
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_LINT_FRAME_H
#define DFTRACER_LINT_FRAME_H

#include <dftracer/reader.h>

#include "rules.h"

typedef struct frame_check frame_check;

frame_check *frame_check_new(dft_reader *reader, findings *found); /* NULL: no memory */
void frame_check_add(frame_check *check, const dft_rows *rows, uint32_t row, uint64_t line);
/* Reports what is missing, and frees the check. NULL is allowed. */
void frame_check_end(frame_check *check);

#endif
