/* test_layout.c - the layout of spools and of the ABI. Spools outlive the process and programs outlive the library: whoever
 * changes a number here also changes DFT__LAYOUT, or breaks programs that are compiled already.
 * SPDX-License-Identifier: MIT */
#include <dftracer/sink.h>
#include <dftracer/spool.h>
#include <stddef.h>

#include "check.h"
#include "spool/record.h"

#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), "size of " #type)
#define AT(type, member, bytes) _Static_assert(offsetof(type, member) == (bytes), "place of " #type "." #member)

/* ---- Records ---- */
SIZE(dft__record, 64);
AT(dft__record, head, 0);
AT(dft__record, start, 8);
AT(dft__record, end, 16);
AT(dft__record, id, 24);
AT(dft__record, parent, 32);
AT(dft__record, site, 40);
AT(dft__record, level, 44);
AT(dft__record, args, 48);
SIZE(dft__further, 64);
AT(dft__further, args, 8);
SIZE(dft__item, 8);
AT(dft__item, info, 4);

/* ---- Chunks ---- */
SIZE(dft__chunk, 64);
AT(dft__chunk, magic, 0);
AT(dft__chunk, size_log, 4);
AT(dft__chunk, status, 8);
AT(dft__chunk, use, 16);
AT(dft__chunk, tid, 20);
AT(dft__chunk, consumed, 24);
AT(dft__chunk, claim, 28);
AT(dft__chunk, next, 32);
AT(dft__chunk, thread, 36);

/* ---- Names, threads ---- */
SIZE(dft__name, 48);
AT(dft__name, hash, 0);
AT(dft__name, next, 16);
AT(dft__name, use, 28);
AT(dft__name, len, 36);
AT(dft__name, text, 48);
SIZE(dft__frame, 40);
AT(dft__frame, site, 24);
AT(dft__frame, args, 32);
AT(dft__frame, flags, 36);
AT(dft__thread, cursor, 0);
AT(dft__thread, depth, 12);
AT(dft__thread, frames, 16);
AT(dft__thread, args, 24);
AT(dft__thread, args_used, 32);
AT(dft__thread, next_id, 40);
AT(dft__thread, tid, 48);
AT(dft__thread, lanes, 72);

/* ---- The header ---- */
SIZE(dft__knot, 24);
SIZE(dft__clock_map, 48 + DFT__KNOTS * 24);
AT(dft__clock_map, count, 4);
AT(dft__clock_map, knots, 48);
AT(dft__header, epoch_offset_ns, 5832);
AT(dft__header, clock, 5840);
AT(dft__header, magic, 0);
AT(dft__header, layout, 8);
AT(dft__header, header_bytes, 12);
AT(dft__header, start_ticks, 16);
AT(dft__header, pid, 40);
AT(dft__header, boot_id, 48);
AT(dft__header, host, 88);
AT(dft__header, folder, 160);
AT(dft__header, stem, 160 + 4096);

/* ---- The ABI: 64-bit machines ---- */
SIZE(dft_options, 24);
SIZE(dft_recovery, 40);
SIZE(dft_site, 24);
SIZE(dft_key, 16);
SIZE(dft_arg, 48);
AT(dft_arg, type, 24);
AT(dft_arg, value, 32);
SIZE(dft_setting, 40);
SIZE(dft_text, 16);
SIZE(dft_value, 48);
SIZE(dft_event, 96);
SIZE(dft_sink_target, 40);
SIZE(dft_bytes, 24);
SIZE(dft_salvaged, 32);
SIZE(dft_sink, 136);
AT(dft_sink, open, 48);
AT(dft_sink, check, 80);
AT(dft_sink, finish, 88);
AT(dft_sink, flags, 96); /* 5.0 ends here */
AT(dft_sink, salvage, 104);
AT(dft_sink, read_open, 112);
SIZE(dft_snapshot_facts, 56);
SIZE(dft_lost_spools, 56); /* 32 in 5.0 */

static void the_layout_has_its_number(void) {
  CHECK_INT(DFT__LAYOUT, 4);
  CHECK_STR(DFT__MAGIC, "dftspool");
}

