/* bind.h - wrappers in the import slots of the loaded objects.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_BIND_H
#define DFT_BIND_H

#include "intercept.h"

/* Rewrites the slots of every object that is loaded now; those loaded later follow when they are noticed. */
void dft__bind_all(void);
/* Gives back every slot that still holds one of ours. A forked child keeps those of its parent, whose wrappers do nothing any
 * more: to walk would bring pages of every library into a process that is about to end. */
void dft__unbind_all(void);
int dft__bind_is_bound(void);
void dft__bind_look_again(void);

/* The wrappers that end in a jump: tail.c. */
void dft__tail_vfork(void);
void dft__tail_dlopen(void);
void dft__tail_dlsym(void);
dft__function dft__real_vfork(void);
dft__function dft__io_before_vfork(void);
dft__function dft__bind_before_dlopen(void);
dft__function dft__bind_before_dlsym(void);

/* What a name stands for when nobody has bound it to a wrapper; NULL when there is no such thing. */
dft__function dft__real_by_name(const char *name);

#endif
