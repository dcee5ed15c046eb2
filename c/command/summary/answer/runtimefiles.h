/* runtimefiles.h - files that a program does not open for its data: those that the MPI library opens for itself (its plug-ins, its
 * settings, what its processes share), and modules of Python.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_RUNTIMEFILES_H
#define DFTRACER_RUNTIMEFILES_H

#include <dftracer/reader.h>

/* By the path alone: these files are opened outside MPI calls, too, by constructors and by threads of the library. */
int is_runtime_file(dft_text path);

/* In a folder of modules, or such a folder. */
int is_module_file(dft_text path);

#endif
