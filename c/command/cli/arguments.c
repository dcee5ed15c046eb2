/* arguments.c - parses options and operands.
 * SPDX-License-Identifier: MIT */
#include "arguments.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/alike.h"
#include "help.h"
#include "printable.h"

int arguments_refuse(const arguments *given, const char *format, ...) {
  char text[4096];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  fprintf(stderr, "dftracer %s: %s; see 'dftracer %s --help'\n", given->command->name, printable(text),
          given->command->name);
  return STATUS_MISUSED;
}

static int stop(arguments *given, int status) {
  given->status = status;
  return -1;
}

static int is_optional(const option *one) {
  return one->value && one->value[0] == '[';
}

/* The option whose name starts so; an exact match wins. *count is the number of matches. */
static const option *find_long(const option *options, const char *name, size_t len, int *count) {
  const option *found = NULL;
  *count = 0;
  for (const option *one = options; one && one->key; one++) {
    if (strncmp(one->name, name, len) != 0) continue;
    if (!one->name[len]) {
      *count = 1;
      return one;
    }
    found = one;
    ++*count;
  }
  return found;
}

static int refuse_long(const arguments *given, const char *name, size_t len) {
  for (const option *one = given->command->options; one && one->key; one++) {
    if (dft__is_alike(name, len, one->name, strlen(one->name)))
      return arguments_refuse(given, "unknown option --%.*s; did you mean --%s?", (int)len, name, one->name);
  }
  return arguments_refuse(given, "unknown option --%.*s", (int)len, name);
}

static int take_long(arguments *given, const char *text) {
  const char *equals = strchr(text, '=');
  size_t len = equals ? (size_t)(equals - text) : strlen(text);
  int count;
  const option *found = find_long(given->command->options, text, len, &count);
  if (len == 4 && strncmp(text, "help", 4) == 0) {
    help_print(stdout, given->command);
    return stop(given, STATUS_DONE);
  }
  if (count != 1) {
    return stop(given, count ? arguments_refuse(given, "the option --%.*s is ambiguous", (int)len, text)
                             : refuse_long(given, text, len));
  }
  given->option = found;
  given->value = equals ? equals + 1 : NULL;
  if (equals && !found->value)
    return stop(given, arguments_refuse(given, "the option --%s takes no value", found->name));
  if (found->value && !is_optional(found) && !equals) {
    if (given->at >= given->argc) {
      return stop(given, arguments_refuse(given, "the option --%s needs a value: %s", found->name, found->value));
    }
    given->value = given->argv[given->at++];
  }
  return found->key;
}

static int take_letter(arguments *given) {
  char letter = *given->letters++;
  const option *found = given->command->options;
  if (letter == 'h') {
    help_print(stdout, given->command);
    return stop(given, STATUS_DONE);
  }
  while (found && found->key && found->key != letter) found++;
  if (!found || !found->key) return stop(given, arguments_refuse(given, "unknown option -%c", letter));
  given->option = found;
  given->value = NULL;
  if (!found->value || is_optional(found)) return found->key;
  if (*given->letters) {
    given->value = given->letters;
    given->letters = "";
  } else if (given->at < given->argc) {
    given->value = given->argv[given->at++];
  } else {
    return stop(given, arguments_refuse(given, "the option -%c needs a value: %s", letter, found->value));
  }
  return found->key;
}

/* Collects operands at the front of argv while options are parsed. */
static void keep_operand(arguments *given, char *operand) {
  given->argv[given->first + given->count++] = operand;
}

int arguments_next(arguments *given) {
  if (!given->at) given->at = given->first = 1;
  if (given->letters && *given->letters) return take_letter(given);
  while (given->at < given->argc) {
    char *text = given->argv[given->at++];
    if (strcmp(text, "--") == 0) break;
    if (text[0] == '-' && text[1] == '-') return take_long(given, text + 2);
    if (text[0] == '-' && text[1]) {
      given->letters = text + 1;
      return take_letter(given);
    }
    keep_operand(given, text);
    if (given->command->is_wrapper) break;
  }
  while (given->at < given->argc) keep_operand(given, given->argv[given->at++]);
  given->argv[given->first + given->count] = NULL;
  return 0;
}

/* ---- Values --------------------------------------------------------------------------------------------------------- */

static int refuse_value(arguments *given, const char *wanted) {
  given->status = arguments_refuse(given, "--%s: \"%s\" is not %s", given->option->name,
                                   given->value ? given->value : "", wanted);
  return 0;
}

int arguments_number(arguments *given, uint64_t least, uint64_t most, uint64_t *number) {
  static const char units[] = "KMGT";
  const char *text = given->value ? given->value : "";
  const char *unit;
  char wanted[96];
  char *end;
  double value;
  snprintf(wanted, sizeof wanted, "a number from %llu to %llu", (unsigned long long)least, (unsigned long long)most);
  errno = 0;
  value = strtod(text, &end);
  if (end == text || errno || !isfinite(value)) return refuse_value(given, wanted);
  if (*end && (unit = strchr(units, *end >= 'a' ? *end - 32 : *end)) != NULL) {
    double factor = end[1] == 'i' ? 1024 : 1000;
    for (const char *at = units; at <= unit; at++) value *= factor;
    end += end[1] == 'i' ? 2 : 1;
  }
  if (*end || value < (double)least || value > (double)most) return refuse_value(given, wanted);
  *number = (uint64_t)value;
  return 1;
}

int arguments_time(arguments *given, int64_t *ns) {
  static const struct {
    const char *name;
    double ns;
  } units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}, {"m", 6e10}, {"min", 6e10}, {"h", 3.6e12}};
  const char *text = given->value ? given->value : "";
  char *end;
  double value = strtod(text, &end);
  if (end != text && isfinite(value) && value >= 0) {
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
      if (strcmp(end, units[i].name) != 0 || value * units[i].ns > 1e18) continue;
      *ns = llround(value * units[i].ns);
      return 1;
    }
  }
  return refuse_value(given, "a time, such as 0.5, 10s, 250ms or 5m");
}

int arguments_choice(arguments *given, const char *const words[]) {
  char wanted[256] = "one of:";
  for (int i = 0; words[i]; i++) {
    size_t len = strlen(wanted);
    if (given->value && strcmp(words[i], given->value) == 0) return i;
    snprintf(wanted + len, sizeof wanted - len, " %s", words[i]);
  }
  refuse_value(given, wanted);
  return -1;
}
