//===- FuseIndexer.cpp - pa-fuse-indexer ------------------------*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IndexerKernel.h"
#include "PagedAttn/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::pa {
#define GEN_PASS_DEF_PAFUSEINDEXER
#include "PagedAttn/Transforms/Passes.h.inc"
} // namespace mlir::pa

using namespace mlir;
using namespace mlir::pa;

//===----------------------------------------------------------------------===//
// Which pairs mean the same as one op
//===----------------------------------------------------------------------===//

namespace {
/// A logits op, the top-k that alone reads its logits, and where these come
/// from.
struct Pair {
  PagedLogitsOp logits;
  TopKOp topk;
  /// The op that makes the memory or the tensor.
  Operation *origin = nullptr;
  SmallVector<Operation *> deallocs;
  /// Why the pair cannot be one op; empty where it can.
  std::string reason;
};
} // namespace

/// Whether an op between the two might write what they read, or read what they
/// write.
static bool mayInterfere(Operation *op) {
  if (isMemoryEffectFree(op))
    return false;
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects || op->getNumRegions() > 0)
    return true;
  SmallVector<MemoryEffects::EffectInstance> all;
  effects.getEffects(all);
  return !llvm::all_of(all, [](const MemoryEffects::EffectInstance &effect) {
    return isa<MemoryEffects::Allocate>(effect.getEffect());
  });
}

/// Sets the logits op and the origin of the values of `pair.topk`, or a reason.
static void findLogits(Pair &pair) {
  Value values = pair.topk.getValues();
  if (isa<TensorType>(values.getType())) {
    pair.logits = values.getDefiningOp<PagedLogitsOp>();
    if (!pair.logits)
      return;
    if (!values.hasOneUse())
      pair.reason = "the logits have another reader";
    else
      pair.origin = pair.logits.getLogits().getDefiningOp<tensor::EmptyOp>();
    return;
  }
  Operation *origin = values.getDefiningOp();
  SmallVector<Operation *> others;
  for (Operation *user : values.getUsers()) {
    if (user == pair.topk)
      continue;
    auto logits = dyn_cast<PagedLogitsOp>(user);
    if (logits && logits.getLogits() == values && !pair.logits)
      pair.logits = logits;
    else if (isa<memref::DeallocOp>(user))
      pair.deallocs.push_back(user);
    else
      others.push_back(user);
  }
  if (!pair.logits)
    return;
  if (!others.empty())
    pair.reason = "the logits have another user, " +
                  others[0]->getName().getStringRef().str();
  else if (isa_and_present<memref::AllocOp, memref::AllocaOp>(origin))
    pair.origin = origin;
}

/// Whether every row of the top-k ends where the row of logits does, or a
/// reason.
static void checkEnds(Pair &pair) {
  PagedLogitsOp logits = pair.logits;
  TopKOp topk = pair.topk;
  const LogitsOperands in = logits.getLogitsOperands();
  if (topk.getRowStarts()) {
    pair.reason = "the top-k has row starts";
    return;
  }
  if (topk.getContextLens()) {
    if (in.rowEnds)
      pair.reason = "the logits end at row_ends, the top-k at context_lens";
    else if (topk.getContextLens() != in.contextLens)
      pair.reason = "the context_lens are not the same value";
    else if (static_cast<int64_t>(*topk.getNextN()) != in.getNumQueries())
      pair.reason = llvm::formatv("next_n is {0}, the logits have N = {1}",
                                  *topk.getNextN(), in.getNumQueries());
  } else if (!topk.getRowEnds()) {
    pair.reason = "the top-k reads all columns, not those before the row ends";
  } else if (topk.getRowEnds() != in.rowEnds) {
    pair.reason = "the row_ends are not the same value";
  }
  if (!pair.reason.empty() || logits.getFill() == Fill::none)
    return;
  // The top-k sees the fill where the logits end before it does: after the
  // context, where row_ends may be, and after the block table.
  auto columns = cast<ShapedType>(logits.getLogits().getType()).getDimSize(1);
  auto width = cast<ShapedType>(in.blockTable.getType()).getDimSize(1);
  int64_t tableColumns = 0;
  const bool isInTable =
      !ShapedType::isDynamic(columns) && !ShapedType::isDynamic(width) &&
      !llvm::MulOverflow(width, in.getPageSize(), tableColumns) &&
      columns <= tableColumns;
  if (in.rowEnds)
    pair.reason =
        "row_ends after the context would select the -inf of the fill";
  else if (!isInTable)
    pair.reason = "columns after the block table would select the -inf of the "
                  "fill";
}

