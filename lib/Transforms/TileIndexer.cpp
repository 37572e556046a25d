//===- TileIndexer.cpp - pa.indexer to kernels ------------------*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IndexerKernel.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::pa;

namespace {

/// Host side of the op: one launch for each role.
class IndexerLaunches {
public:
  IndexerLaunches(ImplicitLocOpBuilder &host, IndexerOp op,
                  const TargetInfo &target)
      : host(host), op(op), target(target), in(op.getLogitsOperands()),
        shape(op, op.getConfigAttr(), target), k(std::to_string(op.getK())),
        rowsText("B * " + std::to_string(shape.numQueries)) {}

  void emit();

private:
  std::string getName(IndexerRole role);
  void describe(IndexerRole role, KernelSpec &spec);
  void launch(IndexerRole role, const std::string &isTaken);
  void launchSplits(const std::string &isTaken);
  void chooseSplits();
  std::string getColumnsText();
  Value constant(int64_t value) {
    return host.create<arith::ConstantIndexOp>(value);
  }
  Value dim(Value memref, int64_t d) {
    return host.createOrFold<memref::DimOp>(memref, d);
  }

  ImplicitLocOpBuilder &host;
  IndexerOp op;
  const TargetInfo &target;
  const LogitsOperands in;
  const IndexerShape shape;
  /// k and the number of rows as text.
  const std::string k, rowsText;
  /// Workgroups for the context of a sequence, as a value and as text, and how
  /// the launch chooses them.
  Value splits;
  std::string splitsText, choiceText;
  Value workValues, workColumns, workCounts;
};

} // namespace

std::string IndexerLaunches::getName(IndexerRole role) {
  std::string name = "indexer_";
  if (role == IndexerRole::split)
    name += "split_";
  if (role == IndexerRole::merge)
    name += "merge_";
  else
    name += getLogitsName(in) + "_";
  name += "k" + k + "_" + stringifyOrder(op.getOrder()).str();
  if (op.getTopValues())
    name += "_values";
  if (in.rowEnds && role != IndexerRole::merge)
    name += "_rowends";
  return name;
}

/// The `columns` that a launch passes: where they are not constant, those that
/// the block table has stand for any number that the caller gives.
std::string IndexerLaunches::getColumnsText() {
  APInt columns;
  if (matchPattern(op.getColumns(), m_ConstantInt(&columns)))
    return std::to_string(columns.getSExtValue());
  return "W * " + std::to_string(in.getPageSize());
}

/// What the kernels of splits and their merge have beside the operands.
void IndexerLaunches::describe(IndexerRole role, KernelSpec &spec) {
  if (role != IndexerRole::whole) {
    spec.args.append({{"work_values", workValues},
                      {"work_columns", workColumns},
                      {"work_counts", workCounts}});
    SmallVector<std::string> extents{rowsText, splitsText + " * " + k};
    spec.workspaces = {{"work_values", extents},
                       {"work_columns", extents},
                       {"work_counts", {rowsText, splitsText}}};
    if (op.getConfigAttr().getSplits() == 0)
      spec.args.push_back({"num_splits", splits});
  }
  if (role != IndexerRole::split) {
    spec.args.push_back({"indices", op.getIndices()});
    if (op.getTopValues())
      spec.args.push_back({"top_values", op.getTopValues()});
  }
}

