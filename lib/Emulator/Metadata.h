//===- Metadata.h - The AMDGPU metadata note --------------------*- C++ -*-===//

#ifndef PAGEDATTN_LIB_EMULATOR_METADATA_H
#define PAGEDATTN_LIB_EMULATOR_METADATA_H

#include "PagedAttn/Emulator/Emulator.h"

namespace pagedattn::emu {

struct Metadata {
  std::string Target;
  /// Everything a Kernel has except addresses; the symbol is beside it.
  std::vector<std::pair<Kernel, std::string>> Kernels;
};

/// Parses the msgpack blob of the note.
llvm::Expected<Metadata> parseMetadata(llvm::StringRef Blob);

} // namespace pagedattn::emu

#endif // PAGEDATTN_LIB_EMULATOR_METADATA_H
