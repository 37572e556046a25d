//===- GlobalAccess.h - Ops that access global memory -----------*- C++ -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One description for every op that forms an address of global memory, and the
// list of those that are not handled: an op is in one of the two or touches no
// global memory.
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_ANALYSIS_GLOBALACCESS_H
#define PAGEDATTN_ANALYSIS_GLOBALACCESS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::pa {

/// Where a memref lies, as far as addresses are concerned.
enum class MemoryKind {
  /// LDS, private memory and whatever is not known: no concern of ours.
  other,
  /// Behind a 64-bit pointer.
  global,
  /// Behind a buffer resource, with an offset of 32 bits.
  buffer
};

/// By the memory space of a memref type; `other` for other types.
MemoryKind getMemoryKind(Type memrefType);

/// One op that forms an address of global memory.
struct GlobalAccess {
  /// What is done to the memory.
  enum class Kind { load, store, atomic };
  /// How the address is formed from base and indices.
  enum class Method {
    /// By the memref: in 64 bits, or in 32 bits behind a buffer resource.
    memref,
    /// Always in 32 bits: `amdgpu.raw_buffer_*`.
    rawBuffer,
    /// One 64-bit address for the wave: the base of a tensor DMA.
    tensorDma
  };

  Operation *op = nullptr;                ///< the op that accesses
  Value memref;                           ///< what it accesses
  ValueRange indices;                     ///< in elements, one a dimension
  Kind kind = Kind::load;                 ///< what it does
  Method method = Method::memref;         ///< how it forms the address
  MemoryKind memory = MemoryKind::global; ///< where the memref lies
  /// Bytes that a lane accesses from the address of the indices on, along the
  /// innermost dimension.
  int64_t bytes = 0;
  /// Elements that a lane accesses along each dimension but the innermost.
  SmallVector<int64_t> extents;
  /// Added to the innermost index, one for each element: `vector.gather`.
  Value indexVector;
  /// The indices and extents say which bytes are accessed.
  bool isExtentKnown = true;
  /// Indices of inactive elements or lanes may lie outside the memref.
  bool isMasked = false;
  /// A plain memref access that also works behind a buffer resource. The others
  /// keep their 64-bit addresses.
  bool canUseBuffer = false;
  /// Not part of the indices, in elements: an attribute of
  /// `amdgpu.raw_buffer_*`.
  int64_t indexOffset = 0;
  /// Likewise an operand, null where there is none.
  Value sgprOffset;

  /// Whether memory is changed.
  bool isStore() const { return kind != Kind::load; }
  /// "load", "store" or "atomic".
  StringRef getKindName() const;

  /// `op` as an access, or nothing if it is none or of a kind that is not
  /// handled.
  static std::optional<GlobalAccess> get(Operation *op);

  /// Why `op`, which accesses global memory, is not handled; empty if it is
  /// handled or no access.
  static std::string getUnhandledReason(Operation *op);
};

/// The functions with a body inside the `gpu.module`s of `root`.
SmallVector<FunctionOpInterface> getDeviceFunctions(Operation *root);

/// Bytes from one element to the next in memory, or nothing for a type without
/// a size.
std::optional<int64_t> getElementBytes(Type elementType);

} // namespace mlir::pa

#endif // PAGEDATTN_ANALYSIS_GLOBALACCESS_H
