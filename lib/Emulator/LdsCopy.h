//===- LdsCopy.h - Copies to LDS that complete at a wait --------*- C++ -*-===//
//
// Every copy between memory and LDS that does not pass through registers reads
// its source when it is issued (loads) or when it is waited for (stores), and
// writes its destination at the wait. Both are legal, and both are the order
// that shows a missing wait: a load that is not waited for has not arrived, and
// LDS that is overwritten before a store is waited for corrupts the store.
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_LIB_EMULATOR_LDSCOPY_H
#define PAGEDATTN_LIB_EMULATOR_LDSCOPY_H

#include "Wave.h"
#include <vector>

namespace pagedattn::emu {

/// Bytes on their way to LDS: runs of one buffer with their addresses.
struct LdsTransfer {
  struct Run {
    uint32_t Address;
    uint32_t Bytes;
    uint32_t At; ///< position in Data
    int16_t Lane;
  };
  std::vector<Run> Runs;
  std::vector<uint8_t> Data;

  /// Appends a run and returns where its bytes go. The pointer is valid until
  /// the next append.
  uint8_t *append(uint32_t Address, uint32_t Bytes, int Lane);
};

/// Marks the LDS ranges as pending and delivers them at a wait for C.
void deferToLds(Wave &W, const Instruction &I, Counter C,
                LdsTransfer &&Transfer);

/// Appends one lane's data of a load whose LDS address is in M0: lane L has
/// slot L, inactive lanes leave theirs alone. Less than a dword is extended to
/// one.
void appendM0Slot(Wave &W, const Instruction &I, LdsTransfer &Transfer,
                  unsigned Lane, const uint8_t *Data, unsigned Bytes,
                  bool Signed);

/// While it lives, reports are attributed to an earlier instruction.
class AttributeTo {
public:
  AttributeTo(Wave &W, const Instruction &I) : W(W), Saved(W.Current) {
    W.Current = &I;
  }
  ~AttributeTo() { W.Current = Saved; }

private:
  Wave &W;
  const Instruction *Saved;
};

} // namespace pagedattn::emu

#endif // PAGEDATTN_LIB_EMULATOR_LDSCOPY_H
