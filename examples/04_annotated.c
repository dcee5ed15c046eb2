/* 04_annotated.c - a C code annotated for DFTracer: the same header, the same macros.
 *
 *   DFTRACER_ENABLE=1 DFTRACER_LOG_FILE=out/trace ./04_annotated
 * SPDX-License-Identifier: MIT */
#include <dftracer/dftracer.h>
#include <stdio.h>

static double solve(int step) {
  double sum = 0;
  DFTRACER_C_FUNCTION_START();
  DFTRACER_C_FUNCTION_UPDATE_INT("step", step);
  if (step == 0) return 0; /* a way out: the region ends here */
  DFTRACER_C_REGION_START(sweep);
  for (int i = 1; i <= 1000 * step; i++) sum += 1.0 / i;
  DFTRACER_C_REGION_UPDATE_STR(sweep, "method", "harmonic");
  DFTRACER_C_REGION_END(sweep);
  DFTRACER_C_FUNCTION_END();
  return sum;
}

int main(void) {
  double last = 0;
  DFTRACER_C_INIT(NULL, NULL, NULL); /* log file and data dirs: DFTRACER_LOG_FILE, DFTRACER_DATA_DIR */
  DFTRACER_C_METADATA(app, "application", "04_annotated");
  for (int step = 0; step < 4; step++) last = solve(step);
  printf("%.3f\n", last);
  DFTRACER_C_FINI();
  return 0;
}
