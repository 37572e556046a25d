//===- TransposedLoad.cpp - ds_read_*_tr_*, *_load_tr* --------------------===//
//
// Sixteen lanes with E elements each read a matrix of E rows of sixteen, row
// major: row r is what lanes r * (16 / E) .. read. Lane i then gets column i,
// as a matrix instruction wants it.
//
//===----------------------------------------------------------------------===//

#include "Memory.h"
#include "Ops.h"
#include "PagedAttn/Emulator/Formats.h"

namespace pagedattn::emu {

namespace {

constexpr unsigned Group = 16, MaxDwords = 4;

/// What all lanes of the wave read, [lane][dword]; lanes that are off read 0.
using WaveData = uint32_t[MaxLanes][MaxDwords + 1];

template <unsigned ElementBits, unsigned Dwords>
void writeTransposed(Wave &W, const Instruction &I, const WaveData &In) {
  constexpr unsigned Elements = 32 * Dwords / ElementBits;
  constexpr unsigned LanesPerRow = Group / Elements;
  LaneBuffer Out[Dwords];
  for (unsigned Lane = 0; Lane != W.Lanes; ++Lane) {
    const unsigned First = Lane / Group * Group, Column = Lane % Group;
    uint32_t Words[Dwords + 1] = {};
    for (unsigned Row = 0; Row != Elements; ++Row) {
      const unsigned From = First + Row * LanesPerRow + Column / Elements;
      insertPacked(Words, Row, ElementBits,
                   extractPacked(In[From], Column % Elements, ElementBits));
    }
    for (unsigned D = 0; D != Dwords; ++D)
      Out[D].D[Lane] = Words[D];
  }
  for (unsigned D = 0; D != Dwords; ++D)
    writeVector(W, I, Out[D].D, D);
}

template <unsigned ElementBits, unsigned Dwords>
void fromLds(Wave &W, const Instruction &I) {
  W.issue(Counter::Lgkm);
  WaveData In = {};
  forLanes(W.exec(), [&](unsigned Lane) {
    uint32_t Address = laneValue(W, I.Src[0], Lane) + uint32_t(I.Mod.Offset);
    W.Group->Lds->load(W, I, Lane, Address, In[Lane], 4 * Dwords);
  });
  writeTransposed<ElementBits, Dwords>(W, I, In);
}

template <unsigned ElementBits, unsigned Dwords>
void fromGlobal(Wave &W, const Instruction &I) {
  countLoad(W);
  WaveData In = {};
  forLanes(W.exec(), [&](unsigned Lane) {
    if (!(W.Event & EventFatal))
      loadGlobal(W, I, int(Lane), globalAddress(W, I, Lane, 1, 4 * Dwords),
                 In[Lane], 4 * Dwords);
  });
  writeTransposed<ElementBits, Dwords>(W, I, In);
}

constexpr OpInfo lds(const char *Name, Handler Fn) {
  return {Name, Fn, OpClass::Lds, 1, {Ty::Wide, Ty::Wide}};
}
constexpr OpInfo global(const char *Name, Handler Fn) {
  return {Name, Fn, OpClass::Global, 1, {Ty::Wide, Ty::Wide, Ty::Wide}};
}

constexpr OpInfo Table[] = {
    lds("ds_read_b64_tr_b16", fromLds<16, 2>),
    lds("ds_read_b64_tr_b8", fromLds<8, 2>),
    lds("ds_read_b96_tr_b6", fromLds<6, 3>),
    lds("ds_read_b64_tr_b4", fromLds<4, 2>),
    lds("ds_load_tr16_b128", fromLds<16, 4>),
    lds("ds_load_tr8_b64", fromLds<8, 2>),
    lds("ds_load_tr6_b96", fromLds<6, 3>),
    lds("ds_load_tr4_b64", fromLds<4, 2>),
    global("global_load_tr16_b128", fromGlobal<16, 4>),
    global("global_load_tr8_b64", fromGlobal<8, 2>),
    global("global_load_tr6_b96", fromGlobal<6, 3>),
    global("global_load_tr4_b64", fromGlobal<4, 2>),
};

} // namespace

OpTable transposedLoadOps() { return Table; }

} // namespace pagedattn::emu
