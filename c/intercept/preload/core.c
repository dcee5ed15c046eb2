/* core.c - stands in for the core when the preload library is linked: the same table, in a library whose name is the
 * core's path.
 * SPDX-License-Identifier: MIT */
#include <dftracer/preload.h>

dft_preload_wrappers dft_preload_table;
