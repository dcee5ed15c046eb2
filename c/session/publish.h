/* publish.h - gives complete traces their names, and cleans up.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_PUBLISH_H
#define DFT_PUBLISH_H

#include "drain/output.h"

/* Gives the live outputs of a complete trace their published names. `name` gets the path of the first; it is empty when
 * there is no file. With `other_stem` an explicit name is left to another process: this stem is used, or a number more. */
dft_status dft__publish(const dft__outputs *outputs, const char *other_stem, char *name, size_t size);

/* Renames one live output to FOLDER/STEM[-NUMBER]SUFFIX, the first that is free. `name` gets the path. */
dft_status dft__publish_new(const char *live, const char *folder, const char *stem, const char *suffix, char *name,
                            size_t size);

/* Removes the spool, its pointer, live outputs that were not published, and the folder .dftracer when it is empty. */
void dft__publish_clean(const dft__outputs *outputs, const char *spool_path);

#endif
