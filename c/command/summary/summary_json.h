/* summary_json.h - the summary for programs. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SUMMARY_JSON_H
#define DFTRACER_SUMMARY_JSON_H

#include <stdio.h>

#include "totals.h"

void summary_json(FILE *out, const trace_totals *totals); /* everything */
void summary_csv(FILE *out, const trace_totals *totals);  /* the table of events */

#endif
