/* mangled_name.c - names: simple, nested, local to a function.
 * SPDX-License-Identifier: MIT */
#include "mangled_name.h"

#include <string.h>

#include "mangled_argument.h"
#include "mangled_operator.h"
#include "mangled_type.h"

static dft_text source_name(mangled *name) {
  const uint32_t len = mangled_number(name);
  dft_text text = {name->at, len};
  if (name->is_bad || !len || len > (size_t)(name->end - name->at)) return mangled_fail(name);
  name->at += len;
  if (len >= 10 && memcmp(text.text, "_GLOBAL_", 8) == 0 && text.text[9] == 'N') return TEXT("(anonymous namespace)");
  return text;
}

/* "[abi:cxx11]", or nothing. */
static dft_text tags(mangled *name) {
  dft_text text = {"", 0};
  while (!name->is_bad && mangled_take(name, "B")) text = JOIN(name, text, TEXT("[abi:"), source_name(name), TEXT("]"));
  return text;
}

/* The number of something without a name: the first one is 1. */
static dft_text unnamed_number(mangled *name) {
  uint32_t number = 1;
  if (mangled_take(name, "_")) return mangled_digits(name, number);
  number = mangled_number(name) + 2;
  if (!mangled_take(name, "_")) return mangled_fail(name);
  return mangled_digits(name, number);
}

static dft_text lambda(mangled *name) {
  const int was_in_lambda = name->is_in_lambda;
  dft_text parameters;
  name->is_in_lambda = 1;
  parameters = mangled_parameters(name);
  name->is_in_lambda = was_in_lambda;
  if (!mangled_take(name, "E")) return mangled_fail(name);
  return JOIN(name, TEXT("{lambda"), parameters, TEXT("#"), unnamed_number(name), TEXT("}"));
}

/* "operator T": what T_ stands for may follow only after it, as arguments of the template. */
static dft_text conversion(mangled *name) {
  const char *from = name->at, *behind;
  const uint32_t first = name->first_parameter, count = name->parameter_count;
  type_text type;
  uint32_t parts;
  name->is_conversion++;
  type = mangled_type(name);
  name->is_conversion--;
  parts = name->part_count;
  behind = name->at;
  if (type.is_parametric && mangled_peek(name, 0) == 'I') {
    mangled_template_arguments(name, 1);
    name->part_count = parts;
    name->at = from;
    name->is_frozen++;
    name->is_conversion++;
    type = mangled_type(name);
    name->is_conversion--;
    name->is_frozen--;
    name->first_parameter = first;
    name->parameter_count = count;
    name->at = behind;
  }
  return JOIN(name, TEXT("operator "), type.left, type.right);
}

static dft_text operator_name(mangled *name, name_facts *facts) {
  dft_text text;
  int operands;
  if (mangled_take(name, "cv")) {
    facts->is_special = 1;
    return conversion(name);
  }
  if (mangled_take(name, "li")) return JOIN(name, TEXT("operator\"\" "), source_name(name));
  text = mangled_operator(name, &operands);
  return JOIN(name, TEXT("operator"), text.len && text.text[0] >= 'a' && text.text[0] <= 'z' ? TEXT(" ") : TEXT(""),
              text);
}

static dft_text unqualified(mangled *name, name_facts *facts) {
  const char c = mangled_peek(name, 0);
  mangled_take(name, "L"); /* not visible outside */
  if (mangled_take(name, "Ul")) return lambda(name);
  if (mangled_take(name, "Ut")) return JOIN(name, TEXT("{unnamed type#"), unnamed_number(name), TEXT("}"));
  return c >= 'a' && c <= 'z' ? operator_name(name, facts) : source_name(name);
}

static int is_constructor(const mangled *name) {
  const char c = mangled_peek(name, 0), kind = mangled_peek(name, 1);
  return (c == 'C' && kind >= '1' && kind <= '5') || (c == 'D' && kind >= '0' && kind <= '5');
}

/* "operator< <int>" */
static dft_text with_arguments(mangled *name, dft_text text, int is_function) {
  const dft_text space = text.len && text.text[text.len - 1] == '<' ? TEXT(" ") : TEXT("");
  return JOIN(name, text, space, mangled_template_arguments(name, is_function));
}

/* Appends a component to a nested name. */
static type_text append(mangled *name, type_text whole, name_facts *facts, int is_function) {
  const dft_text colons = whole.left.len ? TEXT("::") : TEXT("");
  if (mangled_peek(name, 0) == 'I') {
    whole.left = with_arguments(name, whole.left, is_function);
    facts->is_template = 1;
    return whole;
  }
  facts->is_template = 0;
  if (is_constructor(name)) {
    const dft_text tilde = mangled_peek(name, 0) == 'D' ? TEXT("~") : TEXT("");
    name->at += 2;
    facts->is_special = 1;
    whole.left = JOIN(name, whole.left, colons, tilde, whole.last, tags(name));
  } else {
    facts->is_special = 0;
    whole.last = unqualified(name, facts);
    whole.left = JOIN(name, whole.left, colons, whole.last, tags(name));
  }
  return whole;
}

