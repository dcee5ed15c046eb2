/* mangled_argument.c - arguments of templates: types, values, and expressions.
 * SPDX-License-Identifier: MIT */
#include "mangled_argument.h"

#include <string.h>

#include "mangled_operator.h"
#include "mangled_type.h"

#define ARGUMENTS_MOST 48u /* of one template */

static dft_text literal(mangled *name) {
  static const struct {
    char code;
    const char *suffix;
  } numbers[] = {{'i', ""}, {'j', "u"}, {'l', "l"}, {'m', "ul"}, {'x', "ll"}, {'y', "ull"}};
  const char *from = name->at, *digits;
  const char c = mangled_peek(name, 0);
  dft_text type, value, sign = {"", 0};
  if (mangled_take(name, "_Z")) {
    const uint32_t first = name->first_parameter, count = name->parameter_count;
    value = name->hooks->encoding(name, PARAMETERS_SHOWN);
    name->first_parameter = first;
    name->parameter_count = count;
    return mangled_take(name, "E") ? value : mangled_fail(name);
  }
  type = mangled_type_text(name);
  if (mangled_take(name, "n")) sign = TEXT("-");
  digits = name->at;
  while (name->at < name->end && *name->at != 'E') name->at++;
  value = (dft_text){digits, (size_t)(name->at - digits)};
  if (!mangled_take(name, "E")) return mangled_fail(name);
  if (c == 'b' && value.len == 1 && name->at - from == 3) return value.text[0] == '0' ? TEXT("false") : TEXT("true");
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    if (c == numbers[i].code)
      return JOIN(name, sign, value, ((dft_text){numbers[i].suffix, strlen(numbers[i].suffix)}));
  }
  return JOIN(name, TEXT("("), type, TEXT(")"), sign, value);
}

/* ---- Expressions: those that compilers write into names of ordinary functions -------------------------------------- */

static dft_text in_parentheses(mangled *name) {
  dft_text text = mangled_expression(name);
  return JOIN(name, TEXT("("), text, TEXT(")"));
}

static dft_text expressions(mangled *name) {
  dft_text text = {"", 0};
  while (!name->is_bad && !mangled_take(name, "E"))
    text = JOIN(name, text, text.len ? TEXT(", ") : TEXT(""), mangled_expression(name));
  return text;
}

/* {parm#1} */
static dft_text function_parameter(mangled *name) {
  while (mangled_take(name, "K") || mangled_take(name, "V") || mangled_take(name, "r")) continue;
  return JOIN(name, TEXT("{parm#"), mangled_digits(name, mangled_sequence(name) + 1), TEXT("}"));
}

static dft_text scoped(mangled *name) {
  dft_text type = mangled_type_text(name);
  return JOIN(name, type, TEXT("::"), name->hooks->simple_name(name));
}

static dft_text by_operator(mangled *name) {
  int operands = 0;
  dft_text sign = mangled_operator(name, &operands), left;
  if (operands == 1) return JOIN(name, sign, in_parentheses(name));
  if (operands != 2) return mangled_fail(name);
  left = in_parentheses(name);
  return JOIN(name, left, sign, in_parentheses(name));
}

/* Of a function: that of a class is written without its parameters. */
static dft_text address(mangled *name) {
  const int is_nested = mangled_peek(name, 0) == 'N';
  const uint32_t first = name->first_parameter, count = name->parameter_count;
  dft_text text = name->hooks->encoding(name, is_nested ? PARAMETERS_SKIPPED : PARAMETERS_SHOWN);
  name->first_parameter = first;
  name->parameter_count = count;
  if (!mangled_take(name, "E")) return mangled_fail(name);
  return is_nested ? JOIN(name, TEXT("&"), text) : JOIN(name, TEXT("&("), text, TEXT(")"));
}

dft_text mangled_expression(mangled *name) {
  const char c = mangled_peek(name, 0);
  dft_text text;
  if (!mangled_enter(name)) return (dft_text){"", 0};
  if (mangled_take(name, "L")) text = literal(name);
  else if (mangled_take(name, "adL_Z")) text = address(name);
  else if (c == 'T') text = mangled_type_text(name);
  else if (mangled_take(name, "fp")) text = function_parameter(name);
  else if (mangled_take(name, "sr")) text = scoped(name);
  else if (mangled_take(name, "st")) text = JOIN(name, TEXT("sizeof ("), mangled_type_text(name), TEXT(")"));
  else if (mangled_take(name, "cl")) {
    text = in_parentheses(name);
    text = JOIN(name, text, TEXT("("), expressions(name), TEXT(")"));
  } else if (mangled_take(name, "cv")) {
    text = mangled_type_text(name);
    text = JOIN(name, TEXT("("), text, TEXT(")"),
                mangled_take(name, "_") ? JOIN(name, TEXT("("), expressions(name), TEXT(")")) : in_parentheses(name));
  } else if (c >= '0' && c <= '9') {
    text = name->hooks->simple_name(name);
  } else text = by_operator(name);
  mangled_leave(name);
  return text;
}

/* ---- Arguments ------------------------------------------------------------------------------------------------------ */

static type_text value_of(dft_text text) {
  return (type_text){.left = text, .right = {"", 0}, .last = {"", 0}};
}

static type_text pack_of(mangled *name);

static type_text argument(mangled *name) {
  type_text result;
  if (mangled_take(name, "L")) return value_of(literal(name));
  if (mangled_take(name, "J")) return pack_of(name);
  if (!mangled_take(name, "X")) return mangled_type(name);
  result = value_of(mangled_expression(name));
  if (!mangled_take(name, "E")) mangled_fail(name);
  return result;
}

/* Reads arguments up to E and stores them as a list. Returns them as a pack: its text is what stands between < and >. */
static type_text pack_of(mangled *name) {
  type_text list[ARGUMENTS_MOST], pack = value_of((dft_text){"", 0});
  uint32_t count = 0;
  if (!mangled_enter(name)) return pack;
  while (!name->is_bad && !mangled_take(name, "E")) {
    if (count == ARGUMENTS_MOST) mangled_fail(name);
    else list[count++] = argument(name);
  }
  pack.is_pack = 1;
  if (!name->is_bad && name->argument_count + count <= MANGLED_PARTS) {
    pack.first = (uint16_t)name->argument_count;
    pack.count = (uint16_t)count;
    memcpy(name->arguments + name->argument_count, list, count * sizeof *list);
    name->argument_count += count;
  } else {
    mangled_fail(name);
  }
  for (uint32_t i = 0; i < count && !name->is_bad; i++) {
    if (list[i].is_pack && !list[i].left.len) continue;
    pack.left = JOIN(name, pack.left, pack.left.len ? TEXT(", ") : TEXT(""), list[i].left, list[i].right);
  }
  mangled_leave(name);
  return pack;
}

dft_text mangled_template_arguments(mangled *name, int are_of_function) {
  type_text pack;
  name->at++; /* I */
  pack = pack_of(name);
  if (are_of_function) {
    name->first_parameter = pack.first;
    name->parameter_count = pack.count;
  }
  return JOIN(name, TEXT("<"), pack.left,
              pack.left.len && pack.left.text[pack.left.len - 1] == '>' ? TEXT(" >") : TEXT(">"));
}
