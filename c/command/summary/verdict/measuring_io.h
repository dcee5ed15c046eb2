/* measuring_io.h - takes the measures of a job's I/O.
 *
 * What is at stake is not the time of all calls: of I/O that overlaps with compute, nothing can be gained. It is the time in
 * which a rank was in such a call and in nothing else, or waited for data while it was loaded by such calls.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_MEASURING_IO_H
#define DFTRACER_MEASURING_IO_H

#include "costs.h"
#include "measures.h"

void measures_take_io(measure_list *list, const summary_answer *answer, const job_costs *costs);

#endif
