//===- GlobalAccess.cpp - Ops that access global memory ----------*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/Analysis/GlobalAccess.h"
#include "mlir/Dialect/AMDGPU/IR/AMDGPUDialect.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::pa;

MemoryKind mlir::pa::getMemoryKind(Type type) {
  auto memref = dyn_cast<BaseMemRefType>(type);
  if (!memref)
    return MemoryKind::other;
  Attribute space = memref.getMemorySpace();
  if (!space)
    return MemoryKind::global;
  if (auto gpuSpace = dyn_cast<gpu::AddressSpaceAttr>(space))
    return gpuSpace.getValue() == gpu::AddressSpace::Global ? MemoryKind::global
                                                            : MemoryKind::other;
  if (isa<amdgpu::AddressSpaceAttr>(space))
    return MemoryKind::buffer;
  if (auto number = dyn_cast<IntegerAttr>(space)) {
    // Flat, global and constant memory; 7 to 9 are buffer resources.
    int64_t n = number.getValue().getSExtValue();
    if (n == 0 || n == 1 || n == 4)
      return MemoryKind::global;
    if (n >= 7 && n <= 9)
      return MemoryKind::buffer;
  }
  return MemoryKind::other;
}

SmallVector<FunctionOpInterface> mlir::pa::getDeviceFunctions(Operation *root) {
  SmallVector<FunctionOpInterface> funcs;
  root->walk([&](FunctionOpInterface func) {
    if (!func.isExternal() && func->getParentOfType<gpu::GPUModuleOp>())
      funcs.push_back(func);
  });
  return funcs;
}

std::optional<int64_t> mlir::pa::getElementBytes(Type type) {
  if (type.isIndex())
    return 8;
  if (type.isIntOrFloat())
    return llvm::PowerOf2Ceil(
        llvm::divideCeil(type.getIntOrFloatBitWidth(), 8));
  if (auto complex = dyn_cast<ComplexType>(type)) {
    auto part = getElementBytes(complex.getElementType());
    return part ? std::optional(2 * *part) : std::nullopt;
  }
  auto vector = dyn_cast<VectorType>(type);
  if (!vector || vector.isScalable())
    return std::nullopt;
  auto element = getElementBytes(vector.getElementType());
  if (!element)
    return std::nullopt;
  // A vector of vectors is an array of those; the innermost is padded.
  int64_t inner = vector.getRank() == 0 ? 1 : vector.getShape().back();
  int64_t outer = inner == 0 ? 0 : vector.getNumElements() / inner;
  return outer * int64_t(llvm::PowerOf2Ceil(inner * *element));
}

StringRef GlobalAccess::getKindName() const {
  switch (kind) {
  case Kind::load:
    return "load";
  case Kind::store:
    return "store";
  case Kind::atomic:
    return "atomic";
  }
  return "";
}

namespace {
/// Fills in what the accessed type says.
struct AccessBuilder {
  GlobalAccess access;
  Type valueType;

  void set(Value memref, ValueRange indices, Type type,
           GlobalAccess::Kind kind = GlobalAccess::Kind::load) {
    access.memref = memref;
    access.indices = indices;
    access.kind = kind;
    valueType = type;
  }
  template <typename RawOp>
  void setRaw(RawOp op, Type type, GlobalAccess::Kind kind) {
    set(op.getMemref(), op.getIndices(), type, kind);
    access.method = GlobalAccess::Method::rawBuffer;
    access.isMasked = true;
    access.indexOffset = op.getIndexOffset().value_or(0);
    access.sgprOffset = op.getSgprOffset();
  }
};
} // namespace

