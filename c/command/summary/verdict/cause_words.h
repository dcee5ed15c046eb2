/* cause_words.h - the words for a cause. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_CAUSE_WORDS_H
#define DFTRACER_CAUSE_WORDS_H

#include <stdio.h>

#include "verdict.h"

/* "84 % of that", "all of that" */
void cause_say_share(FILE *out, const verdict_cause *cause, const char *of);
/* What it is: " open() of 1,200 files below /scratch/train". */
void cause_say(FILE *out, const verdict_cause *cause);
/* The name of a region as the tables show it, printable. The caller frees it. NULL: no memory. */
char *shown_name(dft_text name);

#endif
