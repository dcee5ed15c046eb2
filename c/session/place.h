/* place.h - where a trace goes: folder, names, spool; and how it is published.
 *
 *   out/trace-node-17-app.pfw.gz      published, complete
 *   out/.dftracer/trace-node-17.spool what is not written yet; or a pointer, a small text file, to a spool elsewhere
 *   out/.dftracer/trace-node-17.0-jsonl   what is written so far
 * SPDX-License-Identifier: MIT */
#ifndef DFT_PLACE_H
#define DFT_PLACE_H

#include "base/identity.h"
#include "drain/output.h"
#include "spool/spool.h"

typedef struct dft__place_plan {
  char folder[4096]; /* absolute */
  char stem[256];    /* of the published name, without suffix */
  char base[256];    /* of the names in .dftracer/ */
  int is_explicit;
} dft__place_plan;

/* From the name the user gave, relative to the working directory. is_child: the explicit name belongs to the parent. Makes
 * the folder. */
dft_status dft__place_plan_make(dft__place_plan *plan, const char *log_file, const dft__identity *own, int is_child);

/* Makes the spool, beside the trace or where that is better, and thereby claims the name: no two living processes have the
 * same. The plan's stem and base change when the name was taken, or used by an earlier session of this process. */
dft_status dft__place_claim(dft__place_plan *plan, dft__spool *spool, const dft__identity *own, const char *spool_dir,
                            uint64_t limit);

/* Notes the folder for dftracer run, when the program named another file than the environment does. */
void dft__place_note(const dft__place_plan *plan, const char *log_file);

/* Whether the parent of this process traces to the same folder: then it looks after what dead processes left, or its own
 * parent does. */
int dft__place_has_parent(const dft__header *header);

/* Gives the live files their published names; the trace is complete. `name` gets the first one's path. */
dft_status dft__place_publish(const dft__output *output, char *name, size_t size);

/* This process's own trace was published: its next session leaves the name alone. With the session's lock. */
void dft__place_remember(const dft__header *header);

/* Removes the spool, its pointer, unpublished live files, and the folder .dftracer when it is empty. */
void dft__place_clean(const dft__output *output, const char *spool_path);

/* Follows a claim file to the spool: the same path, or where a pointer leads. */
enum dft__claim_kind { DFT__CLAIM_SPOOL, DFT__CLAIM_POINTER, DFT__CLAIM_STALE, DFT__CLAIM_FOREIGN, DFT__CLAIM_NONE };
enum dft__claim_kind dft__place_follow(const char *claim, const dft__identity *own, char *spool_path, size_t size);

#endif
