/* summary_comm_json.h - the summary for programs: communication. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SUMMARY_COMM_JSON_H
#define DFTRACER_SUMMARY_COMM_JSON_H

#include <stdio.h>

#include "command/summary/answer/answer.h"

void summary_json_communication(FILE *out, const summary_answer *answer);

#endif
