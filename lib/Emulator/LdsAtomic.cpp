//===- LdsAtomic.cpp - LDS atomics ----------------------------------------===//

#include "Memory.h"
#include "Ops.h"

using namespace llvm;

namespace pagedattn::emu {

namespace {

/// Order of the operands of a compare-and-swap.
enum class CmpOrder { CompareFirst, DataFirst };

// The waves of a workgroup take turns on one host thread, so that a plain
// read-modify-write is atomic.
template <AtomicOp Op, bool Wide, bool Returns,
          CmpOrder Order = CmpOrder::CompareFirst>
void atomic(Wave &W, const Instruction &I) {
  constexpr unsigned Bytes = Wide ? 8 : 4;
  constexpr bool Two = Op == AtomicOp::CmpSwap || Op == AtomicOp::MskOr;
  W.issue(Counter::Lgkm);
  auto Value = [&](const Operand &O, unsigned Lane) {
    return uint64_t(laneValue(W, O, Lane)) |
           (Wide ? uint64_t(laneValue(W, O, Lane, 1)) << 32 : 0);
  };
  forLanes(W.exec(), [&](unsigned Lane) {
    const uint32_t Address =
        laneValue(W, I.Src[0], Lane) + uint32_t(uint16_t(I.Mod.Offset));
    uint64_t Data = Value(I.Src[1], Lane);
    uint64_t Data2 = Two ? Value(I.Src[2], Lane) : 0;
    if (Op == AtomicOp::CmpSwap && Order == CmpOrder::CompareFirst)
      std::swap(Data, Data2);
    uint64_t Old = 0;
    if (uint8_t *P = W.Group->Lds->atomic(W, I, Lane, Address, Bytes)) {
      std::memcpy(&Old, P, Bytes);
      uint64_t New = applyAtomic(Op, Wide, Old, Data, Data2);
      std::memcpy(P, &New, Bytes);
    }
    if (Returns) {
      const uint32_t Result[2] = {uint32_t(Old), uint32_t(Old >> 32)};
      putLane(W, I.Dst[0], Wide ? Piece::B64 : Piece::B32, Lane, Result);
    }
  });
}

/// Exchanges two elements at once.
template <bool Wide, bool Stride64>
void exchange2(Wave &W, const Instruction &I) {
  constexpr unsigned Bytes = Wide ? 8 : 4;
  constexpr unsigned Scale = Bytes * (Stride64 ? 64 : 1);
  W.issue(Counter::Lgkm);
  forLanes(W.exec(), [&](unsigned Lane) {
    const uint32_t Base = laneValue(W, I.Src[0], Lane);
    const uint32_t At[2] = {Base + I.Mod.Offset0 * Scale,
                            Base + I.Mod.Offset1 * Scale};
    uint32_t Result[4] = {0, 0, 0, 0};
    for (unsigned N = 0; N != 2; ++N) {
      uint32_t Data[2];
      getLane(W, I.Src[1 + N], Wide ? Piece::B64 : Piece::B32, Lane, Data);
      uint8_t *P = W.Group->Lds->atomic(W, I, Lane, At[N], Bytes);
      if (!P)
        continue;
      std::memcpy(Result + N * Bytes / 4, P, Bytes);
      std::memcpy(P, Data, Bytes);
    }
    putLane(W, I.Dst[0], Wide ? Piece::B128 : Piece::B64, Lane, Result);
  });
}

/// Adds or subtracts the number of active lanes at M0's address and gives
/// everyone the old value.
template <bool Append>
void append(Wave &W, const Instruction &I) {
  W.issue(Counter::Lgkm);
  const uint64_t Exec = W.exec();
  if (!Exec)
    return;
  const unsigned First = unsigned(__builtin_ctzll(Exec));
  const uint32_t Count = uint32_t(__builtin_popcountll(Exec));
  const uint32_t Address = (W.m0() & 0xffff) + uint16_t(I.Mod.Offset);
  uint32_t Old = 0;
  if (uint8_t *P = W.Group->Lds->atomic(W, I, First, Address, 4)) {
    std::memcpy(&Old, P, 4);
    const uint32_t New = Append ? Old + Count : Old - Count;
    std::memcpy(P, &New, 4);
  }
  LaneBuffer R;
  for (uint32_t &X : R.D)
    X = Old;
  writeVector(W, I, R.D);
}

/// Counts down and wraps: old ? old - data1 below data0 : data0.
void wrap(Wave &W, const Instruction &I) {
  W.issue(Counter::Lgkm);
  forLanes(W.exec(), [&](unsigned Lane) {
    const uint32_t Address =
        laneValue(W, I.Src[0], Lane) + uint32_t(uint16_t(I.Mod.Offset));
    const uint32_t Data = laneValue(W, I.Src[1], Lane),
                   Data2 = laneValue(W, I.Src[2], Lane);
    uint32_t Old = 0;
    if (uint8_t *P = W.Group->Lds->atomic(W, I, Lane, Address, 4)) {
      std::memcpy(&Old, P, 4);
      const uint32_t New = Old >= Data ? Old - Data : Old + Data2;
      std::memcpy(P, &New, 4);
    }
    putLane(W, I.Dst[0], Piece::B32, Lane, &Old);
  });
}

/// Per dword: a dword with its top bit set replaces the old one.
void conditionalExchange(Wave &W, const Instruction &I) {
  W.issue(Counter::Lgkm);
  forLanes(W.exec(), [&](unsigned Lane) {
    const uint32_t Address =
        laneValue(W, I.Src[0], Lane) + uint32_t(uint16_t(I.Mod.Offset));
    uint32_t Old[2] = {0, 0};
    if (uint8_t *P = W.Group->Lds->atomic(W, I, Lane, Address, 8)) {
      std::memcpy(Old, P, 8);
      for (unsigned D = 0; D != 2; ++D) {
        const uint32_t X = laneValue(W, I.Src[1], Lane, D);
        const uint32_t New = X >> 31 ? X & 0x7fffffff : Old[D];
        std::memcpy(P + 4 * D, &New, 4);
      }
    }
    putLane(W, I.Dst[0], Piece::B64, Lane, Old);
  });
}

constexpr OpInfo row(const char *Name, Handler Fn, unsigned Dsts) {
  return {Name,
          Fn,
          OpClass::Lds,
          uint8_t(Dsts),
          {Ty::Wide, Ty::Wide, Ty::Wide, Ty::Wide}};
}
#define PAIR(Name, Suffix, Op, Wide)                                           \
  row("ds_" Name "_" Suffix, atomic<AtomicOp::Op, Wide, false>, 0),            \
      row("ds_" Name "_rtn_" Suffix, atomic<AtomicOp::Op, Wide, true>, 1)
#define BOTH(Name, Kind, Op)                                                   \
  PAIR(Name, Kind "32", Op, false), PAIR(Name, Kind "64", Op, true)
#define CMP(Name, Suffix, Wide, Order)                                         \
  row("ds_" Name "_" Suffix,                                                   \
      atomic<AtomicOp::CmpSwap, Wide, false, CmpOrder::Order>, 0),             \
      row("ds_" Name "_rtn_" Suffix,                                           \
          atomic<AtomicOp::CmpSwap, Wide, true, CmpOrder::Order>, 1)

constexpr OpInfo Table[] = {
    BOTH("add", "u", Add),
    BOTH("sub", "u", Sub),
    BOTH("rsub", "u", RSub),
    BOTH("inc", "u", Inc),
    BOTH("dec", "u", Dec),
    BOTH("min", "i", SMin),
    BOTH("max", "i", SMax),
    BOTH("min", "u", UMin),
    BOTH("max", "u", UMax),
    BOTH("and", "b", And),
    BOTH("or", "b", Or),
    BOTH("xor", "b", Xor),
    BOTH("mskor", "b", MskOr),
    BOTH("add", "f", FAdd),
    BOTH("min", "f", FMin),
    BOTH("max", "f", FMax),
    BOTH("min_num", "f", FMin),
    BOTH("max_num", "f", FMax),
    PAIR("pk_add", "f16", PkAddF16, false),
    PAIR("pk_add", "bf16", PkAddBF16, false),
    PAIR("cond_sub", "u32", CondSub, false),
    PAIR("sub_clamp", "u32", SubClamp, false),
    row("ds_wrxchg_rtn_b32", atomic<AtomicOp::Swap, false, true>, 1),
    row("ds_wrxchg_rtn_b64", atomic<AtomicOp::Swap, true, true>, 1),
    row("ds_storexchg_rtn_b32", atomic<AtomicOp::Swap, false, true>, 1),
    row("ds_storexchg_rtn_b64", atomic<AtomicOp::Swap, true, true>, 1),
    row("ds_wrxchg2_rtn_b32", exchange2<false, false>, 1),
    row("ds_wrxchg2_rtn_b64", exchange2<true, false>, 1),
    row("ds_wrxchg2st64_rtn_b32", exchange2<false, true>, 1),
    row("ds_wrxchg2st64_rtn_b64", exchange2<true, true>, 1),
    row("ds_storexchg_2addr_rtn_b32", exchange2<false, false>, 1),
    row("ds_storexchg_2addr_rtn_b64", exchange2<true, false>, 1),
    row("ds_storexchg_2addr_stride64_rtn_b32", exchange2<false, true>, 1),
    row("ds_storexchg_2addr_stride64_rtn_b64", exchange2<true, true>, 1),
    CMP("cmpst", "b32", false, CompareFirst),
    CMP("cmpst", "b64", true, CompareFirst),
    CMP("cmpst", "f32", false, CompareFirst),
    CMP("cmpst", "f64", true, CompareFirst),
    CMP("cmpstore", "b32", false, DataFirst),
    CMP("cmpstore", "b64", true, DataFirst),
    row("ds_append", append<true>, 1),
    row("ds_consume", append<false>, 1),
    row("ds_wrap_rtn_b32", wrap, 1),
    row("ds_condxchg32_rtn_b64", conditionalExchange, 1),
};

} // namespace

OpTable ldsAtomicOps() { return Table; }

} // namespace pagedattn::emu
