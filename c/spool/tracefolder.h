/* tracefolder.h - the hidden folder of one user beside the traces, and the names in it.
 *
 *   out/trace-node-17-app.pfw.gz     a published trace
 *   out/.dftracer/BASE.spool         the claim: the spool, or a pointer to a spool elsewhere (session/pointer.h)
 *   out/.dftracer/BASE.0-SINK        what the first sink has written so far: a live output
 *   out/.dftracer/BASE.0-SINK-...    further files of that sink
 *   out/.dftracer-1000/...           the same, of user 1000, where .dftracer is another user's
 *
 * INNER is the name of the hidden folder: .dftracer, which an empty name means too, or .dftracer-UID. Only a real folder that
 * this user owns is used: what a symbolic link leads to may be private, and another user could replace whatever is in his
 * folder. Who owns the folder of the traces can replace the hidden folder at any moment. So what was checked is also what is
 * used: an operation enters the folder, and leaves it in the end (codec/heldfolder.h).
 *
 * Nobody else composes or takes apart these names. Each function that fills in a path returns zero when it does not fit.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_TRACEFOLDER_H
#define DFT_TRACEFOLDER_H

#include <dftracer/spool.h>
#include <dirent.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/heldfolder.h"
#include "spool.h"

/* The names that this user's hidden folder may have: number 0 and 1. Zero when there are no more. */
int dft__tracefolder_name(char inner[DFT__INNER_BYTES], int number);

/* The folder of the traces and the hidden one in it, as long as one operation takes. */
typedef dft__held dft__tracefolder;

/* Each of these enters a hidden folder, or returns zero and errno. Then its files cannot be reached at all: in either case,
 * dft__tracefolder_leave must follow.
 * The names that were given must stay as long.
 * make: this user's, which is found or made.
 * enter: that of the name; EPERM when it is another user's, or a symbolic link.
 * return: the one in which this process made its claim; ENOENT when that is not there any more. */
int dft__tracefolder_make(dft__tracefolder *own, char inner[DFT__INNER_BYTES], const char *folder);
int dft__tracefolder_enter(dft__tracefolder *own, const char *folder, const char *inner);
int dft__tracefolder_return(dft__tracefolder *own, const dft__spool *spool);
void dft__tracefolder_leave(const dft__tracefolder *own);

/* The claim of this spool was made in the folder: for dft__tracefolder_return. */
void dft__tracefolder_remember(const dft__tracefolder *own, dft__spool *spool);
/* What is in the hidden folder. NULL and errno. */
DIR *dft__tracefolder_list(const dft__tracefolder *own);

/* Claims in the folder that nobody entering it as this user would see, because they are in hidden folders of others. What cannot
 * be read, and what is not a folder, counts as one. */
uint32_t dft__tracefolder_count_others(const char *folder);

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

/* The shortest SINK... of the files BASE.INDEX-SINK... beside the claim; empty when that cannot be found out. Zero when there
 * are none. */
int dft__tracefolder_find_live(const dft__tracefolder *own, const char *claim, uint32_t index, char sink[256]);

#endif
