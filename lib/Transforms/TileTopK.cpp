//===- TileTopK.cpp - pa.topk to kernels -------------------------*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TopKKernel.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::pa;

namespace {

/// A number that the host computes, as a value and as text for the manifest.
struct HostNumber {
  Value value;
  std::string text;
};

/// Host side of the op: one launch for each role.
class TopKLaunches {
public:
  TopKLaunches(ImplicitLocOpBuilder &host, TopKOp op, const TargetInfo &target)
      : host(host), op(op), target(target), config(op.getConfigAttr()) {}

  void emit();

private:
  void launch(TopKRole role, TopKConfigAttr config,
              const std::string &rowsText);
  void launchSplits(const std::string &rowsText);
  void chooseLaunch();
  HostNumber chooseSplits();
  std::string getName(TopKRole role, TopKConfigAttr config);
  Value constant(int64_t value) {
    return host.create<arith::ConstantIndexOp>(value);
  }
  Value compare(arith::CmpIPredicate predicate, Value x, int64_t y) {
    return host.create<arith::CmpIOp>(predicate, x, constant(y));
  }

  ImplicitLocOpBuilder &host;
  TopKOp op;
  const TargetInfo &target;
  TopKConfigAttr config;
  Value rows, columns, workValues, workColumns;
  HostNumber splits;
  /// How the launch chooses them.
  std::string splitsText;
};

} // namespace

std::string TopKLaunches::getName(TopKRole role, TopKConfigAttr config) {
  std::string name = "topk_";
  llvm::raw_string_ostream os(name);
  if (role == TopKRole::split)
    os << "split_";
  if (role == TopKRole::merge)
    os << "merge_";
  if (role == TopKRole::whole && config.getWaves() == 1)
    os << "wave_";
  os << "k" << op.getK() << "_" << stringifyOrder(op.getOrder());
  if (op.getTopValues())
    os << "_values";
  if (op.getRowStarts())
    os << "_rowstarts";
  if (op.getRowEnds())
    os << "_rowends";
  if (op.getContextLens())
    os << "_contexts_n" << *op.getNextN();
  return name;
}

/// One kernel and its launch. `rowsText` is how many rows it has by the
/// manifest, 0 where another kernel has them.
void TopKLaunches::launch(TopKRole role, TopKConfigAttr config,
                          const std::string &rowsText) {
  TopKShape shape(op.getK(), config, target);
  Value one = constant(1);
  KernelSpec spec;
  spec.name = getName(role, config);
  spec.op = TopKOp::getOperationName();
  spec.blockSize = shape.threads;
  spec.grid = {rows, one, one};
  spec.gridText = {rowsText, "1", "1"};
  if (role == TopKRole::split) {
    spec.grid[1] = splits.value;
    spec.gridText[1] = splits.text;
  }
  spec.args = {{"values", op.getValues()}};
  if (op.getRowStarts())
    spec.args.push_back({"row_starts", op.getRowStarts()});
  if (op.getRowEnds())
    spec.args.push_back({"row_ends", op.getRowEnds()});
  if (op.getContextLens())
    spec.args.push_back({"context_lens", op.getContextLens()});
  const std::string k = std::to_string(op.getK());
  if (role != TopKRole::whole) {
    spec.args.push_back({"work_values", workValues});
    spec.args.push_back({"work_columns", workColumns});
    SmallVector<std::string> extents{rowsText, splits.text + " * " + k};
    spec.workspaces = {{"work_values", extents}, {"work_columns", extents}};
    if (this->config.getSplits() == 0) {
      spec.args.push_back({"num_splits", splits.value});
      spec.scalars = {{"num_splits", splitsText}};
    }
  }
  if (role != TopKRole::split) {
    spec.args.push_back({"indices", op.getIndices()});
    if (op.getTopValues())
      spec.args.push_back({"top_values", op.getTopValues()});
  }
  spec.sizes = {{"R", "values", 0}, {"C", "values", 1}};
  spec.preconditions = {"C < 2147483648",
                        "outputs share no memory with inputs"};
  if (op.getContextLens())
    spec.preconditions.push_back("R = " + std::to_string(*op.getNextN()) +
                                 " * the extent of context_lens");
  KernelBuilder kernel(host, op, spec, target);
  TopKKernel(kernel, op, target, role, config).emit();
  kernel.finish();
}

