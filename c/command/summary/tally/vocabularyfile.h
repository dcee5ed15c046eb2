/* vocabularyfile.h - the user's own rows of the vocabulary, from a file. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_VOCABULARYFILE_H
#define DFTRACER_VOCABULARYFILE_H

#include "vocabulary.h"

/* Adds the rows of a file: lines `class category name`. 0: `problem` says why not. */
int vocabulary_file_load(vocabulary *own, const char *path, char *problem, size_t problem_bytes);
void vocabulary_file_free(vocabulary *own); /* forgets all rows */

#endif
