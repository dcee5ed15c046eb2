/* endedchildren.h - children that this process ends by a signal, on purpose.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_ENDEDCHILDREN_H
#define DFT_ENDEDCHILDREN_H

#include "spool/spool.h"

/* Whether the spool belongs to one of them. */
int dft__endedchildren_has(const dft__spool *spool);

#endif
