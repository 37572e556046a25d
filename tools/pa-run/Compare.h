//===- Compare.h - Buffers against what the spec expects --------*- C++ -*-===//

#ifndef PAGEDATTN_TOOLS_PA_RUN_COMPARE_H
#define PAGEDATTN_TOOLS_PA_RUN_COMPARE_H

#include "Spec.h"
#include "llvm/Support/JSON.h"

namespace llvm {
class raw_ostream;
}

namespace pagedattn::run {

struct Difference {
  uint64_t Element = 0; ///< index in the buffer
  double Got = 0, Expected = 0;
  bool Written = false; ///< the kernel stored to it
};

struct BufferResult {
  std::string Name;
  bool Compared = false;
  uint64_t Elements = 0;
  uint64_t Differing = 0;
  uint64_t NeverWritten = 0; ///< of the differing ones
  double MaxError = 0;
  double Tolerance = 0; ///< absolute; 0 is bit-exact
  std::vector<Difference> First;

  bool HasCoverage = false;
  uint64_t RowsExpected = 0, RowsWritten = 0, RowsUntouched = 0;
  std::optional<uint64_t> FirstUntouched;

  bool ok() const { return Differing == 0 && RowsWritten == RowsExpected; }
};

/// Compares one buffer at Address. Fails only if a file cannot be read.
llvm::Expected<BufferResult> compareBuffer(const emu::Device &Dev,
                                           const ArgSpec &Arg, uint64_t Address,
                                           double Rtol);

void writeResult(llvm::raw_ostream &OS, const BufferResult &R);
llvm::json::Object resultToJson(const BufferResult &R);

} // namespace pagedattn::run

#endif // PAGEDATTN_TOOLS_PA_RUN_COMPARE_H
