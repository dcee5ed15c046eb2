/* iocause.h - which calls, in which folder, make a cost. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_IOCAUSE_H
#define DFTRACER_IOCAUSE_H

#include "verdict.h"

/* Names the calls of a kind, their folder and files, if they explain at least 80 % of what a phase has of this kind: `part` of
 * all. 0: no memory. */
int io_cause_name(verdict_cause *cause, enum io_cost kind, double part, const summary_answer *answer);

#endif