/// The pair of `topk`, null without a logits op.
static Pair findPair(TopKOp topk) {
  Pair pair;
  pair.topk = topk;
  findLogits(pair);
  if (!pair.logits || !pair.reason.empty())
    return pair;
  PagedLogitsOp logits = pair.logits;
  if (!pair.origin) {
    pair.reason = "the logits are no local allocation";
  } else if (logits->getBlock() != topk->getBlock() ||
             !logits->isBeforeInBlock(topk)) {
    pair.reason = "the top-k does not follow the logits in one block";
  } else if (logits.getConfigAttr() || topk.getConfigAttr()) {
    pair.reason = "one of the ops has a config";
  } else if (isa<MemRefType>(topk.getValues().getType())) {
    for (Operation *op = logits->getNextNode(); op != topk;
         op = op->getNextNode())
      if (mayInterfere(op)) {
        pair.reason = "what they read may change between them, in " +
                      op->getName().getStringRef().str();
        break;
      }
    // What an earlier iteration left is read where row_ends are behind the
    // context.
    if (pair.reason.empty() && logits.getRowEnds() &&
        logits.getFill() == Fill::none &&
        pair.origin->getBlock() != logits->getBlock())
      pair.reason = "the logits are allocated in another block, and what they "
                    "hold behind the context may be read";
    for (Operation *dealloc : pair.deallocs)
      if (pair.reason.empty() && dealloc->getBlock() == topk->getBlock() &&
          dealloc->isBeforeInBlock(topk))
        pair.reason = "the logits are freed before the top-k";
  }
  if (pair.reason.empty())
    checkEnds(pair);
  return pair;
}

/// The extent of the columns of the logits.
static Value getColumns(ImplicitLocOpBuilder &b, Pair &pair) {
  auto type = cast<ShapedType>(pair.topk.getValues().getType());
  if (!type.isDynamicDim(1))
    return b.create<arith::ConstantIndexOp>(type.getDimSize(1));
  // The last of the sizes that are operands.
  ValueRange sizes;
  if (auto empty = dyn_cast<tensor::EmptyOp>(pair.origin))
    sizes = empty.getDynamicSizes();
  else if (auto alloc = dyn_cast<memref::AllocOp>(pair.origin))
    sizes = alloc.getDynamicSizes();
  else
    sizes = cast<memref::AllocaOp>(pair.origin).getDynamicSizes();
  return sizes.back();
}

/// The one op, in front of the top-k.
static IndexerOp makeIndexer(Pair &pair) {
  TopKOp topk = pair.topk;
  ImplicitLocOpBuilder b(topk.getLoc(), topk);
  PagedLogitsOp logits = pair.logits;
  const LogitsOperands in = logits.getLogitsOperands();
  return IndexerOp::create(b, topk.getResultTypes(), in.q, in.queryScales,
                           in.keys, in.keyScales, in.weights, in.blockTable,
                           in.contextLens, in.rowEnds, getColumns(b, pair),
                           topk.getIndices(), topk.getTopValues(), in.layout,
                           in.format, topk.getOrder(), IndexerConfigAttr());
}

//===----------------------------------------------------------------------===//
// Which of them are faster as one op
//===----------------------------------------------------------------------===//

namespace {
/// What 64 columns of all rows of one sequence cost, in cycles of a compute
/// unit.
struct FusionCost {
  /// Bytes that a compute unit gets from memory in a cycle: peak bandwidth by
  /// clock and compute units is 8 (MI300X) to 13 (MI350X).
  static constexpr double kBytesPerCycle = 10;
  /// Instructions for a tile of 16 heads and 16 columns, of which a compute
  /// unit starts one in each cycle: the product, 4 maxima and 2 packed sums.
  static constexpr double kTileCycles = 7;
  /// Of a top-k kernel for 64 columns of a row, as bench/run counts it.
  static constexpr double kTopKCycles = 20;
  /// What keeping the best costs beside the scores, by bench/indexer_cost.py.
  static constexpr double kOverhead = 1.3;

  double pair, fused;
  /// The part of the chip that has a workgroup of the fused kernel.
  double busy;
  int64_t groups, splits, workgroups;
};
} // namespace

