//===- Instruction.h - A decoded instruction --------------------*- C++ -*-===//

#ifndef PAGEDATTN_LIB_EMULATOR_INSTRUCTION_H
#define PAGEDATTN_LIB_EMULATOR_INSTRUCTION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace pagedattn::emu {

struct Wave;
struct Instruction;
struct ChipInfo;

using Handler = void (*)(Wave &, const Instruction &);

/// How an operand's bits are read: resolves inline constants and literals, and
/// says where neg and abs apply.
enum class Ty : uint8_t {
  None,
  B8,     ///< integers of 16 bits or less in the low half of a register
  B16,    ///< 16-bit integer, honours op_sel / .h
  F16,    ///< half, honours op_sel / .h
  BF16,   ///< bfloat16, honours op_sel / .h
  B32,    ///< 32 bits, no float meaning
  I32,    ///< as B32
  F32,    ///< single
  B64,    ///< two registers, integer
  I64,    ///< two registers, integer, 32-bit literal is sign-extended
  F64,    ///< two registers, double
  PkB16,  ///< two 16-bit integers, op_sel and op_sel_hi choose
  PkF16,  ///< two halves
  PkBF16, ///< two bfloat16
  PkF32,  ///< two singles in two registers
  PkB32,  ///< two 32-bit integers in two registers
  Mask,   ///< one bit per lane in wave-size scalar registers
  Imm,    ///< no operand: the instruction's immediate, in Instruction::Imm
  Wide,   ///< any number of registers, no constant, no modifiers
};

enum class OperandKind : uint8_t {
  None,  ///< absent, `off`, or the null register as a destination
  Vgpr,  ///< Reg is an index into the vector register file (a0 is 256)
  Sgpr,  ///< Reg is an index into the scalar file, see ScalarReg
  Const, ///< Imm holds the bits for the operand's type
  Scc,   ///< the scalar condition code as 0 or 1
  Vccz,  ///< VCC == 0
  Execz, ///< EXEC == 0
  LdsDirect,
};

/// Indices of the scalar register file. Ordinary SGPRs are 0..105.
enum ScalarReg : uint16_t {
  RegVccLo = 106,
  RegVccHi = 107,
  RegTtmp0 = 108,
  RegNull = 124,
  RegM0 = 125,
  RegExecLo = 126,
  RegExecHi = 127,
  RegFlatScrLo = 128,
  RegFlatScrHi = 129,
  RegXnackLo = 130,
  RegXnackHi = 131,
  NumScalarRegs = 132,
};

enum class SdwaSel : uint8_t {
  Byte0,
  Byte1,
  Byte2,
  Byte3,
  Word0,
  Word1,
  Dword
};
enum class SdwaUnused : uint8_t { Pad, Sext, Preserve };

struct Operand {
  OperandKind Kind = OperandKind::None;
  Ty Type = Ty::None;
  uint8_t Dwords = 1; ///< registers named in the text
  bool Neg = false, Abs = false, Sext = false;
  bool High = false; ///< .h, or op_sel of a 16-bit operand
  /// A plain vector register or a constant, no modifier: can be used in place.
  bool Direct = false;
  bool Dpp = false; ///< read through the instruction's DPP control
  /// A scalar register or pair, no modifier: the same in all lanes.
  bool Uniform = false;
  /// A packed pair whose halves op_sel reorders: bit h of PairSel is the
  /// register of half h.
  bool Reordered = false;
  uint8_t PairSel = 2;
  SdwaSel Sel = SdwaSel::Dword;
  uint16_t Reg = 0;
  uint32_t Offset = 0; ///< Reg * lanes, for Vgpr
  uint64_t Imm = 0;
  /// For Const: the low dword in 64 lanes, then the high dword in 64 lanes.
  const uint32_t *Splat = nullptr;

  bool isVgpr() const { return Kind == OperandKind::Vgpr; }
  bool isSgpr() const { return Kind == OperandKind::Sgpr; }
  bool isConst() const { return Kind == OperandKind::Const; }
  bool isNone() const { return Kind == OperandKind::None; }
};

enum class OpClass : uint8_t {
  ScalarAlu,
  ScalarMemory,
  Branch,
  Sync, ///< waits, barriers, hints, messages
  VectorAlu,
  Matrix,
  Lds,
  Global,
  Flat,
  Buffer,
  Scratch,
  Async, ///< copies between memory and LDS
  Other,
};
constexpr unsigned NumOpClasses = unsigned(OpClass::Other) + 1;
llvm::StringRef opClassName(OpClass Class);

enum class DppKind : uint8_t { None, Dpp16, Dpp8 };
enum class OMod : uint8_t { None, Mul2, Mul4, Div2 };

