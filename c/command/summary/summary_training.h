/* summary_training.h - the summary of a training, for people and for programs. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SUMMARY_TRAINING_H
#define DFTRACER_SUMMARY_TRAINING_H

#include <stdio.h>

#include "command/summary/answer/answer.h"

/* Tables of at most `top` lines; nothing if there is no training. */
void summary_training(FILE *out, const summary_answer *answer, uint32_t top);
/* The members `training` and `split` of the JSON. */
void summary_json_training(FILE *out, const summary_answer *answer);
void summary_json_split(FILE *out, const summary_answer *answer);

#endif
