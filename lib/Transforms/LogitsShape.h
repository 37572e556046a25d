//===- LogitsShape.h - How a logits op lies on a wave ------------*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_LIB_TRANSFORMS_LOGITSSHAPE_H
#define PAGEDATTN_LIB_TRANSFORMS_LOGITSSHAPE_H

#include "PagedAttn/Dialect/PA.h"
#include "PagedAttn/Target/TargetInfo.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::pa {

/// Sizes of an op that scores keys on the lanes of a wave, for one matrix
/// instruction. A lane group holds pieces of 16 bytes of a query or key row:
/// group g has pieces g, g + groups, ... , which are cut into the fragments of
/// consecutive instructions.
struct LogitsShape {
  /// Tokens of one matrix tile, and lanes of one lane group.
  static constexpr int64_t kTile = 16;
  /// Bytes that a lane loads of a row at once.
  static constexpr int64_t kPiece = 16;

  /// Tokens of a page from which on it is worth a tensor copy. A copy takes 9
  /// scalar instructions: pages of 4 tokens cost 10.4 wave instructions for
  /// each logit by copies and 7.6 by loads of lanes, pages of 8 8.9 and 7.7,
  /// but 3.7 and 4.0 vector instructions.
  static constexpr int64_t kMinDmaTokens = 8;

  LogitsShape(const LogitsOperands &in, const MmaInfo &mma,
              const TargetInfo &target)
      : LogitsShape(in, mma, target, in.getNumQueries()) {}

  /// For `numQueries` of the query rows of a sequence.
  LogitsShape(const LogitsOperands &in, const MmaInfo &mma,
              const TargetInfo &target, int64_t numQueries)
      : isFp4(in.format == KeyFormat::mxfp4), lanes(target.waveSize),
        groups(lanes / kTile), numQueries(numQueries),
        headTiles(in.getNumHeads() / mma.m), rowBytes(in.getKeyBytes()),
        fragments(llvm::divideCeil(in.getHeadDim(), mma.k)),
        fragmentBytes(mma.getKPerLane() / (isFp4 ? 2 : 1)),
        pieces(llvm::divideCeil(fragments * fragmentBytes, kPiece)),
        scaleBlocks(in.getHeadDim() / 32), scalesPerFragment(isFp4 ? 1 : 0),
        accPerLane(mma.getAccPerLane()),
        usesDma(target.hasTensorDma && in.getPageSize() >= kMinDmaTokens),
        isTiled(in.layout == Layout::tiled),
        dmaTokens(in.getPageSize() % lanes == 0
                      ? lanes
                      : std::min(in.getPageSize(), kTile)) {}

  bool isFp4;
  int64_t lanes, groups, numQueries, headTiles;
  /// Bytes of a query or key row.
  int64_t rowBytes;
  /// Matrix instructions for one tile, and the bytes of a row that a lane gives
  /// to each.
  int64_t fragments, fragmentBytes;
  /// Pieces of a row in a lane. Those beyond the row are zero.
  int64_t pieces;
  /// E8M0 codes of a row, and registers of codes for each fragment.
  int64_t scaleBlocks, scalesPerFragment;
  int64_t accPerLane;
  /// Keys come to LDS by tensor copies, each of so many tokens of one page: a
  /// whole step where a page holds it, else a tile or a smaller page.
  bool usesDma, isTiled;
  int64_t dmaTokens;

  int64_t getQueryTiles() const { return numQueries * headTiles; }
  int64_t getScaleWords() const { return fragments * scalesPerFragment; }

  /// Registers of a lane for all queries of a sequence, scales and weights.
  int64_t getQueryRegisters() const {
    return getQueryTiles() *
           (pieces * kPiece / 4 + getScaleWords() + accPerLane);
  }
  /// Bytes of LDS for the same.
  int64_t getQueryLdsBytes() const {
    return getQueryTiles() *
           (lanes * (pieces * kPiece + 4 * getScaleWords()) + 4 * kTile);
  }

  /// Whether queries pass through LDS: they stay there, or go on to the
  /// registers of several waves, each of which would load them from memory.
  bool stagesQueries(LogitsConfigAttr config, int64_t ldsBytes) const {
    const int64_t waves = config.getWaves();
    return config.getQuery() == QueryPlace::lds ||
           (config.getQuery() == QueryPlace::registers && waves > 1 &&
            getKeyLdsBytes(waves) + getQueryLdsBytes() <= ldsBytes);
  }

  /// Tensor copies of one step.
  int64_t getDmaLoads() const { return lanes / dmaTokens; }
  /// A copy takes runs that are contiguous in memory, by whose number it is cut
  /// at the end of the context: rows, or the tokens whose pieces interleave.
  int64_t getDmaRunTokens() const {
    return isTiled ? std::min(dmaTokens, kTile) : 1;
  }
  /// Bytes after each row in LDS, so that lanes that read one piece of 16 rows
  /// do not meet in the same banks.
  int64_t getDmaPad() const {
    return !isTiled && llvm::isPowerOf2_64(rowBytes) ? kPiece : 0;
  }
  /// Bytes in LDS of the keys of one step.
  int64_t getStepLdsBytes() const { return lanes * (rowBytes + getDmaPad()); }
  /// Bytes in LDS for the keys of two steps of each wave.
  int64_t getKeyLdsBytes(int64_t waves) const {
    return usesDma ? waves * 2 * getStepLdsBytes() : 0;
  }
};

} // namespace mlir::pa

#endif // PAGEDATTN_LIB_TRANSFORMS_LOGITSSHAPE_H
