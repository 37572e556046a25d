//===- ScalarMemory.cpp - Scalar loads and stores -------------------------===//

#include "BufferResource.h"
#include "Ops.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace pagedattn::emu {

namespace {

enum class Size : uint8_t { U8, I8, U16, I16, D1, D2, D3, D4, D8, D16 };

constexpr unsigned bytes(Size S) {
  switch (S) {
  case Size::U8:
  case Size::I8:
    return 1;
  case Size::U16:
  case Size::I16:
    return 2;
  case Size::D1:
    return 4;
  case Size::D2:
    return 8;
  case Size::D3:
    return 12;
  case Size::D4:
    return 16;
  case Size::D8:
    return 32;
  case Size::D16:
    return 64;
  }
  return 4;
}

/// Offset operand: an immediate or a scalar, and the offset modifier.
int64_t offset(Wave &W, const Instruction &I, unsigned N, unsigned Element) {
  int64_t Offset = I.Mod.Offset;
  if (N >= I.NumSrc)
    return Offset;
  const Operand &O = I.Src[N];
  if (O.isConst())
    return Offset + int32_t(O.Imm);
  int64_t X = uint32_t(readScalar32(W, I, O));
  return Offset + (I.Mod.ScaleOffset ? X * Element : X);
}

template <Size S>
void put(Wave &W, const Operand &Dst, const uint32_t *Data) {
  if (!Dst.isSgpr())
    return;
  uint32_t X = Data[0];
  if (S == Size::I8)
    X = uint32_t(int32_t(int8_t(X)));
  if (S == Size::I16)
    X = uint32_t(int32_t(int16_t(X)));
  if (bytes(S) <= 4) {
    W.S[Dst.Reg] = X;
    return;
  }
  for (unsigned D = 0; D != bytes(S) / 4; ++D)
    W.S[Dst.Reg + D] = Data[D];
}

void countBytes(Wave &W, unsigned Bytes) {
  // loadGlobal counted them as vector memory.
  W.Thread->Loaded[unsigned(MemorySpace::Global)] -= Bytes;
  W.Thread->Loaded[unsigned(MemorySpace::Scalar)] += Bytes;
}

template <Size S>
void load(Wave &W, const Instruction &I) {
  W.issue(W.Chip->Gfx12 ? Counter::Km : Counter::Lgkm);
  uint64_t Address =
      readScalar64(W, I, I.Src[0]) + uint64_t(offset(W, I, 1, bytes(S)));
  if (bytes(S) >= 4)
    Address &= ~uint64_t(3);
  uint32_t Data[16] = {};
  if (loadGlobal(W, I, -1, Address, Data, bytes(S)))
    countBytes(W, bytes(S));
  put<S>(W, I.Dst[0], Data);
}

template <Size S>
void bufferLoad(Wave &W, const Instruction &I) {
  W.issue(W.Chip->Gfx12 ? Counter::Km : Counter::Lgkm);
  const BufferResource R = BufferResource::read(W, I.Src[0].Reg);
  if (!R.Valid)
    return;
  uint64_t Offset = uint64_t(offset(W, I, 1, bytes(S)));
  if (bytes(S) >= 4)
    Offset &= ~uint64_t(3);
  const uint64_t Limit = R.Stride ? R.NumRecords * R.Stride : R.NumRecords;
  constexpr unsigned Step = bytes(S) < 4 ? bytes(S) : 4;
  uint32_t Data[16] = {};
  for (unsigned D = 0; D != bytes(S); D += Step) {
    if (Offset + D + Step <= Limit) {
      if (loadGlobal(W, I, -1, R.Base + Offset + D, Data + D / 4, Step))
        countBytes(W, Step);
      continue;
    }
    W.report(ReportKind::OutOfRangeLoad, -1, Offset + D, Step, Limit, [&] {
      return formatv("scalar load gives zero: {0} bytes at offset {1} do not "
                     "fit the buffer of {2} bytes",
                     Step, Offset + D, Limit)
          .str();
    });
  }
  put<S>(W, I.Dst[0], Data);
}

template <Size S>
void store(Wave &W, const Instruction &I) {
  W.issue(Counter::Lgkm);
  uint64_t Address =
      (readScalar64(W, I, I.Src[1]) + uint64_t(offset(W, I, 2, bytes(S)))) &
      ~uint64_t(3);
  storeGlobal(W, I, -1, Address, &W.S[I.Src[0].Reg], bytes(S));
}

constexpr OpInfo loadOp(const char *Name, Handler Fn) {
  return {Name, Fn, OpClass::ScalarMemory, 1, {Ty::Wide, Ty::B64, Ty::B32}};
}
constexpr OpInfo bufferOp(const char *Name, Handler Fn) {
  return {Name, Fn, OpClass::ScalarMemory, 1, {Ty::Wide, Ty::Wide, Ty::B32}};
}
constexpr OpInfo storeOp(const char *Name, Handler Fn) {
  return {Name, Fn, OpClass::ScalarMemory, 0, {Ty::Wide, Ty::B64, Ty::B32}};
}

#define LOADS(Suffix, S)                                                       \
  loadOp("s_load_" Suffix, load<Size::S>),                                     \
      bufferOp("s_buffer_load_" Suffix, bufferLoad<Size::S>)

constexpr OpInfo Table[] = {
    LOADS("u8", U8),
    LOADS("i8", I8),
    LOADS("u16", U16),
    LOADS("i16", I16),
    LOADS("b32", D1),
    LOADS("b64", D2),
    LOADS("b96", D3),
    LOADS("b128", D4),
    LOADS("b256", D8),
    LOADS("b512", D16),
    LOADS("dword", D1),
    LOADS("dwordx2", D2),
    LOADS("dwordx4", D4),
    LOADS("dwordx8", D8),
    LOADS("dwordx16", D16),
    storeOp("s_store_dword", store<Size::D1>),
    storeOp("s_store_dwordx2", store<Size::D2>),
    storeOp("s_store_dwordx4", store<Size::D4>),
};

} // namespace

OpTable scalarMemoryOps() { return Table; }

} // namespace pagedattn::emu
