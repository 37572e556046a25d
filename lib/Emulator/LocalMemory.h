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

  /// All active lanes at once, Dwords each at an aligned address: the common
  /// case. False, with nothing done, if some lane has something to report.
  template <unsigned Dwords>
  bool loadWave(Wave &W, const uint32_t *Addresses, uint32_t *To);
  template <unsigned Dwords>
  bool storeWave(Wave &W, const uint32_t *Addresses, const uint32_t *From);

  /// An asynchronous copy to the range was issued; reading it before
  /// completePending is reported. Ranges beyond the end are ignored.
  void markPending(uint32_t Address, uint32_t Bytes);
  void completePending(uint32_t Address, uint32_t Bytes);

private:
  static constexpr uint8_t ManyWaves = 0xff;
  void checkWords(Wave &W, const Instruction &I, unsigned Lane,
                  uint32_t Address, unsigned Bytes, bool Read, bool Write);

  uint32_t Size = 0;
  std::vector<uint8_t> Bytes;
  /// Per dword: low nibble defined bytes, bit 4 an asynchronous copy pending.
  std::vector<uint8_t> Shadow;
  /// Per dword, who wrote and who read it last: epoch << 8 | wave, and the
  /// bytes concerned.
  std::vector<uint32_t> WriteTags, ReadTags;
  std::vector<uint8_t> WriteMasks, ReadMasks;

public:
  /// Grows over the workgroups of a thread, so that a reset need not clear
  /// the access records.
  uint32_t EpochBase = 1;
};

} // namespace pagedattn::emu

#endif // PAGEDATTN_LIB_EMULATOR_LOCALMEMORY_H
