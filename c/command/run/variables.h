/* variables.h - finds environment variables that have no effect; most are misspelt.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_VARIABLES_H
#define DFTRACER_VARIABLES_H

/* Calls back for each DFTRACER_* that no setting has, and that is not empty. `nearest` is the setting that was probably meant,
 * or NULL. */
void variables_each_unknown(void (*call)(const char *name, const char *nearest, void *context), void *context);
/* Calls back for each folder of a DFTRACER_DATA_DIR that does not exist. */
void variables_each_missing(const char *folders, void (*call)(const char *folder, void *context), void *context);

#endif
