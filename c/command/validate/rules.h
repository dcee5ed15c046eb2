/* rules.h - the rules of the trace format that dftracer validate checks: one list. TRACE_FORMAT and sinks/FORMAT.md say why.
 * SPDX-License-Identifier: MIT */
#ifndef DFTRACER_RULES_H
#define DFTRACER_RULES_H

#include <stdint.h>

#define LANE_FIRST (1u << 22) /* thread ids above it are lanes */

/* name, code, what is wrong. Codes with a W are warnings: tools read such a trace all the same. */
#define RULE_LIST(X)                                                                                                \
  X(RULE_NAME, "F1", "the file's name ends neither in .pfw nor in .pfw.gz")                                         \
  X(RULE_MEMBER_DAMAGED, "F2", "a gzip member is damaged or cut off")                                               \
  X(RULE_MEMBER_EMPTY, "F2", "a gzip member is empty")                                                              \
  X(RULE_MEMBER_CUT, "F2", "a gzip member does not end with a line end")                                            \
  X(RULE_BYTES_BEHIND, "F2", "there is something that is no gzip member")                                           \
  X(RULE_MEMBER_SIZE, "F3", "a gzip member, not the last, holds less than 256 KiB of text, or one more than 1 MiB") \
  X(RULE_FIRST_LINE, "F6", "the first line is not [")                                                               \
  X(RULE_OPENING, "F6", "[ is not followed by HH, thread_name, CM time_metric, (FH, SH, SH,) start")                \
  X(RULE_LAST_LINE, "F7", "the last line is not the event end of category dftracer")                                \
  X(RULE_BOOKKEEPING, "F7", "start or end comes a second time, lasts, or counts other events than there are")       \
  X(RULE_STRAY_LINE, "F8", "a blank line, a bracket or a comma between lines")                                      \
  X(RULE_UTF8, "F9", "not UTF-8")                                                                                   \
  X(RULE_COMPACT, "F9", "blanks outside of texts")                                                                  \
  X(RULE_LONG_LINE, "W1", "the line is longer than 512 bytes")                                                      \
  X(RULE_NOTHING, "F10", "nothing was recorded but the process's own bookkeeping")                                  \
  X(RULE_TORN, "L1", "the last line has no end")                                                                    \
  X(RULE_JSON, "L1", "not one strict JSON object")                                                                  \
  X(RULE_TWO_KEYS, "L1", "a key comes twice in one object")                                                         \
  X(RULE_SURROGATE, "L1", "an escaped surrogate")                                                                   \
  X(RULE_PHASE, "L2", "ph is none of \"X\", \"M\", \"C\"")                                                          \
  X(RULE_EMPTY_NAME, "L3", "name or cat is empty, or no text")                                                      \
  X(RULE_IO_CAT, "L3", "a category of I/O is written neither POSIX nor STDIO")                                      \
  X(RULE_TRACK, "L4", "pid or tid is no integer from 0 to 2^32-1")                                                  \
  X(RULE_ARGS, "L5", "args is no object")                                                                           \
  X(RULE_ID, "L6", "id is missing or not positive")                                                                 \
  X(RULE_SAME_ID, "L6", "the id was there before")                                                                  \
  X(RULE_NESTED, "L7", "args hold an array or an object")                                                           \
  X(RULE_KEY_ORDER, "L8", "the keys are not id, name, cat, pid, tid, ts, dur, ph, args, in this order")             \
  X(RULE_TRACK_NAME, "M1", "a thread_name or process_name without a name")                                          \
  X(RULE_TIME, "T1", "ts or dur is no integer, or negative")                                                        \
  X(RULE_EPOCH, "T2", "ts is no time since the epoch")                                                              \
  X(RULE_OVERLAP, "T4", "the event overlaps another of its thread without being inside")                            \
  X(RULE_LANE, "T4", "a tid above 2^22 is a lane, and has no thread_name")                                          \
  X(RULE_NUMBER, "A1", "step, image_idx, ret or size_sum is no integer")                                            \
  X(RULE_LEVEL, "A3", "level or p_idx is missing, or the outermost has not level 1 and p_idx -1")                   \
  X(RULE_DEPTH, "A3", "level is not one more than that of the event p_idx")                                         \
  X(RULE_NUMBER_HASH, "H1", "a hash is not 16 lower-case hex digits as a text")                                     \
  X(RULE_NO_NAME, "H2", "a hash is defined without a name")                                                         \
  X(RULE_TWICE, "H2", "a hash is defined with another text before")                                                 \
  X(RULE_HOST, "H3", "the host's hash and value differ")                                                            \
  X(RULE_FILE_HASH, "H4", "fhash, or another hash of a text, was not defined before")                               \
  X(RULE_HOST_HASH, "H5", "hhash was not defined before")                                                           \
  X(RULE_PROCESSES, "F1", "events of a second process")                                                             \
  X(RULE_NO_HOST, "W2", "no hhash")                                                                                 \
  X(RULE_ORPHAN, "W4", "p_idx is the id of no event in the trace")                                                  \
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

/* Findings in one file. */
typedef struct findings {
  uint64_t count[RULES];
  uint64_t first_line[RULES]; /* 0: none */
  /* Called for each finding; line 0: the file as a whole. */
  void (*tell)(void *context, enum rule rule, uint64_t line);
  void *context;
} findings;

static inline void found(findings *of, enum rule rule, uint64_t line) {
  if (!of->count[rule]++) of->first_line[rule] = line;
  of->tell(of->context, rule, line);
}

/* ---- lint_text.c: the file, its members and lines as bytes ---- */
int lint_text(const char *path, findings *all); /* 0: it cannot be read; errno says why */

/* ---- lint_rows.c: what the lines say ---- */
struct dft_reader;
struct dft_rows;
int lint_rows(struct dft_reader *reader, uint32_t source, findings *all); /* 0: no memory */

/* ---- lint_depth.c: levels and parents ---- */
typedef struct depth depth;
depth *depth_new(findings *all); /* NULL: no memory */
void depth_add(depth *of, const struct dft_rows *rows, uint32_t row, uint64_t line);
void depth_end(depth *of); /* tells of what is missing, and frees it */

/* ---- lint_frame.c: the first lines, the last, and what they say of the rest ---- */
typedef struct frame frame;
frame *frame_new(struct dft_reader *reader, findings *all); /* NULL: no memory */
void frame_add(frame *of, const struct dft_rows *rows, uint32_t row, uint64_t line);
void frame_end(frame *of);

#endif
