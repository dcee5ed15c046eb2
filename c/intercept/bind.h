/* bind.h - puts the wrappers into the import slots of the loaded objects, and takes them out again.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_BIND_H
#define DFT_BIND_H

#include "symbol.h"

/* Rewrites the slots of every loaded object. Objects that are loaded later follow at the next call or dlsym. */
void dft__bind_all(void);
/* Restores every slot that still holds a wrapper. A forked child keeps its parent's slots, whose wrappers now do
 * nothing: to walk them would touch pages of every library in a process that is about to end. */
void dft__unbind_all(void);
int dft__bind_is_bound(void);
/* Binds what was loaded since the last walk. */
void dft__bind_look_again(void);
/* The function behind a symbol's name, also of those that have no call. */
dft__function dft__bind_real(unsigned number);

#endif
