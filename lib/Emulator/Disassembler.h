//===- Disassembler.h - LLVM's MC layer for one chip ------------*- C++ -*-===//

#ifndef PAGEDATTN_LIB_EMULATOR_DISASSEMBLER_H
#define PAGEDATTN_LIB_EMULATOR_DISASSEMBLER_H

#include "Parser.h"
#include "llvm/Support/Error.h"

namespace pagedattn::emu {

/// Not thread-safe; the owner locks.
class Disassembler {
public:
  static llvm::Expected<std::unique_ptr<Disassembler>>
  create(const ChipInfo &Chip);
  ~Disassembler();

  struct Result {
    uint32_t Size = 0; ///< 0: not an instruction
    std::string Text;  ///< without comments
    EncodedImms Imms;
  };
  Result disassemble(llvm::ArrayRef<uint8_t> Bytes, uint64_t Pc);

private:
  struct State;
  explicit Disassembler(std::unique_ptr<State> S);
  std::unique_ptr<State> S;
};

} // namespace pagedattn::emu

#endif // PAGEDATTN_LIB_EMULATOR_DISASSEMBLER_H
