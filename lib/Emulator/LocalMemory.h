//===- LocalMemory.h - LDS of one workgroup ---------------------*- C++ -*-===//

#ifndef PAGEDATTN_LIB_EMULATOR_LOCALMEMORY_H
#define PAGEDATTN_LIB_EMULATOR_LOCALMEMORY_H

#include <cstdint>
#include <vector>

namespace pagedattn::emu {

struct Wave;
struct Instruction;

/// LDS bytes with what the checks need. One object per host thread, reset for
/// each workgroup.
class LocalMemory {
public:
  void reset(uint32_t Bytes);
  uint32_t size() const { return Size; }
  uint8_t *data() { return Bytes.data(); }

  /// Checked access of one lane. False after an out-of-range report: a load
  /// then gives zero and a store is dropped.
  bool load(Wave &W, const Instruction &I, unsigned Lane, uint32_t Address,
            void *To, unsigned Bytes);
  bool store(Wave &W, const Instruction &I, unsigned Lane, uint32_t Address,
             const void *From, unsigned Bytes);
  /// Checks as for a load and a store at once; null if out of range.
  uint8_t *atomic(Wave &W, const Instruction &I, unsigned Lane,
                  uint32_t Address, unsigned Bytes);

  /// An asynchronous copy to the range was issued; reading it before
  /// completePending is reported. Ranges beyond the end are ignored.
  void markPending(uint32_t Address, uint32_t Bytes);
  void completePending(uint32_t Address, uint32_t Bytes);

private:
  struct Access {
    uint32_t WriteEpoch = 0, ReadEpoch = 0;
    uint8_t WriteWave = 0, WriteMask = 0, ReadWave = 0, ReadMask = 0;
  };
  static constexpr uint8_t ManyWaves = 0xff;
  void checkWords(Wave &W, const Instruction &I, unsigned Lane,
                  uint32_t Address, unsigned Bytes, bool Read, bool Write);

  uint32_t Size = 0;
  std::vector<uint8_t> Bytes;
  /// Per dword: low nibble defined bytes, bit 4 an asynchronous copy pending.
  std::vector<uint8_t> Shadow;
  std::vector<Access> Accesses;
  friend struct Wave;

public:
  /// Grows over the workgroups of a thread, so that a reset need not clear
  /// the access records.
  uint32_t EpochBase = 1;
};

} // namespace pagedattn::emu

#endif // PAGEDATTN_LIB_EMULATOR_LOCALMEMORY_H
