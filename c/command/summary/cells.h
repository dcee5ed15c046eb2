/* cells.h - numbers and texts of a summary as cells of a table. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_CELLS_H
#define DFTRACER_CELLS_H

#include "command/cli/table.h"
#include "command/summary/answer/answer.h"

#define SHOWN_BYTES 64

void add_text(table *sheet, dft_text text); /* empty: "-" */
void add_time(table *sheet, uint64_t ns);
void add_count(table *sheet, uint64_t count);
void add_bytes(table *sheet, uint64_t bytes); /* none: "-" */
const char *at_least(void);                   /* before a number that would be larger if everything was known */
/* Bytes of transfers, some of which may be unknown: then it is at least so much. The same for their rate. */
void add_moved(table *sheet, uint64_t bytes, uint64_t unknown);
void add_share(table *sheet, uint64_t part, uint64_t whole);
void add_rate(table *sheet, uint64_t bytes, uint64_t unknown, uint64_t ns);

/* How many lines of a table are shown, if not all: "15 of 230; --top N shows more". */
const char *shown(char note[SHOWN_BYTES], uint32_t top, uint32_t count);

#endif
