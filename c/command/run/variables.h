/* variables.h - finds DFTRACER_* environment variables that no setting has; most are misspelt.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_VARIABLES_H
#define DFTRACER_VARIABLES_H

/* Calls back for each of them that is not empty. `nearest` is the setting that was probably meant, or NULL. */
void variables_each_unknown(void (*call)(const char *name, const char *nearest, void *context), void *context);

#endif
