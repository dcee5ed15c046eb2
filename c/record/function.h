/* function.h - how sites of functions are named in the spool: the address in the file, and the file.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_FUNCTION_H
#define DFT_FUNCTION_H

#define DFT__FUNCTION_FORMAT "0x%lx@%s"
#define DFT__FUNCTION_CATEGORY "FUNC"

#endif
