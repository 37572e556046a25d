//===- WaveSetup.cpp - Registers at the start of a wave -------------------===//

#include "Launch.h"

namespace pagedattn::emu {

namespace {

/// Fields of the descriptor's kernel code properties, in SGPR order.
enum Property : uint16_t {
  PrivateSegmentBuffer = 1 << 0,
  DispatchPtr = 1 << 1,
  QueuePtr = 1 << 2,
  KernargPtr = 1 << 3,
  DispatchId = 1 << 4,
  FlatScratchInit = 1 << 5,
  PrivateSegmentSize = 1 << 6,
};

uint32_t modeFromRsrc1(uint32_t Rsrc1, const ChipInfo &Chip) {
  uint32_t Mode = (Rsrc1 >> 12) & 0xff;
  // GFX12 has neither bit: it always clamps NaN to zero and quiets NaNs.
  if (Chip.Gfx12 || (Rsrc1 >> 21) & 1)
    Mode |= 0x100;
  if (Chip.Gfx12 || (Rsrc1 >> 23) & 1)
    Mode |= 0x200;
  if ((Rsrc1 >> 26) & 1)
    Mode |= 0x800000;
  return Mode;
}

} // namespace

void initialiseWave(const Launch &L, Workgroup &G, Wave &W) {
  const KernelDescriptor &D = L.Descriptor;
  W.S.fill(0);
  W.Scc = false;
  W.Event = 0;
  W.Epoch = 0;
  W.VgprMsb = 0;
  W.Table = L.Code->table(0);
  W.Recent.fill(nullptr);
  W.Issued.fill(0);
  for (auto &Queue : W.Pending)
    Queue.clear();
  W.SignalPhase.fill(0);
  W.WaitingBarrier = 0;
  W.JoinedBarrier = 0;
  W.Current = nullptr;
  W.setMode(modeFromRsrc1(D.Rsrc1, *L.Chip));

  unsigned Next = 0;
  auto Push64 = [&](uint64_t X) {
    W.S[Next] = uint32_t(X);
    W.S[Next + 1] = uint32_t(X >> 32);
    Next += 2;
  };
  if (D.Properties & PrivateSegmentBuffer)
    Next += 4;
  if (D.Properties & DispatchPtr)
    Push64(L.DispatchPacket);
  if (D.Properties & QueuePtr)
    Push64(0);
  if (D.Properties & KernargPtr)
    Push64(L.KernargAddress);
  if (D.Properties & DispatchId)
    Push64(0);
  if (D.Properties & FlatScratchInit)
    Push64(0);
  if (D.Properties & PrivateSegmentSize)
    W.S[Next++] = L.K->ScratchBytes;
  const unsigned Preloaded = D.preloadLength();
  for (unsigned I = 0; I != Preloaded && Next < 32; ++I, ++Next)
    std::memcpy(&W.S[Next], L.Kernarg + 4 * (D.preloadOffset() + I), 4);
  const unsigned UserSgprs = (D.Rsrc2 >> 1) & (L.Chip->Gfx12 ? 0x3f : 0x1f);
  Next = std::max(Next, UserSgprs);

  if (L.Chip->WorkgroupIdInTtmp) {
    W.S[RegTtmp0 + 9] = G.Id[0];
    W.S[RegTtmp0 + 7] = (G.Id[1] & 0xffff) | G.Id[2] << 16;
  } else {
    for (unsigned Axis = 0; Axis != 3; ++Axis)
      if ((D.Rsrc2 >> (7 + Axis)) & 1)
        W.S[Next++] = G.Id[Axis];
    if ((D.Rsrc2 >> 10) & 1)
      W.S[Next++] = W.Id | (L.WavesPerGroup << 6);
  }
  // Scratch addresses of the flat space are an aperture and a lane number
  // where the chip has them, see the flat instructions.
  if (L.Chip->Gfx12)
    W.setScalar64(RegFlatScrLo, uint64_t(1) << 58);

  const uint64_t Items = uint64_t(L.Block.X) * L.Block.Y * L.Block.Z;
  const uint64_t First = uint64_t(W.Id) * W.Lanes;
  const uint64_t Live = std::min<uint64_t>(W.Lanes, Items - First);
  W.setExec(Live == 64 ? ~uint64_t(0) : (uint64_t(1) << Live) - 1);
  for (unsigned Lane = 0; Lane != Live; ++Lane) {
    uint64_t Flat = First + Lane;
    uint32_t X = uint32_t(Flat % L.Block.X);
    uint32_t Y = uint32_t(Flat / L.Block.X % L.Block.Y);
    uint32_t Z = uint32_t(Flat / L.Block.X / L.Block.Y);
    W.V[Lane] = X | Y << 10 | Z << 20;
  }

  W.Pc = L.K->EntryAddress;
  // Code for chips that may lack preloading starts with 256 bytes that load
  // the arguments; firmware that preloads skips them.
  if (Preloaded && !L.Chip->Gfx12)
    W.Pc += 256;
}

} // namespace pagedattn::emu
