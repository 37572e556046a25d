//===- Control.cpp - Branches, program counter, hardware registers --------===//

#include "Operands.h"
#include "Ops.h"

using namespace llvm;

namespace pagedattn::emu {

namespace {

void jump(Wave &W, const Instruction &I) {
  W.Pc += int64_t(int16_t(I.Imm)) * 4;
}

enum class When { Scc0, Scc1, VccZero, VccNonZero, ExecZero, ExecNonZero };

template <When C>
void branch(Wave &W, const Instruction &I) {
  bool Taken = false;
  switch (C) {
  case When::Scc0:
    Taken = !W.Scc;
    break;
  case When::Scc1:
    Taken = W.Scc;
    break;
  case When::VccZero:
    Taken = W.vcc() == 0;
    break;
  case When::VccNonZero:
    Taken = W.vcc() != 0;
    break;
  case When::ExecZero:
    Taken = W.exec() == 0;
    break;
  case When::ExecNonZero:
    Taken = W.exec() != 0;
    break;
  }
  if (Taken)
    jump(W, I);
}

void endProgram(Wave &W, const Instruction &I) { W.Event |= EventEnd; }

void codeEnd(Wave &W, const Instruction &I) {
  W.fatal(ReportKind::UnknownInstruction,
          "execution reached the padding after the kernel");
}

void trap(Wave &W, const Instruction &I) {
  W.fatal(ReportKind::UnknownInstruction,
          "the kernel executed trap " + Twine(I.Imm & 0xff));
}

void getPc(Wave &W, const Instruction &I) {
  writeScalar64(W, I, I.Dst[0], W.Pc);
}

void setPc(Wave &W, const Instruction &I) {
  W.Pc = readScalar64(W, I, I.Src[0]);
}

void swapPc(Wave &W, const Instruction &I) {
  uint64_t Target = readScalar64(W, I, I.Src[0]);
  writeScalar64(W, I, I.Dst[0], W.Pc);
  W.Pc = Target;
}

void call(Wave &W, const Instruction &I) {
  writeScalar64(W, I, I.Dst[0], W.Pc);
  jump(W, I);
}

//===----------------------------------------------------------------------===//
// Hardware registers
//===----------------------------------------------------------------------===//

constexpr unsigned HwMode = 1, HwStatus = 2, HwIbSts = 7, HwXccId = 20,
                   HwIbSts2 = 28;
constexpr unsigned HwHwId = 4, HwHwId1 = 23, HwHwId2 = 24, HwShaderCycles = 29,
                   HwLdsAlloc = 6, HwGprAlloc = 5, HwTrapSts = 3;

struct HwField {
  unsigned Id, Offset, Width;
  explicit HwField(int64_t Imm)
      : Id(unsigned(Imm) & 0x3f), Offset((unsigned(Imm) >> 6) & 0x1f),
        Width(((unsigned(Imm) >> 11) & 0x1f) + 1) {}
  uint32_t mask() const { return Width == 32 ? ~0u : (1u << Width) - 1; }
};

/// The VGPR bank bits that MODE holds from bit 12 in the order dst, src0,
/// src1, src2; s_set_vgpr_msb has src0 first.
uint8_t msbFromMode(uint32_t Bits) { return uint8_t(Bits >> 2 | Bits << 6); }
uint32_t modeFromMsb(uint8_t Msb) { return uint8_t(Msb << 2 | Msb >> 6); }

bool readHw(Wave &W, unsigned Id, uint32_t &X) {
  switch (Id) {
  case HwMode:
    X = W.Mode.Bits;
    if (W.Chip->Gfx12)
      X = (X & ~0xff000u) | modeFromMsb(W.VgprMsb) << 12;
    return true;
  case HwStatus:
    X = uint32_t(W.Scc) | uint32_t(W.exec() == 0) << 9 |
        uint32_t(W.vcc() == 0) << 10;
    return true;
  // Where a wave runs is not modelled: everything runs in place 0.
  case HwHwId:
  case HwHwId1:
  case HwHwId2:
  case HwXccId:
  case HwTrapSts:
  case HwIbSts:
  case HwIbSts2:
    X = 0;
    return true;
  case HwGprAlloc:
  case HwLdsAlloc:
  case HwShaderCycles:
    X = 0;
    if (Id == HwShaderCycles)
      X = uint32_t(W.Thread->Counts[W.Current->Id]);
    return Id == HwShaderCycles;
  default:
    return false;
  }
}

void getReg(Wave &W, const Instruction &I) {
  HwField F(I.Imm);
  uint32_t X = 0;
  if (!readHw(W, F.Id, X)) {
    W.fatal(ReportKind::UnknownInstruction,
            "hardware register " + Twine(F.Id) + " is not supported");
    return;
  }
  writeScalar32(W, I, I.Dst[0], (X >> F.Offset) & F.mask());
}

void setHw(Wave &W, const Instruction &I, uint32_t X, bool Immediate) {
  HwField F(I.Imm);
  if (F.Id != HwMode) {
    W.fatal(ReportKind::UnknownInstruction,
            "writing hardware register " + Twine(F.Id) + " is not supported");
    return;
  }
  const uint32_t Mask = F.mask() << F.Offset;
  const uint32_t Value = (X << F.Offset) & Mask;
  W.setMode((W.Mode.Bits & ~Mask) | Value);
  if (!W.Chip->Gfx12)
    return;
  // The immediate form loads the VGPR bank bits from bits 19:12 of its
  // constant, whatever field it names.
  if (Immediate)
    W.setVgprMsb(msbFromMode(X >> 12));
  else if (Mask & 0xff000) {
    uint32_t Old = modeFromMsb(W.VgprMsb) << 12;
    W.setVgprMsb(msbFromMode(((Old & ~Mask) | (Value & 0xff000)) >> 12));
  }
}

void setReg(Wave &W, const Instruction &I) {
  setHw(W, I, readScalar32(W, I, I.Src[0]), /*Immediate=*/false);
}

void setRegImm(Wave &W, const Instruction &I) {
  setHw(W, I, uint32_t(I.Src[0].Imm), /*Immediate=*/true);
}

void roundMode(Wave &W, const Instruction &I) {
  W.setMode((W.Mode.Bits & ~0xfu) | (unsigned(I.Imm) & 0xf));
}

void denormMode(Wave &W, const Instruction &I) {
  W.setMode((W.Mode.Bits & ~0xf0u) | (unsigned(I.Imm) & 0xf) << 4);
}

void setVgprMsb(Wave &W, const Instruction &I) { W.setVgprMsb(uint8_t(I.Imm)); }

/// Messages with an answer. Only the clocks have one here.
void sendMessage(Wave &W, const Instruction &I) {
  const unsigned Id = unsigned(I.Imm) & 0xff;
  if (Id != 0x83) { // GET_REALTIME
    W.fatal(ReportKind::UnknownInstruction,
            "message " + Twine(Id) + " with an answer is not supported");
    return;
  }
  writeScalar64(W, I, I.Dst[0], W.Thread->Counts[I.Id] * 64);
}

/// A counter that only grows; nothing here has a clock.
void readTime(Wave &W, const Instruction &I) {
  writeScalar64(W, I, I.Dst[0], W.Thread->Counts[I.Id] * 64);
}

constexpr OpInfo jumpOp(const char *Name, Handler Fn) {
  return {Name, Fn, OpClass::Branch, 0, {Ty::Imm}};
}

constexpr OpInfo Table[] = {
    jumpOp("s_branch", jump),
    jumpOp("s_cbranch_scc0", branch<When::Scc0>),
    jumpOp("s_cbranch_scc1", branch<When::Scc1>),
    jumpOp("s_cbranch_vccz", branch<When::VccZero>),
    jumpOp("s_cbranch_vccnz", branch<When::VccNonZero>),
    jumpOp("s_cbranch_execz", branch<When::ExecZero>),
    jumpOp("s_cbranch_execnz", branch<When::ExecNonZero>),
    {"s_endpgm", endProgram, OpClass::Branch, 0, {}},
    {"s_endpgm_saved", endProgram, OpClass::Branch, 0, {}},
    {"s_code_end", codeEnd, OpClass::Branch, 0, {}},
    jumpOp("s_trap", trap),
    {"s_getpc_b64", getPc, OpClass::Branch, 1, {Ty::B64}},
    {"s_get_pc_i64", getPc, OpClass::Branch, 1, {Ty::B64}},
    {"s_setpc_b64", setPc, OpClass::Branch, 0, {Ty::B64}},
    {"s_set_pc_i64", setPc, OpClass::Branch, 0, {Ty::B64}},
    {"s_swappc_b64", swapPc, OpClass::Branch, 1, {Ty::B64, Ty::B64}},
    {"s_swap_pc_i64", swapPc, OpClass::Branch, 1, {Ty::B64, Ty::B64}},
    {"s_call_b64", call, OpClass::Branch, 1, {Ty::B64, Ty::Imm}},
    {"s_call_i64", call, OpClass::Branch, 1, {Ty::B64, Ty::Imm}},
    {"s_getreg_b32", getReg, OpClass::ScalarAlu, 1, {Ty::B32, Ty::Imm}},
    {"s_setreg_b32", setReg, OpClass::ScalarAlu, 0, {Ty::Imm, Ty::B32}},
    {"s_setreg_imm32_b32",
     setRegImm,
     OpClass::ScalarAlu,
     0,
     {Ty::Imm, Ty::B32}},
    {"s_round_mode", roundMode, OpClass::ScalarAlu, 0, {Ty::Imm}},
    {"s_denorm_mode", denormMode, OpClass::ScalarAlu, 0, {Ty::Imm}},
    {"s_set_vgpr_msb", setVgprMsb, OpClass::ScalarAlu, 0, {Ty::Imm}},
    {"s_sendmsg_rtn_b64", sendMessage, OpClass::Sync, 1, {Ty::B64, Ty::Imm}},
    {"s_memtime", readTime, OpClass::ScalarMemory, 1, {Ty::B64}},
    {"s_memrealtime", readTime, OpClass::ScalarMemory, 1, {Ty::B64}},
    {"s_get_shader_cycles_u64", readTime, OpClass::ScalarMemory, 1, {Ty::B64}},
};

} // namespace

OpTable controlOps() { return Table; }

} // namespace pagedattn::emu
