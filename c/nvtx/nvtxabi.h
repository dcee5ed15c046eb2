/* nvtxabi.h - the part of NVTX's binary interface that the injection library uses.
 *
 * NVTX 3 is compiled into the programs that use it, NVTX 2 is a library. At the first call, both load the library that
 * NVTX_INJECTION64_PATH names, and pass a function that returns tables. Each entry of a table is the address of a function
 * pointer that the injection library may set. NVTX only ever appends to these lists and structs, and attribute structs say
 * their size. tests/nvtx compares everything here with NVIDIA's headers.
 * SPDX-License-Identifier: MIT */
#ifndef DFT_NVTXABI_H
#define DFT_NVTXABI_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

/* module, number in its table, name: the functions that are set */
#define DFT__NVTX_CALL_LIST(X)        \
  X(CORE, 1, MarkEx)                  \
  X(CORE, 2, MarkA)                   \
  X(CORE, 3, MarkW)                   \
  X(CORE, 4, RangeStartEx)            \
  X(CORE, 5, RangeStartA)             \
  X(CORE, 6, RangeStartW)             \
  X(CORE, 7, RangeEnd)                \
  X(CORE, 8, RangePushEx)             \
  X(CORE, 9, RangePushA)              \
  X(CORE, 10, RangePushW)             \
  X(CORE, 11, RangePop)               \
  X(CORE, 12, NameCategoryA)          \
  X(CORE, 13, NameCategoryW)          \
  X(CORE, 14, NameOsThreadA)          \
  X(CORE, 15, NameOsThreadW)          \
  X(CORE2, 1, DomainMarkEx)           \
  X(CORE2, 2, DomainRangeStartEx)     \
  X(CORE2, 3, DomainRangeEnd)         \
  X(CORE2, 4, DomainRangePushEx)      \
  X(CORE2, 5, DomainRangePop)         \
  X(CORE2, 8, DomainNameCategoryA)    \
  X(CORE2, 9, DomainNameCategoryW)    \
  X(CORE2, 10, DomainRegisterStringA) \
  X(CORE2, 11, DomainRegisterStringW) \
  X(CORE2, 12, DomainCreateA)         \
  X(CORE2, 13, DomainCreateW)

enum { DFT__NVTX_MODULE_CORE = 1, DFT__NVTX_MODULE_CORE2 = 5 };
enum { DFT__NVTX_TABLE_CALLBACKS = 1 };

enum { DFT__NVTX_MESSAGE_ASCII = 1, DFT__NVTX_MESSAGE_UNICODE = 2, DFT__NVTX_MESSAGE_REGISTERED = 3 };

enum {
  DFT__NVTX_PAYLOAD_UINT64 = 1,
  DFT__NVTX_PAYLOAD_INT64 = 2,
  DFT__NVTX_PAYLOAD_DOUBLE = 3,
  DFT__NVTX_PAYLOAD_UINT32 = 4,
  DFT__NVTX_PAYLOAD_INT32 = 5,
  DFT__NVTX_PAYLOAD_FLOAT = 6
};

/* What a push returns when nobody keeps the levels. */
#define DFT__NVTX_NO_LEVEL (-2)

/* Opaque to programs: the number of a name (nvtxname.h). NULL as a domain is the default one. */
typedef const void *dft__nvtx_handle;

typedef struct dft__nvtx_attributes {
  uint16_t version;
  uint16_t size; /* of the struct that the program was built with; fields behind it are not there */
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  int32_t payload_type;
  int32_t reserved;
  union {
    uint64_t u64;
    int64_t i64;
    double d;
    uint32_t u32;
    int32_t i32;
    float f;
  } payload;
  int32_t message_type;
  union {
    const char *ascii;
    const wchar_t *unicode;
    dft__nvtx_handle registered;
  } message;
} dft__nvtx_attributes;

typedef void dft__nvtx_function(void);

typedef struct dft__nvtx_callbacks {
  size_t struct_size;
  /* Nonzero on success. The table has `size` entries; the first one is not used. */
  int (*module_table)(int module, dft__nvtx_function ****table, unsigned int *size);
} dft__nvtx_callbacks;

typedef const void *dft__nvtx_get_table(uint32_t table);

#endif
