/* nvtxcall.c - one function for each NVTX call, without a decision of its own.
 * SPDX-License-Identifier: MIT */
#include "nvtxcall.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "nvtxcategory.h"
#include "pushedrange.h"
#include "startedrange.h"

/* ---- Marks ---------------------------------------------------------------------------------------------------------- */

static void mark(const dft__nvtx_event *event) {
  if (!dft_is_active()) return;
  dft_instant_n(event->name, event->name_len, event->domain->site.name, event->domain->len, event->args,
                event->arg_count);
}

void dft__nvtx_DomainMarkEx(dft__nvtx_handle domain, const dft__nvtx_attributes *attributes) {
  dft__nvtx_event event;
  dft__nvtx_event_read(&event, domain, attributes);
  mark(&event);
}

void dft__nvtx_MarkEx(const dft__nvtx_attributes *attributes) {
  dft__nvtx_DomainMarkEx(NULL, attributes);
}

void dft__nvtx_MarkA(const char *message) {
  dft__nvtx_event event;
  dft__nvtx_event_ascii(&event, message);
  mark(&event);
}

void dft__nvtx_MarkW(const wchar_t *message) {
  dft__nvtx_event event;
  dft__nvtx_event_wide(&event, message);
  mark(&event);
}

/* ---- Start and end -------------------------------------------------------------------------------------------------- */

uint64_t dft__nvtx_DomainRangeStartEx(dft__nvtx_handle domain, const dft__nvtx_attributes *attributes) {
  dft__nvtx_event event;
  dft__nvtx_event_read(&event, domain, attributes);
  return dft__started_range_start(&event);
}

uint64_t dft__nvtx_RangeStartEx(const dft__nvtx_attributes *attributes) {
  return dft__nvtx_DomainRangeStartEx(NULL, attributes);
}

uint64_t dft__nvtx_RangeStartA(const char *message) {
  dft__nvtx_event event;
  dft__nvtx_event_ascii(&event, message);
  return dft__started_range_start(&event);
}

uint64_t dft__nvtx_RangeStartW(const wchar_t *message) {
  dft__nvtx_event event;
  dft__nvtx_event_wide(&event, message);
  return dft__started_range_start(&event);
}

void dft__nvtx_RangeEnd(uint64_t id) {
  dft__started_range_end(id);
}

void dft__nvtx_DomainRangeEnd(dft__nvtx_handle domain, uint64_t id) {
  (void)domain; /* the range has its own */
  dft__started_range_end(id);
}

/* ---- Push and pop --------------------------------------------------------------------------------------------------- */

int dft__nvtx_DomainRangePushEx(dft__nvtx_handle domain, const dft__nvtx_attributes *attributes) {
  dft__nvtx_event event;
  dft__nvtx_event_read(&event, domain, attributes);
  return dft__pushed_range_push(&event);
}

int dft__nvtx_RangePushEx(const dft__nvtx_attributes *attributes) {
  return dft__nvtx_DomainRangePushEx(NULL, attributes);
}

int dft__nvtx_RangePushA(const char *message) {
  dft__nvtx_event event;
  dft__nvtx_event_ascii(&event, message);
  return dft__pushed_range_push(&event);
}

int dft__nvtx_RangePushW(const wchar_t *message) {
  dft__nvtx_event event;
  dft__nvtx_event_wide(&event, message);
  return dft__pushed_range_push(&event);
}

int dft__nvtx_DomainRangePop(dft__nvtx_handle domain) {
  return dft__pushed_range_pop(dft__nvtx_name_domain(domain));
}

int dft__nvtx_RangePop(void) {
  return dft__pushed_range_pop(dft__nvtx_name_domain(NULL));
}

/* ---- Names ---------------------------------------------------------------------------------------------------------- */

void dft__nvtx_DomainNameCategoryA(dft__nvtx_handle domain, uint32_t category, const char *name) {
  dft__nvtx_category_name(dft__nvtx_name_domain(domain), category, name, dft__nvtx_text_len(name));
}

void dft__nvtx_DomainNameCategoryW(dft__nvtx_handle domain, uint32_t category, const wchar_t *name) {
  char text[DFT__NVTX_TEXT_MOST];
  dft__nvtx_category_name(dft__nvtx_name_domain(domain), category, text, dft__nvtx_text_narrow(text, name));
}

void dft__nvtx_NameCategoryA(uint32_t category, const char *name) {
  dft__nvtx_DomainNameCategoryA(NULL, category, name);
}

void dft__nvtx_NameCategoryW(uint32_t category, const wchar_t *name) {
  dft__nvtx_DomainNameCategoryW(NULL, category, name);
}

/* A thread can name only itself in a trace. */
static void name_thread(uint32_t thread, const char *name, size_t len) {
  if (dft_is_active() && (long)thread == syscall(SYS_gettid)) dft_thread_name_n(name, len);
}

void dft__nvtx_NameOsThreadA(uint32_t thread, const char *name) {
  name_thread(thread, name, dft__nvtx_text_len(name));
}

void dft__nvtx_NameOsThreadW(uint32_t thread, const wchar_t *name) {
  char text[DFT__NVTX_TEXT_MOST];
  name_thread(thread, text, dft__nvtx_text_narrow(text, name));
}

dft__nvtx_handle dft__nvtx_DomainRegisterStringA(dft__nvtx_handle domain, const char *text) {
  uint32_t scope = dft__nvtx_name_domain(domain)->number;
  return dft__nvtx_name_handle(dft__nvtx_name_add(scope, text, dft__nvtx_text_len(text)));
}

dft__nvtx_handle dft__nvtx_DomainRegisterStringW(dft__nvtx_handle domain, const wchar_t *wide) {
  char text[DFT__NVTX_TEXT_MOST];
  uint32_t scope = dft__nvtx_name_domain(domain)->number;
  return wide ? dft__nvtx_name_handle(dft__nvtx_name_add(scope, text, dft__nvtx_text_narrow(text, wide))) : NULL;
}

dft__nvtx_handle dft__nvtx_DomainCreateA(const char *name) {
  return dft__nvtx_name_handle(dft__nvtx_name_add(DFT__NVTX_SCOPE_DOMAINS, name, dft__nvtx_text_len(name)));
}

dft__nvtx_handle dft__nvtx_DomainCreateW(const wchar_t *wide) {
  char text[DFT__NVTX_TEXT_MOST];
  size_t len = dft__nvtx_text_narrow(text, wide);
  return dft__nvtx_name_handle(dft__nvtx_name_add(DFT__NVTX_SCOPE_DOMAINS, wide ? text : NULL, len));
}
