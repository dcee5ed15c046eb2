/* canonical.c - lines in our own order of keys. Most lines are; this is three times as fast as parse.c.
 *
 *   {"id":N,"name":"T","cat":"T","pid":N,"tid":N,"ts":N,"dur":N,"ph":"X","args":{"hhash":"H","p_idx":N,"level":N, ... }}
 *
 * Any other line (another key, a blank, an escape in a name, a fraction) is left to parse.c. Both give the same result;
 * tests/reader compares them. SPDX-License-Identifier: MIT */
#include "canonical.h"

#include "reader/row/scan.h"
#include "reader/row/value.h"

/* Moves past the text, or gives up. */
#define EXPECT(at, literal)                                             \
  do {                                                                  \
    if (memcmp((at), (literal), sizeof(literal) - 1) != 0) return NULL; \
    (at) += sizeof(literal) - 1;                                        \
  } while (0)

/* At most 19 digits, so that nothing can overflow. */
static inline const char *digits(const char *at, uint64_t *value) {
  const char *end = dft__scan_digits(at, value);
  return end == at || end - at > 19 || *value > INT64_MAX ? NULL : end;
}

/* To the closing quote. */
static inline const char *plain_text(const char *at) {
  const char *end = dft__scan_text(at);
  return *end == '"' ? end : NULL;
}

static inline const char *name_and_cat(dft__parser *parser, const char *at, uint32_t row) {
  const char *end = plain_text(at);
  if (!end) return NULL;
  parser->columns->name[row] = dft__cache_number(&parser->cache[DFT_NAMES], at, (size_t)(end - at));
  at = end;
  EXPECT(at, "\",\"cat\":\"");
  end = plain_text(at);
  if (!end) return NULL;
  parser->columns->cat[row] = dft__cache_number(&parser->cache[DFT_CATS], at, (size_t)(end - at));
  return end + 1;
}

static inline const char *times(dft__parser *parser, const char *at, uint32_t row) {
  dft__columns *columns = parser->columns;
  const uint64_t most = (uint64_t)DFT__TIME_MOST / parser->unit_ns;
  uint64_t start, dur;
  EXPECT(at, ",\"pid\":");
  if (!(at = digits(at, &columns->pid[row]))) return NULL;
  EXPECT(at, ",\"tid\":");
  if (!(at = digits(at, &columns->tid[row]))) return NULL;
  EXPECT(at, ",\"ts\":");
  if (!(at = digits(at, &start)) || start > most) return NULL;
  EXPECT(at, ",\"dur\":");
  if (!(at = digits(at, &dur)) || dur > most - start) return NULL;
  columns->start_ns[row] = (int64_t)(start * parser->unit_ns);
  columns->dur_ns[row] = (int64_t)(dur * parser->unit_ns);
  return at;
}

/* "hhash":"0123456789abcdef", mostly the same as in the previous line. */
static inline const char *host(dft__parser *parser, const char *at, uint32_t row) {
  const char *end;
  EXPECT(at, "\"hhash\":\"");
  if (parser->last_host_len && memcmp(at, parser->last_host, parser->last_host_len) == 0) {
    parser->columns->host[row] = parser->last_host_number;
    return at + parser->last_host_len;
  }
  end = plain_text(at);
  if (!end || end == at) return NULL;
  parser->columns->host[row] = dft__cache_number(&parser->cache[DFT_HOSTS], at, (size_t)(end - at));
  parser->last_host_len = 0;
  if ((size_t)(end - at) <
      sizeof parser->last_host) { /* includes the closing quote, so that a longer one does not match */
    parser->last_host_len = (uint32_t)(end - at) + 1;
    memcpy(parser->last_host, at, parser->last_host_len);
    parser->last_host_number = parser->columns->host[row];
  }
  return end + 1;
}

static inline const char *nesting(dft__parser *parser, const char *at, uint32_t row) {
  dft__columns *columns = parser->columns;
  uint64_t value;
  int is_negative;
  if (memcmp(at, ",\"p_idx\":", 9) != 0) return at;
  at += 9;
  is_negative = *at == '-';
  if (!(at = digits(at + is_negative, &value))) return NULL;
  columns->parent[row] = is_negative ? -(int64_t)value : (int64_t)value;
  EXPECT(at, ",\"level\":");
  if (!(at = digits(at, &value)) || value > UINT32_MAX) return NULL;
  columns->level[row] = (uint32_t)value;
  return at;
}

/* `,"key":value` with a plain text or an integer. */
static inline const char *argument(dft__parser *parser, const char *at, uint32_t row) {
  const char *key = at + 2, *key_end, *end;
  uint32_t want = parser->want & DFT_WANT_ARGS;
  dft_cell *cell;
  if (at[0] != ',' || at[1] != '"' || !(key_end = plain_text(key)) || key_end[1] != ':') return NULL;
  at = key_end + 2;
  if (key_end - key == 5) { /* these have columns; in any other place the line is not canonical */
    if (memcmp(key, "fhash", 5) == 0) {
      if (*at != '"' || !(end = plain_text(at + 1)) || end == at + 1) return NULL;
      parser->columns->file[row] = dft__cache_number(&parser->cache[DFT_FILES], at + 1, (size_t)(end - at - 1));
      return end + 1;
    }
    if (memcmp(key, "hhash", 5) == 0 || memcmp(key, "fname", 5) == 0 || memcmp(key, "p_idx", 5) == 0 ||
        memcmp(key, "level", 5) == 0) {
      return NULL;
    }
  } else if (key_end - key == 8 && memcmp(key, "hostname", 8) == 0) {
    return NULL;
  }
  cell = want ? dft__columns_add_cell(parser->columns) : &parser->unwanted;
  if (!cell) return NULL;
  if (want) cell->key = dft__cache_number(&parser->cache[DFT_KEYS], key, (size_t)(key_end - key));
  if (*at == '"') {
    if (!(end = plain_text(at + 1))) return NULL;
    cell->type = DFT_STRING;
    cell->value.text = at + 1;
    cell->len = (uint64_t)(end - at - 1);
    return end + 1;
  }
  if (!(end = digits(at, &cell->value.u))) return NULL;
  cell->type = DFT_INT;
  return *end == ',' || *end == '}' ? end : NULL;
}

const char *dft__canonical(dft__parser *parser, const char *at, const char *end) {
  dft__columns *columns = parser->columns;
  uint32_t row = columns->count;
  EXPECT(at, "{\"id\":");
  if (!(at = digits(at, &columns->id[row]))) return NULL;
  EXPECT(at, ",\"name\":\"");
  if (!(at = name_and_cat(parser, at, row)) || !(at = times(parser, at, row))) return NULL;
  EXPECT(at, ",\"ph\":\"X\",\"args\":{");
  if (!(at = host(parser, at, row)) || !(at = nesting(parser, at, row))) return NULL;
  while (*at == ',') {
    if (!(at = argument(parser, at, row))) return NULL;
  }
  EXPECT(at, "}}");
  return at == end ? at : NULL;
}
