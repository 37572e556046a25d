//===- BufferToLds.cpp - Buffer loads to LDS ------------------------------===//
//
// buffer_load_* with the lds modifier: every active lane moves its data to its
// slot behind M0 plus the instruction's offset, which also offsets the buffer
// address. A lane that is out of range writes zero. vmcnt counts the copy and
// its wait delivers it.
//
//===----------------------------------------------------------------------===//

#include "BufferResource.h"
#include "LdsCopy.h"
#include "Ops.h"
#include "llvm/ADT/Twine.h"

namespace pagedattn::emu {

namespace {

enum { AuxBytes, AuxSigned };

void bufferToLds(Wave &W, const Instruction &I) {
  const unsigned Bytes = I.Aux[AuxBytes];
  const unsigned Step = std::min(Bytes, 4u);
  BufferAccess Access(W, I, 0);
  if (!Access.valid())
    return;
  LdsTransfer T;
  forLanes(W.exec(), [&](unsigned Lane) {
    if (W.Event & EventFatal)
      return;
    const BufferAddress A = Access.lane(Lane);
    uint8_t Data[16] = {};
    for (unsigned D = 0; D != Bytes; D += Step)
      if (Access.check(A, Lane, D, Step, ReportKind::OutOfRangeLoad))
        loadGlobal(W, I, int(Lane), A.device(D), Data + D, Step);
    appendM0Slot(W, I, T, Lane, Data, Bytes, I.Aux[AuxSigned]);
  });
  if (!(W.Event & EventFatal))
    deferToLds(W, I, Counter::Load, std::move(T));
}

struct Width {
  const char *Suffix;
  unsigned Bytes;
  bool Signed;
};

constexpr Width Widths[] = {{"ubyte", 1, false},   {"sbyte", 1, true},
                            {"ushort", 2, false},  {"sshort", 2, true},
                            {"dword", 4, false},   {"dwordx3", 12, false},
                            {"dwordx4", 16, false}};

} // namespace

bool prepareBufferToLds(Instruction &I, const ChipInfo &Chip,
                        std::string &Err) {
  llvm::StringRef Name = I.Info->Name;
  for (const Width &X : Widths) {
    if (Name != ("buffer_load_" + llvm::Twine(X.Suffix)).str())
      continue;
    I.Fn = bufferToLds;
    I.Class = OpClass::Async;
    I.Aux[AuxBytes] = X.Bytes;
    I.Aux[AuxSigned] = X.Signed;
    return true;
  }
  Err = "no form of this load goes to LDS";
  return false;
}

} // namespace pagedattn::emu
