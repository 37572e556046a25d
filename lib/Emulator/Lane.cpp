//===- Lane.cpp - Moves between lanes and scalar registers ----------------===//

#include "Operands.h"
#include "Ops.h"

using namespace llvm;

namespace pagedattn::emu {

namespace {

void readFirstLane(Wave &W, const Instruction &I) {
  const uint64_t Exec = W.exec();
  const unsigned Lane = Exec ? unsigned(__builtin_ctzll(Exec)) : 0;
  writeScalar32(W, I, I.Dst[0], laneValue(W, I.Src[0], Lane));
}

void readLane(Wave &W, const Instruction &I) {
  const unsigned Lane = readScalar32(W, I, I.Src[1]) & (W.Lanes - 1);
  writeScalar32(W, I, I.Dst[0], laneValue(W, I.Src[0], Lane));
}

/// Ignores EXEC.
void writeLane(Wave &W, const Instruction &I) {
  const unsigned Lane = readScalar32(W, I, I.Src[1]) & (W.Lanes - 1);
  W.V[I.Dst[0].Offset + Lane] = readScalar32(W, I, I.Src[0]);
}

/// Reads through a lane map; the result goes to active lanes. A source lane
/// that is inactive gives the old value unless op_sel[0] fetches it, and zero
/// with op_sel[1].
template <class MapT>
void permute(Wave &W, const Instruction &I, MapT From) {
  const bool FetchInactive = I.Mod.OpSel & 1, BoundControl = I.Mod.OpSel & 2;
  const uint64_t Exec = W.exec();
  LaneBuffer R;
  const uint32_t *Old = W.V + I.Dst[0].Offset;
  for (unsigned L = 0; L != W.Lanes; ++L) {
    const unsigned S = From(L);
    R.D[L] = FetchInactive || (Exec >> S) & 1 ? laneValue(W, I.Src[0], S)
             : BoundControl                   ? 0
                                              : Old[L];
  }
  writeVector(W, I, R.D);
}

/// Selectors of four bits in a pair of scalars, for the lanes of every row.
template <bool OtherRow>
void permlane16(Wave &W, const Instruction &I) {
  const uint64_t Select = uint64_t(readScalar32(W, I, I.Src[2])) << 32 |
                          readScalar32(W, I, I.Src[1]);
  permute(W, I, [&](unsigned L) {
    const unsigned In = unsigned(Select >> (4 * (L & 15))) & 15;
    return ((L & ~15u) ^ (OtherRow ? 16u : 0u)) | In;
  });
}
template <bool OtherRow>
void permlane16Var(Wave &W, const Instruction &I) {
  permute(W, I, [&](unsigned L) {
    const unsigned In = laneValue(W, I.Src[1], L) & 15;
    return ((L & ~15u) ^ (OtherRow ? 16u : 0u)) | In;
  });
}

void permlane64(Wave &W, const Instruction &I) {
  LaneBuffer R;
  for (unsigned L = 0; L != W.Lanes; ++L)
    R.D[L] = laneValue(W, I.Src[0], W.Lanes == 64 ? L ^ 32 : L);
  writeVector(W, I, R.D);
}

/// Exchanges odd rows of the first register with even rows of the second.
/// Rows are 16 or 32 lanes.
template <unsigned Row>
void permlaneSwap(Wave &W, const Instruction &I) {
  uint32_t *A = W.V + I.Dst[0].Offset;
  uint32_t *B = W.V + I.Src[0].Offset;
  const uint64_t Exec = W.exec();
  for (unsigned L = 0; L != W.Lanes; ++L) {
    if (!(L & Row))
      continue;
    const unsigned Other = L ^ Row;
    const bool ToA = I.Mod.FetchInactive || (Exec >> Other) & 1;
    const bool ToB = I.Mod.FetchInactive || (Exec >> L) & 1;
    const uint32_t X = A[L], Y = B[Other];
    if ((Exec >> L) & 1 && ToA)
      A[L] = Y;
    if ((Exec >> Other) & 1 && ToB)
      B[Other] = X;
  }
}

bool allowOpSel(Instruction &I, const ChipInfo &Chip, std::string &Err) {
  return true;
}

bool rejectBoundControl(Instruction &I, const ChipInfo &Chip,
                        std::string &Err) {
  if (I.Mod.BoundCtrl) {
    Err = "unsupported modifier 'bound_ctrl'";
    return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Relative register numbers
//===----------------------------------------------------------------------===//

template <bool RelSource, bool RelDest, bool Two>
void moveRelative(Wave &W, const Instruction &I) {
  const uint32_t SourceDelta = Two ? W.m0() & 0x3ff : W.m0();
  const uint32_t DestDelta = Two ? (W.m0() >> 16) & 0x3ff : W.m0();
  LaneBuffer R;
  const unsigned Reg = I.Src[0].Reg + (RelSource ? SourceDelta : 0);
  const unsigned To = I.Dst[0].Reg + (RelDest ? DestDelta : 0);
  if ((I.Src[0].isVgpr() && Reg >= W.NumVgprs) || To >= W.NumVgprs) {
    W.fatal(ReportKind::InvalidAccess, "relative vector register " +
                                           Twine(std::max(Reg, To)) +
                                           " does not exist");
    return;
  }
  for (unsigned L = 0; L != W.Lanes; ++L)
    R.D[L] = I.Src[0].isVgpr() ? W.vreg(Reg)[L] : laneValue(W, I.Src[0], L);
  storeLanes(W, W.vreg(To), R.D, W.exec());
}

constexpr OpInfo op(const char *Name, Handler Fn, Ty A = Ty::B32,
                    Ty B = Ty::None, Ty C = Ty::None) {
  return {Name, Fn, OpClass::VectorAlu, 1, {Ty::B32, A, B, C}};
}
constexpr OpInfo permuteOp(const char *Name, Handler Fn) {
  return {Name,
          Fn,
          OpClass::VectorAlu,
          1,
          {Ty::B32, Ty::B32, Ty::B32, Ty::B32},
          allowOpSel};
}
constexpr OpInfo swapOp(const char *Name, Handler Fn) {
  return {
      Name, Fn, OpClass::VectorAlu, 1, {Ty::B32, Ty::B32}, rejectBoundControl};
}

constexpr OpInfo Table[] = {
    op("v_readfirstlane_b32", readFirstLane),
    op("v_readlane_b32", readLane, Ty::B32, Ty::B32),
    op("v_writelane_b32", writeLane, Ty::B32, Ty::B32),
    permuteOp("v_permlane16_b32", permlane16<false>),
    permuteOp("v_permlanex16_b32", permlane16<true>),
    permuteOp("v_permlane16_var_b32", permlane16Var<false>),
    permuteOp("v_permlanex16_var_b32", permlane16Var<true>),
    op("v_permlane64_b32", permlane64),
    swapOp("v_permlane16_swap_b32", permlaneSwap<16>),
    swapOp("v_permlane32_swap_b32", permlaneSwap<32>),
    op("v_movrels_b32", moveRelative<true, false, false>),
    op("v_movreld_b32", moveRelative<false, true, false>),
    op("v_movrelsd_b32", moveRelative<true, true, false>),
    op("v_movrelsd_2_b32", moveRelative<true, true, true>),
};

} // namespace

OpTable laneOps() { return Table; }

} // namespace pagedattn::emu
