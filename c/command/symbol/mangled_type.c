/* mangled_type.c - types.
 * SPDX-License-Identifier: MIT */
#include "mangled_type.h"

#include <string.h>

static type_text plain(dft_text text) {
  return (type_text){.left = text, .right = {"", 0}, .last = {"", 0}};
}

static type_text no_type(mangled *name) {
  return plain(mangled_fail(name));
}

/* ---- Parts that are repeated ---------------------------------------------------------------------------------------- */

/* Reads a type again that was read before, because it means something else here. */
static type_text read_again(mangled *name, const char *from) {
  const char *at = name->at;
  type_text type;
  name->at = from;
  name->is_frozen++;
  type = mangled_type(name);
  name->is_frozen--;
  name->at = at;
  return type;
}

/* Of std. A constructor has the name of the class itself. */
static const struct {
  char code;
  const char *text, *last;
} abbreviations[] = {
  {'a', "std::allocator", "allocator"},   {'b', "std::basic_string", "basic_string"},
  {'s', "std::string", "basic_string"},   {'i', "std::istream", "basic_istream"},
  {'o', "std::ostream", "basic_ostream"}, {'d', "std::iostream", "basic_iostream"},
};

type_text mangled_substitution(mangled *name) {
  uint32_t number;
  name->at++; /* S */
  for (size_t i = 0; i < sizeof abbreviations / sizeof abbreviations[0]; i++) {
    const char *text = abbreviations[i].text, *last = abbreviations[i].last;
    type_text type;
    if (mangled_peek(name, 0) != abbreviations[i].code) continue;
    name->at++;
    type = plain((dft_text){text, strlen(text)});
    type.last = (dft_text){last, strlen(last)};
    return type;
  }
  number = mangled_sequence(name);
  if (name->is_bad || number >= name->part_count) return no_type(name);
  if (name->parts[number].is_parametric && name->parts[number].from && (name->is_in_lambda || name->has_packs))
    return read_again(name, name->parts[number].from);
  return name->parts[number];
}

type_text mangled_template_parameter(mangled *name) {
  const char *from = name->at;
  uint32_t number;
  type_text type;
  name->at++; /* T */
  number = mangled_sequence(name);
  if (name->is_in_lambda) {
    type = plain(JOIN(name, TEXT("auto:"), mangled_digits(name, number + 1)));
  } else if (number >= name->parameter_count) {
    type = plain(TEXT("auto"));
  } else {
    type = name->arguments[name->first_parameter + number];
    if (type.is_pack && name->has_packs) {
      const uint32_t first = type.first, count = type.count;
      name->pack_count = count;
      type = name->pack_at < count ? name->arguments[first + name->pack_at] : plain((dft_text){"", 0});
    }
  }
  type.is_parametric = 1;
  type.from = from;
  return type;
}

/* "Dp": the type once for every argument of the pack in it. */
static type_text expansion(mangled *name) {
  const char *from = name->at, *behind;
  const int had_packs = name->has_packs;
  const uint32_t was_at = name->pack_at, had = name->pack_count;
  dft_text text;
  type_text first;
  name->has_packs = 1;
  name->pack_at = 0;
  name->pack_count = UINT32_MAX;
  first = mangled_type(name);
  behind = name->at;
  text = JOIN(name, first.left, first.right);
  if (name->pack_count == UINT32_MAX) text = JOIN(name, text, TEXT("...")); /* nothing is known of it */
  else if (!name->pack_count) text = (dft_text){"", 0};
  else {
    const uint32_t count = name->pack_count;
    for (uint32_t i = 1; i < count && !name->is_bad; i++) {
      type_text other;
      name->pack_at = i;
      other = read_again(name, from);
      text = JOIN(name, text, TEXT(", "), other.left, other.right);
    }
  }
  name->has_packs = had_packs;
  name->pack_at = was_at;
  name->pack_count = had;
  name->at = behind;
  first = plain(text);
  first.is_parametric = 1;
  first.is_pack = !text.len;
  return first;
}

/* ---- Types that contain others -------------------------------------------------------------------------------------- */

static type_text qualified(mangled *name, type_text type, dft_text word) {
  if (type.kind == TYPE_FUNCTION) type.right = JOIN(name, type.right, word);
  else type.left = JOIN(name, type.left, word);
  type.references = 0;
  return type;
}