static dft_text qualifiers(mangled *name) {
  dft_text text = {"", 0};
  if (mangled_take(name, "r")) text = JOIN(name, text, TEXT(" restrict"));
  if (mangled_take(name, "V")) text = JOIN(name, text, TEXT(" volatile"));
  if (mangled_take(name, "K")) text = JOIN(name, TEXT(" const"), text);
  if (mangled_take(name, "R")) text = JOIN(name, text, TEXT(" &"));
  else if (mangled_take(name, "O")) text = JOIN(name, text, TEXT(" &&"));
  return text;
}

static type_text nested(mangled *name, name_facts *facts, int is_function) {
  type_text whole = {.left = {"", 0}, .right = {"", 0}, .last = {"", 0}, .from = name->at};
  facts->suffix = qualifiers(name);
  while (!name->is_bad && !mangled_take(name, "E")) {
    const char c = mangled_peek(name, 0), next = mangled_peek(name, 1);
    const int is_first = !whole.left.len;
    if (mangled_take(name, "M")) continue; /* a lambda that initializes the member before */
    if (is_first && mangled_take(name, "St")) {
      whole.left = TEXT("std");
      continue;
    }
    if (is_first && c == 'S') {
      whole = mangled_substitution(name);
      continue;
    }
    if (is_first && c == 'T') whole = mangled_template_parameter(name);
    else if (is_first && c == 'D' && (next == 't' || next == 'T')) {
      whole = mangled_type(name);
      continue;
    } else whole = append(name, whole, facts, is_function);
    if (mangled_peek(name, 0) != 'E') mangled_add_part(name, whole);
  }
  return whole;
}

static void skip_discriminator(mangled *name) {
  if (mangled_take(name, "__")) {
    mangled_number(name);
    mangled_take(name, "_");
  } else if (mangled_peek(name, 0) == '_' && mangled_peek(name, 1) >= '0' && mangled_peek(name, 1) <= '9') {
    name->at += 2;
  }
}

static type_text any_name(mangled *name, name_facts *facts, int is_function);

static type_text local(mangled *name, name_facts *facts, int is_function) {
  dft_text outside = name->hooks->encoding(name, PARAMETERS_SHOWN);
  type_text inside = {.left = {"", 0}, .right = {"", 0}, .last = {"", 0}};
  if (!mangled_take(name, "E")) mangled_fail(name);
  if (mangled_take(name, "s")) {
    inside.left = TEXT("string literal");
  } else {
    if (mangled_take(name, "d"))
      outside = JOIN(name, outside, TEXT("::{default arg#"), unnamed_number(name), TEXT("}"));
    inside = any_name(name, facts, is_function);
  }
  skip_discriminator(name);
  inside.left = JOIN(name, outside, TEXT("::"), inside.left);
  return inside;
}

/* A name without folders of its own, or one of std. */
static type_text unscoped(mangled *name, name_facts *facts) {
  type_text whole = {.left = {"", 0}, .right = {"", 0}, .last = {"", 0}, .from = name->at};
  const int is_std = mangled_take(name, "St");
  if (!is_std && mangled_peek(name, 0) == 'S') return mangled_substitution(name);
  whole.last = unqualified(name, facts);
  whole.left = JOIN(name, is_std ? TEXT("std::") : TEXT(""), whole.last, tags(name));
  if (mangled_peek(name, 0) == 'I') mangled_add_part(name, whole);
  return whole;
}

static type_text any_name(mangled *name, name_facts *facts, int is_function) {
  type_text whole = {.left = {"", 0}, .right = {"", 0}, .last = {"", 0}};
  if (!mangled_enter(name)) return whole;
  if (mangled_take(name, "N")) whole = nested(name, facts, is_function);
  else if (mangled_take(name, "Z")) whole = local(name, facts, is_function);
  else {
    whole = unscoped(name, facts);
    if (mangled_peek(name, 0) == 'I') {
      whole.left = with_arguments(name, whole.left, is_function);
      facts->is_template = 1;
    }
  }
  mangled_leave(name);
  return whole;
}

dft_text mangled_name(mangled *name, name_facts *facts) {
  *facts = (name_facts){.suffix = {"", 0}};
  return any_name(name, facts, 1).left;
}

dft_text mangled_simple_name(mangled *name) {
  name_facts facts;
  return mangled_name(name, &facts);
}

type_text mangled_class_type(mangled *name) {
  const uint32_t first = name->first_parameter, count = name->parameter_count;
  const int was_in_lambda = name->is_in_lambda;
  name_facts facts = {.suffix = {"", 0}};
  type_text type;
  name->is_in_lambda = 0;
  type = any_name(name, &facts, 0);
  name->is_in_lambda = was_in_lambda;
  name->first_parameter = first;
  name->parameter_count = count;
  return type;
}
