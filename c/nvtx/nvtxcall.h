/* nvtxcall.h - the functions that take the place of NVTX's empty ones. Their types are NVTX's.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_NVTXCALL_H
#define DFT_NVTXCALL_H

#include "nvtxabi.h"

void dft__nvtx_MarkEx(const dft__nvtx_attributes *attributes);
void dft__nvtx_MarkA(const char *message);
void dft__nvtx_MarkW(const wchar_t *message);
void dft__nvtx_DomainMarkEx(dft__nvtx_handle domain, const dft__nvtx_attributes *attributes);

uint64_t dft__nvtx_RangeStartEx(const dft__nvtx_attributes *attributes);
uint64_t dft__nvtx_RangeStartA(const char *message);
uint64_t dft__nvtx_RangeStartW(const wchar_t *message);
uint64_t dft__nvtx_DomainRangeStartEx(dft__nvtx_handle domain, const dft__nvtx_attributes *attributes);
void dft__nvtx_RangeEnd(uint64_t id);
void dft__nvtx_DomainRangeEnd(dft__nvtx_handle domain, uint64_t id);

int dft__nvtx_RangePushEx(const dft__nvtx_attributes *attributes);
int dft__nvtx_RangePushA(const char *message);
int dft__nvtx_RangePushW(const wchar_t *message);
int dft__nvtx_DomainRangePushEx(dft__nvtx_handle domain, const dft__nvtx_attributes *attributes);
int dft__nvtx_RangePop(void);
int dft__nvtx_DomainRangePop(dft__nvtx_handle domain);

void dft__nvtx_NameCategoryA(uint32_t category, const char *name);
void dft__nvtx_NameCategoryW(uint32_t category, const wchar_t *name);
void dft__nvtx_DomainNameCategoryA(dft__nvtx_handle domain, uint32_t category, const char *name);
void dft__nvtx_DomainNameCategoryW(dft__nvtx_handle domain, uint32_t category, const wchar_t *name);
void dft__nvtx_NameOsThreadA(uint32_t thread, const char *name);
void dft__nvtx_NameOsThreadW(uint32_t thread, const wchar_t *name);

dft__nvtx_handle dft__nvtx_DomainRegisterStringA(dft__nvtx_handle domain, const char *text);
dft__nvtx_handle dft__nvtx_DomainRegisterStringW(dft__nvtx_handle domain, const wchar_t *wide);
dft__nvtx_handle dft__nvtx_DomainCreateA(const char *name);
dft__nvtx_handle dft__nvtx_DomainCreateW(const wchar_t *wide);

#endif
