//===- Buffer.cpp - Buffer loads, stores and atomics ----------------------===//

#include "BufferResource.h"
#include "LdsCopy.h"
#include "Ops.h"

using namespace llvm;

namespace pagedattn::emu {

namespace {

template <Piece P>
void bufferLoad(Wave &W, const Instruction &I) {
  countLoad(W);
  BufferAccess Access(W, I, 0);
  if (!Access.valid())
    return;
  constexpr unsigned Bytes = bytesOf(P);
  constexpr unsigned Step = Bytes < 4 ? Bytes : 4;
  if (!W.exec())
    return;
  LaneAddresses Fast;
  if (LLVM_LIKELY(Access.addresses(Bytes, Fast) &&
                  loadWave<P>(W, I.Dst[0], Fast)))
    return;
  forLanes(W.exec(), [&](unsigned Lane) {
    const BufferAddress A = Access.lane(Lane);
    uint32_t Data[4] = {0, 0, 0, 0};
    if (LLVM_LIKELY(
            !Access.resource().Swizzle &&
            A.inRange(Access.resource(), 0, Bytes) &&
            Access.check(A, Lane, 0, Bytes, ReportKind::OutOfRangeLoad))) {
      loadGlobal(W, I, int(Lane), A.device(0), Data, Bytes);
    } else {
      for (unsigned D = 0; D != Bytes; D += Step)
        if (Access.check(A, Lane, D, Step, ReportKind::OutOfRangeLoad))
          loadGlobal(W, I, int(Lane), A.device(D), Data + D / 4, Step);
    }
    putLane(W, I.Dst[0], P, Lane, Data);
  });
}

template <Piece P>
void bufferStore(Wave &W, const Instruction &I) {
  countStore(W);
  BufferAccess Access(W, I, 1);
  if (!Access.valid())
    return;
  constexpr unsigned Bytes = bytesOf(P);
  constexpr unsigned Step = Bytes < 4 ? Bytes : 4;
  if (!W.exec())
    return;
  LaneAddresses Fast;
  if (LLVM_LIKELY(Access.addresses(Bytes, Fast) &&
                  storeWave<P>(W, I.Src[0], Fast)))
    return;
  forLanes(W.exec(), [&](unsigned Lane) {
    const BufferAddress A = Access.lane(Lane);
    uint32_t Data[4];
    getLane(W, I.Src[0], P, Lane, Data);
    if (LLVM_LIKELY(
            !Access.resource().Swizzle &&
            A.inRange(Access.resource(), 0, Bytes) &&
            Access.check(A, Lane, 0, Bytes, ReportKind::DroppedStore))) {
      storeGlobal(W, I, int(Lane), A.device(0), Data, Bytes);
    } else {
      for (unsigned D = 0; D != Bytes; D += Step)
        if (Access.check(A, Lane, D, Step, ReportKind::DroppedStore))
          storeGlobal(W, I, int(Lane), A.device(D), Data + D / 4, Step);
    }
  });
}

template <AtomicOp Op, bool Wide>
void bufferAtomic(Wave &W, const Instruction &I) {
  constexpr unsigned Bytes = Wide ? 8 : 4;
  if (I.Mod.Returns)
    countLoad(W);
  else
    countStore(W);
  BufferAccess Access(W, I, 0);
  if (!Access.valid())
    return;
  const Operand &Vdata = I.Dst[0];
  forLanes(W.exec(), [&](unsigned Lane) {
    const BufferAddress A = Access.lane(Lane);
    uint64_t Data = laneValue(W, Vdata, Lane, 0), Data2 = 0, Old = 0;
    if (Wide)
      Data |= uint64_t(laneValue(W, Vdata, Lane, 1)) << 32;
    if (Op == AtomicOp::CmpSwap)
      Data2 = Wide ? uint64_t(laneValue(W, Vdata, Lane, 2)) |
                         uint64_t(laneValue(W, Vdata, Lane, 3)) << 32
                   : laneValue(W, Vdata, Lane, 1);
    if (Access.check(A, Lane, 0, Bytes, ReportKind::OutOfRangeAtomic)) {
      uint8_t *P = atomicGlobal(W, I, int(Lane), A.device(0), Bytes);
      if (!P)
        return;
      Old = atomicUpdate(P, Op, Wide, Data, Data2);
    }
    if (I.Mod.Returns) {
      const uint32_t Result[2] = {uint32_t(Old), uint32_t(Old >> 32)};
      putLane(W, Vdata, Wide ? Piece::B64 : Piece::B32, Lane, Result);
    }
  });
}

/// With the lds modifier the data goes to LDS, in a slot per lane behind M0.
/// An out-of-range lane writes zero there.
template <Piece P>
void bufferLoadToLds(Wave &W, const Instruction &I) {
  BufferAccess Access(W, I, 0);
  if (!Access.valid())
    return;
  constexpr unsigned Bytes = bytesOf(P);
  constexpr unsigned Step = Bytes < 4 ? Bytes : 4;
  LdsTransfer T;
  forLanes(W.exec(), [&](unsigned Lane) {
    const BufferAddress A = Access.lane(Lane);
    uint8_t Data[16] = {};
    for (unsigned D = 0; D != Bytes; D += Step)
      if (Access.check(A, Lane, D, Step, ReportKind::OutOfRangeLoad))
        loadGlobal(W, I, int(Lane), A.device(D), Data + D, Step);
    appendM0Slot(W, I, T, Lane, Data, Bytes, P == Piece::I8 || P == Piece::I16);
  });
  if (!(W.Event & EventFatal))
    deferToLds(W, I, Counter::Load, std::move(T));
}

template <Piece P>
bool prepareLoad(Instruction &I, const ChipInfo &Chip, std::string &Err) {
  if (I.Mod.Tfe) {
    Err = "unsupported modifier 'tfe'";
    return false;
  }
  if (!I.Mod.Lds)
    return true;
  constexpr bool HasForm =
      P == Piece::U8 || P == Piece::I8 || P == Piece::U16 || P == Piece::I16 ||
      P == Piece::B32 || P == Piece::B96 || P == Piece::B128;
  if (!HasForm) {
    Err = "no form of this load to LDS";
    return false;
  }
  I.Fn = bufferLoadToLds<P>;
  I.Class = OpClass::Async;
  return true;
}

template <Piece P>
constexpr OpInfo load(const char *Name) {
  return {Name,
          bufferLoad<P>,
          OpClass::Buffer,
          1,
          {Ty::Wide, Ty::Wide, Ty::Wide, Ty::B32},
          prepareLoad<P>};
}
constexpr OpInfo store(const char *Name, Handler Fn) {
  return {
      Name, Fn, OpClass::Buffer, 0, {Ty::Wide, Ty::Wide, Ty::Wide, Ty::B32}};
}
constexpr OpInfo atomic(const char *Name, Handler Fn) {
  return {
      Name, Fn, OpClass::Buffer, 1, {Ty::Wide, Ty::Wide, Ty::Wide, Ty::B32}};
}

#define LOAD(Old, New, P)                                                      \
  load<Piece::P>("buffer_load_" Old), load<Piece::P>("buffer_load_" New)
#define STORE(Old, New, P)                                                     \
  store("buffer_store_" Old, bufferStore<Piece::P>),                           \
      store("buffer_store_" New, bufferStore<Piece::P>)
#define ROW(Suffix, Op, Wide)                                                  \
  atomic("buffer_atomic_" Suffix, bufferAtomic<AtomicOp::Op, Wide>)
#define INT(Old, New, Kind, Op)                                                \
  ROW(Old, Op, false), ROW(Old "_x2", Op, true),                               \
      ROW(New "_" Kind "32", Op, false), ROW(New "_" Kind "64", Op, true)

constexpr OpInfo Table[] = {
    LOAD("ubyte", "u8", U8),
    LOAD("sbyte", "i8", I8),
    LOAD("ushort", "u16", U16),
    LOAD("sshort", "i16", I16),
    LOAD("ubyte_d16", "d16_u8", U8Low),
    LOAD("sbyte_d16", "d16_i8", I8Low),
    LOAD("short_d16", "d16_b16", B16Low),
    LOAD("ubyte_d16_hi", "d16_hi_u8", U8High),
    LOAD("sbyte_d16_hi", "d16_hi_i8", I8High),
    LOAD("short_d16_hi", "d16_hi_b16", B16High),
    LOAD("dword", "b32", B32),
    LOAD("dwordx2", "b64", B64),
    LOAD("dwordx3", "b96", B96),
    LOAD("dwordx4", "b128", B128),
    STORE("byte", "b8", U8),
    STORE("short", "b16", U16),
    STORE("byte_d16_hi", "d16_hi_b8", U8High),
    STORE("short_d16_hi", "d16_hi_b16", B16High),
    STORE("dword", "b32", B32),
    STORE("dwordx2", "b64", B64),
    STORE("dwordx3", "b96", B96),
    STORE("dwordx4", "b128", B128),
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

OpTable bufferOps() { return Table; }

} // namespace pagedattn::emu
