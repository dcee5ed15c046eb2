/* measures.c - every number and name that the rules look at.
 * SPDX-License-Identifier: MIT */
#include "measures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/cli/printable.h"
#include "command/cli/terminal.h"

#define SHORT_BYTES 160

const measure_kind measure_kinds[MEASURE_COUNT] = {
#define MEASURE_KIND(name, unit, what) [M_##name] = {#name, what, UNIT_##unit},
  MEASURES(MEASURE_KIND)
#undef MEASURE_KIND
};

void measure_set(measure_list *list, enum measure measure, double number) {
  list->values[measure].is_known = 1;
  list->values[measure].number = number;
}

void measure_set_ratio(measure_list *list, enum measure measure, double part, double whole) {
  if (whole > 0) measure_set(list, measure, part / whole);
}

void measure_set_text(measure_list *list, enum measure measure, const char *text, size_t len) {
  measure_value *value = &list->values[measure];
  free(value->text);
  value->text = strdup(printable_n(text, len));
  value->is_known = value->text != NULL;
}

void measures_free(measure_list *list) {
  for (int i = 0; i < MEASURE_COUNT; i++) free(list->values[i].text);
  *list = (measure_list){0};
}

const char *short_text(char out[MEASURE_TEXT_BYTES], const char *text) {
  const size_t len = strlen(text);
  const char *end = len > SHORT_BYTES ? text + len - SHORT_BYTES : text;
  while (end > text && ((unsigned char)*end & 0xc0) == 0x80) end++; /* not within a character */
  snprintf(out, MEASURE_TEXT_BYTES, "%s%s", end > text ? "..." : "", end);
  return out;
}

const char *measure_format(char out[MEASURE_TEXT_BYTES], const measure_list *list, enum measure measure) {
  const measure_value *value = &list->values[measure];
  char text[FORMAT_BYTES];
  if (!value->is_known) {
    snprintf(out, MEASURE_TEXT_BYTES, "unknown");
    return out;
  }
  switch (measure_kinds[measure].unit) {
    case UNIT_COUNT:
      snprintf(out, MEASURE_TEXT_BYTES, "%s", format_count(text, (uint64_t)(value->number + 0.5)));
      break;
    case UNIT_RANK: snprintf(out, MEASURE_TEXT_BYTES, "%.0f", value->number); break;
    case UNIT_SHARE: snprintf(out, MEASURE_TEXT_BYTES, "%.*f %%", value->number < 0.0995, 100 * value->number); break;
    case UNIT_RATIO: snprintf(out, MEASURE_TEXT_BYTES, "%.3g", value->number); break;
    case UNIT_TIME: snprintf(out, MEASURE_TEXT_BYTES, "%s", format_duration(text, value->number / 1e9)); break;
    case UNIT_BYTES: snprintf(out, MEASURE_TEXT_BYTES, "%s", format_bytes(text, value->number)); break;
    case UNIT_TEXT: short_text(out, value->text); break;
  }
  return out;
}
