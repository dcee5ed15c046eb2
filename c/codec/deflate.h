/* deflate.h - short texts as one gzip member or zlib stream, without a library: loading one takes longer than the work.
 *
 * Matches of one candidate, fixed codes (RFC 1951): a trace's lines get within a fifth of what a fast library makes of them.
 * Needs no memory but 8 KiB of stack.
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
