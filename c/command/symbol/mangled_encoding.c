/* mangled_encoding.c - a whole symbol: a function, a variable, or what a compiler made for one.
 * SPDX-License-Identifier: MIT */
#include "mangled_encoding.h"

#include <string.h>

#include "mangled_name.h"
#include "mangled_type.h"

/* What a compiler made for a class or a function. */
static dft_text made_for(mangled *name) {
  static const struct {
    const char *code, *text;
    int is_type;
  } kinds[] = {
    {"TV", "vtable for ", 1},
    {"TT", "VTT for ", 1},
    {"TI", "typeinfo for ", 1},
    {"TS", "typeinfo name for ", 1},
    {"TH", "TLS init function for ", 0},
    {"TW", "TLS wrapper function for ", 0},
    {"GV", "guard variable for ", 0},
  };
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    const char *text = kinds[i].text;
    name_facts facts;
    dft_text what;
    if (!mangled_take(name, kinds[i].code)) continue;
    what = kinds[i].is_type ? mangled_type_text(name) : mangled_name(name, &facts);
    return JOIN(name, ((dft_text){text, strlen(text)}), what);
  }
  return mangled_fail(name);
}

static void skip_offset(mangled *name) {
  mangled_take(name, "n");
  mangled_number(name);
  if (!mangled_take(name, "_")) mangled_fail(name);
}

/* A function that adjusts `this` and goes on in another one. */
static dft_text thunk(mangled *name, enum parameter_use parameters) {
  if (mangled_take(name, "Th")) {
    skip_offset(name);
    return JOIN(name, TEXT("non-virtual thunk to "), mangled_encoding(name, parameters));
  }
  if (!mangled_take(name, "Tv")) return mangled_fail(name);
  skip_offset(name);
  skip_offset(name);
  return JOIN(name, TEXT("virtual thunk to "), mangled_encoding(name, parameters));
}

dft_text mangled_encoding(mangled *name, enum parameter_use parameters) {
  const char c = mangled_peek(name, 0), next = mangled_peek(name, 1);
  dft_text text = {"", 0};
  name_facts facts;
  if (!mangled_enter(name)) return text;
  if (c == 'T' && (next == 'h' || next == 'v')) text = thunk(name, parameters);
  else if (c == 'T' || c == 'G') text = made_for(name);
  else {
    text = mangled_name(name, &facts);
    if (parameters != PARAMETERS_LEFT && name->at < name->end && *name->at != 'E') {
      dft_text list;
      if (facts.is_template && !facts.is_special) mangled_type(name); /* of the result */
      list = mangled_parameters(name);
      if (parameters == PARAMETERS_SHOWN) text = JOIN(name, text, list, facts.suffix);
    }
  }
  mangled_leave(name);
  return text;
}
