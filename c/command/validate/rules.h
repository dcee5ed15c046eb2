/* rules.h - the rules of the trace format that dftracer validate checks: the one list, and what was found. sinks/FORMAT.md
 * explains the rules. SPDX-License-Identifier: MIT */
#ifndef DFTRACER_RULES_H
#define DFTRACER_RULES_H

#include <stdint.h>

/* name, code, what is wrong. Codes with a W are warnings: tools can read such a trace. */
#define RULE_LIST(X)                                                                                                \
  X(RULE_NAME, "F1", "the file name ends neither in .pfw nor in .pfw.gz")                                           \
  X(RULE_MEMBER_DAMAGED, "F2", "a gzip member is damaged or truncated")                                             \
  X(RULE_MEMBER_EMPTY, "F2", "a gzip member is empty")                                                              \
  X(RULE_MEMBER_CUT, "F2", "a gzip member does not end with a line end")                                            \
  X(RULE_BYTES_BEHIND, "F2", "there are bytes that do not belong to a gzip member")                                 \
  X(RULE_MEMBER_SIZE, "F3", "a gzip member holds more than 1 MiB of text, or, if not the last, less than 256 KiB")  \
  X(RULE_FIRST_LINE, "F6", "the first line is not [")                                                               \
  X(RULE_OPENING, "F6", "[ is not followed by HH, thread_name, CM time_metric, (FH, SH, SH,) start")                \
  X(RULE_LAST_LINE, "F7", "the last line is not the event end of category dftracer")                                \
  X(RULE_BOOKKEEPING, "F7", "start or end occurs twice or has a duration, or the number of events in end is wrong") \
  X(RULE_STRAY_LINE, "F8", "a blank line, or a bracket or comma between lines")                                     \
  X(RULE_UTF8, "F9", "the line is not UTF-8")                                                                       \
  X(RULE_COMPACT, "F9", "whitespace outside of strings")                                                            \
  X(RULE_LONG_LINE, "W1", "the line is longer than 512 bytes")                                                      \
  X(RULE_NOTHING, "F10", "the trace contains only the process's own bookkeeping")                                   \
  X(RULE_TORN, "L1", "the last line has no line end")                                                               \
  X(RULE_JSON, "L1", "the line is not one strict JSON object")                                                      \
  X(RULE_TWO_KEYS, "L1", "a key occurs twice in one object")                                                        \
  X(RULE_SURROGATE, "L1", "a string contains an escaped surrogate")                                                 \
  X(RULE_PHASE, "L2", "ph is not \"X\", \"M\" or \"C\"")                                                            \
  X(RULE_EMPTY_NAME, "L3", "name or cat is empty or not a string")                                                  \
  X(RULE_IO_CAT, "L3", "an I/O category is not spelled POSIX or STDIO")                                             \
  X(RULE_TRACK, "L4", "pid or tid is not an integer from 0 to 2^32-1")                                              \
  X(RULE_ARGS, "L5", "args is not an object")                                                                       \
  X(RULE_ID, "L6", "id is missing or not positive")                                                                 \
  X(RULE_SAME_ID, "L6", "the id was used before")                                                                   \
  X(RULE_NESTED, "L7", "args contains an array or an object")                                                       \
  X(RULE_KEY_ORDER, "L8", "the keys are not id, name, cat, pid, tid, ts, dur, ph, args in this order")              \
  X(RULE_TRACK_NAME, "M1", "a thread_name or process_name has no name")                                             \
  X(RULE_TIME, "T1", "ts or dur is negative or not an integer")                                                     \
  X(RULE_EPOCH, "T2", "ts is not a time since the epoch")                                                           \
  X(RULE_OVERLAP, "T4", "the event overlaps another one of its thread, and neither contains the other")             \
  X(RULE_LANE, "T4", "the tid is above 2^22, which means a lane, but the lane has no thread_name")                  \
  X(RULE_NUMBER, "A1", "step, image_idx, ret or size_sum is not an integer")                                        \
  X(RULE_LEVEL, "A3", "level or p_idx is missing, or an outermost event does not have level 1 and p_idx -1")        \
  X(RULE_DEPTH, "A3", "level is not one more than the level of the event p_idx")                                    \
  X(RULE_NUMBER_HASH, "H1", "a hash is not a string of 16 lower-case hex digits")                                   \
  X(RULE_NO_NAME, "H2", "a hash is defined without a name")                                                         \
  X(RULE_TWICE, "H2", "a hash is defined again, with another text")                                                 \
  X(RULE_HOST, "H3", "hhash and value of the host's definition differ")                                             \
  X(RULE_FILE_HASH, "H4", "fhash, or another hash of a text, was not defined before")                               \
  X(RULE_HOST_HASH, "H5", "hhash was not defined before")                                                           \
  X(RULE_PROCESSES, "F1", "the file contains events of a second process")                                           \
  X(RULE_NO_HOST, "W2", "hhash is missing")                                                                         \
  X(RULE_ORPHAN, "W4", "p_idx is not the id of an event in the trace")                                              \
  X(RULE_OUTSIDE, "W5", "the event lies outside of the event p_idx")

enum rule {
#define RULE_ENUM(name, code, text) name,
  RULE_LIST(RULE_ENUM)
#undef RULE_ENUM
    RULES
};

typedef struct rule_text {
  const char *code;
  const char *text;
} rule_text;

extern const rule_text rule_texts[RULES];

/* Where the lint files report what they find in one trace. */
typedef struct findings {
  /* Called for each finding; line 0: the file as a whole. */
  void (*report)(void *context, enum rule rule, uint64_t line);
  void *context;
} findings;

static inline void findings_add(const findings *found, enum rule rule, uint64_t line) {
  found->report(found->context, rule, line);
}

#define LANE_FIRST (1u << 22) /* thread ids above it are lanes */

#endif
