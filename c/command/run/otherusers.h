/* otherusers.h - what root does for other users, it does as these users.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_OTHERUSERS_H
#define DFTRACER_OTHERUSERS_H

/* Calls `work` once for each user, but this one, who has a hidden folder there, in the folder, or beside the trace, of this path: in a child that has given up
 * all other rights, and then ends. So nothing that these users prepared there can reach what is not theirs. `context` should be
 * memory that is shared with children; the child may have written anything to it. Does nothing unless root runs it. */
void otherusers_each(const char *path, void (*work)(void *context), void *context);

#endif
