//===- Compare.cpp - Buffers against what the spec expects ----------------===//

#include "Compare.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstring>

using namespace llvm;
using namespace pagedattn;
using namespace pagedattn::run;

namespace {

constexpr unsigned MaxShown = 8;

struct LoadedPiece {
  const Piece *P;
  std::unique_ptr<MemoryBuffer> File;
  const uint8_t *row(uint64_t R) const {
    return reinterpret_cast<const uint8_t *>(File->getBufferStart()) +
           R * P->RowBytes;
  }
};

/// max |expected|, to which rtol is relative. Infinities and NaNs are compared
/// by themselves.
double largest(const std::vector<LoadedPiece> &Pieces, const DataType &Type) {
  double Max = 0;
  for (const LoadedPiece &L : Pieces)
    for (uint64_t B = 0; B + Type.Bytes <= L.P->Rows * L.P->RowBytes;
         B += Type.Bytes) {
      double X = std::fabs(Type.ToDouble(L.row(0) + B));
      if (std::isfinite(X) && X > Max)
        Max = X;
    }
  return Max;
}

/// The error of one element; infinite where a NaN or infinity does not match.
double errorOf(double Got, double Want) {
  if (std::isnan(Want) || std::isnan(Got))
    return std::isnan(Want) && std::isnan(Got) ? 0 : INFINITY;
  if (std::isinf(Want) || std::isinf(Got))
    return Got == Want ? 0 : INFINITY;
  return std::fabs(Got - Want);
}

void compareRow(const emu::Device &Dev, uint64_t Address, const uint8_t *Got,
                const uint8_t *Want, uint64_t Bytes, uint64_t FirstElement,
                const DataType &Type, BufferResult &R) {
  const uint64_t Count = Bytes / Type.Bytes;
  R.Elements += Count;
  if (std::memcmp(Got, Want, Bytes) == 0)
    return;
  for (uint64_t E = 0; E != Count; ++E) {
    const uint8_t *G = Got + E * Type.Bytes, *W = Want + E * Type.Bytes;
    if (std::memcmp(G, W, Type.Bytes) == 0)
      continue;
    double GotValue = Type.ToDouble(G), WantValue = Type.ToDouble(W);
    double Error = errorOf(GotValue, WantValue);
    if (!(Error <= R.MaxError))
      R.MaxError = Error;
    if (R.Tolerance > 0 && Error <= R.Tolerance)
      continue;
    ++R.Differing;
    bool Written =
        Dev.countWritten(Address + E * Type.Bytes, Type.Bytes) == Type.Bytes;
    R.NeverWritten += !Written;
    if (R.First.size() < MaxShown)
      R.First.push_back({FirstElement + E, GotValue, WantValue, Written});
  }
}

void measureCoverage(const emu::Device &Dev, const Coverage &C,
                     uint64_t Address, BufferResult &R) {
  R.HasCoverage = true;
  R.RowsExpected = C.Rows;
  for (uint64_t Row = 0; Row != C.Rows; ++Row) {
    uint64_t Written =
        Dev.countWritten(Address + C.Offset + Row * C.StrideBytes, C.RowBytes);
    R.RowsWritten += Written == C.RowBytes;
    if (Written == 0 && C.RowBytes != 0) {
      ++R.RowsUntouched;
      if (!R.FirstUntouched)
        R.FirstUntouched = Row;
    }
  }
}

} // namespace

Expected<BufferResult> pagedattn::run::compareBuffer(const emu::Device &Dev,
                                                     const ArgSpec &Arg,
                                                     uint64_t Address,
                                                     double Rtol) {
  BufferResult R;
  R.Name = Arg.Name;
  if (Arg.Written)
    measureCoverage(Dev, *Arg.Written, Address, R);
  if (Arg.Expected.empty())
    return R;
  R.Compared = true;

  std::vector<LoadedPiece> Pieces;
  for (const Piece &P : Arg.Expected) {
    auto File = MemoryBuffer::getFile(P.File, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
    if (!File)
      return createStringError(File.getError(),
                               "cannot read '" + Twine(P.File) +
                                   "': " + File.getError().message());
    if ((*File)->getBufferSize() < P.Rows * P.RowBytes)
      return createStringError(inconvertibleErrorCode(),
                               "'" + Twine(P.File) +
                                   "' changed while the kernel ran");
    Pieces.push_back({&P, std::move(*File)});
  }

  const DataType &Type = *Arg.Type;
  if (Rtol > 0)
    R.Tolerance = Rtol * largest(Pieces, Type);
  for (const LoadedPiece &L : Pieces)
    for (uint64_t Row = 0; Row != L.P->Rows; ++Row) {
      uint64_t Offset = L.P->Offset + Row * L.P->StrideBytes;
      const uint8_t *Got = Dev.hostPointer(Address + Offset, L.P->RowBytes);
      if (!Got)
        return createStringError(inconvertibleErrorCode(),
                                 "buffer '" + Twine(Arg.Name) +
                                     "' is no longer in device memory");
      compareRow(Dev, Address + Offset, Got, L.row(Row), L.P->RowBytes,
                 Offset / Type.Bytes, Type, R);
    }
  return R;
}

void pagedattn::run::writeResult(raw_ostream &OS, const BufferResult &R) {
  if (R.Compared) {
    OS << "buffer " << R.Name << ": ";
    if (R.Differing == 0) {
      OS << R.Elements << " elements as expected, max error "
         << format("%g", R.MaxError) << '\n';
    } else {
      OS << R.Differing << " of " << R.Elements
         << " elements differ, max error " << format("%g", R.MaxError)
         << ", tolerance " << format("%g", R.Tolerance) << ", "
         << R.NeverWritten << " of them never written\n";
      for (const Difference &D : R.First)
        OS << "    [" << D.Element << "] got " << format("%.9g", D.Got)
           << ", expected " << format("%.9g", D.Expected)
           << (D.Written ? "" : ", never written") << '\n';
    }
  }
  if (R.HasCoverage) {
    OS << "buffer " << R.Name << ": " << R.RowsExpected << " rows expected, "
       << R.RowsWritten << " written";
    if (R.RowsWritten != R.RowsExpected)
      OS << ", " << R.RowsUntouched << " untouched";
    if (R.FirstUntouched)
      OS << ", first untouched row " << *R.FirstUntouched;
    OS << '\n';
  }
}

/// JSON has no infinities or NaNs.
static json::Value number(double X) {
  if (std::isfinite(X))
    return X;
  return std::isnan(X) ? "nan" : X > 0 ? "inf" : "-inf";
}

json::Object pagedattn::run::resultToJson(const BufferResult &R) {
  json::Object O{{"name", json::fixUTF8(R.Name)}, {"ok", R.ok()}};
  if (R.Compared) {
    O["elements"] = int64_t(R.Elements);
    O["differing"] = int64_t(R.Differing);
    O["never_written"] = int64_t(R.NeverWritten);
    O["max_error"] = number(R.MaxError);
    O["tolerance"] = number(R.Tolerance);
    json::Array First;
    for (const Difference &D : R.First)
      First.push_back(json::Object{{"element", int64_t(D.Element)},
                                   {"got", number(D.Got)},
                                   {"expected", number(D.Expected)},
                                   {"written", D.Written}});
    O["first"] = std::move(First);
  }
  if (R.HasCoverage) {
    O["rows_expected"] = int64_t(R.RowsExpected);
    O["rows_written"] = int64_t(R.RowsWritten);
    O["rows_untouched"] = int64_t(R.RowsUntouched);
    if (R.FirstUntouched)
      O["first_untouched_row"] = int64_t(*R.FirstUntouched);
  }
  return O;
}
