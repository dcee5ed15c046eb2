/* demangle.c - names of functions as people write them.
 * SPDX-License-Identifier: MIT */
#include "demangle.h"

#include <stdlib.h>
#include <string.h>

#include "mangled_argument.h"
#include "mangled_encoding.h"
#include "mangled_name.h"

#define NAME_MOST 8192u

/* ---- C++ ------------------------------------------------------------------------------------------------------------ */

/* What a compiler appends to the names of copies of a function: ".constprop.0". */
static dft_text clone_of(dft_text name) {
  const char *dot = memchr(name.text, '.', name.len);
  return dot ? (dft_text){dot, name.len - (size_t)(dot - name.text)} : (dft_text){"", 0};
}

static char *copy(dft_text text, dft_text clone) {
  char *result = malloc(text.len + clone.len + sizeof " [clone ]"), *at = result;
  if (!result) return NULL;
  memcpy(at, text.text, text.len);
  at += text.len;
  if (clone.len) {
    memcpy(at, " [clone ", 8);
    memcpy(at + 8, clone.text, clone.len);
    at += 8 + clone.len;
    *at++ = ']';
  }
  *at = '\0';
  return result;
}

static const mangled_hooks hooks = {.arguments = mangled_template_arguments,
                                    .expression = mangled_expression,
                                    .class_type = mangled_class_type,
                                    .simple_name = mangled_simple_name,
                                    .encoding = mangled_encoding};

static char *demangle_cpp(dft_text text, int has_parameters) {
  const dft_text clone = clone_of(text);
  mangled *name = calloc(1, sizeof *name);
  char *room = malloc(MANGLED_ROOM), *result = NULL;
  if (name && room) {
    dft_text found;
    name->hooks = &hooks;
    name->room = room;
    name->at = text.text + 2;
    name->end = text.text + text.len - clone.len;
    found = mangled_encoding(name, has_parameters ? PARAMETERS_SHOWN : PARAMETERS_LEFT);
    if (!name->is_bad && found.len && (!has_parameters || name->at == name->end)) result = copy(found, clone);
  }
  free(name);
  free(room);
  return result;
}

/* ---- Fortran -------------------------------------------------------------------------------------------------------- */

/* __module_MOD_procedure of gfortran, whose names have no capitals. */
static char *demangle_fortran(dft_text name) {
  static const char mark[] = "_MOD_";
  const dft_text clone = clone_of(name);
  const char *end = name.text + name.len - clone.len, *at;
  char *result;
  size_t module_len;
  for (at = name.text + 2; at + sizeof mark - 1 < end && memcmp(at, mark, sizeof mark - 1) != 0;) at++;
  module_len = (size_t)(at - name.text) - 2;
  if (at + sizeof mark - 1 >= end || !module_len) return NULL;
  result = copy((dft_text){name.text + 2, (size_t)(end - name.text) - 2}, clone);
  if (!result) return NULL;
  memcpy(result + module_len, "::", 2);
  at = result + module_len + sizeof mark - 1;
  memmove(result + module_len + 2, at, strlen(at) + 1);
  return result;
}

char *demangle(dft_text name, int has_parameters) {
  if (name.len < 4 || name.len > NAME_MOST || memchr(name.text, '\0', name.len)) return NULL;
  if (name.text[0] == '_' && name.text[1] == 'Z') return demangle_cpp(name, has_parameters);
  if (name.text[0] == '_' && name.text[1] == '_') return demangle_fortran(name);
  return NULL;
}
