/* test_tracefolder.c - the hidden folder of one user beside the traces, and the names in it.
 * SPDX-License-Identifier: MIT */
#include "spool/tracefolder.h"

#include <errno.h>
#include <sys/fsuid.h>

#include "session.h"

#define NOBODY 65534

static void names_of_hidden_folders(void) {
  CHECK(dft_spool_is_folder(".dftracer") && dft_spool_is_folder(".dftracer-0") &&
        dft_spool_is_folder(".dftracer-65534"));
  CHECK(!dft_spool_is_folder(".dftracer-") && !dft_spool_is_folder(".dftracer-new-17") && !dft_spool_is_folder(""));
  CHECK(!dft_spool_is_folder(".dftracers") && !dft_spool_is_folder("dftracer") && !dft_spool_is_folder(".dftrace"));
  CHECK(!dft_spool_is_folder(".dftracer-11111111111111111111111111"));
}

static void a_claim_is_taken_apart(void) {
  char inner[DFT__INNER_BYTES];
  CHECK_INT(dft__tracefolder_folder_len("/a/b/.dftracer/x.spool", inner), 4);
  CHECK_STR(inner, ".dftracer");
  CHECK_INT(dft__tracefolder_folder_len("b/.dftracer-17/x.spool", inner), 1);
  CHECK_STR(inner, ".dftracer-17");
  CHECK_INT(dft__tracefolder_folder_len("/a/b/.dftracer/x", NULL), 0);
  CHECK_INT(dft__tracefolder_folder_len("/a/b/other/x.spool", NULL), 0);
  CHECK_INT(dft__tracefolder_folder_len(".dftracer/x.spool", NULL), 0);
  CHECK(dft__tracefolder_is_inner("/a/.dftracer") && dft__tracefolder_is_inner("/a/.dftracer-17"));
  CHECK(!dft__tracefolder_is_inner("/a/.dftracer/x") && !dft__tracefolder_is_inner("/a/b"));
}

static void a_folder_is_found_again(void) {
  char inner[DFT__INNER_BYTES];
  DIR *entries;
  CHECK(dft__tracefolder_make(inner, folder));
  CHECK_STR(inner, ".dftracer");
  CHECK(dft__tracefolder_make(inner, folder));
  CHECK_STR(inner, ".dftracer");
  entries = dft__tracefolder_open(folder, inner);
  CHECK(entries);
  closedir(entries);
  CHECK(rmdir(".dftracer") == 0 && symlink("/tmp", ".dftracer") == 0);
  CHECK(!dft__tracefolder_open(folder, inner) && errno == EPERM);
  CHECK(dft__tracefolder_make(inner, folder));
  CHECK(strcmp(inner, ".dftracer") != 0 && dft_spool_is_folder(inner));
}

/* As on a file system that gives all files to one user, and for root on a network. */
static void whoever_owns_what_is_made_here(void) {
  char inner[DFT__INNER_BYTES];
  if (geteuid() != 0) return;
  CHECK(chmod(folder, 01777) == 0);
  setfsuid(NOBODY);
  for (int i = 0; i < 3; i++) {
    CHECK(dft__tracefolder_make(inner, folder));
    CHECK_STR(inner, ".dftracer");
  }
  setfsuid(0);
  CHECK(rmdir(".dftracer") == 0);
  CHECK(rmdir(".dftracer-0") != 0 && errno == ENOENT); /* nothing else is left */
}

int main(void) {
  RUN(names_of_hidden_folders);
  RUN(a_claim_is_taken_apart);
  RUN(a_folder_is_found_again);
  RUN(whoever_owns_what_is_made_here);
  return failed_cases;
}
