//===- MmaLayout.cpp - Where a lane holds which element -------------------===//
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
  unsigned id;
  const char *mnemonic, *family;
  unsigned waveSize, m, n, k;
  const char *aFormat, *bFormat;
  bool fnuz;
  unsigned cycles, aRowLanes, aKBlock, bRowLanes, bKBlock;
  const char *kOrder;
  unsigned accRowBlock, scaleBytes;
};

#define GET_MmaTable_IMPL
#include "PagedAttn/Target/Targets.inc"

MmaOperandInfo getOperandInfo(const MmaRow &row, StringRef format, int64_t rows,
                              int64_t rowLanes, int64_t kBlock) {
  int64_t perRow = row.k / (row.waveSize / rowLanes);
  return {format, rows, rowLanes, kBlock ? kBlock : perRow,
          rows * row.k / row.waveSize};
}

/// The generated rows as MmaInfo, indexed by the enum value.
struct MmaTableReader {
  SmallVector<MmaInfo> rows;

  MmaTableReader() {
    for (const MmaRow &row : MmaTable) {
      if (rows.size() <= row.id)
        rows.resize(size_t(row.id) + 1);
      MmaInfo &info = rows[row.id];
      info.id = static_cast<MmaId>(row.id);
      info.mnemonic = row.mnemonic;
      info.family = row.family;
      info.waveSize = row.waveSize;
      info.m = row.m;
      info.n = row.n;
      info.k = row.k;
      info.aFormat = row.aFormat;
      info.bFormat = row.bFormat;
      info.isFnuz = row.fnuz;
      info.cycles = row.cycles;
      info.isKOrderPhysical = StringRef(row.kOrder) == "physical";
      info.accRowBlock = row.accRowBlock;
      info.scalesPerLane = row.scaleBytes;
      info.a =
          getOperandInfo(row, row.aFormat, row.m, row.aRowLanes, row.aKBlock);
      info.b =
          getOperandInfo(row, row.bFormat, row.n, row.bRowLanes, row.bKBlock);
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
  return {VectorType::get({mma.a.perLane},
                          getElementType(context, mma.aFormat, mma.isFnuz)),
          VectorType::get({mma.b.perLane},
                          getElementType(context, mma.bFormat, mma.isFnuz)),
          VectorType::get({mma.getAccPerLane()}, Float32Type::get(context))};
}

TilePosition mlir::pa::getOperandPosition(MmaId id, int64_t lane,
                                          int64_t element, MmaOperand operand) {
  const MmaInfo &mma = getMmaInfo(id);
  const MmaOperandInfo &layout = mma.get(operand);
  int64_t groups = mma.waveSize / layout.rowLanes;
  int64_t perRow = mma.k / groups;
  int64_t slot = element % perRow;
  int64_t turn = slot / layout.kBlock;
  return {lane % layout.rowLanes + element / perRow * layout.rowLanes,
          (turn * groups + lane / layout.rowLanes) * layout.kBlock +
              slot % layout.kBlock};
}

TilePosition mlir::pa::getAccPosition(MmaId id, int64_t lane, int64_t element) {
  const MmaInfo &mma = getMmaInfo(id);
  int64_t turn = element / mma.accRowBlock;
  return {(turn * mma.getGroups() + lane / mma.n) * mma.accRowBlock +
              element % mma.accRowBlock,
          lane % mma.n};
}

TilePosition mlir::pa::getScalePosition(MmaId id, int64_t lane, int64_t code,
                                        MmaOperand operand) {
  const MmaInfo &mma = getMmaInfo(id);
  int64_t rows = mma.get(operand).rows;
  return {lane % rows, lane / rows * mma.scalesPerLane + code};
}
