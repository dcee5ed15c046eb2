/* iotables.h - the I/O by file, by process and of the job, and the calls that failed, for people. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_IOTABLES_H
#define DFTRACER_IOTABLES_H

#include <stdio.h>

#include "command/summary/answer/answer.h"

/* is_single: files are not grouped. */
void io_tables(FILE *out, const summary_answer *answer, uint32_t top, int is_single);

#endif
