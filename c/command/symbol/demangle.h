/* demangle.h - names of functions as people write them. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_DEMANGLE_H
#define DFTRACER_DEMANGLE_H

#include <dftracer/reader.h>

/* A name that a compiler made: of C++ by the Itanium ABI (_ZN3foo3barEv: "foo::bar"), of gfortran (__module_MOD_proc:
 * "module::proc"). `has_parameters`: with the types of the parameters, "foo::bar()". The caller frees the result. NULL: the
 * name is not of that kind, or not understood, or too long or too deep to be worth it; it is shown as it is. Takes bounded
 * time and memory, whatever the name. */
char *demangle(dft_text name, int has_parameters);

#endif
