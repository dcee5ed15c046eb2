/* extension.h - commands from elsewhere: dftracer X runs the program dftracer-X. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_EXTENSION_H
#define DFTRACER_EXTENSION_H

/* Replaces this process by dftracer-NAME, which is searched beside this program, then on PATH. argv[0] is NAME. Returns only
 * when there is no such program. */
void extension_run(char **argv);

/* Calls back with the name of every dftracer-NAME beside this program. */
void extension_each(void (*call)(const char *name, void *context), void *context);

#endif
