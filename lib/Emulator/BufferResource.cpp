//===- BufferResource.cpp - Buffer descriptors and range checks -----------===//

#include "BufferResource.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace pagedattn::emu {

namespace {

/// 48-bit base, 14-bit stride, 32-bit num_records.
BufferResource readGfx9(const uint32_t *D) {
  BufferResource R;
  R.Base = uint64_t(D[0]) | uint64_t(D[1] & 0xffff) << 32;
  R.Stride = (D[1] >> 16) & 0x3fff;
  R.Swizzle = D[1] >> 31;
  R.NumRecords = D[2];
  R.IndexStride = 8u << ((D[3] >> 21) & 3);
  R.AddTid = (D[3] >> 23) & 1;
  // With AddTid the data format extends the stride.
  if (R.AddTid)
    R.Stride |= ((D[3] >> 15) & 0xf) << 14;
  R.Structured = R.Swizzle && R.Stride != 0;
  return R;
}

/// 57-bit base, 45-bit num_records, 14-bit stride and its scale, then a 2-bit
/// range check selection and the type.
BufferResource readWide(Wave &W, const uint32_t *D) {
  BufferResource R;
  R.Base = (uint64_t(D[0]) | uint64_t(D[1]) << 32) & ((uint64_t(1) << 57) - 1);
  R.NumRecords =
      uint64_t(D[1]) >> 25 | uint64_t(D[2]) << 7 | uint64_t(D[3] & 0x3f) << 39;
  R.Stride = (D[3] >> 12) & 0x3fff;
  const unsigned StrideScale = (D[3] >> 26) & 3;
  const unsigned Unknown = (D[3] >> 6) & 0x3f;
  const unsigned RangeCheck = (D[3] >> 28) & 3, Type = D[3] >> 30;
  if (StrideScale || Unknown || Type) {
    W.fatal(ReportKind::UnknownInstruction,
            formatv("buffer descriptor with unsupported fields: last dword "
                    "{0:x8}",
                    D[3])
                .str());
    R.Valid = false;
  }
  // 0 and 1 check the index, 2 only an empty buffer, 3 the byte offset.
  R.Structured = R.Stride != 0 && RangeCheck < 2;
  if (RangeCheck == 2 && R.NumRecords)
    R.NumRecords = ~uint64_t(0) >> 1;
  return R;
}

} // namespace

BufferResource BufferResource::read(Wave &W, unsigned First) {
  const uint32_t *D = &W.S[First];
  return W.Chip->NumRecordsBits > 32 ? readWide(W, D) : readGfx9(D);
}

BufferAccess::BufferAccess(Wave &W, const Instruction &I, unsigned First)
    : W(W), I(I), Vaddr(I.Src[First]) {
  const Operand &Rsrc = I.Src[First + 1];
  if (!Rsrc.isSgpr() || Rsrc.Dwords != 4) {
    W.fatal(ReportKind::UnknownInstruction,
            "buffer resource is not four scalar registers");
    Resource.Valid = false;
    Soffset = 0;
    return;
  }
  Resource = BufferResource::read(W, Rsrc.Reg);
  Soffset = readScalar32(W, I, I.Src[First + 2]);
}

BufferAddress BufferAccess::lane(unsigned Lane) const {
  const Modifiers &M = I.Mod;
  BufferAddress A;
  uint32_t Voffset = 0;
  if (M.Idxen) {
    A.Index = laneValue(W, Vaddr, Lane);
    if (M.Offen)
      Voffset = laneValue(W, Vaddr, Lane, 1);
  } else if (M.Offen) {
    Voffset = laneValue(W, Vaddr, Lane);
  }
  if (Resource.AddTid)
    A.Index += Lane;
  const uint32_t Inner = Voffset + uint32_t(M.Offset);
  A.Base = Resource.Base + Soffset;
  if (Resource.Swizzle && Resource.Stride) {
    // Elements of 4 bytes of IndexStride records are interleaved.
    const uint32_t Element = 4, N = Resource.IndexStride;
    A.Offset = (A.Index / N) * N * Resource.Stride +
               (Inner / Element) * N * Element + (A.Index % N) * Element +
               Inner % Element;
  } else {
    A.Offset = A.Index * Resource.Stride + Inner;
  }
  A.Checked = A.Offset;
  return A;
}

bool BufferAccess::addresses(unsigned Bytes, LaneAddresses &A) const {
  if (I.Mod.Idxen || Resource.AddTid || Resource.Structured)
    return false;
  const uint32_t Inner = uint32_t(I.Mod.Offset);
  if (I.Mod.Offen) {
    if (!Vaddr.isVgpr())
      return false;
    const uint32_t *V = W.V + Vaddr.Offset;
    for (unsigned L = 0; L != W.Lanes; ++L)
      A.A[L] = uint32_t(V[L] + Inner);
  } else {
    for (unsigned L = 0; L != W.Lanes; ++L)
      A.A[L] = Inner;
  }
  A.finish(W, W.exec());
  // With soffset, so that nothing that deserves a note takes this path.
  if (A.High + Bytes + Soffset > Resource.NumRecords)
    return false;
  const uint64_t Base = Resource.Base + Soffset;
  for (unsigned L = 0; L != W.Lanes; ++L)
    A.A[L] += Base;
  A.Low += Base;
  A.High += Base;
  return true;
}

bool BufferAccess::check(const BufferAddress &A, unsigned Lane, unsigned Delta,
                         unsigned Bytes, ReportKind Kind) const {
  if (LLVM_LIKELY(A.inRange(Resource, Delta, Bytes))) {
    // Descriptions differ on whether soffset takes part in the check.
    if (LLVM_UNLIKELY(Soffset && !Resource.Structured &&
                      A.Checked + Delta + Bytes + Soffset >
                          Resource.NumRecords))
      W.report(ReportKind::Other, int(Lane), A.Checked + Delta, Bytes,
               Resource.NumRecords, [&] {
                 return formatv("offset {0} is in range, with soffset {1} it "
                                "passes num_records {2}: hardware may drop "
                                "this access",
                                A.Checked + Delta, Soffset, Resource.NumRecords)
                     .str();
               });
    return true;
  }
  W.report(Kind, int(Lane), A.Checked + Delta, Bytes, Resource.NumRecords, [&] {
    const char *What = Kind == ReportKind::DroppedStore     ? "store dropped"
                       : Kind == ReportKind::OutOfRangeLoad ? "load gives zero"
                                                            : "atomic dropped";
    if (Resource.Structured)
      return formatv("{0}: index {1} is not below num_records {2}", What,
                     A.Index, Resource.NumRecords)
          .str();
    return formatv("{0}: {1} bytes at offset {2} do not fit num_records {3}",
                   What, Bytes, A.Checked + Delta, Resource.NumRecords)
        .str();
  });
  return false;
}

} // namespace pagedattn::emu
