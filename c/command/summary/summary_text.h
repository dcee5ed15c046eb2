/* summary_text.h - the summary for people. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SUMMARY_TEXT_H
#define DFTRACER_SUMMARY_TEXT_H

#include <stdio.h>

#include "command/summary/verdict/judgement.h"

/* is_whole: all sections; otherwise the table of events only, with the first section and the notes. is_single: files are not grouped.
 * Tables have at most `top` lines. */
void summary_text(FILE *out, const summary_answer *answer, const judgement *made, uint32_t top, int is_whole,
                  int is_single);

#endif