/// A launch for the shares of each row and one that merges what they found.
void TopKLaunches::launchSplits(const std::string &rowsText) {
  // Host-shared, as other allocations would need a stream too. What the splits
  // found lives from the first launch to the second only: no state stays on the
  // device.
  Value found =
      host.createOrFold<arith::MulIOp>(splits.value, constant(op.getK()));
  APInt known;
  const bool isKnown = matchPattern(found, m_ConstantInt(&known));
  SmallVector<Value> dynamic{rows};
  if (!isKnown)
    dynamic.push_back(found);
  auto allocate = [&](Type element) -> Value {
    auto type =
        MemRefType::get({ShapedType::kDynamic,
                         isKnown ? known.getSExtValue() : ShapedType::kDynamic},
                        element);
    return host
        .create<gpu::AllocOp>(type, /*asyncToken=*/Type(), ValueRange(),
                              dynamic, ValueRange(), /*hostShared=*/true)
        .getMemref();
  };
  workValues = allocate(host.getF32Type());
  workColumns = allocate(host.getI32Type());
  launch(TopKRole::split, config, rowsText);
  launch(TopKRole::merge, config, rowsText);
  // The lowering to runtime calls takes deallocations on a stream only.
  Type token = gpu::AsyncTokenType::get(host.getContext());
  for (Value memref : {workValues, workColumns}) {
    auto ready = host.create<gpu::WaitOp>(token, ValueRange());
    auto freed = host.create<gpu::DeallocOp>(
        token, ValueRange{ready.getAsyncToken()}, memref);
    host.create<gpu::WaitOp>(Type(), ValueRange{freed.getAsyncToken()});
  }
}

/// What TopKSchedule::getSplits computes, for the launch.
HostNumber TopKLaunches::chooseSplits() {
  const TopKSchedule schedule(op, target);
  // The expressions of the manifest round up: floor(x / y) is
  // ceil((x + 1) / y) - 1.
  std::string text =
      "max(1, min(min(ceildiv(" + std::to_string(schedule.getSlots() + 1) +
      ", max(R, 1)) - 1, " + std::to_string(TopKSchedule::kMaxSplits) +
      "), ceildiv(C + 1, " + std::to_string(schedule.minShare) + ") - 1))";
  Value one = constant(1);
  Value byRows = host.create<arith::DivUIOp>(
      constant(schedule.getSlots()), host.create<arith::MaxUIOp>(rows, one));
  Value byColumns =
      host.create<arith::DivUIOp>(columns, constant(schedule.minShare));
  Value value =
      host.create<arith::MinUIOp>(byRows, constant(TopKSchedule::kMaxSplits));
  value = host.create<arith::MaxUIOp>(
      one, host.create<arith::MinUIOp>(value, byColumns));
  return {value, text};
}

/// The launch takes the kernels that suit the sizes it has.
void TopKLaunches::chooseLaunch() {
  const TopKSchedule schedule(op, target);
  splits = chooseSplits();
  splitsText = splits.text;
  // 1 where there are splits; where not, 1 where each row has one wave.
  std::string hasSplits = "min(" + splits.text + " - 1, 1)";
  std::string isWhole = "(1 - " + hasSplits + ")";
  auto emitElse = [&](scf::IfOp op, llvm::function_ref<void()> emit) {
    OpBuilder::InsertionGuard guard(host);
    host.setInsertionPointToStart(&op.getElseRegion().front());
    emit();
  };
  auto emitThen = [&](scf::IfOp op, llvm::function_ref<void()> emit) {
    OpBuilder::InsertionGuard guard(host);
    host.setInsertionPointToStart(&op.getThenRegion().front());
    emit();
  };
  auto emitGroups = [&] {
    auto isSplit = host.create<scf::IfOp>(
        compare(arith::CmpIPredicate::ugt, splits.value, 1),
        /*withElseRegion=*/true);
    emitThen(isSplit, [&] {
      splits.text = "num_splits";
      launchSplits("R * min(num_splits - 1, 1)");
    });
    emitElse(isSplit,
             [&] { launch(TopKRole::whole, config, "R * " + isWhole); });
  };
  TopKConfigAttr waveConfig = schedule.getWaveConfig();
  if (!waveConfig)
    return emitGroups();
  std::string isTiny =
      "max(0, min(1, min(R - " + std::to_string(schedule.numCus - 1) + ", " +
      std::to_string(TopKSchedule::kWaveColumns + 1) + " - C)))";
  Value tiny = host.create<arith::AndIOp>(
      compare(arith::CmpIPredicate::uge, rows, schedule.numCus),
      compare(arith::CmpIPredicate::ule, columns, TopKSchedule::kWaveColumns));
  // Rows so short are not split.
  isWhole = "(1 - " + hasSplits + " - " + isTiny + ")";
  auto ifTiny = host.create<scf::IfOp>(tiny, /*withElseRegion=*/true);
  emitThen(ifTiny,
           [&] { launch(TopKRole::whole, waveConfig, "R * " + isTiny); });
  emitElse(ifTiny, emitGroups);
}

void TopKLaunches::emit() {
  rows = host.createOrFold<memref::DimOp>(op.getValues(), 0);
  columns = host.createOrFold<memref::DimOp>(op.getValues(), 1);
  const int64_t count = config.getSplits();
  if (count == 0)
    return chooseLaunch();
  splits = {constant(count), std::to_string(count)};
  if (count == 1)
    launch(TopKRole::whole, config, "R");
  else
    launchSplits("R");
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
