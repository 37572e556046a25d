//===- MmaLayout.cpp - Where a lane holds which element --------------------*-
// C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/Target/MmaLayout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::pa;

#include "PagedAttn/Target/MmaEnums.cpp.inc"

namespace {
struct MmaRow {
  const char *symbol;
  unsigned Id;
  const char *Mnemonic, *Family;
  unsigned WaveSize, M, N, K;
  const char *AFormat, *BFormat;
  bool Fnuz;
  unsigned Cycles;
};

#define GET_MmaTable_IMPL
#include "PagedAttn/Target/Targets.inc"

/// The generated rows as MmaInfo, indexed by the enum value.
struct MmaTableReader {
  SmallVector<MmaInfo> rows;

  MmaTableReader() {
    for (const MmaRow &row : MmaTable) {
      if (rows.size() <= row.Id)
        rows.resize(row.Id + 1);
      rows[row.Id] = {static_cast<MmaId>(row.Id),
                      row.Mnemonic,
                      row.Family,
                      row.WaveSize,
                      row.M,
                      row.N,
                      row.K,
                      row.AFormat,
                      row.BFormat,
                      row.Fnuz,
                      row.Cycles};
    }
  }
};
} // namespace

const MmaInfo &mlir::pa::getMmaInfo(MmaId id) {
  static const MmaTableReader table;
  return table.rows[static_cast<uint32_t>(id)];
}

static Type getElementType(MLIRContext *context, StringRef format,
                           bool isFnuz) {
  if (format == "fp8")
    return isFnuz ? Type(Float8E4M3FNUZType::get(context))
                  : Type(Float8E4M3FNType::get(context));
  if (format == "fp4")
    return Float4E2M1FNType::get(context);
  if (format == "bf16")
    return BFloat16Type::get(context);
  return Float16Type::get(context);
}

FragmentTypes mlir::pa::getFragmentTypes(MLIRContext *context, MmaId id) {
  const MmaInfo &mma = getMmaInfo(id);
  return {VectorType::get({mma.m * mma.k / mma.waveSize},
                          getElementType(context, mma.aFormat, mma.isFnuz)),
          VectorType::get({mma.n * mma.k / mma.waveSize},
                          getElementType(context, mma.bFormat, mma.isFnuz)),
          VectorType::get({mma.getAccPerLane()}, Float32Type::get(context))};
}

TilePosition mlir::pa::getOperandPosition(MmaId id, int64_t lane,
                                          int64_t element) {
  const MmaInfo &mma = getMmaInfo(id);
  return {lane % mma.n, lane / mma.n * mma.getKPerLane() + element};
}

TilePosition mlir::pa::getAccPosition(MmaId id, int64_t lane, int64_t element) {
  const MmaInfo &mma = getMmaInfo(id);
  return {lane / mma.n * mma.getAccPerLane() + element, lane % mma.n};
}
