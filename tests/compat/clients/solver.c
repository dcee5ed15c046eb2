/* solver.c - a C code as people annotate it: functions with several ways out, regions in loops, facts of the run. */
#include <dftracer/dftracer.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CELLS 8

static double *read_field(const char *path, int cells) {
  DFTRACER_C_FUNCTION_START();
  DFTRACER_C_FUNCTION_UPDATE_STR("path", path);
  double *field = calloc((size_t)cells, sizeof *field);
  usleep(300);
  if (!field) {
    DFTRACER_C_FUNCTION_END();
    return NULL;
  }
  DFTRACER_C_FUNCTION_UPDATE_INT("cells", cells);
  DFTRACER_C_FUNCTION_END();
  return field;
}

/* Some return from the middle and leave the end to the macro. */
static int check(const double *field, int step) {
  DFTRACER_C_FUNCTION_START();
  DFTRACER_C_FUNCTION_UPDATE_INT("step", step);
  usleep(300);
  if (step == 2) return 1;
  DFTRACER_C_REGION_START(norm)
  DFTRACER_C_REGION_UPDATE_INT_TYPE(norm, "cells", CELLS, 1);
  DFTRACER_C_REGION_UPDATE_STR_TYPE(norm, "kind", "max", 0);
  usleep(300);
  for (int i = 0; i < CELLS; i++) {
    if (field[i] < 0) return 2;
  }
  DFTRACER_C_REGION_END(norm)
  DFTRACER_C_FUNCTION_END()
  return 0;
}

static int depth_first(int level) {
  DFTRACER_C_FUNCTION_START();
  DFTRACER_C_FUNCTION_UPDATE_INT("level_down", level);
  usleep(200);
  int found = level > 0 ? 1 + depth_first(level - 1) : 0;
  usleep(200);
  DFTRACER_C_FUNCTION_END();
  return found;
}

static void advance(double *field, int step) {
  DFTRACER_C_FUNCTION_START();
  for (int sweep = 0; sweep < 2; sweep++) {
    DFTRACER_C_REGION_START(SWEEP);
    DFTRACER_C_REGION_UPDATE_INT(SWEEP, "sweep", 100);
    DFTRACER_C_REGION_UPDATE_INT(SWEEP, "sweep", sweep);
    usleep(200);
    if (sweep == 1 && step == 1) continue; /* ends here too */
    DFTRACER_C_REGION_START(BOUNDARY);
    DFTRACER_C_REGION_UPDATE_STR(BOUNDARY, "side", sweep ? "east" : "west");
    usleep(200);
    DFTRACER_C_REGION_END(BOUNDARY);
    field[sweep] += 1;
    DFTRACER_C_REGION_END(SWEEP);
  }
  DFTRACER_C_FUNCTION_UPDATE_STR("state", "");
  DFTRACER_C_FUNCTION_UPDATE_STR("state", "swept");
  DFTRACER_C_FUNCTION_END();
}

static int write_field(const char *path) {
  int status = -1;
  DFTRACER_C_FUNCTION_START();
  DFTRACER_C_FUNCTION_UPDATE_STR("path", path);
  usleep(200);
  if (path[0] != '/') goto out;
  status = 0;
out:
  DFTRACER_C_FUNCTION_UPDATE_INT("status", status);
  DFTRACER_C_FUNCTION_END();
  return status;
}

int main(void) {
  int rank = 3;
  double *field;
  DFTRACER_C_INIT(NULL, NULL, &rank);
  DFTRACER_C_METADATA(app, "app", "solver");
  DFTRACER_C_METADATA(app_case, "case", "channel 3");
  DFTRACER_C_APP_METADATA_INT("cells", CELLS);
  DFTRACER_C_APP_METADATA_STR("mesh", "uniform");
  DFTRACER_C_MARK_USED("HDF5");
  field = read_field("/data/field.h5", CELLS);
  for (int step = 0; step < 3; step++) {
    struct DFTracerData *data = initialize_region("step", "timestep", DF_DATA_EVENT);
    update_metadata_int(data, "number", step);
    advance(field, step);
    if (check(field, step) == 1) field[3] = -1;
    usleep(200);
    finalize_region(data);
  }
  check(field, 3);
  depth_first(2);
  write_field("relative");
  finalize_region(initialize_region("fact", "of the run", DF_METADATA_EVENT));
  free(field);
  DFTRACER_C_FINI();
  return 0;
}
