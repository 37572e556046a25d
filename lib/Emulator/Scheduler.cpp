//===- Scheduler.cpp - Interleaves the waves of a workgroup ---------------===//

#include "Launch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace pagedattn::emu {

namespace {

constexpr unsigned DefaultSlice = 256;

struct Random {
  uint64_t State;
  uint32_t next() {
    State ^= State << 13;
    State ^= State >> 7;
    State ^= State << 17;
    return uint32_t(State >> 32);
  }
};

void trace(const Wave &W, const Instruction &I, uint64_t ElfPc) {
  std::string Line;
  raw_string_ostream OS(Line);
  OS << formatv("wg {0},{1},{2} wave {3} {4:x} {5}  exec={6:x} scc={7}\n",
                W.Group->Id[0], W.Group->Id[1], W.Group->Id[2], W.Id, ElfPc,
                I.Text, W.exec(), W.Scc);
  errs() << Line;
}

/// Executes up to Count instructions; returns how many.
unsigned runSlice(const Launch &L, Wave &W, ThreadContext &T, unsigned Count) {
  const uint64_t Base = L.Code->base();
  const uint64_t Size = L.Code->size();
  const bool Tracing = L.Options->TraceFirst <= L.Options->TraceLast;
  uint64_t *Counts = T.Counts.data();
  unsigned Done = 0;
  W.Event = 0;
  while (Done != Count) {
    const uint64_t Offset = W.Pc - Base;
    if (LLVM_UNLIKELY(Offset >= Size || (Offset & 3))) {
      static const Instruction Nowhere;
      if (!W.Current)
        W.Current = &Nowhere;
      W.fatal(
          ReportKind::InvalidAccess,
          formatv("execution leaves the code at address {0:x}", W.Pc).str());
      break;
    }
    const Instruction *I = W.Table[Offset >> 2].load(std::memory_order_acquire);
    if (LLVM_UNLIKELY(!I))
      I = L.Code->decode(W.Table, W.Pc, W.VgprMsb);
    W.Current = I;
    W.Pc += I->Size;
    ++Counts[I->Id];
    ++Done;
    if (LLVM_UNLIKELY(Tracing)) {
      uint64_t Pc = L.Code->elfAddress(I->Pc);
      if (Pc >= L.Options->TraceFirst && Pc <= L.Options->TraceLast)
        trace(W, *I, Pc);
    }
    I->Fn(W, *I);
    if (LLVM_UNLIKELY(W.Event))
      break;
  }
  return Done;
}

/// A wave that waits may go on if its barrier has completed meanwhile.
bool barrierDone(const Workgroup &G, const Wave &W) {
  unsigned B = unsigned(W.WaitingBarrier);
  return G.Barriers[B].Phase != W.SignalPhase[B];
}

/// Completes every barrier all of whose members have arrived.
void completeBarriers(Workgroup &G) {
  for (unsigned B = 0; B != G.Barriers.size(); ++B) {
    BarrierState &S = G.Barriers[B];
    const uint32_t Members = B == 0 ? G.LiveWaves : S.Members;
    if (S.Signalled == 0 || S.Signalled < Members)
      continue;
    S.Signalled = 0;
    ++S.Phase;
  }
}

} // namespace

void runWorkgroup(const Launch &L, Workgroup &G, ThreadContext &T) {
  G.LiveWaves = uint32_t(G.Waves.size());
  G.Barriers.fill(BarrierState());
  uint64_t Budget = L.Options->InstructionBudget;
  Random Rng{L.Options->Seed * 0x9e3779b97f4a7c15u + G.Id[0] * 0x85ebca6bu +
             G.Id[1] * 0xc2b2ae35u + G.Id[2] * 0x27d4eb2fu + 1};

  SmallVector<Wave *, 32> Order;
  for (auto &W : G.Waves)
    Order.push_back(W.get());
  while (!Order.empty() && !L.Reports->stopped()) {
    if (L.Options->Seed)
      for (size_t I = Order.size(); I > 1; --I)
        std::swap(Order[I - 1], Order[Rng.next() % I]);
    bool Progress = false;
    for (size_t N = 0; N < Order.size();) {
      Wave &W = *Order[N];
      if (W.Event & EventBarrier) {
        if (!barrierDone(G, W)) {
          ++N;
          continue;
        }
        ++W.Epoch;
      }
      unsigned Slice = L.Options->Seed     ? 1 + Rng.next() % DefaultSlice
                       : Order.size() == 1 ? 1u << 16
                                           : DefaultSlice;
      unsigned Done = runSlice(L, W, T, Slice);
      Progress |= Done != 0;
      if (W.Event & EventFatal)
        return;
      if (Done >= Budget) {
        W.fatal(ReportKind::NoProgress,
                formatv("the instruction budget of {0} is used up",
                        L.Options->InstructionBudget)
                    .str());
        return;
      }
      Budget -= Done;
      if (W.Event & EventEnd) {
        W.deliverAll();
        --G.LiveWaves;
        Order.erase(Order.begin() + N);
        completeBarriers(G);
        continue;
      }
      completeBarriers(G);
      ++N;
    }
    if (!Progress && !Order.empty()) {
      Wave &W = *Order.front();
      W.fatal(ReportKind::NoProgress,
              formatv("{0} of {1} waves wait at a barrier that cannot complete",
                      Order.size(), G.Waves.size())
                  .str());
      return;
    }
  }
}

} // namespace pagedattn::emu
