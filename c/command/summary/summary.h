/* summary.h - the three forms in which dftracer summary prints a job. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SUMMARY_H
#define DFTRACER_SUMMARY_H

#include <stdio.h>

#include "answer.h"

void summary_text(FILE *out, job *of, uint32_t top,
                  int is_whole); /* is_whole: all sections, not only the table of --by */
void summary_json(FILE *out, job *of);
void summary_csv(FILE *out, job *of);

#endif
