//===- TargetInfo.cpp - What a chip can do --------------------------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/Target/TargetInfo.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::pa;

namespace {
struct ChipRow {
  const char *name;
  unsigned id, waveSize, ldsBytes;
  bool fp8Fnuz, hasScaledMma;
  unsigned numCus, simdsPerCu, vgprsPerLane, vgprGranule, maxWavesPerSimd;
  unsigned accVgprs, maxVgprs;
  unsigned numRecordsBits, loadToLdsWidths;
  bool hasTensorDma, hasPermlaneSwap;
  unsigned clockMhz, hbmGbPerSecond, ldsBytesPerCycle, cacheBytesPerCycle;
};
struct ChipMmaRow {
  unsigned chipId, rank, mmaId;
};

#define GET_ChipTable_IMPL
#define GET_ChipMmaTable_IMPL
#include "PagedAttn/Target/Targets.inc"
} // namespace

namespace mlir::pa {
/// Fills TargetInfo from the generated rows, once.
struct ChipTableReader {
  SmallVector<TargetInfo> chips;
  SmallVector<StringRef> names;

  ChipTableReader() {
    // TableGen emits the rows by record name, which is no order to show.
    SmallVector<ChipRow> chipRows(std::begin(ChipTable), std::end(ChipTable));
    llvm::sort(chipRows,
               [](const ChipRow &a, const ChipRow &b) { return a.id < b.id; });
    for (const ChipRow &row : chipRows) {
      TargetInfo info;
      info.name = row.name;
      info.waveSize = row.waveSize;
      info.ldsBytes = row.ldsBytes;
      info.isFp8Fnuz = row.fp8Fnuz;
      info.hasScaledMma = row.hasScaledMma;
      info.numCus = row.numCus;
      info.simdsPerCu = row.simdsPerCu;
      info.vgprsPerLane = row.vgprsPerLane;
      info.vgprGranule = row.vgprGranule;
      info.maxWavesPerSimd = row.maxWavesPerSimd;
      info.accVgprs = row.accVgprs;
      info.maxVgprs = row.maxVgprs;
      info.numRecordsBits = row.numRecordsBits;
      info.loadToLdsWidths = row.loadToLdsWidths;
      info.hasTensorDma = row.hasTensorDma;
      info.hasPermlaneSwap = row.hasPermlaneSwap;
      info.clockMhz = row.clockMhz;
      info.hbmGbPerSecond = row.hbmGbPerSecond;
      info.ldsBytesPerCycle = row.ldsBytesPerCycle;
      info.cacheBytesPerCycle = row.cacheBytesPerCycle;
      SmallVector<ChipMmaRow> rows;
      for (const ChipMmaRow &mma : ChipMmaTable)
        if (mma.chipId == row.id)
          rows.push_back(mma);
      llvm::sort(rows, [](const ChipMmaRow &a, const ChipMmaRow &b) {
        return a.rank < b.rank;
      });
      for (const ChipMmaRow &mma : rows)
        info.mmas.push_back(static_cast<MmaId>(mma.mmaId));
      chips.push_back(info);
      names.push_back(row.name);
    }
  }

  static const ChipTableReader &get() {
    static const ChipTableReader table;
    return table;
  }
};
} // namespace mlir::pa

const TargetInfo *TargetInfo::lookup(StringRef chip) {
  for (const TargetInfo &info : ChipTableReader::get().chips)
    if (info.name == chip)
      return &info;
  return nullptr;
}

ArrayRef<StringRef> TargetInfo::allChips() {
  return ChipTableReader::get().names;
}

std::string TargetInfo::knownChips() {
  return llvm::join(ChipTableReader::get().names, ", ");
}

std::optional<MmaId> TargetInfo::selectMma(StringRef aFormat, StringRef bFormat,
                                           int64_t k, bool isScaled) const {
  for (MmaId id : mmas) {
    const MmaInfo &mma = getMmaInfo(id);
    if (mma.aFormat == aFormat && mma.bFormat == bFormat &&
        mma.isScaled() == isScaled && k % mma.k == 0)
      return id;
  }
  return std::nullopt;
}

bool TargetInfo::hasMma(MmaId id) const { return llvm::is_contained(mmas, id); }

int64_t TargetInfo::getOccupancy(int64_t vgprs, int64_t groupLdsBytes,
                                 int64_t wavesPerGroup) const {
  int64_t allocated = std::max(vgprGranule, (vgprs + vgprGranule - 1) /
                                                vgprGranule * vgprGranule);
  int64_t byRegisters = std::min(maxWavesPerSimd, vgprsPerLane / allocated);
  if (groupLdsBytes == 0 || wavesPerGroup == 0)
    return byRegisters;
  int64_t waves = ldsBytes / groupLdsBytes * wavesPerGroup;
  return std::min(byRegisters, (waves + simdsPerCu - 1) / simdsPerCu);
}
