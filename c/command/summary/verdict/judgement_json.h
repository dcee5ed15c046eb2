/* judgement_json.h - verdict, findings and rules for programs. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_JUDGEMENT_JSON_H
#define DFTRACER_JUDGEMENT_JSON_H

#include <stdio.h>

#include "judgement.h"

/* The members verdict and findings, each with a comma behind it. */
void judgement_json(FILE *out, const judgement *made);
void judgement_json_rules(FILE *out); /* a list */

#endif
