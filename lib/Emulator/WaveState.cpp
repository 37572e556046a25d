//===- WaveState.cpp - Reports and counters of a wave ---------------------===//

#include "Program.h"
#include "Wave.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;

namespace pagedattn::emu {

void Wave::waitFor(Counter C, uint64_t Left) {
  std::deque<PendingOp> &Queue = Pending[unsigned(C)];
  const uint64_t Total = Issued[unsigned(C)];
  while (!Queue.empty() && Total - Queue.front().Number >= Left) {
    PendingOp Op = std::move(Queue.front());
    Queue.pop_front();
    Op.Deliver(*this);
  }
}

void Wave::setVgprMsb(uint8_t Msb) {
  if (Msb == VgprMsb)
    return;
  VgprMsb = Msb;
  Table = Group->Code->table(Msb);
}

void Wave::deliverAll() {
  for (unsigned C = 0; C != NumCounters; ++C)
    waitFor(Counter(C), 0);
}

bool Wave::wantsExample(ReportKind Kind) {
  uint64_t &Count = Thread->Seen[{Current, unsigned(Kind)}];
  return Count++ < std::max(1u, Group->Options->ReportExamples);
}

void Wave::addReport(ReportKind Kind, int Lane, uint64_t Address, uint64_t Size,
                     uint64_t Limit, std::string Text) {
  Group->Reports->add(*this, *Current, Kind, Lane, Address, Size, Limit,
                      std::move(Text));
}

void Wave::fatal(ReportKind Kind, const Twine &Text, int Lane, uint64_t Address,
                 uint64_t Size, uint64_t Limit) {
  Event |= EventFatal;
  Group->Reports->add(*this, *Current, Kind, Lane, Address, Size, Limit,
                      Text.str(), /*Fatal=*/true);
}

} // namespace pagedattn::emu
