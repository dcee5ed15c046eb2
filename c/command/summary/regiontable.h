/* regiontable.h - regions over ranks, for people. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_REGIONTABLE_H
#define DFTRACER_REGIONTABLE_H

#include <stdio.h>

#include "command/summary/answer/answer.h"

/* Those that do not take the same time on all. Prints nothing unless there are two ranks. */
void region_table(FILE *out, const summary_answer *answer, uint32_t top);

#endif
