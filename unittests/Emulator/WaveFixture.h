//===- WaveFixture.h - One wave to run single instructions on ---*- C++ -*-===//

#ifndef PAGEDATTN_UNITTESTS_EMULATOR_WAVEFIXTURE_H
#define PAGEDATTN_UNITTESTS_EMULATOR_WAVEFIXTURE_H

#include "ChipInfo.h"
#include "PagedAttn/Emulator/Formats.h"
#include "Parser.h"
#include "Wave.h"
#include "gtest/gtest.h"

namespace pagedattn::emu {

/// A wave with all lanes active and no memory. Instructions are given as the
/// disassembler prints them.
class WaveFixture {
public:
  explicit WaveFixture(llvm::StringRef ChipName)
      : Chip(*findChip(ChipName)),
        Registers(size_t(Chip.Vgprs) * Chip.WaveSize) {
    W.V = Registers.data();
    W.Lanes = Chip.WaveSize;
    W.AllLanes = Chip.WaveSize == 64 ? ~uint64_t(0) : 0xffffffffu;
    W.Chip = &Chip;
    W.Thread = &Thread;
    W.NumVgprs = Chip.Vgprs;
    W.setMode(0xf0);
    W.setExec(W.AllLanes);
  }

  /// Runs one instruction; an error of the decoder fails the test.
  void run(llvm::StringRef Text) {
    Instruction I;
    decode(Text, I);
    ASSERT_EQ(I.Error, "") << Text.str();
    ASSERT_NE(I.Fn, nullptr) << Text.str();
    W.Current = &I;
    I.Fn(W, I);
    W.Current = nullptr;
  }

  /// Why the decoder rejects an instruction; empty if it does not.
  std::string errorOf(llvm::StringRef Text) {
    Instruction I;
    decode(Text, I);
    return I.Error;
  }

  uint32_t &v(unsigned Register, unsigned Lane = 0) {
    return Registers[size_t(Register) * W.Lanes + Lane];
  }
  float f(unsigned Register, unsigned Lane = 0) {
    return bitsToFloat(v(Register, Lane));
  }
  void fill(unsigned Register, uint32_t Bits) {
    for (unsigned L = 0; L != W.Lanes; ++L)
      v(Register, L) = Bits;
  }
  /// ORs Code into element Index of a lane's packed registers from First on.
  void insert(unsigned First, unsigned Lane, unsigned Index, unsigned Width,
              uint32_t Code) {
    unsigned Bit = Index * Width, Word = Bit / 32, Offset = Bit % 32;
    v(First + Word, Lane) |= Code << Offset;
    if (Offset + Width > 32)
      v(First + Word + 1, Lane) |= Code >> (32 - Offset);
  }
  void clear() { std::fill(Registers.begin(), Registers.end(), 0); }

  const ChipInfo &Chip;
  Wave W;

private:
  void decode(llvm::StringRef Text, Instruction &I) {
    I.Text = Text.str();
    parseInstruction(Text, EncodedImms(), Chip, 0, I);
  }

  std::vector<uint32_t> Registers;
  ThreadContext Thread;
};

} // namespace pagedattn::emu

#endif // PAGEDATTN_UNITTESTS_EMULATOR_WAVEFIXTURE_H
