//===- AsyncCopy.cpp - Copies between global memory and LDS ---------------===//
//
// gfx1250: global_load_async_to_lds_* and global_store_async_from_lds_*, with
// an LDS address per lane, counted by ASYNCcnt. gfx942 and gfx950:
// global_load_lds_* with the LDS address in M0 and one slot per lane, counted
// by vmcnt. In all of them the instruction's offset is added to the LDS address
// as well.
//
//===----------------------------------------------------------------------===//

#include "LdsCopy.h"
#include "Operands.h"
#include "Ops.h"

namespace pagedattn::emu {

namespace {

/// Bytes per lane, in Instruction::Aux.
enum { AuxBytes };

/// v[lo:hi] + offset, or s[lo:hi] + v + offset.
uint64_t globalAddress(Wave &W, const Instruction &I, const Operand &Vector,
                       const Operand &Scalar, unsigned Lane, unsigned Bytes) {
  if (Scalar.isSgpr() && Scalar.Reg != RegNull) {
    uint64_t Offset = 0;
    if (!Vector.isNone()) {
      uint32_t X = laneValue(W, Vector, Lane);
      Offset = W.Chip->SignedSaddrOffset ? uint64_t(int64_t(int32_t(X))) : X;
      if (I.Mod.ScaleOffset)
        Offset *= Bytes;
    }
    return W.scalar64(Scalar.Reg) + Offset + int64_t(I.Mod.Offset);
  }
  uint64_t Base = uint64_t(laneValue(W, Vector, Lane, 1)) << 32 |
                  laneValue(W, Vector, Lane);
  return Base + int64_t(I.Mod.Offset);
}

void asyncLoad(Wave &W, const Instruction &I) {
  const unsigned Bytes = I.Aux[AuxBytes];
  LdsTransfer T;
  forLanes(W.exec(), [&](unsigned L) {
    if (W.Event & EventFatal)
      return;
    uint64_t Address = globalAddress(W, I, I.Src[1], I.Src[2], L, Bytes);
    uint32_t To = laneValue(W, I.Src[0], L) + uint32_t(I.Mod.Offset);
    loadGlobal(W, I, int(L), Address, T.append(To, Bytes, int(L)), Bytes);
  });
  if (!(W.Event & EventFatal))
    deferToLds(W, I, Counter::Async, std::move(T));
}

void asyncStore(Wave &W, const Instruction &I) {
  const unsigned Bytes = I.Aux[AuxBytes];
  struct Item {
    uint64_t To;
    uint32_t From;
    unsigned Lane;
  };
  std::vector<Item> Items;
  forLanes(W.exec(), [&](unsigned L) {
    Items.push_back({globalAddress(W, I, I.Src[0], I.Src[2], L, Bytes),
                     laneValue(W, I.Src[1], L) + uint32_t(I.Mod.Offset), L});
  });
  W.defer(Counter::Async, [&I, Bytes, Items = std::move(Items)](Wave &W) {
    AttributeTo Here(W, I);
    for (const Item &X : Items) {
      if (W.Event & EventFatal)
        return;
      uint8_t Data[16];
      W.Group->Lds->load(W, I, X.Lane, X.From, Data, Bytes);
      storeGlobal(W, I, int(X.Lane), X.To, Data, Bytes);
    }
  });
}

/// Bytes and shorts arrive in LDS as dwords, zero- or sign-extended.
template <unsigned Bytes, bool Signed = false>
void loadLds(Wave &W, const Instruction &I) {
  LdsTransfer T;
  forLanes(W.exec(), [&](unsigned L) {
    if (W.Event & EventFatal)
      return;
    uint64_t Address = globalAddress(W, I, I.Src[0], I.Src[1], L, Bytes);
    uint8_t Data[16] = {};
    loadGlobal(W, I, int(L), Address, Data, Bytes);
    appendM0Slot(W, I, T, L, Data, Bytes, Signed);
  });
  if (!(W.Event & EventFatal))
    deferToLds(W, I, Counter::Load, std::move(T));
}

template <unsigned Bytes>
bool prepareAsync(Instruction &I, const ChipInfo &, std::string &Err) {
  if (I.NumSrc != 3) {
    Err = "expected three operands";
    return false;
  }
  I.Aux[AuxBytes] = Bytes;
  return true;
}

template <unsigned Bytes>
constexpr OpInfo async(const char *Name, Handler Fn) {
  return {Name,
          Fn,
          OpClass::Async,
          0,
          {Ty::Wide, Ty::Wide, Ty::Wide},
          prepareAsync<Bytes>};
}

constexpr OpInfo direct(const char *Name, Handler Fn) {
  return {Name, Fn, OpClass::Async, 0, {Ty::Wide, Ty::Wide}};
}

constexpr OpInfo Table[] = {
    async<1>("global_load_async_to_lds_b8", asyncLoad),
    async<4>("global_load_async_to_lds_b32", asyncLoad),
    async<8>("global_load_async_to_lds_b64", asyncLoad),
    async<16>("global_load_async_to_lds_b128", asyncLoad),
    async<1>("global_store_async_from_lds_b8", asyncStore),
    async<4>("global_store_async_from_lds_b32", asyncStore),
    async<8>("global_store_async_from_lds_b64", asyncStore),
    async<16>("global_store_async_from_lds_b128", asyncStore),
    direct("global_load_lds_ubyte", loadLds<1>),
    direct("global_load_lds_sbyte", loadLds<1, true>),
    direct("global_load_lds_ushort", loadLds<2>),
    direct("global_load_lds_sshort", loadLds<2, true>),
    direct("global_load_lds_dword", loadLds<4>),
    direct("global_load_lds_dwordx3", loadLds<12>),
    direct("global_load_lds_dwordx4", loadLds<16>),
};

} // namespace

OpTable asyncOps() { return Table; }

} // namespace pagedattn::emu
