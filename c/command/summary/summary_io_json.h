/* summary_io_json.h - the summary for programs: the I/O, as a member of a JSON object. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SUMMARY_IO_JSON_H
#define DFTRACER_SUMMARY_IO_JSON_H

#include <stdio.h>

#include "command/summary/answer/answer.h"

void summary_json_io(FILE *out, const summary_answer *answer);

#endif
