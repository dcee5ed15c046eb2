/* argument.h - arguments of open regions.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_ARGUMENT_H
#define DFT_ARGUMENT_H

#include "item.h"

/* Adds an argument to the topmost frame. */
void dft__argument_add(const dft__own *own, const dft__ready_item *ready, uint32_t bytes);

/* Before a frame's arguments go into its record: the item that counts losses gets the whole number. */
void dft__argument_settle(const dft__own *own, const dft__frame *frame, uint32_t args_end);

#endif
