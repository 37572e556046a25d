//===- LowerTopKToLoops.cpp - Scalar meaning of pa.topk ---------*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopBuilder.h"
#include "LowerToLoops.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::pa;

namespace {
/// One row: columns from `start` to `end`, of which `count` are selected.
struct TopKRow {
  ImplicitLocOpBuilder &b;
  TopKOp op;
  Value row, start, end, count;

  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(b, predicate, lhs, rhs);
  }
  /// 1 where the condition holds, else 0.
  Value one(Value condition) {
    return arith::SelectOp::create(b, condition, indexConstant(b, 1),
                                   indexConstant(b, 0));
  }

  Value key(Value column);
  Value countColumns(arith::CmpIPredicate predicate, Value bound);
  Value findWorstSelected();
  void writeSelected(Value worst);
  void sortByValue();
  void writeValues();
  Value loadColumn(Value position) {
    return loadSigned(b, op.getIndices(), {row, position});
  }
  void storeColumn(Value column, Value position) {
    Value narrow = arith::IndexCastOp::create(b, b.getI32Type(), column);
    memref::StoreOp::create(b, narrow, op.getIndices(),
                            ValueRange{row, position});
  }
};
} // namespace

/// An unsigned number that is greater where the value ranks higher, and equal
/// where only the column decides: 0 for any NaN, and the bits in an order that
/// puts +0 above -0.
Value TopKRow::key(Value column) {
  Value value =
      memref::LoadOp::create(b, op.getValues(), ValueRange{row, column});
  Value bits = arith::BitcastOp::create(b, b.getI32Type(), value);
  Value magnitude = arith::AndIOp::create(b, bits, i32Constant(b, 0x7fffffff));
  Value isNaN =
      compare(arith::CmpIPredicate::ugt, magnitude, i32Constant(b, 0x7f800000));
  Value signs = arith::ShRSIOp::create(b, bits, i32Constant(b, 31));
  Value flips = arith::OrIOp::create(b, signs, i32Constant(b, 0x80000000));
  Value ordered = arith::XOrIOp::create(b, bits, flips);
  return arith::SelectOp::create(b, isNaN, i32Constant(b, 0), ordered);
}

Value TopKRow::countColumns(arith::CmpIPredicate predicate, Value bound) {
  return forEach(b, start, end, indexConstant(b, 0),
                 [&](Value column, ValueRange seen) -> SmallVector<Value> {
                   Value holds = compare(predicate, key(column), bound);
                   return {add(b, seen[0], one(holds))};
                 })
      .front();
}

/// The key of the last selected column: the greatest that `count` columns
/// reach, found from its highest bit down.
Value TopKRow::findWorstSelected() {
  Value highest = i32Constant(b, 0x80000000);
  return forEach(
             b, indexConstant(b, 0), indexConstant(b, 32), i32Constant(b, 0),
             [&](Value step, ValueRange found) -> SmallVector<Value> {
               Value shift =
                   arith::IndexCastOp::create(b, b.getI32Type(), step);
               Value bit = arith::ShRUIOp::create(b, highest, shift);
               Value bound = arith::OrIOp::create(b, found[0], bit);
               Value reach = countColumns(arith::CmpIPredicate::uge, bound);
               Value isReached =
                   compare(arith::CmpIPredicate::uge, reach, count);
               return {arith::SelectOp::create(b, isReached, bound, found[0])};
             })
      .front();
}

