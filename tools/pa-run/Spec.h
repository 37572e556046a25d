//===- Spec.h - What pa-run is asked to run ---------------------*- C++ -*-===//

#ifndef PAGEDATTN_TOOLS_PA_RUN_SPEC_H
#define PAGEDATTN_TOOLS_PA_RUN_SPEC_H

#include "DataType.h"
#include "PagedAttn/Emulator/Emulator.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace pagedattn::run {

/// Rows of bytes at a stride, taken from a file that holds them packed. A whole
/// file is one row.
struct Piece {
  std::string File;
  uint64_t Offset = 0;
  uint64_t RowBytes = 0;
  uint64_t StrideBytes = 0;
  uint64_t Rows = 0;
};

struct InitSpec {
  enum class Base { Undefined, Zero, Pattern } Fill = Base::Undefined;
  uint32_t Pattern = 0;
  std::vector<Piece> Pieces;
};

/// Rows that the kernel must have stored completely.
struct Coverage {
  uint64_t Offset = 0;
  uint64_t Rows = 0;
  uint64_t RowBytes = 0;
  uint64_t StrideBytes = 0;
};

struct ArgSpec {
  std::string Name;
  bool IsBuffer = false;
  // Of a buffer.
  uint64_t Bytes = 0;
  uint64_t PointerOffset = 0;
  InitSpec Init;
  std::vector<Piece> Expected;
  const DataType *Type = nullptr;
  std::string Out;
  std::optional<Coverage> Written;
  // Of a scalar: little-endian bytes.
  std::vector<uint8_t> Value;
};

struct Spec {
  std::string Arch;
  std::string Kernel;
  std::string CodeObject;
  emu::Dim3 Grid, Block;
  uint32_t DynamicLds = 0;
  double Rtol = 0;
  std::vector<ArgSpec> Args;
};

/// Reads a spec; the paths in it become relative to the spec's directory. Every
/// error names the file, the key and what was expected and found.
llvm::Expected<Spec> loadSpec(llvm::StringRef Path);

} // namespace pagedattn::run

#endif // PAGEDATTN_TOOLS_PA_RUN_SPEC_H
