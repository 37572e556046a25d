//===- TileTopK.cpp - pa.topk to kernels -------------------------*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TopKKernel.h"

using namespace mlir;
using namespace mlir::pa;

namespace {

/// Host side of the op: one launch for each role.
class TopKLaunches {
public:
  TopKLaunches(ImplicitLocOpBuilder &host, TopKOp op, const TargetInfo &target)
      : host(host), op(op), target(target) {}

  void emit();

private:
  void launch(TopKRole role, int64_t splits);
  std::string getName(TopKRole role);

  ImplicitLocOpBuilder &host;
  TopKOp op;
  const TargetInfo &target;
  Value rows, workValues, workColumns;
};

} // namespace

std::string TopKLaunches::getName(TopKRole role) {
  std::string name = "topk_";
  llvm::raw_string_ostream os(name);
  if (role == TopKRole::split)
    os << "split_";
  if (role == TopKRole::merge)
    os << "merge_";
  os << "k" << op.getK() << "_" << stringifyOrder(op.getOrder());
  if (op.getTopValues())
    os << "_values";
  if (op.getRowStarts())
    os << "_rowstarts";
  if (op.getRowEnds())
    os << "_rowends";
  return name;
}

void TopKLaunches::launch(TopKRole role, int64_t splits) {
  TopKConfigAttr config = op.getConfigAttr();
  TopKShape shape(op.getK(), config, target);
  Value one = host.create<arith::ConstantIndexOp>(1);
  KernelSpec spec;
  spec.name = getName(role);
  spec.op = TopKOp::getOperationName();
  spec.blockSize = shape.threads;
  spec.grid = {rows, one, one};
  spec.gridText = {"R", "1", "1"};
  if (role == TopKRole::split) {
    spec.grid[1] = host.create<arith::ConstantIndexOp>(splits);
    spec.gridText[1] = std::to_string(splits);
  }
  spec.args = {{"values", op.getValues()}};
  if (op.getRowStarts())
    spec.args.push_back({"row_starts", op.getRowStarts()});
  if (op.getRowEnds())
    spec.args.push_back({"row_ends", op.getRowEnds()});
  if (role != TopKRole::whole) {
    spec.args.push_back({"work_values", workValues});
    spec.args.push_back({"work_columns", workColumns});
    std::string columns = std::to_string(splits * op.getK());
    spec.workspaces = {{"work_values", {"R", columns}},
                       {"work_columns", {"R", columns}}};
  }
  if (role != TopKRole::split) {
    spec.args.push_back({"indices", op.getIndices()});
    if (op.getTopValues())
      spec.args.push_back({"top_values", op.getTopValues()});
  }
  spec.sizes = {{"R", "values", 0}, {"C", "values", 1}};
  spec.preconditions = {"C < 2147483648"};
  KernelBuilder kernel(host, op, spec, target);
  TopKKernel(kernel, op, target, role, splits).emit();
  kernel.finish();
}

void TopKLaunches::emit() {
  rows = host.createOrFold<memref::DimOp>(op.getValues(), 0);
  const int64_t splits = op.getConfigAttr().getSplits();
  if (splits == 1)
    return launch(TopKRole::whole, 1);

  // Host-shared, as other allocations would need a stream too. What the splits
  // found lives from the first launch to the second only: no
  // state stays on the device.
  auto allocate = [&](Type element) -> Value {
    auto type =
        MemRefType::get({ShapedType::kDynamic, splits * op.getK()}, element);
    return host
        .create<gpu::AllocOp>(type, /*asyncToken=*/Type(), ValueRange(),
                              ValueRange{rows}, ValueRange(),
                              /*hostShared=*/true)
        .getMemref();
  };
  workValues = allocate(host.getF32Type());
  workColumns = allocate(host.getI32Type());
  launch(TopKRole::split, splits);
  launch(TopKRole::merge, splits);
  // The lowering to runtime calls takes deallocations on a stream only.
  Type token = gpu::AsyncTokenType::get(host.getContext());
  for (Value memref : {workValues, workColumns}) {
    auto ready = host.create<gpu::WaitOp>(token, ValueRange());
    auto freed = host.create<gpu::DeallocOp>(
        token, ValueRange{ready.getAsyncToken()}, memref);
    host.create<gpu::WaitOp>(Type(), ValueRange{freed.getAsyncToken()});
  }
}

LogicalResult mlir::pa::tileTopK(RewriterBase &rewriter, TopKOp op,
                                 const TargetInfo &target) {
  if (!op.getConfigAttr())
    return op.emitOpError() << "has no config, run pa-configure first";
  SmallVector<Value> unitInner{op.getValues(), op.getIndices()};
  if (op.getTopValues())
    unitInner.push_back(op.getTopValues());
  if (failed(checkOperandsForChip(op, unitInner)))
    return failure();
  ImplicitLocOpBuilder host(op.getLoc(), rewriter);
  host.setInsertionPoint(op);
  TopKLaunches(host, op, target).emit();
  rewriter.eraseOp(op);
  return success();
}
