/* processjson.h - who a process is, as members of a JSON object. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_PROCESSJSON_H
#define DFTRACER_PROCESSJSON_H

#include <stdio.h>

#include "command/summary/answer/answer.h"

/* `, "rank": ..., "command": ...` */
void json_process(FILE *out, const summary_state *state, uint32_t process);
/* `"process": ..., "rank": ..., "command": ...` */
void json_whole_process(FILE *out, const summary_state *state, uint32_t process);

#endif