/// One kernel and its launch. `isTaken` is 1 by the manifest where the launch
/// takes it, and 0 where another kernel suits the sizes.
void IndexerLaunches::launch(IndexerRole role, const std::string &isTaken) {
  Value one = constant(1);
  KernelSpec spec;
  spec.name = getName(role);
  spec.op = IndexerOp::getOperationName();
  spec.blockSize = shape.select.threads;
  if (role == IndexerRole::merge) {
    spec.grid = {dim(op.getIndices(), 0), one, one};
    spec.gridText = {rowsText + isTaken, "1", "1"};
    spec.sizes = {{"B", "q", 0}, {"W", "block_table", 1}};
  } else {
    describeLogitsOperands(host, in, shape.place, target, spec);
    spec.args.push_back({"columns", op.getColumns()});
    const bool isSplit = role == IndexerRole::split;
    Value sequences = host.createOrFold<arith::MaxUIOp>(dim(in.q, 0), one);
    spec.grid = {isSplit ? splits : one, sequences,
                 constant(shape.getGroups())};
    spec.gridText = {(isSplit ? splitsText : std::string("1")) + isTaken,
                     "max(B, 1)", std::to_string(shape.getGroups())};
  }
  describe(role, spec);
  spec.scalars.push_back({"columns", getColumnsText()});
  if (!choiceText.empty())
    spec.scalars.push_back({"num_splits", choiceText});
  KernelBuilder kernel(host, op, spec, target);
  if (role == IndexerRole::merge)
    IndexerMergeKernel(kernel, op, shape, target).emit();
  else
    IndexerKernel(kernel, op, shape, role, target).emit();
  kernel.finish();
}

/// A launch for the shares of each sequence and one that merges what they
/// found.
void IndexerLaunches::launchSplits(const std::string &isTaken) {
  // Host-shared, as other allocations would need a stream too. What the splits
  // found lives from the first launch to the second only: no state stays on the
  // device.
  Value rows = dim(op.getIndices(), 0);
  auto allocate = [&](Value columns) -> Value {
    auto type = MemRefType::get({ShapedType::kDynamic, ShapedType::kDynamic},
                                host.getI32Type());
    return host
        .create<gpu::AllocOp>(type, /*asyncToken=*/Type(), ValueRange(),
                              ValueRange{rows, columns}, ValueRange(),
                              /*hostShared=*/true)
        .getMemref();
  };
  Value found = host.createOrFold<arith::MulIOp>(splits, constant(op.getK()));
  workValues = allocate(found);
  workColumns = allocate(found);
  workCounts = allocate(splits);
  launch(IndexerRole::split, isTaken);
  launch(IndexerRole::merge, isTaken);
  // The lowering to runtime calls takes deallocations on a stream only.
  Type token = gpu::AsyncTokenType::get(host.getContext());
  for (Value memref : {workValues, workColumns, workCounts}) {
    auto ready = host.create<gpu::WaitOp>(token, ValueRange());
    auto freed = host.create<gpu::DeallocOp>(
        token, ValueRange{ready.getAsyncToken()}, memref);
    host.create<gpu::WaitOp>(Type(), ValueRange{freed.getAsyncToken()});
  }
}

/// What IndexerSchedule::getSplits computes, for the launch.
void IndexerLaunches::chooseSplits() {
  const IndexerSchedule schedule(op, shape.getGroups(), target);
  const std::string cus = std::to_string(schedule.numCus + 1),
                    most = std::to_string(IndexerSchedule::kMaxSplits),
                    share = std::to_string(schedule.minShare);
  // The expressions of the manifest round up: floor(x / y) is
  // ceil((x + 1) / y) - 1.
  choiceText = "max(1, min(min(ceildiv(" + cus + ", max(B * " +
               std::to_string(schedule.groups) + ", 1)) - 1, " + most +
               "), ceildiv(max(min(columns, W * " +
               std::to_string(in.getPageSize()) + "), 0) + 1, " + share +
               ") - 1))";
  Value one = constant(1);
  Value groups = host.create<arith::MaxUIOp>(
      one, host.create<arith::MulIOp>(dim(in.q, 0), constant(schedule.groups)));
  Value byGroups = host.create<arith::MinUIOp>(
      host.create<arith::DivUIOp>(constant(schedule.numCus), groups),
      constant(IndexerSchedule::kMaxSplits));
  Value columns = host.create<arith::MinSIOp>(
      op.getColumns(), host.create<arith::MulIOp>(dim(in.blockTable, 1),
                                                  constant(in.getPageSize())));
  Value byColumns = host.create<arith::DivUIOp>(
      host.create<arith::MaxSIOp>(columns, constant(0)),
      constant(schedule.minShare));
  splits = host.create<arith::MaxUIOp>(
      one, host.create<arith::MinUIOp>(byGroups, byColumns));
}

