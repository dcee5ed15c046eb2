/* mangled_operator.c - the codes of operators.
 * SPDX-License-Identifier: MIT */
#include "mangled_operator.h"

static const struct {
  char code[3];
  uint8_t operands; /* in an expression; 0: it is written in another way */
  const char *text;
} operators[] = {
  {"aN", 2, "&="},       {"aS", 2, "="},        {"aa", 2, "&&"},       {"ad", 1, "&"},       {"an", 2, "&"},
  {"at", 0, "alignof "}, {"aw", 0, "co_await"}, {"az", 0, "alignof "}, {"cl", 0, "()"},      {"cm", 2, ","},
  {"co", 1, "~"},        {"dV", 2, "/="},       {"da", 0, "delete[]"}, {"de", 1, "*"},       {"dl", 0, "delete"},
  {"ds", 2, ".*"},       {"dt", 0, "."},        {"dv", 2, "/"},        {"eO", 2, "^="},      {"eo", 2, "^"},
  {"eq", 2, "=="},       {"ge", 2, ">="},       {"gt", 2, ">"},        {"ix", 0, "[]"},      {"lS", 2, "<<="},
  {"le", 2, "<="},       {"ls", 2, "<<"},       {"lt", 2, "<"},        {"mI", 2, "-="},      {"mL", 2, "*="},
  {"mi", 2, "-"},        {"ml", 2, "*"},        {"mm", 0, "--"},       {"na", 0, "new[]"},   {"ne", 2, "!="},
  {"ng", 1, "-"},        {"nt", 1, "!"},        {"nw", 0, "new"},      {"oR", 2, "|="},      {"oo", 2, "||"},
  {"or", 2, "|"},        {"pL", 2, "+="},       {"pl", 2, "+"},        {"pm", 2, "->*"},     {"pp", 0, "++"},
  {"ps", 1, "+"},        {"pt", 0, "->"},       {"qu", 0, "?"},        {"rM", 2, "%="},      {"rS", 2, ">>="},
  {"rm", 2, "%"},        {"rs", 2, ">>"},       {"ss", 2, "<=>"},      {"st", 0, "sizeof "}, {"sz", 0, "sizeof "},
};

dft_text mangled_operator(mangled *name, int *operands) {
  for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
    const char *text = operators[i].text;
    size_t len = 0;
    if (!mangled_take(name, operators[i].code)) continue;
    while (text[len]) len++;
    *operands = operators[i].operands;
    return (dft_text){text, len};
  }
  return mangled_fail(name);
}