/// Writes the selected columns in ascending order, then -1. Of the columns that
/// have the worst key, the lowest are taken until `count` is full.
void TopKRow::writeSelected(Value worst) {
  Value better = countColumns(arith::CmpIPredicate::ugt, worst);
  Value zero = indexConstant(b, 0);
  forEach(b, start, end, {zero, sub(b, count, better)},
          [&](Value column, ValueRange state) -> SmallVector<Value> {
            Value position = state[0], ties = state[1];
            Value columnKey = key(column);
            Value isBetter =
                compare(arith::CmpIPredicate::ugt, columnKey, worst);
            Value isTie = compare(arith::CmpIPredicate::eq, columnKey, worst);
            isTie = arith::AndIOp::create(
                b, isTie, compare(arith::CmpIPredicate::sgt, ties, zero));
            Value isTaken = arith::OrIOp::create(b, isBetter, isTie);
            ifTrue(b, isTaken, [&] { storeColumn(column, position); });
            return {add(b, position, one(isTaken)), sub(b, ties, one(isTie))};
          });
  forEach(b, count, indexConstant(b, op.getK()),
          [&](Value position) { storeColumn(indexConstant(b, -1), position); });
}

/// Sorts the selected columns by descending key. Insertion is stable, so that
/// equal keys keep their ascending columns.
void TopKRow::sortByValue() {
  Value zero = indexConstant(b, 0), one = indexConstant(b, 1);
  forEach(b, one, count, [&](Value next) {
    Value column = loadColumn(next);
    Value columnKey = key(column);
    auto loop = scf::WhileOp::create(
        b, TypeRange{b.getIndexType()}, ValueRange{next},
        [&](OpBuilder &nested, Location, ValueRange args) {
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPointToEnd(nested.getInsertionBlock());
          Value hasPrevious = compare(arith::CmpIPredicate::sgt, args[0], zero);
          // Position 0 has no previous one; what is read in its place does not
          // count.
          Value previous = signedMax(b, sub(b, args[0], one), zero);
          Value previousKey = key(loadColumn(previous));
          Value isWorse =
              compare(arith::CmpIPredicate::ult, previousKey, columnKey);
          scf::ConditionOp::create(
              b, arith::AndIOp::create(b, hasPrevious, isWorse), args);
        },
        [&](OpBuilder &nested, Location, ValueRange args) {
          OpBuilder::InsertionGuard guard(b);
          b.setInsertionPointToEnd(nested.getInsertionBlock());
          Value previous = sub(b, args[0], one);
          storeColumn(loadColumn(previous), args[0]);
          scf::YieldOp::create(b, previous);
        });
    storeColumn(column, loop.getResult(0));
  });
}

void TopKRow::writeValues() {
  forEach(b, indexConstant(b, 0), count, [&](Value position) {
    Value value = memref::LoadOp::create(b, op.getValues(),
                                         ValueRange{row, loadColumn(position)});
    memref::StoreOp::create(b, value, op.getTopValues(),
                            ValueRange{row, position});
  });
  forEach(b, count, indexConstant(b, op.getK()), [&](Value position) {
    memref::StoreOp::create(b, negInfConstant(b), op.getTopValues(),
                            ValueRange{row, position});
  });
}

void mlir::pa::lowerToLoops(ImplicitLocOpBuilder &b, TopKOp op) {
  Value zero = indexConstant(b, 0);
  Value columns = dim(b, op.getValues(), 1);
  forEach(b, zero, dim(b, op.getValues(), 0), [&](Value row) {
    Value start = zero, end = columns;
    if (op.getRowStarts())
      start = signedMax(b, loadSigned(b, op.getRowStarts(), row), zero);
    if (op.getRowEnds())
      end = signedMin(b, loadSigned(b, op.getRowEnds(), row), columns);
    if (op.getContextLens()) {
      const int64_t nextN = *op.getNextN();
      Value length = loadSigned(b, op.getContextLens(), div(b, row, nextN));
      end = add(b, length, rem(b, row, nextN));
      end = add(b, end, indexConstant(b, 1 - nextN));
      end = signedMin(b, end, columns);
    }
    Value length = signedMax(b, sub(b, end, start), zero);
    Value count = signedMin(b, length, indexConstant(b, op.getK()));
    TopKRow lowering{b, op, row, start, end, count};
    lowering.writeSelected(lowering.findWorstSelected());
    if (op.getOrder() == Order::by_value)
      lowering.sortByValue();
    if (op.getTopValues())
      lowering.writeValues();
  });
}
