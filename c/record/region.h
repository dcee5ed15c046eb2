/* region.h - regions that their program never ended.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_REGION_H
#define DFT_REGION_H

#include "thread.h"

/* The thread ends: records the regions that it left open, and takes them off its stack. */
void dft__region_record_open(const dft__own *own);

#endif