static FusionCost estimate(IndexerOp op, const IndexerShape &shape,
                           int64_t splits, const TargetInfo &target) {
  const LogitsOperands in = op.getLogitsOperands();
  constexpr double kColumns = 64;
  const double rows = static_cast<double>(shape.numQueries);
  const double headTiles = static_cast<double>(in.getNumHeads()) / 16;
  const double scoring = rows * headTiles * (kColumns / 16) *
                         FusionCost::kTileCycles *
                         static_cast<double>(shape.logits.fragments);
  const double keyBytes =
      kColumns * (static_cast<double>(in.getKeyBytes()) + 4);
  const double logitBytes = kColumns * 4 * rows;
  const int64_t batch = cast<ShapedType>(op.getQ().getType()).getDimSize(0);
  const int64_t numCus = getNumCus(op, target);
  FusionCost cost;
  cost.groups = shape.getGroups();
  cost.splits = splits;
  cost.workgroups = batch * cost.groups * splits;
  cost.busy = std::min(1.0, static_cast<double>(cost.workgroups) /
                                static_cast<double>(numCus));
  cost.pair =
      std::max(scoring, (keyBytes + logitBytes) / FusionCost::kBytesPerCycle) +
      std::max(rows * FusionCost::kTopKCycles,
               logitBytes / FusionCost::kBytesPerCycle);
  cost.fused = std::max(scoring * FusionCost::kOverhead,
                        static_cast<double>(cost.groups) * keyBytes /
                            FusionCost::kBytesPerCycle) /
               std::max(cost.busy, 1e-9);
  return cost;
}

/// Whether the fused op is faster by the model, and what says so.
static std::pair<bool, std::string> isWorthwhile(IndexerOp op,
                                                 const TargetInfo &target) {
  {
    // That it does not fit is no error where there is another way.
    std::string message;
    ScopedDiagnosticHandler handler(op.getContext(), [&](Diagnostic &error) {
      message = error.str();
      return success();
    });
    if (failed(configureIndexer(op, target)))
      return {false, message};
  }
  IndexerConfigAttr config = op.getConfigAttr();
  op.removeConfigAttr();
  if (config.getSplits() == 0)
    return {false, "the number of sequences or of columns is not known"};
  FusionCost cost = estimate(op, IndexerShape(op, config, target),
                             config.getSplits(), target);
  std::string text = llvm::formatv(
      "64 columns of a sequence take {0:F0} cycles of a compute unit fused and "
      "{1:F0} as two ops; {2} workgroups ({3} row groups, {4} splits) keep "
      "{5:F0} % of {6} busy",
      cost.fused, cost.pair, cost.workgroups, cost.groups, cost.splits,
      100 * cost.busy, target.getName());
  return {cost.fused < cost.pair, text};
}

namespace {
struct FuseIndexerPass : public pa::impl::PAFuseIndexerBase<FuseIndexerPass> {
  using PAFuseIndexerBase::PAFuseIndexerBase;

  void runOnOperation() override {
    if (mode != "off" && mode != "on" && mode != "auto") {
      getOperation()->emitError()
          << "pa-fuse-indexer takes mode off, on or auto, found '"
          << StringRef(mode) << "'";
      return signalPassFailure();
    }
    if (mode == "off")
      return;
    SmallVector<TopKOp> ops;
    getOperation()->walk([&](TopKOp op) { ops.push_back(op); });
    for (TopKOp op : ops) {
      Pair pair = findPair(op);
      if (pair.logits && failed(fuse(pair)))
        return signalPassFailure();
    }
  }

  LogicalResult fuse(Pair &pair) {
    std::string why = pair.reason;
    IndexerOp indexer;
    bool isFused = why.empty();
    if (isFused) {
      indexer = makeIndexer(pair);
      why = "every pair that means the same is to be";
      SharedMemory shared = findSharedMemory(indexer);
      if (!shared.output.empty()) {
        isFused = false;
        why = shared.output +
              (shared.isSame ? " is" : " may be, by what is known of it,") +
              " memory of " + shared.other +
              ", which the logits read before it is written";
      }
    }
    if (isFused && mode == "auto") {
      const TargetInfo *target = getTargetOrError(pair.topk);
      if (!target)
        return failure();
      std::tie(isFused, why) = isWorthwhile(indexer, *target);
    }
    if (remarks)
      pair.topk.emitRemark()
          << (isFused ? "fused with its pa.paged_logits: "
                      : "not fused with its pa.paged_logits: ")
          << why;
    if (isFused)
      replace(pair, indexer);
    else if (indexer)
      indexer.erase();
    return success();
  }

  /// `indexer` for both ops and the memory between them.
  static void replace(Pair &pair, IndexerOp indexer) {
    pair.topk->replaceAllUsesWith(indexer->getResults());
    pair.topk.erase();
    pair.logits.erase();
    for (Operation *dealloc : pair.deallocs)
      dealloc->erase();
    if (pair.origin->use_empty())
      pair.origin->erase();
  }
};
} // namespace
