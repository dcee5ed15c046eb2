/* test_tracefolder.c - the hidden folder of one user beside the traces, and the names in it.
 * SPDX-License-Identifier: MIT */
#include "spool/tracefolder.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/fsuid.h>
#include <sys/stat.h>

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

/* Whether this user's hidden folder can be entered, and its name. */
static int is_made(char inner[DFT__INNER_BYTES]) {
  dft__tracefolder own;
  int is_fine = dft__tracefolder_make(&own, inner, folder);
  dft__tracefolder_leave(&own);
  return is_fine;
}

static void a_folder_is_found_again(void) {
  char inner[DFT__INNER_BYTES];
  dft__tracefolder own;
  DIR *entries;
  CHECK(is_made(inner));
  CHECK_STR(inner, ".dftracer");
  CHECK(is_made(inner));
  CHECK_STR(inner, ".dftracer");
  CHECK(dft__tracefolder_enter(&own, folder, inner));
  entries = dft__tracefolder_list(&own);
  CHECK(entries);
  closedir(entries);
  dft__tracefolder_leave(&own);
  CHECK(rmdir(".dftracer") == 0 && symlink("/tmp", ".dftracer") == 0);
  CHECK(!dft__tracefolder_enter(&own, folder, inner) && errno == EPERM);
  dft__tracefolder_leave(&own);
  CHECK(is_made(inner));
  CHECK(strcmp(inner, ".dftracer") != 0 && dft_spool_is_folder(inner));
}

static int is_there(const char *path) {
  struct stat facts;
  return lstat(path, &facts) == 0;
}

/* Somebody replaces the hidden folder: files are still those of the folder that was entered. */
static void what_was_entered_is_used(void) {
  char path[DFT__PATH_MAX], published[DFT__PATH_MAX], elsewhere[DFT__PATH_MAX];
  dft__tracefolder own, again;
  dft__spool spool = {.inner = ".dftracer"};
  dft__header header = {.pid = 1};
  struct stat facts;
  spool.header = &header;
  snprintf(header.folder, sizeof header.folder, "%s", folder);
  snprintf(path, sizeof path, "%s/.dftracer/x.spool", folder);
  snprintf(published, sizeof published, "%s/x.pfw", folder);
  snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere/x.spool", folder);
  CHECK(mkdir(".dftracer", 0755) == 0 && mkdir("elsewhere", 0755) == 0);
  CHECK(dft__tracefolder_enter(&own, folder, ".dftracer"));
  dft__tracefolder_remember(&own, &spool);
  CHECK(rename(".dftracer", "moved") == 0 && symlink("elsewhere", ".dftracer") == 0);
  close(dft__held_open(path, O_WRONLY | O_CREAT | O_EXCL, 0600));
  CHECK(is_there("moved/x.spool") && !is_there("elsewhere/x.spool"));
  CHECK(dft__held_stat(path, &facts) == 0);
  CHECK(dft__held_rename_new(path, published) == 0 && is_there("x.pfw") && !is_there("moved/x.spool"));
  CHECK(dft__held_rename(published, path) == 0 && is_there("moved/x.spool"));
  CHECK(!dft__tracefolder_return(&again, &spool)); /* then nothing can be reached, not even elsewhere */
  CHECK(dft__held_open(path, O_WRONLY | O_CREAT, 0600) < 0 && dft__held_unlink(path) != 0);
  CHECK(dft__held_rmdir(path) != 0 && dft__held_rename(path, published) != 0);
  dft__tracefolder_leave(&again);
  CHECK(dft__held_unlink(path) == 0 && !is_there("moved/x.spool"));    /* the first is still held */
  close(dft__held_open(elsewhere, O_WRONLY | O_CREAT | O_EXCL, 0600)); /* in neither folder: by its path */
  CHECK(is_there("elsewhere/x.spool"));
  dft__tracefolder_leave(&own);
  CHECK(unlink(".dftracer") == 0 && rename("moved", ".dftracer") == 0);
  CHECK(dft__tracefolder_return(&own, &spool));
  dft__tracefolder_leave(&own);
}

/* As on a file system that gives all files to one user, and for root on a network. */
static void whoever_owns_what_is_made_here(void) {
  char inner[DFT__INNER_BYTES];
  if (geteuid() != 0) return;
  CHECK(chmod(folder, 01777) == 0);
  setfsuid(NOBODY);
  for (int i = 0; i < 3; i++) {
    CHECK(is_made(inner));
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
  RUN(what_was_entered_is_used);
  RUN(whoever_owns_what_is_made_here);
  return failed_cases;
}