/* A pointer or a reference: * & && or a pointer to a member. */
static type_text pointer(mangled *name, type_text type, dft_text mark) {
  const int is_reference = mark.text[0] == '&';
  if (is_reference && type.references) { /* of references, the shorter one is left */
    if (mark.len < type.references) {
      type.left.len--;
      type.references = 1;
    }
    return type;
  }
  if (type.kind == TYPE_PLAIN) {
    type.left = JOIN(name, type.left, mark);
  } else {
    type.left = JOIN(name, type.left, type.kind == TYPE_ARRAY ? TEXT(" (") : TEXT("("), mark);
    type.right = JOIN(name, TEXT(")"), type.right);
    type.kind = TYPE_PLAIN;
  }
  type.references = is_reference ? (uint8_t)mark.len : 0;
  return type;
}

dft_text mangled_parameters(mangled *name) {
  dft_text text = TEXT("(");
  if (mangled_take(name, "v")) return TEXT("()");
  while (!name->is_bad && name->at < name->end) {
    const char c = mangled_peek(name, 0);
    type_text type;
    if (c == 'E' || c == '.' || ((c == 'R' || c == 'O') && mangled_peek(name, 1) == 'E')) break;
    type = mangled_type(name);
    if (type.is_pack && !type.left.len) continue;
    text = JOIN(name, text, text.len > 1 ? TEXT(", ") : TEXT(""), type.left, type.right);
  }
  return JOIN(name, text, TEXT(")"));
}

static type_text function(mangled *name) {
  type_text result, type;
  dft_text parameters, suffix = {"", 0};
  mangled_take(name, "Y"); /* extern "C" */
  result = mangled_type(name);
  parameters = mangled_parameters(name);
  if (mangled_take(name, "R")) suffix = TEXT(" &");
  else if (mangled_take(name, "O")) suffix = TEXT(" &&");
  if (!mangled_take(name, "E")) return no_type(name);
  type = plain(JOIN(name, result.left, TEXT(" ")));
  type.right = JOIN(name, parameters, suffix, result.right);
  type.kind = TYPE_FUNCTION;
  type.is_parametric = 1; /* perhaps */
  return type;
}

static type_text array(mangled *name) {
  const char *from = name->at;
  dft_text size;
  type_text type;
  if (mangled_peek(name, 0) >= '0' && mangled_peek(name, 0) <= '9') {
    mangled_number(name);
    size = (dft_text){from, (size_t)(name->at - from)};
  } else {
    size = mangled_peek(name, 0) == '_' ? (dft_text){"", 0} : name->hooks->expression(name);
  }
  if (!mangled_take(name, "_")) return no_type(name);
  type = mangled_type(name);
  if (type.kind == TYPE_ARRAY && type.right.len) { /* [2][3]: without the space before the second one */
    type.right.text++;
    type.right.len--;
  }
  type.right = JOIN(name, TEXT(" ["), size, TEXT("]"), type.right);
  type.kind = TYPE_ARRAY;
  return type;
}

static type_text member_pointer(mangled *name) {
  type_text class = mangled_type(name), type = mangled_type(name);
  dft_text mark = JOIN(name, type.kind == TYPE_PLAIN ? TEXT(" ") : TEXT(""), class.left, class.right, TEXT("::*"));
  return pointer(name, type, mark);
}

/* ---- Builtin types -------------------------------------------------------------------------------------------------- */

static const char *const builtins[26] = {
  ['a' - 'a'] = "signed char", ['b' - 'a'] = "bool",
  ['c' - 'a'] = "char",        ['d' - 'a'] = "double",
  ['e' - 'a'] = "long double", ['f' - 'a'] = "float",
  ['g' - 'a'] = "__float128",  ['h' - 'a'] = "unsigned char",
  ['i' - 'a'] = "int",         ['j' - 'a'] = "unsigned int",
  ['l' - 'a'] = "long",        ['m' - 'a'] = "unsigned long",
  ['n' - 'a'] = "__int128",    ['o' - 'a'] = "unsigned __int128",
  ['s' - 'a'] = "short",       ['t' - 'a'] = "unsigned short",
  ['v' - 'a'] = "void",        ['w' - 'a'] = "wchar_t",
  ['x' - 'a'] = "long long",   ['y' - 'a'] = "unsigned long long",
  ['z' - 'a'] = "...",
};