/// Every modifier of the assembly language that some handler reads. A modifier
/// the parser does not know makes the instruction unknown.
struct Modifiers {
  int32_t Offset = 0; ///< offset:
  uint16_t Offset0 = 0, Offset1 = 0;
  uint8_t OpSel = 0, OpSelHi = 0; ///< bit i: operand i, destination last
  bool HasOpSel = false, HasOpSelHi = false;
  uint8_t NegLo = 0, NegHi = 0; ///< bit i: source i
  bool Clamp = false;
  OMod Omod = OMod::None;
  uint8_t Cbsz = 0, Blgp = 0, Abid = 0;       ///< matrix instructions
  uint8_t MatrixAFmt = 0, MatrixBFmt = 0;     ///< MATRIX_FMT_* (gfx1250)
  uint8_t MatrixAScale = 0, MatrixBScale = 0; ///< 0 ROW0, 1 ROW1
  uint8_t MatrixAScaleFmt = 0, MatrixBScaleFmt = 0;
  bool MatrixAReuse = false, MatrixBReuse = false;
  DppKind Dpp = DppKind::None;
  uint16_t DppCtrl = 0; ///< 9-bit control of the encoding
  uint32_t Dpp8Sel = 0; ///< 3 bits per lane
  uint8_t RowMask = 0xf, BankMask = 0xf;
  bool BoundCtrl = false;
  bool FetchInactive = false;
  bool Sdwa = false;
  SdwaSel DstSel = SdwaSel::Dword;
  SdwaUnused DstUnused = SdwaUnused::Pad;
  bool Gds = false, Glc = false, Slc = false, Dlc = false, Scc = false;
  bool Sc0 = false, Sc1 = false, Nt = false;
  bool Offen = false, Idxen = false, Lds = false, Tfe = false, Lwe = false;
  bool ScaleOffset = false; ///< gfx1250: voffset counts elements
  bool Nv = false;
  bool Returns = false;       ///< an atomic that returns the old value
  uint32_t Th = 0, Scope = 0; ///< gfx12 cache policy, no effect here
  uint32_t ByteSel = 0;       ///< byte_sel:
  uint32_t ScaleSel = 0;      ///< scale_sel:
  uint32_t Bitop3 = 0;        ///< bitop3:
  uint32_t WaitExp = 0;       ///< wait_exp:, wait_va_vdst: and the like
};

/// What a family file says about one mnemonic.
struct OpInfo {
  /// Without _e32, _e64, _e64_dpp, _dpp and _sdwa.
  const char *Name;
  Handler Fn;
  OpClass Class;
  uint8_t NumDst; ///< leading operands that are written
  /// Types of all operands in the order they are printed, destinations first.
  /// Operands beyond the list are Ty::Wide.
  std::array<Ty, 7> Types;
  /// Optional check and specialisation at decode; returns false and fills Err
  /// to make the instruction unknown.
  bool (*Prepare)(Instruction &, const ChipInfo &, std::string &Err) = nullptr;
  /// The handler honours clamp; without it clamp makes the instruction unknown.
  bool Clamps = false;
};

/// What DPP does to the lanes, from the control alone.
struct DppMap {
  std::array<uint8_t, 64> Source; ///< lane to read, 0 if there is none
  uint64_t HasSource = 0;
  uint64_t Enabled = 0; ///< by row_mask and bank_mask
};

struct Instruction {
  Handler Fn = nullptr;
  uint32_t Size = 0; ///< bytes
  uint32_t NumDst = 0;
  uint32_t NumSrc = 0;
  uint32_t Id = 0; ///< index of the statistics counter
  std::array<Operand, 2> Dst;
  std::array<Operand, 6> Src;
  Modifiers Mod;
  OpClass Class = OpClass::Other;
  /// Destination needs more than a store under EXEC: clamp, omod, DPP, SDWA,
  /// high half.
  bool SlowDst = false;
  /// s_waitcnt and friends, branch offsets, hwreg and message numbers.
  int64_t Imm = 0;
  /// Free for the family: element counts, sub-operation numbers.
  std::array<uint32_t, 4> Aux = {0, 0, 0, 0};
  const OpInfo *Info = nullptr;
  /// The Y half of a dual instruction.
  std::unique_ptr<Instruction> Second;
  std::unique_ptr<DppMap> Dpp;
  llvm::SmallVector<std::unique_ptr<uint32_t[]>, 2> Splats;
  uint64_t Pc = 0;      ///< device address
  std::string Mnemonic; ///< as counted by the statistics, no suffix
  std::string Text;     ///< disassembly
  std::string Error;    ///< why the instruction is unknown
};

} // namespace pagedattn::emu

#endif // PAGEDATTN_LIB_EMULATOR_INSTRUCTION_H
