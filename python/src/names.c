/* names.c - the keywords that many calls take, and a fast parser for them.
 * SPDX-License-Identifier: MIT */
#include "names.h"

PyObject *native_name[NAME_COUNT];

int names_make(void) {
  static const char *const words[] = {
#define NAME_WORD(name) #name,
    NAME_LIST(NAME_WORD)
#undef NAME_WORD
  };
  for (int i = 0; i < NAME_COUNT; i++) {
    if (!native_name[i] && !(native_name[i] = PyUnicode_InternFromString(words[i]))) return -1;
  }
  return 0;
}

static int find(PyObject *keyword) {
  for (int i = 0; i < NAME_COUNT; i++) {
    if (keyword == native_name[i]) return i;
  }
  for (int i = 0; i < NAME_COUNT; i++) {
    if (PyUnicode_Compare(keyword, native_name[i]) == 0) return i;
  }
  return -1;
}

/* Names those that exist, because a misspelt one and a value of the program's own look alike. */
static int refuse(const char *function, PyObject *keyword, int first, int last) {
  PyObject *known = PyUnicode_FromString("");
  for (int i = first; known && i <= last; i++) {
    const char *separator = i == first ? "" : i == last ? " and " : ", ";
    Py_SETREF(known, PyUnicode_FromFormat("%U%s%U", known, separator, native_name[i]));
  }
  if (!known) return -1;
  PyErr_Format(
    PyExc_TypeError,
    "%s() got an unexpected keyword argument '%U': it takes %U; args={\"%U\": ...} records values of your own",
    function, keyword, known, keyword);
  Py_DECREF(known);
  return -1;
}

int values_parse(Values *values, const char *function, int first, int last, int most, PyObject *const *args,
                 Py_ssize_t count, PyObject *keywords) {
  Py_ssize_t named = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  memset(values, 0, sizeof *values);
  if (count > most) {
    PyErr_Format(PyExc_TypeError, "%s() takes at most %d positional arguments (%zd given)", function, most, count);
    return -1;
  }
  for (Py_ssize_t i = 0; i < count; i++) values->at[first + i] = args[i];
  for (Py_ssize_t i = 0; i < named; i++) {
    PyObject *keyword = PyTuple_GET_ITEM(keywords, i);
    int place = find(keyword);
    if (place < first || place > last) return refuse(function, keyword, first, last);
    if (values->at[place]) {
      PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%U'", function, keyword);
      return -1;
    }
    values->at[place] = args[count + i];
  }
  return 0;
}
