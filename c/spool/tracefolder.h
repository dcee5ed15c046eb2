/* tracefolder.h - the names inside .dftracer/, the hidden folder beside the traces.
 *
 *   out/trace-node-17-app.pfw.gz     a published trace
 *   out/.dftracer/BASE.spool         the claim: the spool, or a pointer to a spool elsewhere (session/pointer.h)
 *   out/.dftracer/BASE.0-SINK        what the first sink has written so far: a live output
 *   out/.dftracer/BASE.0-SINK-...    further files of that sink
 *
 * Nobody else composes or takes apart these names. Each function that fills in a path returns zero when it does not fit.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_TRACEFOLDER_H
#define DFT_TRACEFOLDER_H

#include <dftracer/spool.h>
#include <stddef.h>
#include <stdint.h>

/* FOLDER/.dftracer. */
int dft__tracefolder_inner(char *path, size_t size, const char *folder);
/* FOLDER/.dftracer/BASE.spool. */
int dft__tracefolder_claim(char *path, size_t size, const char *folder, const char *base);
/* FOLDER/.dftracer/BASE.INDEX-SINK. */
int dft__tracefolder_live(char *path, size_t size, const char *folder, const char *base, uint32_t index,
                          const char *sink);

/* The same, in the folder of the claim, whatever its name is. */
int dft__tracefolder_live_beside(char *path, size_t size, const char *claim, const char *base, uint32_t index,
                                 const char *sink);

/* The length of BASE when the file name is that of a claim; else 0. */
size_t dft__tracefolder_base_len(const char *name);
/* The length of FOLDER when the path is that of a claim; else 0. */
size_t dft__tracefolder_folder_len(const char *claim);
/* Whether the path ends with "/.dftracer". */
int dft__tracefolder_is_inner(const char *path);

/* The shortest SINK... of the files BASE.INDEX-SINK... that are there. Zero when there are none. */
int dft__tracefolder_find_live(const char *folder, const char *base, uint32_t index, char sink[256]);

#endif
