//===- Program.h - Decoded instructions of a code object --------*- C++ -*-===//

#ifndef PAGEDATTN_LIB_EMULATOR_PROGRAM_H
#define PAGEDATTN_LIB_EMULATOR_PROGRAM_H

#include "ChipInfo.h"
#include "Instruction.h"
#include "llvm/Support/Error.h"
#include <atomic>
#include <mutex>
#include <vector>

namespace pagedattn::emu {

class Disassembler;

/// Decodes on demand, once per pc and register-bank setting, for all threads.
class Program {
public:
  /// Code is the host view of the executable bytes at device address Base.
  static llvm::Expected<std::unique_ptr<Program>>
  create(const ChipInfo &Chip, uint64_t Base, llvm::ArrayRef<uint8_t> Code,
         uint64_t ElfAddress);
  ~Program();

  using Slot = std::atomic<const Instruction *>;
  /// One slot per dword of code, null until decoded. Msb is the setting of
  /// s_set_vgpr_msb, which changes the registers that operands name.
  Slot *table(uint8_t Msb);

  uint64_t base() const { return Base; }
  uint64_t size() const { return Code.size(); }
  /// Decodes the instruction at Pc into Table, which is table(Msb).
  const Instruction *decode(Slot *Table, uint64_t Pc, uint8_t Msb);
  /// The address in the ELF file of a device address.
  uint64_t elfAddress(uint64_t Pc) const { return Pc - Base + ElfBase; }

  struct Mnemonic {
    std::string Name;
    OpClass Class;
  };
  /// Bound on Instruction::Id.
  static constexpr unsigned MaxMnemonics = 4096;
  std::vector<Mnemonic> mnemonics();

private:
  Program(const ChipInfo &Chip, uint64_t Base, llvm::ArrayRef<uint8_t> Code,
          uint64_t ElfBase);
  uint32_t mnemonicId(const Instruction &I);

  const ChipInfo &Chip;
  uint64_t Base;
  llvm::ArrayRef<uint8_t> Code;
  uint64_t ElfBase;
  std::unique_ptr<Disassembler> Disasm;
  std::mutex Lock;
  std::array<std::unique_ptr<Slot[]>, 256> Tables;
  std::array<std::atomic<Slot *>, 256> Ready = {};
  std::vector<std::unique_ptr<Instruction>> Owned;
  std::vector<Mnemonic> Mnemonics;
};

} // namespace pagedattn::emu

#endif // PAGEDATTN_LIB_EMULATOR_PROGRAM_H
