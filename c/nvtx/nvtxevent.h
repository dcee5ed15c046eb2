/* nvtxevent.h - what an NVTX call says about its event: the name, and arguments for category and payload.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_NVTXEVENT_H
#define DFT_NVTXEVENT_H

#include "nvtxname.h"

enum { DFT__NVTX_TEXT_MOST = 1024, DFT__NVTX_ARGS_MOST = 2 };

/* Texts live as long as the struct, and those of the program. */
typedef struct dft__nvtx_event {
  const dft__nvtx_name *domain;
  dft_site *site;   /* of a registered string of this domain; NULL: name and name_len count */
  const char *name; /* NULL: it has none */
  size_t name_len;
  uint32_t arg_count;
  dft_arg args[DFT__NVTX_ARGS_MOST];
  char text[DFT__NVTX_TEXT_MOST]; /* a wide name as UTF-8 */
} dft__nvtx_event;

/* The length of a text of the program; 0 for NULL. Names are cut at 4096 bytes, so no more than a little more is read. */
size_t dft__nvtx_text_len(const char *text);

/* Writes wide characters as UTF-8, as many as there is room for. Returns the length; 0 for NULL. */
size_t dft__nvtx_text_narrow(char text[DFT__NVTX_TEXT_MOST], const wchar_t *wide);

/* Copies as much of an event's name as there is room for, without half a character, and terminates it. */
void dft__nvtx_event_copy_name(const dft__nvtx_event *event, char *text, size_t size);

void dft__nvtx_event_ascii(dft__nvtx_event *event, const char *message);
void dft__nvtx_event_wide(dft__nvtx_event *event, const wchar_t *message);
/* Reads only the fields that attributes->size covers. NULL: an event without a name. */
void dft__nvtx_event_read(dft__nvtx_event *event, dft__nvtx_handle domain, const dft__nvtx_attributes *attributes);

#endif
