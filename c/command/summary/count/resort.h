/* resort.h - reads the sources again whose lines are far out of order, sorts their events, and accounts for them.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_RESORT_H
#define DFTRACER_RESORT_H

#include "worker.h"

/* As a thread's main function; takes a worker, when all sources were read once, and returns NULL. */
void *resort_run(void *context);

#endif
