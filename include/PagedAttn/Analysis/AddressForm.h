//===- AddressForm.h - What is known of a global address --------*- C++ -*-===//
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

#include "PagedAttn/Analysis/GlobalAccess.h"
#include "PagedAttn/Analysis/Uniformity.h"
#include "PagedAttn/Dialect/PA.h"
#include "mlir/Analysis/DataFlowFramework.h"

namespace mlir::pa {

/// A closed interval of signed 64-bit integers.
struct Interval {
  int64_t min; ///< least value
  int64_t max; ///< greatest value, itself included
};

/// One index, cut into what is uniform and what is not.
struct IndexSplit {
  /// `value * scale`.
  struct Term {
    Value value;   ///< an index or integer
    int64_t scale; ///< in elements
    /// The same value and scale.
    bool operator==(const Term &other) const {
      return value == other.value && scale == other.scale;
    }
  };
  SmallVector<Term> uniform; ///< the same in all lanes of a wave
  SmallVector<Term> lane;    ///< those that may differ
  int64_t constant = 0;      ///< in elements
};

/// What is known of the address of one access.
struct AddressFacts {
  /// The cheapest form that is proven to be right.
  AddressForm form = AddressForm::global;
  /// Greatest byte offset from the base that the form uses, the access
  /// included; -1 where unknown.
  int64_t maxOffset = -1;
  /// What decided, or what was missing.
  std::string reason;
  /// What a caller could say to get a narrower form; may be empty.
  std::string hint;
  /// Not empty where no form is right and the access must be written
  /// differently.
  std::string error;
  /// One for each index.
  SmallVector<IndexSplit> indices;
  /// Bounds of the lane part of each index, and of the constant where that is
  /// not in the base; meaningful for the form `rebase`.
  SmallVector<Interval> laneBounds;
  /// The memref is the same in all lanes.
  bool isUniformBase = true;
  /// The form `rebase` has the constants in the base with the uniform part:
  /// with them in the lane part, that would not be small or could be negative.
  bool isConstantInBase = false;

  /// Every lane of a wave accesses the same address.
  bool isUniform() const {
    return isUniformBase && llvm::all_of(indices, [](const IndexSplit &i) {
             return i.lane.empty();
           });
  }
};

/// Answers for the accesses inside one function. Nothing is changed by asking.
class AddressFormAnalysis {
public:
  /// `maxOffsetBytes` is the greatest offset that narrow and rebase may form,
  /// the size of the access included.
  AddressFormAnalysis(Operation *root, int64_t maxOffsetBytes);

  /// What is known of one access. Never fails: what is unknown makes the form
  /// `global`, and what no form can express is in `AddressFacts::error`.
  AddressFacts getFacts(const GlobalAccess &access);

  /// Signed bounds of an integer or index value, nothing where unknown.
  std::optional<Interval> getBounds(Value value);

  /// As `UniformityAnalysis::isUniform`.
  bool isUniform(Value value) const { return uniformity.isUniform(value); }

  /// Bytes that the size field of a buffer resource around `memref` gets where
  /// nothing else is said, or nothing where unknown.
  std::optional<int64_t> getResourceBytes(Value memref);

  /// Greatest value of the size field, over the chips that the code may be for.
  int64_t getMaxResourceBytes() const { return maxResourceBytes; }

private:
  IndexSplit split(Value index);
  void split(Value value, int64_t scale, IndexSplit &result);
  std::optional<Interval> getBounds(ArrayRef<IndexSplit::Term> terms);
  std::optional<Interval> getBounds(OpFoldResult value);
  std::optional<Interval> getStride(Value memref, unsigned dim);
  std::optional<Interval> getViewOffset(Value memref);
  struct Parts;
  Parts getParts(const GlobalAccess &access, AddressFacts &facts);
  void decideResource(const GlobalAccess &access, const Parts &parts,
                      AddressFacts &facts);
  void decideMemref(const GlobalAccess &access, const Parts &parts,
                    AddressFacts &facts);
  bool fits(const std::optional<Interval> &part,
            const GlobalAccess &access) const;

  int64_t maxOffsetBytes, maxResourceBytes;
  UniformityAnalysis uniformity;
  DataFlowSolver solver;
};

/// The cast that made the buffer resource behind `memref`, or null.
Operation *getResourceCast(Value memref);

/// Whether `pa-widen-addresses` can give `access`, which uses a buffer resource
/// of the program, a 64-bit address with an explicit range check instead.
bool canLeaveResource(const GlobalAccess &access);

} // namespace mlir::pa

#endif // PAGEDATTN_ANALYSIS_ADDRESSFORM_H