static void heads_and_states_keep_their_parts(void) {
  uint64_t head = dft__head(0xabcdef, DFT__KIND_META, 4681, 0x1234);
  uint64_t status = dft__status(0xfedcba, DFT__FULL, 0xdeadbeef);
  CHECK_UINT(head, UINT64_C(0x1234124906abcdef));
  CHECK_UINT(dft__head_gen(head), 0xabcdef);
  CHECK_UINT(dft__head_kind(head), DFT__KIND_META);
  CHECK_UINT(dft__head_cells(head), 4681);
  CHECK_UINT(dft__head_lane(head), 0x1234);
  CHECK_UINT(dft__head_gen(dft__head(0x1abcdef, 2, 1, 0)), 0xabcdef); /* 24 bits */
  CHECK_UINT(status, UINT64_C(0xdeadbeef02fedcba));
  CHECK_UINT(dft__status_gen(status), 0xfedcba);
  CHECK_UINT(dft__status_state(status), DFT__FULL);
  CHECK_UINT(dft__status_end(status), 0xdeadbeef);
}

static void items_and_areas_keep_their_parts(void) {
  dft__item item = {20, dft__item_info(DFT_PATH, DFT__ITEM_CUT | DFT__ITEM_TEXT, DFT__TEXT_MAX)};
  uint64_t area = dft__area(UINT64_C(0xffffffffff), 0xffffff);
  CHECK_UINT(dft__item_type(&item), DFT_PATH);
  CHECK_UINT(dft__item_flags(&item), DFT__ITEM_CUT | DFT__ITEM_TEXT);
  CHECK_UINT(dft__item_len(&item), DFT__TEXT_MAX);
  CHECK_UINT(dft__area_offset(area), UINT64_C(0xffffffffff));
  CHECK_UINT(dft__area_room(area), 0xffffff);
}

/* Written into spools: their values are frozen. */
static void kinds_have_their_numbers(void) {
  CHECK_INT(DFT__KIND_FURTHER, 1);
  CHECK_INT(DFT__KIND_COMPLETE, 2);
  CHECK_INT(DFT__KIND_OPEN, 3);
  CHECK_INT(DFT__KIND_TIMED, 4);
  CHECK_INT(DFT__KIND_COUNTER, 5);
  CHECK_INT(DFT__KIND_META, 6);
  CHECK_INT(DFT__KEY_NAME, 2);
  CHECK_INT(DFT__KEY_RELATION, 8);
  CHECK_INT(DFT__KEY_FIRST, 16);
}

/* A record of the most arguments has a chunk that holds it, and a length that fits its head. */
static void the_largest_record_fits(void) {
  uint32_t cells = 1 + (DFT__ARGS_MAX - DFT__RECORD_ARGS + DFT__CELL_ARGS - 1) / DFT__CELL_ARGS;
  CHECK(cells <= 0xffff);
  CHECK(cells + 1 <= dft__cells_of(DFT__CHUNK_LOG_MAX));
}

static void statuses_have_their_numbers_and_texts(void) {
  static const dft_status all[] = {DFT_OK,     DFT_EDISABLED, DFT_EACTIVE, DFT_EINACTIVE, DFT_EINVAL,  DFT_EIO,
                                   DFT_ENOSPC, DFT_ENOMEM,    DFT_EFORMAT, DFT_EBUSY,     DFT_ENOSINK, DFT_EDROPPED};
  for (int i = 0; i < 12; i++) {
    CHECK_INT(all[i], i);
    CHECK(dft_status_text(all[i])[0]);
  }
  CHECK_STR(dft_status_text(DFT_OK), "success");
  CHECK_STR(dft_status_text((dft_status)12), "unknown status");
  CHECK_STR(dft_status_text((dft_status)-1), "unknown status");
}

static void types_have_their_numbers(void) {
  CHECK_INT(DFT_INT, 1);
  CHECK_INT(DFT_UINT, 2);
  CHECK_INT(DFT_DOUBLE, 3);
  CHECK_INT(DFT_STRING, 4);
  CHECK_INT(DFT_BOOL, 5);
  CHECK_INT(DFT_PATH, 6);
}

static void the_version_is_one(void) {
  char text[32];
  snprintf(text, sizeof text, "%d.%d.%d", DFT_VERSION_MAJOR, DFT_VERSION_MINOR, DFT_VERSION_PATCH);
  CHECK_STR(DFT_VERSION, text);
  CHECK_STR(dft_version(), DFT_VERSION);
}

int main(void) {
  the_layout_has_its_number();
  heads_and_states_keep_their_parts();
  items_and_areas_keep_their_parts();
  kinds_have_their_numbers();
  the_largest_record_fits();
  statuses_have_their_numbers_and_texts();
  types_have_their_numbers();
  the_version_is_one();
  return 0;
}
