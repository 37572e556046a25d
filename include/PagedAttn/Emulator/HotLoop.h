//===- HotLoop.h - Static cost of a code object -----------------*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The hot loop of a kernel is its innermost loop with the most matrix
// instructions, of those with as many the one inside of the most loops. Where
// there are none, it is the one with the most instructions. It is found in the
// code object, so that it is what runs, whoever compiled it.
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_EMULATOR_HOTLOOP_H
#define PAGEDATTN_EMULATOR_HOTLOOP_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>
#include <vector>

namespace pagedattn::emu {

/// Instructions of one wave by class, and the cycles for which they keep units
/// of a SIMD busy.
struct CodeCost {
  int64_t Matrix = 0; ///< of the matrix unit
  int64_t Vector = 0; ///< of the vector unit
  int64_t Memory = 0; ///< loads and stores of global memory
  int64_t Lds = 0;    ///< loads and stores of LDS
  int64_t Scalar = 0; ///< of the scalar unit, its loads included
  int64_t Sync = 0;   ///< waits and barriers
  /// Of the waits those for all loads from memory: each costs their latency.
  int64_t FullWaits = 0;
  /// For waves of 64, on chips whose rates are published: 4 cycles for a vector
  /// instruction, 16 for a transcendental one, 8 for a 64-bit multiply-add; 0
  /// for others.
  int64_t VectorCycles = 0;
  /// Likewise, by the rates of the matrix instructions.
  int64_t MatrixCycles = 0;
  /// Floating-point operations of matrix instructions, a multiply-add as two.
  int64_t MatrixFlops = 0;

  /// Adds every count.
  CodeCost &operator+=(const CodeCost &Other);
};

/// The cost of one instruction, given as the disassembler prints it, with
/// cycles if they are those of a wave of 64.
CodeCost instructionCost(llvm::StringRef Text, bool HasCycles);

/// One iteration of the hot loop of a kernel.
struct HotLoop {
  CodeCost Cost; ///< of the iteration
  /// What the loop around it does beside it in one iteration; zeros where there
  /// is none. A loop over queries has its loads of keys there.
  CodeCost Around;
  /// Its instructions, branches left out.
  std::vector<std::string> Text;
};

/// What is known of the code of a kernel without running it.
struct KernelCode {
  std::string Symbol;       ///< as in the metadata note
  int64_t Instructions = 0; ///< of all its code
  /// None where the kernel has no loop.
  std::optional<HotLoop> Loop;
};

/// The kernels of an AMDGPU code object. An error says what is wrong with it.
llvm::Expected<std::vector<KernelCode>> readKernelCode(llvm::StringRef Elf);

/// {"cost": {...}, "around": {...}}, counts by class in lower case with
/// underscores.
llvm::json::Object hotLoopToJson(const HotLoop &Loop);

} // namespace pagedattn::emu

#endif // PAGEDATTN_EMULATOR_HOTLOOP_H
