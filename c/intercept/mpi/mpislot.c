/* mpislot.c - slots: what stands in an import slot in the place of an MPI function.
 *
 * Each slot is a few instructions that load its number and jump to dft__mpi_enter. That one stores the argument
 * registers side by side and calls dft__mpi_call (mpirecord.c) with the number, the registers, and the arguments that
 * the caller left on the stack. No MPI function takes a floating point number by value, or a structure.
 * SPDX-License-Identifier: MIT */
#include "mpislot.h"

#include "base/atomic.h"

#define SLOTS 1024
#define SLOT_BYTES 16
#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

#if defined(__x86_64__)
#define LOAD_AND_JUMP "endbr64\nmovl $dft__mpi_number, %eax\njmp dft__mpi_enter\n"
#define ENTER                                                          \
  "endbr64\n"                                                          \
  "pushq %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset %rbp, -16\n"        \
  "movq %rsp, %rbp\n.cfi_def_cfa_register %rbp\n"                      \
  "subq $48, %rsp\n"                                                   \
  "movq %rdi, -48(%rbp)\nmovq %rsi, -40(%rbp)\nmovq %rdx, -32(%rbp)\n" \
  "movq %rcx, -24(%rbp)\nmovq %r8, -16(%rbp)\nmovq %r9, -8(%rbp)\n"    \
  "movl %eax, %edi\nleaq -48(%rbp), %rsi\nleaq 16(%rbp), %rdx\n"       \
  "call dft__mpi_call\n"                                               \
  "leave\n.cfi_def_cfa %rsp, 8\nret\n"
#elif defined(__aarch64__)
#define LOAD_AND_JUMP "hint #34\nmov w16, #dft__mpi_number\nb dft__mpi_enter\n"
#define ENTER                                                                                       \
  "hint #34\n"                                                                                      \
  "stp x29, x30, [sp, #-80]!\n.cfi_def_cfa_offset 80\n.cfi_offset x29, -80\n.cfi_offset x30, -72\n" \
  "mov x29, sp\n.cfi_def_cfa_register x29\n"                                                        \
  "stp x0, x1, [sp, #16]\nstp x2, x3, [sp, #32]\nstp x4, x5, [sp, #48]\nstp x6, x7, [sp, #64]\n"    \
  "mov w0, w16\nadd x1, sp, #16\nadd x2, sp, #80\n"                                                 \
  "bl dft__mpi_call\n"                                                                              \
  "ldp x29, x30, [sp], #80\n.cfi_def_cfa sp, 0\nret\n"
#else
#error "this architecture needs an entry of its own"
#endif

__asm__(".text\n.p2align 4\n"
        ".hidden dft__mpi_call\n"
        ".hidden dft__mpi_enter\n.type dft__mpi_enter, %function\ndft__mpi_enter:\n"
        ".cfi_startproc\n" ENTER ".cfi_endproc\n"
        ".size dft__mpi_enter, . - dft__mpi_enter\n"
        ".p2align 4\n"
        ".globl dft__mpi_entries\n.hidden dft__mpi_entries\n.type dft__mpi_entries, %function\ndft__mpi_entries:\n"
        ".cfi_startproc\n"
        ".set dft__mpi_number, 0\n"
        ".rept " TEXT(SLOTS) "\n.p2align 4\n" LOAD_AND_JUMP ".set dft__mpi_number, dft__mpi_number + 1\n.endr\n"
                             ".cfi_endproc\n"
                             ".size dft__mpi_entries, . - dft__mpi_entries\n");

static dft__mpi_slot slots[SLOTS] DFT__LARGE;
static _Atomic uint32_t used;

static uintptr_t address_of(uint32_t number) {
  return (uintptr_t)dft__mpi_entries + (uintptr_t)number * SLOT_BYTES;
}

uintptr_t dft__mpi_slot_for(dft__mpi_row *row, uintptr_t original) {
  uint32_t count = DFT__GET(used);
  for (uint32_t i = 0; i < count; i++) {
    if (slots[i].row == row && slots[i].original == original) return address_of(i);
  }
  if (count == SLOTS) return 0;
  slots[count].original = original;
  slots[count].row = row;
  DFT__RELEASE(used, count + 1);
  return address_of(count);
}

dft__mpi_slot *dft__mpi_slot_numbered(uint32_t number) {
  return &slots[number];
}

const dft__mpi_slot *dft__mpi_slot_at(uintptr_t address) {
  uintptr_t first = address_of(0);
  if (address < first || address >= address_of(DFT__ACQUIRE(used)) || (address - first) % SLOT_BYTES) return NULL;
  return &slots[(address - first) / SLOT_BYTES];
}
