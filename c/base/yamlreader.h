/* yamlreader.h - the keys and values of a YAML file, one by one, as libyaml reads them.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_YAMLREADER_H
#define DFT_YAMLREADER_H

#include <stddef.h>

/* One scalar: its line, where it stands (keys with '.' between them; the items of a list have the path of the list), its text, and
 * whether it is an item of a list. A null comes as "". */
typedef void dft__yaml_visitor(void *context, size_t line, const char *path, const char *text, int is_item);

/* Reads `len` bytes and visits every scalar; at most what stands before a mistake. Returns NULL, or what was wrong: a text
 * in `problem`. libyaml is loaded for the call. */
const char *dft__yaml_read(const char *yaml, size_t len, dft__yaml_visitor *visit, void *context, char *problem,
                           size_t problem_size);

#endif
