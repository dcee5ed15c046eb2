/* summary_comm.h - the summary for people: communication. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SUMMARY_COMM_H
#define DFTRACER_SUMMARY_COMM_H

#include <stdio.h>

#include "command/summary/answer/answer.h"

/* Tables have at most `top` lines. */
void summary_communication(FILE *out, const summary_answer *answer, uint32_t top);

#endif
