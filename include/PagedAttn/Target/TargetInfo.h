//===- TargetInfo.h - What a chip can do ------------------------*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_TARGET_TARGETINFO_H
#define PAGEDATTN_TARGET_TARGETINFO_H

#include "PagedAttn/Target/MmaLayout.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::pa {

/// One chip, as Targets.td describes it.
class TargetInfo {
public:
  /// The chip called `chip`, for example "gfx950", or null.
  static const TargetInfo *lookup(StringRef chip);

  /// The names of all chips, in the order of the table.
  static ArrayRef<StringRef> allChips();

  /// The names of all chips in one line for a diagnostic.
  static std::string knownChips();

  /// The gfx number.
  StringRef getName() const { return name; }

  /// Lanes of a wave, 32 or 64.
  int64_t waveSize;
  /// Bytes of LDS that one workgroup may use.
  int64_t ldsBytes;
  /// The matrix unit takes e4m3fnuz instead of e4m3fn.
  bool isFp8Fnuz;
  /// The matrix unit takes mxfp4 operands with E8M0 scales.
  bool hasScaledMma;
  /// Compute units of the full chip.
  int64_t numCus;
  /// SIMDs of a compute unit.
  int64_t simdsPerCu;
  /// Registers of one lane of a SIMD, to be shared by the waves on it.
  int64_t vgprsPerLane;
  /// Those of them that only matrix instructions name.
  int64_t accVgprs;
  /// Registers are given to waves in multiples of this.
  int64_t vgprGranule;
  /// Waves that fit a SIMD whatever their registers.
  int64_t maxWavesPerSimd;
  /// Registers of a kernel whose tiling asks for no more.
  int64_t maxVgprs;
  /// Bits of the size field of a buffer resource.
  int64_t numRecordsBits;
  /// Copies tiles of tensors between global memory and LDS by descriptor.
  bool hasTensorDma;
  /// Swaps registers between halves of a wave without LDS.
  bool hasPermlaneSwap;
  /// Peak clock in MHz.
  int64_t clockMhz;
  /// Gigabytes (10^9) a second of HBM.
  int64_t hbmGbPerSecond;
  /// Bytes that a compute unit gets from LDS in a cycle.
  int64_t ldsBytesPerCycle;
  /// Bytes that a compute unit gets in a cycle from the cache behind its own.
  int64_t cacheBytesPerCycle;

  /// Bytes of HBM in a cycle of the clock, for the whole chip.
  double getHbmBytesPerCycle() const {
    return static_cast<double>(hbmGbPerSecond) * 1000 /
           static_cast<double>(clockMhz);
  }

  /// Whether a load from global memory to LDS may have `bytes` for each lane.
  bool canLoadToLds(int64_t bytes) const {
    return bytes > 0 && bytes < 32 && (loadToLdsWidths >> bytes) & 1;
  }

  /// Waves that share a SIMD, by registers of a lane, accumulation registers
  /// included, and by the LDS bytes of a workgroup of so many waves.
  int64_t getOccupancy(int64_t vgprs, int64_t groupLdsBytes,
                       int64_t wavesPerGroup) const;

  /// Matrix instructions, in order of preference among equal formats.
  ArrayRef<MmaId> getMmas() const { return mmas; }

  /// Whether the chip has this matrix instruction.
  bool hasMma(MmaId id) const;

  /// The first matrix instruction for these formats, with or without block
  /// scales, whose K divides `k`.
  std::optional<MmaId> selectMma(StringRef aFormat, StringRef bFormat,
                                 int64_t k, bool isScaled = false) const;

private:
  friend struct ChipTableReader;
  StringRef name;
  int64_t loadToLdsWidths;
  SmallVector<MmaId> mmas;
};

} // namespace mlir::pa

#endif // PAGEDATTN_TARGET_TARGETINFO_H
