/* sink_bare.c - sink_words.c as it would be with the header of 5.0: its struct ends before `flags`.
 * SPDX-License-Identifier: MIT */
#define dft_sink_plugin whole_plugin
#include "sink_words.c"
#undef dft_sink_plugin

DFT_API extern const dft_sink dft_sink_plugin;
const dft_sink dft_sink_plugin = {
  .struct_size = offsetof(dft_sink, flags),
  .name = "bare",
  .summary = "one line an event",
  .suffix = ".bare",
  .open = words_open,
  .append = words_append,
  .close = words_close,
};
