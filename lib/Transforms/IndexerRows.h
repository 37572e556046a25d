//===- IndexerRows.h - The best columns of some query rows ------*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A workgroup goes through the columns of its rows in rounds, in ascending
// order. In each round every wave has some columns of each row. Those that are
// not below the threshold of the row are appended to its candidates in LDS; how
// many the waves before have says where. When they could not all be kept, all
// but the k best are dropped first, and the threshold rises to what beats the
// last of these: a later column that equals it has lost already. So nothing is
// ever dropped that could be among the k best, and no column is scored twice.
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_LIB_TRANSFORMS_INDEXERROWS_H
#define PAGEDATTN_LIB_TRANSFORMS_INDEXERROWS_H

#include "IndexerShape.h"

namespace mlir::pa {

/// Emits the candidates of `rows` rows of a workgroup, and the selection of the
/// best of them.
class IndexerRows : protected TopKSelect {
public:
  /// A column that a lane offers, and whether it does.
  struct Offer {
    Value value, column, isOffered;
  };

  IndexerRows(KernelBuilder &kernel, const IndexerShape &shape, int64_t rows)
      : TopKSelect(kernel, shape.select, TopKWord::value), shape(shape),
        rows(rows) {}

  /// Begins with no candidates. `getEnd` gives the first column, an i32, that
  /// the row `row` of a lane has not. `hiddenZero` is an i32 of 0 that the
  /// backend does not know.
  void emitStart(Value hiddenZero, function_ref<Value(Value row)> getEnd);

  /// One round, for all waves together. `offer` gives what a lane offers in
  /// `step` for `row`, whose end is `end`. Returns the next `turn`, 0 at first.
  Value
  emitRound(Value turn,
            function_ref<Offer(Value row, int64_t step, Value end)> offer);

  /// After the last round: `write` gets each row and how many columns were
  /// found, at most k. They stand in the order of `order`.
  void emitFinish(Order order,
                  function_ref<void(Value row, Value count)> write);
  /// For `write`: item i of what was found and of the rest up to k.
  void
  forEachFound(Value count,
               function_ref<void(Value item, Value bits, Value column)> body);
  void forEachMissing(Value count, function_ref<void(Value item)> body);
  /// What thread 0 does alone.
  void onFirstThread(function_ref<void()> body);

  Value getNoTurn() { return i32(0); }

private:
  Value emitRow(Value row, Value turn,
                function_ref<Offer(Value row, int64_t step, Value end)> offer);
  void takeRow(Value row);
  Value forEachRow(Value carried,
                   function_ref<Value(Value row, Value carried)> body);
  std::pair<Value, Value> compact(Value count);
  using Numbers = std::tuple<Value, Value, Value, Value, Value, Value, Value>;
  Numbers getNumbers();
  void setNumbers(const Numbers &numbers);
  void renewNumbers();

  const IndexerShape &shape;
  const int64_t rows;
  /// LDS: the candidates of all rows; for each wave and row how many there are,
  /// the bits of the threshold and the end of the row, the same in all waves.
  /// Each has its own, so that no barrier is needed for them.
  Value allBuffers, states;
  /// `rows`, which the backend does not know.
  Value rowCount;
};

} // namespace mlir::pa

#endif // PAGEDATTN_LIB_TRANSFORMS_INDEXERROWS_H
