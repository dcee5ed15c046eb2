/* pushes.c - ranges of a program annotated for NVTX: with an empty injection library, and recorded.
 *
 * Usage: pushes MODE. For each line of its input it does one burst, and prints nanoseconds a range, and "done". MODE is named
 * (nvtxRangePushA) or registered (a registered string and a payload). SPDX-License-Identifier: MIT */
#include <nvtx3/nvToolsExt.h>

#define BENCH_PEER 1 /* without dftracer */
#include "bench.h"

enum { BURST = 20000 };

static void push_named(void) {
  for (int i = 0; i < BURST; i++) {
    nvtxRangePushA("step");
    nvtxRangePop();
  }
}

static void push_registered(void) {
  static nvtxDomainHandle_t domain;
  static nvtxEventAttributes_t event;
  if (!domain) {
    domain = nvtxDomainCreateA("solver");
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = nvtxDomainRegisterStringA(domain, "step");
    event.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  }
  for (int i = 0; i < BURST; i++) {
    event.payload.llValue = i;
    nvtxDomainRangePushEx(domain, &event);
    nvtxDomainRangePop(domain);
  }
}

int main(int argc, char **argv) {
  void (*burst)(void) = argc > 1 && strcmp(argv[1], "registered") == 0 ? push_registered : push_named;
  char line[64];
  while (fgets(line, sizeof line, stdin)) {
    uint64_t start = bench_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    burst();
    bench_print("range", (double)(bench_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start) / BURST);
    bench_settle();
    puts("done");
    fflush(stdout);
  }
  return 0;
}
