/* order.h - sorts chunks, and the records of one chunk. In place and without memory of its own, for signal handlers.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_ORDER_H
#define DFT_ORDER_H

#include <stdint.h>

typedef struct dft__ordered {
  uint64_t key;
  uint32_t at;     /* page of a chunk, or cell of a record */
  uint32_t thread; /* of a chunk: page of its thread's state */
} dft__ordered;

/* By key; the same keys by place. */
void dft__order_sort(dft__ordered *list, uint32_t count);

#endif
