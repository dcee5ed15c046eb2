/* test_locale.c - numbers are written with a point where the program's locale has a comma or a longer sign.
 *
 * Machines that run tests rarely have such a locale, so localedef makes one here.
 * SPDX-License-Identifier: MIT */
#include <locale.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "codec/number.h"

/* Makes a locale in this folder and sets it; 0 when that cannot be done. */
static int use_locale(const char *name, const char *decimal_point) {
  char command[256];
  FILE *source = fopen("locale.src", "w");
  CHECK(source);
  fprintf(source, "LC_NUMERIC\ndecimal_point \"%s\"\nthousands_sep \"<U0027>\"\ngrouping 3;3\nEND LC_NUMERIC\n",
          decimal_point);
  fclose(source);
  snprintf(command, sizeof command, "localedef -c -f UTF-8 -i locale.src ./%s >localedef.log 2>&1", name);
  return system(command) >= 0 && setlocale(LC_NUMERIC, name) != NULL;
}

static void check_double(double value, const char *expected) {
  char out[DFT__NUMBER_ROOM + 1];
  *dft__number_double(out, value) = '\0';
  CHECK_STR(out, expected);
}

static void numbers_keep_their_point(const char *decimal_point) {
  CHECK_STR(localeconv()->decimal_point, decimal_point);
  check_double(1234567.25, "1234567.25");
  check_double(1.5e-30, "1.5e-30");
  check_double(-1.2345678901234567e300, "-1.2345678901234567e+300");
  check_double(0x1p63, "9.223372036854776e+18");
  check_double(1e300, "1e+300");
}

int main(void) {
  char folder[] = "/tmp/dftracer-locale-XXXXXX";
  char command[64];
  int is_there;
  CHECK(mkdtemp(folder) && chdir(folder) == 0 && setenv("LOCPATH", folder, 1) == 0);
  is_there = use_locale("comma", "<U002C>");
  if (is_there) numbers_keep_their_point(",");
  if (is_there && use_locale("arabic", "<U066B>")) numbers_keep_their_point("\xd9\xab");
  snprintf(command, sizeof command, "rm -r %s", folder);
  CHECK_INT(system(command), 0);
  if (!is_there) SKIP("localedef cannot make a locale here (package locales)");
  return 0;
}
