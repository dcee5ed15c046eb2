/* lttng.h - the tracepoints of work.c: a region is one `begin` and one `end`.
 * SPDX-License-Identifier: MIT */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng.h"
#if !defined(BENCH_LTTNG_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_LTTNG_H
#include <lttng/tracepoint.h>
/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(bench, begin, LTTNG_UST_TP_ARGS(const char *, name),
  LTTNG_UST_TP_FIELDS(lttng_ust_field_string(name, name)))
LTTNG_UST_TRACEPOINT_EVENT(bench, end, LTTNG_UST_TP_ARGS(), LTTNG_UST_TP_FIELDS())
LTTNG_UST_TRACEPOINT_EVENT(bench, end_args, LTTNG_UST_TP_ARGS(int, iteration, const char *, phase),
  LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, iteration, iteration) lttng_ust_field_string(phase, phase)))
/* clang-format on */
#endif
#include <lttng/tracepoint-event.h>
