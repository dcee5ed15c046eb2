/* mpifamily.h - which family an MPI library is of, from its file. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_MPIFAMILY_H
#define DFTRACER_MPIFAMILY_H

/* For people, such as "Open MPI". NULL: it is none of those whose calls are recorded, or cannot be read. */
const char *mpi_family_of(const char *library);

#endif
