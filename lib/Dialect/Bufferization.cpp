//===- Bufferization.cpp - Tensor forms to memref forms -------------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/Dialect/PA.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"

using namespace mlir;
using namespace mlir::pa;
using namespace mlir::bufferization;

namespace {
/// Every op of the dialect updates its inits in place, so that one model does.
template <typename OpTy>
struct DestinationModel
    : public DstBufferizableOpInterfaceExternalModel<DestinationModel<OpTy>,
                                                     OpTy> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    // Columns and rows that the op does not reach keep the init's values.
    return true;
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto dstOp = cast<DestinationStyleOpInterface>(op);
    if (dstOp.hasPureBufferSemantics())
      return success();
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    SmallVector<Value> buffers, results;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<TensorType>(operand.get().getType())) {
        buffers.push_back(operand.get());
        continue;
      }
      FailureOr<Value> buffer =
          getBuffer(rewriter, operand.get(), options, state);
      if (failed(buffer))
        return failure();
      buffers.push_back(*buffer);
      if (dstOp.isDpsInit(&operand))
        results.push_back(*buffer);
    }
    // The segment sizes are properties and stay as they are: an op has the same
    // operands in both forms, only its results go.
    OperationState newState(op->getLoc(), op->getName());
    newState.addOperands(buffers);
    newState.propertiesAttr = op->getPropertiesAsAttribute();
    newState.addAttributes(llvm::to_vector(op->getDiscardableAttrs()));
    rewriter.create(newState);
    replaceOpWithBufferizedValues(rewriter, op, results);
    return success();
  }
};
} // namespace

void mlir::pa::registerBufferizableOpInterfaceModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, PADialect *) {
    PagedLogitsOp::attachInterface<DestinationModel<PagedLogitsOp>>(*context);
    TopKOp::attachInterface<DestinationModel<TopKOp>>(*context);
    IndexerOp::attachInterface<DestinationModel<IndexerOp>>(*context);
    GroupedGemmOp::attachInterface<DestinationModel<GroupedGemmOp>>(*context);
  });
}
