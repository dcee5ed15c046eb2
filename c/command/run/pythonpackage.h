/* pythonpackage.h - whether a Python interpreter has the package dftracer. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_PYTHONPACKAGE_H
#define DFTRACER_PYTHONPACKAGE_H

#include "program.h"

/* The Python that runs: the image, or a script with its name that starts one, as pyenv has it. NULL: none. */
const char *python_of(const program *target);

/* Where its native module is. Runs the interpreter, but no code of the package. 0: it has none, or does not run. */
int python_package_find(const char *python, char path[PATH_MAX]);

#endif
