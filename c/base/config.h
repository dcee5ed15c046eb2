/* config.h - the values of the settings.
 *
 * Each value comes from one of these, in rising precedence: its default, the configuration file, the environment, the
 * arguments of dft_start.
 * A wrong value gets one message and is skipped.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_CONFIG_H
#define DFT_CONFIG_H

#include <dftracer/dft.h>

#include "setting.h"

/* Reads all of them anew. The environment does not count when the process runs with raised privileges. */
void dft__config_read(void);

/* Overrides one value, as an argument of dft_start does. Zero when the value is not allowed, and then nothing changes. */
int dft__config_set(enum dft__setting setting, const char *text);

/* Makes a path absolute, so that it keeps its meaning when the process changes its folder, and for its children. Zero when that
 * is not possible; then nothing changes. */
int dft__config_make_absolute(enum dft__setting setting);

/* SWITCH: 0 or 1; NUMBER, BYTES: the value; CHOICE: the place of the word in the list, from 0. */
int64_t dft__config_number(enum dft__setting setting);

/* Equal where all settings are, in another image of this process too. */
uint64_t dft__config_hash(void);

/* The value as text; CHOICE in the spelling of the list. */
const char *dft__config_text(enum dft__setting setting);

#endif
