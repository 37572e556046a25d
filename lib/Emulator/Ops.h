//===- Ops.h - Tables of instruction handlers, one per family ---*- C++ -*-===//
//
// A family is one file with one table. The decoder finds the handler by
// mnemonic; a mnemonic may be in a table only once, over all families.
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_LIB_EMULATOR_OPS_H
#define PAGEDATTN_LIB_EMULATOR_OPS_H

#include "Instruction.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <vector>

namespace pagedattn::emu {

using OpTable = llvm::ArrayRef<OpInfo>;

/// Row of the table for a mnemonic without encoding suffix; null if unknown.
const OpInfo *findOp(llvm::StringRef Mnemonic);

/// All tables, vector families of the host's instruction set included.
std::vector<OpTable> allOps();

// Families with no lane loops.
OpTable scalarAluOps();
OpTable scalarFloatOps();
OpTable scalarMemoryOps();
OpTable controlOps();
OpTable waitOps();
OpTable laneOps();
OpTable ldsOps();
OpTable ldsAtomicOps();
OpTable globalOps();
OpTable globalAtomicOps();
OpTable bufferOps();
OpTable asyncOps();
OpTable tensorOps();
OpTable transposedLoadOps();
// These choose a host instruction set inside MatrixKernels.
OpTable mfmaOps();
OpTable wmmaOps();
OpTable smallFloatOps();

// Families with lane loops are compiled once per host instruction set; see
// HostIsa.h. The registry picks the best set the host has.
#define PA_VECTOR_FAMILIES(X)                                                  \
  X(vectorIntOps)                                                              \
  X(vectorInt16Ops)                                                            \
  X(vectorInt64Ops)                                                            \
  X(vectorFloatOps)                                                            \
  X(vectorHalfOps)                                                             \
  X(vectorDoubleOps)                                                           \
  X(vectorPackedOps)                                                           \
  X(vectorMathOps)                                                             \
  X(vectorConvertOps)                                                          \
  X(vectorCompareOps)

} // namespace pagedattn::emu

#endif // PAGEDATTN_LIB_EMULATOR_OPS_H
