//===- Snippet.h - Assembles and runs a few instructions --------*- C++ -*-===//

#ifndef PAGEDATTN_UNITTESTS_EMULATOR_SNIPPET_H
#define PAGEDATTN_UNITTESTS_EMULATOR_SNIPPET_H

#include "Launch.h"
#include "llvm/Support/Error.h"

namespace pagedattn::emu {

/// Encodes assembly text for a chip; an error has the assembler's messages.
llvm::Expected<std::vector<uint8_t>> assemble(llvm::StringRef Chip,
                                              llvm::StringRef Text);

/// One workgroup that runs assembled text. Registers are set before and read
/// after the run; the text ends with s_endpgm, which is added.
class Snippet {
public:
  explicit Snippet(llvm::StringRef Chip, unsigned Waves = 1,
                   uint32_t LdsBytes = 0, uint32_t ScratchBytes = 0);
  ~Snippet();

  /// Runs and returns the status; assembler errors fail the current test.
  Status run(llvm::StringRef Text);

  uint32_t &v(unsigned Register, unsigned Lane = 0, unsigned Wave = 0);
  float f(unsigned Register, unsigned Lane = 0);
  void setF(unsigned Register, float X);
  /// The same value in every lane of every wave.
  void fill(unsigned Register, uint32_t X);
  void fill64(unsigned Register, uint64_t X);
  uint64_t v64(unsigned Register, unsigned Lane = 0);
  uint32_t &s(unsigned Register, unsigned Wave = 0);
  uint64_t s64(unsigned Register);
  void setS64(unsigned Register, uint64_t X);
  Wave &wave(unsigned N = 0) { return *Group.Waves[N]; }
  uint8_t *lds() { return Thread.Lds.data(); }

  GlobalMemory &memory() { return Memory; }
  /// Allocates device memory; the host view is in the result.
  Allocation &allocate(uint64_t Bytes, Contents Initial = Contents::Zero);
  /// A raw buffer descriptor in four scalar registers.
  void setBuffer(unsigned Register, uint64_t Base, uint64_t NumRecords);

  /// Reports of the last run, and the number of one kind.
  std::vector<ReportGroup> Reports;
  uint64_t count(ReportKind Kind) const;
  std::string Message;
  LaunchOptions Options;
  /// What all runs have moved to and from an allocation.
  BufferBytes bytes(const Allocation &A) const {
    return A.Number < Thread.Buffers.size() ? Thread.Buffers[A.Number]
                                            : BufferBytes();
  }
  /// Instructions executed by the last run.
  uint64_t executed() const;

private:
  const ChipInfo &Chip;
  GlobalMemory Memory;
  ThreadContext Thread;
  Workgroup Group;
  Kernel TheKernel;
  std::vector<std::vector<uint32_t>> Registers;
  std::vector<std::vector<uint8_t>> Scratch;
  uint32_t LdsBytes;
};

} // namespace pagedattn::emu

#endif // PAGEDATTN_UNITTESTS_EMULATOR_SNIPPET_H
