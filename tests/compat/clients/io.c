/* io.c - annotated functions around I/O calls, which the initialise call binds in place. argv[1]: a folder for data. */
#include <dftracer/dftracer.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_posix(const char *path) {
  DFTRACER_C_FUNCTION_START();
  char buffer[64] = "some data of a file";
  int fd = open(path, O_CREAT | O_RDWR, 0644);
  if (fd < 0) return -1;
  if (write(fd, buffer, sizeof buffer) != sizeof buffer) return -1;
  lseek(fd, 0, SEEK_SET);
  if (read(fd, buffer, 16) != 16) return -1;
  close(fd);
  DFTRACER_C_FUNCTION_END();
  return 0;
}

static int read_stream(const char *path) {
  DFTRACER_C_FUNCTION_START();
  char buffer[64];
  FILE *file = fopen(path, "r");
  if (!file) return -1;
  size_t got = fread(buffer, 1, sizeof buffer, file);
  fclose(file);
  DFTRACER_C_FUNCTION_END();
  return got == sizeof buffer ? 0 : -1;
}

int main(int argc, char **argv) {
  char path[1024];
  int status;
  if (argc < 2) return 2;
  snprintf(path, sizeof path, "%s/io.dat", argv[1]);
  DFTRACER_C_INIT(NULL, argv[1], NULL);
  status = write_posix(path) || read_stream(path);
  unlink(path);
  DFTRACER_C_FINI();
  return status;
}
