/* jsontext.h - a text as a JSON string. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_JSONTEXT_H
#define DFTRACER_JSONTEXT_H

#include <stddef.h>
#include <stdio.h>

/* Prints the text in quotes, with everything escaped that JSON requires. */
void json_text(FILE *out, const char *text, size_t len);

#endif
