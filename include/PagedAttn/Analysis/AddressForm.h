//===- AddressForm.h - What is known of a global address ---------*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The byte offset of an access is s * sum_k index_k * stride_k. Each index is
// cut into terms `value * scale`; the wave-uniform terms make up U, the others
// and the constants L. Both are bounded in 64 bits with overflow checks: a
// bound that overflows is no bound.
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_ANALYSIS_ADDRESSFORM_H
#define PAGEDATTN_ANALYSIS_ADDRESSFORM_H

#include "PagedAttn/Analysis/Uniformity.h"
#include "PagedAttn/Dialect/PA.h"
#include "mlir/Analysis/DataFlowFramework.h"

namespace mlir::pa {

/// One load or store of global memory.
struct GlobalAccess {
  Operation *op;
  Value memref;
  ValueRange indices;
  /// Bytes that a lane accesses.
  int64_t bytes;
  bool isStore;
  /// A tensor copy: its descriptor has one 64-bit address for the wave, to
  /// which no other form applies.
  bool isDma = false;

  /// `op` as an access, or nothing if it does not access global memory or is of
  /// a kind that is not handled.
  static std::optional<GlobalAccess> get(Operation *op);
};

/// A closed interval of signed 64-bit integers.
struct Interval {
  int64_t min, max;
};

/// One index, cut into what is uniform and what is not.
struct IndexSplit {
  struct Term {
    Value value;
    int64_t scale;
    bool operator==(const Term &other) const {
      return value == other.value && scale == other.scale;
    }
  };
  SmallVector<Term> uniform, lane;
  int64_t constant = 0;
};

/// What is known of the address of one access.
struct AddressFacts {
  AddressForm form;
  /// Greatest byte offset from the base that the form uses, the access
  /// included; -1 where unknown.
  int64_t maxOffset;
  /// What decided, or what was missing.
  std::string reason;
  /// One for each index.
  SmallVector<IndexSplit> indices;
  /// Bounds of the lane part of each index, the constant included; meaningful
  /// for the form `rebase`.
  SmallVector<Interval> laneBounds;

  /// Every lane of a wave accesses the same address.
  bool isUniform() const {
    return llvm::all_of(indices,
                        [](const IndexSplit &i) { return i.lane.empty(); });
  }
};

/// Answers for the accesses inside one operation. Nothing is changed by asking.
class AddressFormAnalysis {
public:
  /// `maxOffsetBytes` is the greatest offset that narrow and rebase may form,
  /// the size of the access included.
  AddressFormAnalysis(Operation *root, int64_t maxOffsetBytes);

  AddressFacts getFacts(const GlobalAccess &access);

  /// Signed bounds of an integer or index value, nothing where unknown.
  std::optional<Interval> getBounds(Value value);

private:
  IndexSplit split(Value index);
  void split(Value value, int64_t scale, IndexSplit &result);
  std::optional<Interval> getBounds(ArrayRef<IndexSplit::Term> terms);

  int64_t maxOffsetBytes;
  UniformityAnalysis uniformity;
  DataFlowSolver solver;
};

} // namespace mlir::pa

#endif // PAGEDATTN_ANALYSIS_ADDRESSFORM_H
