//===- BufferResource.h - Buffer descriptors and range checks ---*- C++ -*-===//

#ifndef PAGEDATTN_LIB_EMULATOR_BUFFERRESOURCE_H
#define PAGEDATTN_LIB_EMULATOR_BUFFERRESOURCE_H

#include "WaveAccess.h"

namespace pagedattn::emu {

/// A decoded buffer descriptor.
struct BufferResource {
  uint64_t Base = 0;
  uint64_t NumRecords = 0;
  uint32_t Stride = 0;
  bool Swizzle = false;
  uint32_t IndexStride = 8;
  bool AddTid = false;
  /// Range checks by index instead of by byte.
  bool Structured = false;
  bool Valid = true; ///< false: a field has a value that is not supported

  static BufferResource read(Wave &W, unsigned FirstSgpr);
};

/// Where one lane of a buffer instruction leads.
struct BufferAddress {
  uint64_t Base = 0;   ///< of the buffer, soffset added
  uint32_t Offset = 0; ///< in the buffer; wraps at 32 bits
  uint32_t Index = 0;
  /// The byte offset that the range check sees.
  uint64_t Checked = 0;

  /// True if Bytes at Offset + Delta pass the range check.
  bool inRange(const BufferResource &R, unsigned Delta, unsigned Bytes) const {
    if (R.NumRecords == 0)
      return false;
    if (R.Structured)
      return Index < R.NumRecords;
    return Checked + Delta + Bytes <= R.NumRecords;
  }
  uint64_t device(unsigned Delta) const { return Base + Offset + Delta; }
};

/// Address operands of a buffer instruction: Src[First] is vaddr, then the
/// resource and soffset.
class BufferAccess {
public:
  BufferAccess(Wave &W, const Instruction &I, unsigned First);
  /// False after a fatal report about the descriptor.
  bool valid() const { return Resource.Valid; }
  BufferAddress lane(unsigned Lane) const;
  const BufferResource &resource() const { return Resource; }

  /// Addresses of all lanes if every active one is in range for Bytes and the
  /// layout is linear; false if lanes have to be looked at one by one.
  bool addresses(unsigned Bytes, LaneAddresses &A) const;

  /// Range check of Bytes at Delta behind the lane's address; reports what is
  /// out of range. Bytes is at most a dword.
  bool check(const BufferAddress &A, unsigned Lane, unsigned Delta,
             unsigned Bytes, ReportKind Kind) const;

private:
  Wave &W;
  const Instruction &I;
  const Operand &Vaddr;
  BufferResource Resource;
  uint32_t Soffset;
};

} // namespace pagedattn::emu

#endif // PAGEDATTN_LIB_EMULATOR_BUFFERRESOURCE_H
