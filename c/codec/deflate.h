/* deflate.h - short texts as one gzip member or zlib stream, without a library: loading one takes longer than the work.
 *
 * It tries one candidate per match and uses fixed codes (RFC 1951). The lines of a trace become at most a fifth larger than
 * with a fast library. Needs 8 KiB of stack and no other memory.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_SINK_DEFLATE_H
#define DFTRACER_SINK_DEFLATE_H

#include <stddef.h>

/* Room that is enough for any text of this length: nine bits a byte, and what stands around them. */
#define DFT__DEFLATE_BOUND(len) ((len) + (len) / 8 + (len) / 1024 + 64)

/* Each: the length written; 0 when there is less room than that. */
size_t dft__deflate_gzip(const void *text, size_t len, void *out, size_t room);
size_t dft__deflate_zlib(const void *bytes, size_t len, void *out, size_t room);

#endif
