/* commcodec.h - how a process communicated, as bytes of a state's file. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_COMMCODEC_H
#define DFTRACER_COMMCODEC_H

#include "command/summary/tally/commcounts.h"
#include "command/summary/tally/pursuits.h"
#include "statecodec.h"

/* Numbers of texts are below `texts`. */
void codec_comm(state_codec *codec, comm_counts *counts, uint32_t texts);
void codec_pursuits(state_codec *codec, pursuits *all, uint32_t texts);

#endif
