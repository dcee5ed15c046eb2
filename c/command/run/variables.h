/* variables.h - DFTRACER_* variables of the environment that mean nothing: misspelt, most of them.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_VARIABLES_H
#define DFTRACER_VARIABLES_H

/* Calls for each that is not empty; nearest: the setting that may be meant, or NULL. */
void variables_each_unknown(void (*call)(const char *name, const char *nearest, void *context), void *context);

#endif
