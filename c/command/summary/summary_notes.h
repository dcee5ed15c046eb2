/* summary_notes.h - the summary for people: what one has to know to judge the numbers. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SUMMARY_NOTES_H
#define DFTRACER_SUMMARY_NOTES_H

#include <stdio.h>

#include "command/summary/answer/answer.h"

void summary_notes(FILE *out, const summary_answer *answer);
/* Prints the first problems of the traces, each as a line that starts with `before`. */
void summary_print_problems(FILE *out, const char *before, const summary_state *state);

#endif
