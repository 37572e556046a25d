//===- GlobalAtomic.cpp - Global and flat atomics -------------------------===//

#include "Memory.h"
#include "Ops.h"

using namespace llvm;

namespace pagedattn::emu {

namespace {

struct Operands {
  uint64_t Data, Data2;
};

template <AtomicOp Op, bool Wide>
Operands readData(Wave &W, const Operand &O, unsigned Lane) {
  auto At = [&](unsigned Dword) -> uint64_t {
    return laneValue(W, O, Lane, Dword);
  };
  Operands R{At(0), 0};
  if (Wide)
    R.Data |= At(1) << 32;
  if (Op == AtomicOp::CmpSwap) // the value to compare with follows
    R.Data2 = Wide ? At(2) | At(3) << 32 : At(1);
  return R;
}

template <AtomicOp Op, bool Wide, bool Flat>
void atomic(Wave &W, const Instruction &I) {
  constexpr unsigned Bytes = Wide ? 8 : 4;
  if (I.Mod.Returns)
    countLoad(W);
  else
    countStore(W);
  if (Flat)
    W.issue(Counter::Lgkm);
  forLanes(W.exec(), [&](unsigned Lane) {
    const uint64_t Address = globalAddress(W, I, Lane, 2, Bytes);
    const Operands Values = readData<Op, Wide>(W, I.Src[1], Lane);
    uint64_t Old = 0;
    const FlatSpace Space = Flat ? classifyFlat(W, Address) : FlatSpace::Global;
    if (Space == FlatSpace::Scratch) {
      const uint32_t Offset = uint32_t(Address);
      if (!loadScratch(W, I, Lane, Offset, &Old, Bytes))
        return;
      uint64_t New = applyAtomic(Op, Wide, Old, Values.Data, Values.Data2);
      storeScratch(W, I, Lane, Offset, &New, Bytes);
    } else if (Space == FlatSpace::Lds) {
      uint8_t *P = W.Group->Lds->atomic(W, I, Lane, uint32_t(Address), Bytes);
      if (!P)
        return;
      std::memcpy(&Old, P, Bytes);
      uint64_t New = applyAtomic(Op, Wide, Old, Values.Data, Values.Data2);
      std::memcpy(P, &New, Bytes);
    } else {
      uint8_t *P = atomicGlobal(W, I, int(Lane), Address, Bytes);
      if (!P)
        return;
      Old = atomicUpdate(P, Op, Wide, Values.Data, Values.Data2);
    }
    if (I.Mod.Returns) {
      const uint32_t Result[2] = {uint32_t(Old), uint32_t(Old >> 32)};
      putLane(W, I.Dst[0], Wide ? Piece::B64 : Piece::B32, Lane, Result);
    }
  });
}

template <bool Flat>
constexpr OpInfo row(const char *Name, Handler Fn) {
  return {Name,
          Fn,
          Flat ? OpClass::Flat : OpClass::Global,
          1,
          {Ty::Wide, Ty::Wide, Ty::Wide, Ty::B64}};
}

#define ROW(Suffix, Op, Wide)                                                  \
  row<false>("global_atomic_" Suffix, atomic<AtomicOp::Op, Wide, false>),      \
      row<true>("flat_atomic_" Suffix, atomic<AtomicOp::Op, Wide, true>)
// Names before and since GFX11.
#define INT(Old, New, Kind, Op)                                                \
  ROW(Old, Op, false), ROW(Old "_x2", Op, true),                               \
      ROW(New "_" Kind "32", Op, false), ROW(New "_" Kind "64", Op, true)

constexpr OpInfo Table[] = {
    INT("swap", "swap", "b", Swap),
    INT("cmpswap", "cmpswap", "b", CmpSwap),
    INT("add", "add", "u", Add),
    INT("sub", "sub", "u", Sub),
    INT("smin", "min", "i", SMin),
    INT("umin", "min", "u", UMin),
    INT("smax", "max", "i", SMax),
    INT("umax", "max", "u", UMax),
    INT("and", "and", "b", And),
    INT("or", "or", "b", Or),
    INT("xor", "xor", "b", Xor),
    INT("inc", "inc", "u", Inc),
    INT("dec", "dec", "u", Dec),
    ROW("add_f32", FAdd, false),
    ROW("add_f64", FAdd, true),
    ROW("min_f64", FMin, true),
    ROW("max_f64", FMax, true),
    ROW("min_num_f32", FMin, false),
    ROW("max_num_f32", FMax, false),
    ROW("min_num_f64", FMin, true),
    ROW("max_num_f64", FMax, true),
    ROW("pk_add_f16", PkAddF16, false),
    ROW("pk_add_bf16", PkAddBF16, false),
    ROW("cond_sub_u32", CondSub, false),
    ROW("sub_clamp_u32", SubClamp, false),
};

} // namespace

OpTable globalAtomicOps() { return Table; }

} // namespace pagedattn::emu
