/* order.c - sorts chunks, and the records of one chunk: heap sort.
 * SPDX-License-Identifier: MIT */
#include "order.h"

static int is_before(const dft__ordered *a, const dft__ordered *b) {
  return a->key != b->key ? a->key < b->key : a->at < b->at;
}

/* Lets `value` sink from the top of the heap below `at` to its place. */
static void sift(dft__ordered *list, uint32_t at, uint32_t count, dft__ordered value) {
  for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && is_before(&list[child], &list[child + 1])) child++;
    if (!is_before(&value, &list[child])) break;
    list[at] = list[child];
  }
  list[at] = value;
}

void dft__order_sort(dft__ordered *list, uint32_t count) {
  for (uint32_t at = count / 2; at-- > 0;) sift(list, at, count, list[at]);
  for (uint32_t left = count; left > 1;) {
    dft__ordered last = list[--left];
    list[left] = list[0];
    sift(list, 0, left, last);
  }
}
