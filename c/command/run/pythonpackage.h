/* pythonpackage.h - whether a Python interpreter has the package dftracer. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_PYTHONPACKAGE_H
#define DFTRACER_PYTHONPACKAGE_H

#include "program.h"

int is_python(const program *target);

/* Where its native module is. Runs the interpreter, but no code of the package. 0: it has none, or does not run. */
int python_package_find(const program *target, char path[PATH_MAX]);

#endif
