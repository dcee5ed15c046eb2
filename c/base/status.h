/* status.h - the status that an error of the operating system means.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_STATUS_H
#define DFT_STATUS_H

#include <dftracer/dft.h>
#include <errno.h>

/* EFBIG is what a blocked SIGXFSZ leaves, and what a file system without larger files says. */
static inline dft_status dft__status_of(int error) {
  if (error == ENOMEM) return DFT_ENOMEM;
  return error == ENOSPC || error == EDQUOT || error == EFBIG ? DFT_ENOSPC : DFT_EIO;
}

#endif