/* What begins with D. *is_part: it may be repeated. */
static type_text type_of_d(mangled *name, int *is_part) {
  static const struct {
    char code;
    const char *text;
  } words[] = {{'d', "decimal64"},      {'e', "decimal128"},       {'f', "decimal32"}, {'h', "half"},
               {'i', "char32_t"},       {'s', "char16_t"},         {'u', "char8_t"},   {'a', "auto"},
               {'c', "decltype(auto)"}, {'n', "decltype(nullptr)"}};
  dft_text text;
  name->at++; /* D */
  *is_part = 0;
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (mangled_peek(name, 0) != words[i].code) continue;
    name->at++;
    return plain((dft_text){words[i].text, strlen(words[i].text)});
  }
  if (mangled_take(name, "F")) { /* _Float16, std::bfloat16_t */
    text = mangled_digits(name, mangled_number(name));
    if (mangled_take(name, "b")) return plain(TEXT("std::bfloat16_t"));
    if (!mangled_take(name, "_") && !mangled_take(name, "x")) return no_type(name);
    return plain(JOIN(name, TEXT("_Float"), text));
  }
  *is_part = 1;
  if (mangled_take(name, "p")) return expansion(name);
  if (mangled_take(name, "o")) { /* noexcept */
    type_text type = mangled_type(name);
    return qualified(name, type, TEXT(" noexcept"));
  }
  if (mangled_take(name, "t") || mangled_take(name, "T")) {
    text = name->hooks->expression(name);
    if (!mangled_take(name, "E")) return no_type(name);
    return plain(JOIN(name, TEXT("decltype ("), text, TEXT(")")));
  }
  if (mangled_take(name, "v")) { /* of SIMD instructions */
    text = mangled_digits(name, mangled_number(name));
    if (!mangled_take(name, "_")) return no_type(name);
    return plain(JOIN(name, mangled_type_text(name), TEXT(" __vector("), text, TEXT(")")));
  }
  return no_type(name);
}

/* ---- Any type ------------------------------------------------------------------------------------------------------- */

/* A template parameter or a substitution may be a template, whose arguments follow. */
static type_text with_arguments(mangled *name, type_text type, int is_new) {
  if (is_new) mangled_add_part(name, type);
  if (mangled_peek(name, 0) != 'I' || name->is_conversion) return type;
  type.left = JOIN(name, type.left, name->hooks->arguments(name, 0));
  type.is_parametric = 0;
  mangled_add_part(name, type);
  return type;
}

static type_text type_after(mangled *name, char c, int *is_part) {
  switch (c) {
    case 'r': name->at++; return qualified(name, mangled_type(name), TEXT(" restrict"));
    case 'V': name->at++; return qualified(name, mangled_type(name), TEXT(" volatile"));
    case 'K': name->at++; return qualified(name, mangled_type(name), TEXT(" const"));
    case 'P': name->at++; return pointer(name, mangled_type(name), TEXT("*"));
    case 'R': name->at++; return pointer(name, mangled_type(name), TEXT("&"));
    case 'O': name->at++; return pointer(name, mangled_type(name), TEXT("&&"));
    case 'C': name->at++; return qualified(name, mangled_type(name), TEXT(" _Complex"));
    case 'F': name->at++; return function(name);
    case 'A': name->at++; return array(name);
    case 'M': name->at++; return member_pointer(name);
    case 'D': return type_of_d(name, is_part);
    default: return name->hooks->class_type(name);
  }
}

type_text mangled_type(mangled *name) {
  const char c = mangled_peek(name, 0), next = mangled_peek(name, 1), *from = name->at;
  type_text type = plain((dft_text){"", 0});
  int is_part = 1;
  if (!mangled_enter(name)) return type;
  if (c >= 'a' && c <= 'z' && c != 'r' && c != 'u') {
    const char *text = builtins[c - 'a'];
    name->at++;
    type = text ? plain((dft_text){text, strlen(text)}) : no_type(name);
    is_part = 0;
  } else if (c == 'T' && next != 's' && next != 'u' && next != 'e') {
    type = with_arguments(name, mangled_template_parameter(name), 1);
    is_part = 0;
  } else if (c == 'S' && next != 't') {
    type = with_arguments(name, mangled_substitution(name), 0);
    is_part = 0;
  } else if (c == '\0' || c == 'u' || c == 'U' || c == 'E') {
    type = no_type(name);
  } else {
    if (c == 'T') name->at += 2; /* struct, union, enum */
    type = type_after(name, c == 'T' ? 'N' : c, &is_part);
  }
  if (!type.from || type.from != from) type.from = from;
  if (is_part) mangled_add_part(name, type);
  mangled_leave(name);
  return type;
}
