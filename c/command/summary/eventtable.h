/* eventtable.h - the events by name, file, process, thread, step or rank, for people. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_EVENTTABLE_H
#define DFTRACER_EVENTTABLE_H

#include <stdio.h>

#include "command/summary/answer/answer.h"

void event_table(FILE *out, const summary_answer *answer, uint32_t top);

#endif
