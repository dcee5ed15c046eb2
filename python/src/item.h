/* item.h - a loop, and the events of its current item.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_PYTHON_ITEM_H
#define DFT_PYTHON_ITEM_H

#include "event.h"

#define BATCH_ARGS 3
typedef struct Loop {
  PyObject_HEAD PyObject *iterator;
  Profile *profile;
  Label *iter_label;  /* NULL: not recorded */
  Label *block_label; /* likewise */
  Label *end_label; /* of the fetch that finds no item, or of the end of an iterator that is left; NULL: not recorded */
  PyObject *key;    /* of a dft_fn's loop: the name of its counter; NULL: a node's loop */
  PyObject *batches; /* tells which worker made an item, see batches.py; NULL: nobody knows */
  PyObject *samples; /* tells how many samples an item has, see torch/samples.py; NULL: nobody knows */
  Arguments values;  /* of a dft_fn's loop: those of the item's first event */
  int64_t count;
  int64_t last;              /* the count of its last item; 0: unknown */
  struct Loop *next;         /* in `ready` */
  unsigned long thread;      /* in `ready`: that of its item; 0: it is not there */
  int64_t batch[BATCH_ARGS]; /* of the item; its first is -1: unknown */
  int64_t sample_count;      /* of the item; 0: unknown */
  dft_span fetch;            /* fetching an item */
  uint64_t fetch_begin;      /* the same for native.redirect: its times */
  uint64_t fetch_end;
  Open block;
  uint64_t turn;    /* of an asynchronous loop; 0: not asynchronous */
  char is_recorded; /* this item */
  char has_item;
  char is_loader; /* its category is dataloader */
} Loop;

/* Fetching begins. `is_inner`: a loop around this one records the item. */
void item_begin(Loop *loop, int is_inner);
/* The item is there: the body begins. */
void item_fetched(Loop *loop);
/* The item, if it is recorded: counts its samples. */
void item_look(Loop *loop, PyObject *item);
/* Records the fetch of the item now; a loop of a node. Whoever kills the process then does not take it. */
void item_keep_fetch(Loop *loop);
/* There was no item: the loader has ended, and may have waited for its workers. */
void item_missing(Loop *loop);
/* The body is done, or the loop is left. The caller has found that the loop had an item. */
void item_end(Loop *loop, int is_cut);

#endif
