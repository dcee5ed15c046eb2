/* jsontext.h - a text as a JSON string, for output of the commands. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_JSONTEXT_H
#define DFTRACER_JSONTEXT_H

#include <stdio.h>

/* Writes the text with its quotes. */
void json_text(FILE *out, const char *text, size_t len);

#endif
