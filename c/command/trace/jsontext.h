/* jsontext.h - a text as a JSON string. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_JSONTEXT_H
#define DFTRACER_JSONTEXT_H

#include <stddef.h>
#include <stdio.h>

/* Prints the text in quotes, as valid JSON whatever it contains: bytes that are not UTF-8 become U+FFFD, and characters that
 * a terminal obeys are escaped, which is the same text in JSON. */
void json_text(FILE *out, const char *text, size_t len);
/* Prints JSON, or a part of it, with the same care for the texts in it. */
void json_line(FILE *out, const char *line, size_t len);

#endif
