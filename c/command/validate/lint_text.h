/* lint_text.h - the rules of files, members and lines, checked on bytes. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_LINT_TEXT_H
#define DFTRACER_LINT_TEXT_H

#include "rules.h"

int lint_text(const char *path, findings *found); /* 0: the file cannot be read; errno says why */

#endif
