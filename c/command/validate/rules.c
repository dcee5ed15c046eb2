/* rules.c - the texts of the rules.
 * SPDX-License-Identifier: MIT */
#include "rules.h"

const rule_text rule_texts[RULES] = {
#define RULE_TEXT(name, code, text) {code, text},
  RULE_LIST(RULE_TEXT)
#undef RULE_TEXT
};