void IndexerLaunches::emit() {
  const int64_t known = op.getConfigAttr().getSplits();
  if (known > 0) {
    splits = constant(known);
    splitsText = std::to_string(known);
    return known == 1 ? launch(IndexerRole::whole, "") : launchSplits("");
  }
  chooseSplits();
  splitsText = "num_splits";
  auto isSplit = host.create<scf::IfOp>(
      host.create<arith::CmpIOp>(arith::CmpIPredicate::ugt, splits,
                                 constant(1)),
      /*withElseRegion=*/true);
  const std::string hasSplits = "min(num_splits - 1, 1)";
  OpBuilder::InsertionGuard guard(host);
  host.setInsertionPointToStart(&isSplit.getThenRegion().front());
  launchSplits(" * " + hasSplits);
  host.setInsertionPointToStart(&isSplit.getElseRegion().front());
  launch(IndexerRole::whole, " * (1 - " + hasSplits + ")");
}

/// The memref that `value` is a view of.
static Value getRoot(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>())
    value = view.getViewSource();
  return value;
}

/// Whether a root is memory of its own beside other such: an allocation, a
/// global, or an argument of a function.
static bool isOwnMemory(Value root) {
  if (auto argument = dyn_cast<BlockArgument>(root))
    return argument.getOwner()->isEntryBlock() &&
           isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
  return isa<memref::AllocOp, memref::AllocaOp, memref::GetGlobalOp,
             gpu::AllocOp>(root.getDefiningOp());
}

/// Two reads of one global are one memory.
static bool isSameRoot(Value x, Value y) {
  auto globalX = x.getDefiningOp<memref::GetGlobalOp>(),
       globalY = y.getDefiningOp<memref::GetGlobalOp>();
  return x == y ||
         (globalX && globalY && globalX.getName() == globalY.getName());
}

SharedMemory mlir::pa::findSharedMemory(IndexerOp op) {
  const LogitsOperands in = op.getLogitsOperands();
  using Named = std::pair<StringRef, Value>;
  const Named outputs[] = {{"indices", op.getIndices()},
                           {"top_values", op.getTopValues()}};
  const Named others[] = {{"q", in.q},
                          {"query_scales", in.queryScales},
                          {"keys", in.keys},
                          {"key_scales", in.keyScales},
                          {"weights", in.weights},
                          {"block_table", in.blockTable},
                          {"context_lens", in.contextLens},
                          {"row_ends", in.rowEnds}};
  SharedMemory unknown;
  for (auto [outputName, output] : outputs) {
    if (!output || !isa<MemRefType>(output.getType()))
      continue;
    for (auto [otherName, other] : others) {
      if (!other)
        continue;
      Value x = getRoot(output), y = getRoot(other);
      if (isSameRoot(x, y))
        return {outputName.str(), otherName.str(), /*isSame=*/true};
      if (!isOwnMemory(x) || !isOwnMemory(y))
        unknown = {outputName.str(), otherName.str(), /*isSame=*/false};
    }
  }
  return unknown;
}

LogicalResult mlir::pa::tileIndexer(RewriterBase &rewriter, IndexerOp op,
                                    const TargetInfo &target) {
  if (!op.getConfigAttr())
    return op.emitOpError() << "has no config, run pa-configure first";
  SmallVector<Value> outputs{op.getIndices()};
  if (op.getTopValues())
    outputs.push_back(op.getTopValues());
  if (failed(checkLogitsForChip(op, op.getLogitsOperands(), outputs, target)))
    return failure();
  SharedMemory shared = findSharedMemory(op);
  if (shared.isSame)
    return op.emitOpError()
           << shared.output << " must not share memory with an input, found a "
           << "view of the memory of " << shared.other;
  ImplicitLocOpBuilder host(op.getLoc(), rewriter);
  host.setInsertionPoint(op);
  IndexerLaunches(host, op, target).emit();
  rewriter.eraseOp(op);
  return success();
}
