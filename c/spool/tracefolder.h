/* tracefolder.h - the hidden folder of one user beside the traces, and the names in it.
 *
 *   out/trace-node-17-app.pfw.gz     a published trace
 *   out/.dftracer/BASE.spool         the claim: the spool, or a pointer to a spool elsewhere (session/pointer.h)
 *   out/.dftracer/BASE.0-SINK        what the first sink has written so far: a live output
 *   out/.dftracer/BASE.0-SINK-...    further files of that sink
 *   out/.dftracer-1000/...           the same, of user 1000, where .dftracer is another user's
 *
 * INNER is the name of the hidden folder: .dftracer, which an empty name means too, or .dftracer-UID. Only a real folder that this user owns is used: what a
 * symbolic link leads to may be private, and another user could replace whatever is in his folder.
 *
 * Nobody else composes or takes apart these names. Each function that fills in a path returns zero when it does not fit.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_TRACEFOLDER_H
#define DFT_TRACEFOLDER_H

#include <dftracer/spool.h>
#include <dirent.h>
#include <stddef.h>
#include <stdint.h>

#include "spool.h"

/* The names that this user's hidden folder may have: number 0 and 1. Zero when there are no more. */
int dft__tracefolder_name(char inner[DFT__INNER_BYTES], int number);
/* Finds this user's hidden folder, or makes it. Zero and errno when that is not possible. */
int dft__tracefolder_make(char inner[DFT__INNER_BYTES], const char *folder);
/* Opens a hidden folder of this user. NULL and errno: EPERM when it is another user's, or a symbolic link. */
DIR *dft__tracefolder_open(const char *folder, const char *inner);

/* FOLDER/INNER. */
int dft__tracefolder_inner(char *path, size_t size, const char *folder, const char *inner);
/* FOLDER/INNER/BASE.spool. */
int dft__tracefolder_claim(char *path, size_t size, const char *folder, const char *inner, const char *base);
/* FOLDER/INNER/BASE.INDEX-SINK. */
int dft__tracefolder_live(char *path, size_t size, const char *folder, const char *inner, const char *base,
                          uint32_t index, const char *sink);

/* The same, in the folder of the claim, whatever its name is. */
int dft__tracefolder_live_beside(char *path, size_t size, const char *claim, const char *base, uint32_t index,
                                 const char *sink);

/* The length of BASE when the file name is that of a claim; else 0. */
size_t dft__tracefolder_base_len(const char *name);
/* The length of FOLDER when the path is that of a claim; else 0. `inner`, unless NULL, gets the name of the hidden folder. */
size_t dft__tracefolder_folder_len(const char *claim, char inner[DFT__INNER_BYTES]);
/* Whether the path ends with the name of a hidden folder, of any user. */
int dft__tracefolder_is_inner(const char *path);

/* The shortest SINK... of the files BASE.INDEX-SINK... beside the claim. Zero when there are none. */
int dft__tracefolder_find_live(const char *claim, uint32_t index, char sink[256]);

#endif
