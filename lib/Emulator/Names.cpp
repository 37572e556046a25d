//===- Names.cpp - Names of kinds, classes and spaces ---------------------===//

#include "Instruction.h"
#include "PagedAttn/Emulator/Emulator.h"

namespace pagedattn::emu {

llvm::StringRef reportKindName(ReportKind Kind) {
  switch (Kind) {
  case ReportKind::DroppedStore:
    return "dropped-store";
  case ReportKind::OutOfRangeLoad:
    return "out-of-range-load";
  case ReportKind::OutOfRangeAtomic:
    return "out-of-range-atomic";
  case ReportKind::UninitializedRead:
    return "uninitialized-read";
  case ReportKind::UninitializedLds:
    return "uninitialized-lds";
  case ReportKind::LdsOutOfRange:
    return "lds-out-of-range";
  case ReportKind::LdsRace:
    return "lds-race";
  case ReportKind::AsyncNotWaited:
    return "async-not-waited";
  case ReportKind::InvalidAccess:
    return "invalid-access";
  case ReportKind::UnknownInstruction:
    return "unknown-instruction";
  case ReportKind::NoProgress:
    return "no-progress";
  case ReportKind::Other:
    return "other";
  }
  return "other";
}

llvm::StringRef memorySpaceName(MemorySpace Space) {
  switch (Space) {
  case MemorySpace::Global:
    return "global";
  case MemorySpace::Lds:
    return "lds";
  case MemorySpace::Scratch:
    return "scratch";
  case MemorySpace::Scalar:
    return "scalar";
  }
  return "global";
}

llvm::StringRef opClassName(OpClass Class) {
  switch (Class) {
  case OpClass::ScalarAlu:
    return "scalar-alu";
  case OpClass::ScalarMemory:
    return "scalar-memory";
  case OpClass::Branch:
    return "branch";
  case OpClass::Sync:
    return "sync";
  case OpClass::VectorAlu:
    return "vector-alu";
  case OpClass::Matrix:
    return "matrix";
  case OpClass::Lds:
    return "lds";
  case OpClass::Global:
    return "global";
  case OpClass::Flat:
    return "flat";
  case OpClass::Buffer:
    return "buffer";
  case OpClass::Scratch:
    return "scratch";
  case OpClass::Async:
    return "async";
  case OpClass::Other:
    return "other";
  }
  return "other";
}

} // namespace pagedattn::emu