std::optional<GlobalAccess> GlobalAccess::get(Operation *op) {
  AccessBuilder b;
  b.access.op = op;
  const auto store = Kind::store, atomic = Kind::atomic;
  bool isKnown =
      TypeSwitch<Operation *, bool>(op)
          .Case([&](memref::LoadOp o) {
            b.set(o.getMemref(), o.getIndices(), o.getType());
            return b.access.canUseBuffer = true;
          })
          .Case([&](memref::StoreOp o) {
            b.set(o.getMemref(), o.getIndices(), o.getValue().getType(), store);
            return b.access.canUseBuffer = true;
          })
          .Case([&](vector::LoadOp o) {
            b.set(o.getBase(), o.getIndices(), o.getType());
            return b.access.canUseBuffer = true;
          })
          .Case([&](vector::StoreOp o) {
            b.set(o.getBase(), o.getIndices(), o.getValueToStore().getType(),
                  store);
            return b.access.canUseBuffer = true;
          })
          .Case([&](vector::MaskedLoadOp o) {
            b.set(o.getBase(), o.getIndices(), o.getType());
            return b.access.isMasked = true;
          })
          .Case([&](vector::MaskedStoreOp o) {
            b.set(o.getBase(), o.getIndices(), o.getValueToStore().getType(),
                  store);
            return b.access.isMasked = true;
          })
          .Case([&](vector::GatherOp o) {
            b.set(o.getBase(), o.getOffsets(),
                  o.getVectorType().getElementType());
            b.access.indexVector = o.getIndices();
            return b.access.isMasked = true;
          })
          .Case([&](vector::ScatterOp o) {
            b.set(o.getBase(), o.getOffsets(),
                  o.getVectorType().getElementType(), store);
            b.access.indexVector = o.getIndices();
            return b.access.isMasked = true;
          })
          .Case([&](vector::TransferReadOp o) {
            b.set(o.getBase(), o.getIndices(), o.getVectorType());
            b.access.isExtentKnown = o.getPermutationMap().isMinorIdentity();
            return b.access.isMasked = true;
          })
          .Case([&](vector::TransferWriteOp o) {
            b.set(o.getBase(), o.getIndices(), o.getVectorType(), store);
            b.access.isExtentKnown = o.getPermutationMap().isMinorIdentity();
            return b.access.isMasked = true;
          })
          .Case([&](memref::AtomicRMWOp o) {
            b.set(o.getMemref(), o.getIndices(), o.getType(), atomic);
            return true;
          })
          .Case([&](memref::GenericAtomicRMWOp o) {
            b.set(o.getMemref(), o.getIndices(),
                  o.getMemRefType().getElementType(), atomic);
            return true;
          })
          .Case([&](amdgpu::RawBufferLoadOp o) {
            b.setRaw(o, o.getType(), Kind::load);
            return true;
          })
          .Case([&](amdgpu::RawBufferStoreOp o) {
            b.setRaw(o, o.getValue().getType(), store);
            return true;
          })
          .Case<amdgpu::RawBufferAtomicCmpswapOp, amdgpu::RawBufferAtomicFaddOp,
                amdgpu::RawBufferAtomicFmaxOp, amdgpu::RawBufferAtomicSmaxOp,
                amdgpu::RawBufferAtomicUminOp>([&](auto o) {
            b.setRaw(o, o.getValue().getType(), atomic);
            return true;
          })
          .Case([&](amdgpu::GatherToLDSOp o) {
            b.set(o.getSrc(), o.getSrcIndices(), o.getTransferType());
            return b.access.canUseBuffer = true;
          })
          .Case<amdgpu::MakeDmaBaseOp, amdgpu::MakeGatherDmaBaseOp>(
              [&](auto o) {
                b.set(
                    o.getGlobal(), o.getGlobalIndices(),
                    cast<MemRefType>(o.getGlobal().getType()).getElementType());
                b.access.method = Method::tensorDma;
                return true;
              })
          .Default([](Operation *) { return false; });
  if (!isKnown)
    return std::nullopt;
  // A transfer may also be of a tensor.
  auto type = dyn_cast<MemRefType>(b.access.memref.getType());
  if (!type)
    return std::nullopt;
  b.access.memory = getMemoryKind(type);
  if (b.access.memory == MemoryKind::other)
    return std::nullopt;
  auto bytes = getElementBytes(b.valueType);
  if (!bytes || !getElementBytes(type.getElementType()))
    return std::nullopt;
  b.access.bytes = *bytes;
  if (auto vector = dyn_cast<VectorType>(b.valueType);
      vector && b.valueType != type.getElementType() && vector.getRank() > 1) {
    int64_t count = 1;
    for (int64_t extent : vector.getShape().drop_back()) {
      b.access.extents.push_back(extent);
      count *= extent;
    }
    if (count > 0)
      b.access.bytes /= count;
  }
  return b.access;
}

/// A pointer of the backend into a buffer resource, or one to the resource.
static bool isBufferPointer(Type type) {
  auto pointer = dyn_cast<LLVM::LLVMPointerType>(type);
  return pointer && pointer.getAddressSpace() >= 7 &&
         pointer.getAddressSpace() <= 9;
}

std::string GlobalAccess::getUnhandledReason(Operation *op) {
  if (llvm::any_of(op->getOperandTypes(), isBufferPointer) &&
      !op->hasTrait<OpTrait::IsTerminator>() && !isMemoryEffectFree(op))
    return "accesses a buffer resource below the level at which offsets are "
           "proven; use amdgpu.raw_buffer_load, amdgpu.raw_buffer_store or a "
           "fat_raw_buffer memref";
  bool hasGlobalOperand = llvm::any_of(op->getOperandTypes(), [](Type type) {
    return getMemoryKind(type) != MemoryKind::other;
  });
  if (!hasGlobalOperand || get(op))
    return "";
  // Views and comparisons form no address, calls and branches hand memrefs on.
  if (isa<gpu::LaunchFuncOp, memref::PrefetchOp, CallOpInterface,
          BranchOpInterface, RegionBranchOpInterface>(op) ||
      op->hasTrait<OpTrait::IsTerminator>() || isMemoryEffectFree(op))
    return "";
  if (auto effects = dyn_cast<MemoryEffectOpInterface>(op)) {
    SmallVector<MemoryEffects::EffectInstance> all;
    effects.getEffects(all);
    if (llvm::none_of(all, [](const MemoryEffects::EffectInstance &effect) {
          return isa<MemoryEffects::Read, MemoryEffects::Write>(
              effect.getEffect());
        }))
      return "";
  }
  for (Value operand : op->getOperands())
    if (auto type = dyn_cast<MemRefType>(operand.getType());
        type && getMemoryKind(type) != MemoryKind::other &&
        !getElementBytes(type.getElementType())) {
      std::string text;
      llvm::raw_string_ostream(text)
          << "accesses elements without a size in bytes, found "
          << type.getElementType();
      return text;
    }
  return "accesses global memory in a way that has no address form; lower it "
         "to loads and stores first";
}
