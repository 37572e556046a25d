//===- Parser.h - Disassembly text to operands and modifiers ----*- C++ -*-===//

#ifndef PAGEDATTN_LIB_EMULATOR_PARSER_H
#define PAGEDATTN_LIB_EMULATOR_PARSER_H

#include "ChipInfo.h"
#include "Instruction.h"

namespace pagedattn::emu {

/// Immediates of the MC instruction, for operands that print symbolically.
struct EncodedImms {
  llvm::SmallVector<int64_t, 4> Values;
};

/// "v_add_f32_e32" is "v_add_f32".
llvm::StringRef stripEncodingSuffix(llvm::StringRef Mnemonic);

/// Fills operands, modifiers and handler of I from one instruction's text
/// (comments removed). On failure I.Error says what was not understood.
void parseInstruction(llvm::StringRef Text, const EncodedImms &Imms,
                      const ChipInfo &Chip, uint8_t VgprMsb, Instruction &I);

/// One operand; false if the text is not an operand we know.
bool parseOperand(llvm::StringRef Text, Ty Type, Operand &O, std::string &Err);

/// Gives a constant its bits for the operand's type and its lane copies.
void splatConstant(Instruction &I, Operand &O);

/// One modifier such as "offset:16"; false if unknown.
bool parseModifier(llvm::StringRef Text, const EncodedImms &Imms,
                   Instruction &I, std::string &Err);

} // namespace pagedattn::emu

#endif // PAGEDATTN_LIB_EMULATOR_PARSER_H
