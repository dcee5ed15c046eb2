/* abi.c - compares c/nvtx/nvtxabi.h with NVIDIA's headers; it compiles if they agree.
 * SPDX-License-Identifier: MIT */
#include <nvtx3/nvToolsExt.h>

#include "nvtx/nvtxabi.h"
#include "nvtx/nvtxcall.h"

#define SAME(ours, theirs) _Static_assert((long)(ours) == (long)(theirs), #ours " is not " #theirs)

#define SAME_CALL(module, number, name)              \
  SAME(number, NVTX_CBID_##module##_##name);         \
  static const nvtx##name##_impl_fntype type_##name; \
  _Static_assert(sizeof type_##name == sizeof(void *), #name);
DFT__NVTX_CALL_LIST(SAME_CALL)

SAME(DFT__NVTX_MODULE_CORE, NVTX_CB_MODULE_CORE);
SAME(DFT__NVTX_MODULE_CORE2, NVTX_CB_MODULE_CORE2);
SAME(DFT__NVTX_TABLE_CALLBACKS, NVTX_ETID_CALLBACKS);
SAME(DFT__NVTX_MESSAGE_ASCII, NVTX_MESSAGE_TYPE_ASCII);
SAME(DFT__NVTX_MESSAGE_UNICODE, NVTX_MESSAGE_TYPE_UNICODE);
SAME(DFT__NVTX_MESSAGE_REGISTERED, NVTX_MESSAGE_TYPE_REGISTERED);
SAME(DFT__NVTX_PAYLOAD_UINT64, NVTX_PAYLOAD_TYPE_UNSIGNED_INT64);
SAME(DFT__NVTX_PAYLOAD_INT64, NVTX_PAYLOAD_TYPE_INT64);
SAME(DFT__NVTX_PAYLOAD_DOUBLE, NVTX_PAYLOAD_TYPE_DOUBLE);
SAME(DFT__NVTX_PAYLOAD_UINT32, NVTX_PAYLOAD_TYPE_UNSIGNED_INT32);
SAME(DFT__NVTX_PAYLOAD_INT32, NVTX_PAYLOAD_TYPE_INT32);
SAME(DFT__NVTX_PAYLOAD_FLOAT, NVTX_PAYLOAD_TYPE_FLOAT);
SAME(DFT__NVTX_NO_LEVEL, NVTX_NO_PUSH_POP_TRACKING);

#define SAME_FIELD(ours, theirs)                                                       \
  SAME(offsetof(dft__nvtx_attributes, ours), offsetof(nvtxEventAttributes_t, theirs)); \
  SAME(sizeof((dft__nvtx_attributes *)0)->ours, sizeof((nvtxEventAttributes_t *)0)->theirs)
SAME_FIELD(version, version);
SAME_FIELD(size, size);
SAME_FIELD(category, category);
SAME_FIELD(color_type, colorType);
SAME_FIELD(color, color);
SAME_FIELD(payload_type, payloadType);
SAME_FIELD(reserved, reserved0);
SAME_FIELD(payload, payload);
SAME_FIELD(payload.u32, payload.uiValue);
SAME_FIELD(payload.f, payload.fValue);
SAME_FIELD(message_type, messageType);
SAME_FIELD(message, message);
SAME(sizeof(dft__nvtx_attributes), sizeof(nvtxEventAttributes_t));
SAME(sizeof(dft__nvtx_callbacks), sizeof(NvtxExportTableCallbacks));
SAME(offsetof(dft__nvtx_callbacks, module_table), offsetof(NvtxExportTableCallbacks, GetModuleFunctionTable));

/* Functions are of NVTX's types, but for pointers to structs that are declared twice. */
#define TAKES(name, result, ...) static result (*const same_##name)(__VA_ARGS__) = dft__nvtx_##name;
TAKES(RangePushA, int, const char *)
TAKES(RangePop, int, void)
TAKES(RangeStartW, nvtxRangeId_t, const wchar_t *)
TAKES(RangeEnd, void, nvtxRangeId_t)
TAKES(NameOsThreadA, void, uint32_t, const char *)
