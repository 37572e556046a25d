//===- Spec.cpp - What pa-run is asked to run -----------------------------===//

#include "Spec.h"
#include "PagedAttn/Emulator/Formats.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <cmath>
#include <limits>

using namespace llvm;
using namespace pagedattn;
using namespace pagedattn::run;

namespace {

StringRef kindName(const json::Value &V) {
  switch (V.kind()) {
  case json::Value::Null:
    return "null";
  case json::Value::Boolean:
    return "a boolean";
  case json::Value::Number:
    return "a number";
  case json::Value::String:
    return "a string";
  case json::Value::Array:
    return "an array";
  case json::Value::Object:
    return "an object";
  }
  return "a value";
}

/// Walks one spec; knows the file for messages and its directory for paths.
class Reader {
public:
  explicit Reader(StringRef Path)
      : Path(Path), Directory(sys::path::parent_path(Path)) {}

  Expected<Spec> read();

private:
  Error fail(const Twine &Where, const Twine &What) const {
    return createStringError(inconvertibleErrorCode(),
                             Twine(Path) + ": " + Where + ": " + What);
  }
  Error expected(const Twine &Where, StringRef Wanted,
                 const json::Value &Found) const {
    return fail(Where, "expected " + Wanted + ", found " + kindName(Found));
  }
  Error unknownKeys(const json::Object &O, const Twine &Where,
                    ArrayRef<StringRef> Known) const;

  Error readUnsigned(const json::Value &V, const Twine &Where, uint64_t Max,
                     uint64_t &To) const;
  /// Optional key; To keeps its value if the key is absent.
  Error readUnsigned(const json::Object &O, StringRef Key, const Twine &Where,
                     uint64_t Max, uint64_t &To) const;
  Error readString(const json::Object &O, StringRef Key, const Twine &Where,
                   bool Required, std::string &To) const;
  Error readDim(const json::Object &O, StringRef Key, emu::Dim3 &To) const;
  Error readArg(const json::Value &V, const Twine &Where, ArgSpec &Arg) const;
  Error readBuffer(const json::Object &O, const Twine &Where,
                   ArgSpec &Arg) const;
  Error readScalar(const json::Object &O, const Twine &Where,
                   const DataType &Type, ArgSpec &Arg) const;
  Error readInit(const json::Value &V, const Twine &Where, uint64_t Bytes,
                 InitSpec &Init) const;
  Error readPieces(const json::Object &O, const Twine &Where, uint64_t Bytes,
                   std::vector<Piece> &Pieces) const;
  Error readPiece(const json::Value &V, const Twine &Where, bool Strided,
                  uint64_t Bytes, Piece &P) const;
  Error wholeFile(StringRef Name, const Twine &Where, uint64_t Bytes,
                  Piece &P) const;
  Error readCoverage(const json::Value &V, const Twine &Where, uint64_t Bytes,
                     Coverage &C) const;
  std::string resolve(StringRef Name) const {
    if (sys::path::is_absolute(Name))
      return Name.str();
    SmallString<256> Full(Directory);
    sys::path::append(Full, Name);
    return Full.str().str();
  }
  Error fileSize(StringRef File, const Twine &Where, uint64_t &Size) const;

  StringRef Path;
  StringRef Directory;
};

Error Reader::unknownKeys(const json::Object &O, const Twine &Where,
                          ArrayRef<StringRef> Known) const {
  for (const auto &Entry : O)
    if (!is_contained(Known, StringRef(Entry.first)))
      return fail(Where, "unknown key '" + StringRef(Entry.first) +
                             "', expected one of: " + join(Known, ", "));
  return Error::success();
}

Error Reader::readUnsigned(const json::Value &V, const Twine &Where,
                           uint64_t Max, uint64_t &To) const {
  std::optional<uint64_t> X = V.getAsUINT64();
  if (!X) {
    if (V.kind() == json::Value::Number)
      return fail(Where, "expected an integer of at least 0");
    return expected(Where, "an integer", V);
  }
  if (*X > Max)
    return fail(Where,
                "expected at most " + Twine(Max) + ", found " + Twine(*X));
  To = *X;
  return Error::success();
}

Error Reader::readUnsigned(const json::Object &O, StringRef Key,
                           const Twine &Where, uint64_t Max,
                           uint64_t &To) const {
  if (const json::Value *V = O.get(Key))
    return readUnsigned(*V, Where + "." + Key, Max, To);
  return Error::success();
}

Error Reader::readString(const json::Object &O, StringRef Key,
                         const Twine &Where, bool Required,
                         std::string &To) const {
  const json::Value *V = O.get(Key);
  if (!V)
    return Required ? fail(Where, "missing key '" + Key + "'")
                    : Error::success();
  if (std::optional<StringRef> S = V->getAsString()) {
    To = S->str();
    return Error::success();
  }
  return expected(Where + "." + Key, "a string", *V);
}

Error Reader::readDim(const json::Object &O, StringRef Key,
                      emu::Dim3 &To) const {
  const json::Value *V = O.get(Key);
  if (!V)
    return fail("spec", "missing key '" + Key + "'");
  const json::Array *A = V->getAsArray();
  if (!A)
    return expected(Key, "an array of 1 to 3 integers", *V);
  if (A->empty() || A->size() > 3)
    return fail(Key, "expected 1 to 3 integers, found " + Twine(A->size()));
  uint32_t *Fields[] = {&To.X, &To.Y, &To.Z};
  for (unsigned I = 0; I != A->size(); ++I) {
    uint64_t X = 0;
    std::string Where = (Key + "[" + Twine(I) + "]").str();
    if (Error E = readUnsigned((*A)[I], Where, UINT32_MAX, X))
      return E;
    if (X == 0)
      return fail(Where, "expected at least 1, found 0");
    *Fields[I] = uint32_t(X);
  }
  return Error::success();
}

Error Reader::fileSize(StringRef File, const Twine &Where,
                       uint64_t &Size) const {
  if (std::error_code EC = sys::fs::file_size(File, Size))
    return fail(Where, "cannot read '" + File + "': " + EC.message());
  return Error::success();
}

Error Reader::wholeFile(StringRef Name, const Twine &Where, uint64_t Bytes,
                        Piece &P) const {
  P.File = resolve(Name);
  uint64_t Size = 0;
  if (Error E = fileSize(P.File, Where, Size))
    return E;
  if (Size != Bytes)
    return fail(Where, "'" + P.File + "' has " + Twine(Size) +
                           " bytes, expected the buffer's " + Twine(Bytes));
  P.Rows = 1;
  P.RowBytes = P.StrideBytes = Bytes;
  return Error::success();
}

/// {"file", "offset"} or, strided, {"file", "offset", "row_bytes",
/// "stride_bytes"}.
Error Reader::readPiece(const json::Value &V, const Twine &Where, bool Strided,
                        uint64_t Bytes, Piece &P) const {
  const json::Object *O = V.getAsObject();
  if (!O)
    return expected(Where, "an object", V);
  SmallVector<StringRef, 4> Known{"file", "offset"};
  if (Strided)
    Known.append({"row_bytes", "stride_bytes"});
  if (Error E = unknownKeys(*O, Where, Known))
    return E;
  std::string Name;
  if (Error E = readString(*O, "file", Where, true, Name))
    return E;
  P.File = resolve(Name);
  uint64_t Size = 0;
  if (Error E = fileSize(P.File, Where + ".file", Size))
    return E;
  if (Error E = readUnsigned(*O, "offset", Where, Bytes, P.Offset))
    return E;
  P.RowBytes = P.StrideBytes = Size;
  P.Rows = Size ? 1 : 0;
  if (Strided) {
    if (Error E = readUnsigned(*O, "row_bytes", Where, UINT64_MAX, P.RowBytes))
      return E;
    P.StrideBytes = P.RowBytes;
    if (Error E =
            readUnsigned(*O, "stride_bytes", Where, UINT64_MAX, P.StrideBytes))
      return E;
    if (P.RowBytes == 0 || Size % P.RowBytes)
      return fail(Where + ".row_bytes",
                  "'" + P.File + "' has " + Twine(Size) +
                      " bytes, which are no whole rows of " +
                      Twine(P.RowBytes));
    P.Rows = Size / P.RowBytes;
  }
  if (P.Rows == 0)
    return Error::success();
  uint64_t Room = Bytes - P.Offset;
  if (P.RowBytes > Room ||
      (P.Rows > 1 && (P.Rows - 1) > (Room - P.RowBytes) /
                                        std::max<uint64_t>(P.StrideBytes, 1)))
    return fail(Where,
                "rows end beyond the buffer's " + Twine(Bytes) + " bytes");
  return Error::success();
}

Error Reader::readPieces(const json::Object &O, const Twine &Where,
                         uint64_t Bytes, std::vector<Piece> &Pieces) const {
  if (const json::Value *V = O.get("strided")) {
    Pieces.emplace_back();
    if (Error E = readPiece(*V, Where + ".strided", true, Bytes, Pieces.back()))
      return E;
  }
  if (const json::Value *V = O.get("sparse")) {
    const json::Array *A = V->getAsArray();
    if (!A)
      return expected(Where + ".sparse", "an array", *V);
    for (unsigned I = 0; I != A->size(); ++I) {
      Pieces.emplace_back();
      if (Error E = readPiece((*A)[I], Where + ".sparse[" + Twine(I) + "]",
                              false, Bytes, Pieces.back()))
        return E;
    }
  }
  return Error::success();
}

Error Reader::readInit(const json::Value &V, const Twine &Where, uint64_t Bytes,
                       InitSpec &Init) const {
  if (std::optional<StringRef> Name = V.getAsString()) {
    if (*Name == "zero") {
      Init.Fill = InitSpec::Base::Zero;
      return Error::success();
    }
    Init.Pieces.emplace_back();
    return wholeFile(*Name, Where, Bytes, Init.Pieces.back());
  }
  const json::Object *O = V.getAsObject();
  if (!O)
    return expected(Where, "a file name, \"zero\" or an object", V);
  if (Error E = unknownKeys(*O, Where, {"fill_u32", "strided", "sparse"}))
    return E;
  if (O->get("fill_u32")) {
    uint64_t X = 0;
    if (Error E = readUnsigned(*O, "fill_u32", Where, UINT32_MAX, X))
      return E;
    Init.Fill = X ? InitSpec::Base::Pattern : InitSpec::Base::Zero;
    Init.Pattern = uint32_t(X);
    if (X && Bytes % 4)
      return fail(Where + ".fill_u32", "the buffer's " + Twine(Bytes) +
                                           " bytes are no multiple of 4");
  }
  return readPieces(*O, Where, Bytes, Init.Pieces);
}

Error Reader::readCoverage(const json::Value &V, const Twine &Where,
                           uint64_t Bytes, Coverage &C) const {
  const json::Object *O = V.getAsObject();
  if (!O)
    return expected(Where, "an object", V);
  if (Error E = unknownKeys(*O, Where,
                            {"offset", "rows", "row_bytes", "stride_bytes"}))
    return E;
  C.Rows = 1;
  C.RowBytes = Bytes;
  if (Error E = readUnsigned(*O, "offset", Where, Bytes, C.Offset))
    return E;
  if (Error E = readUnsigned(*O, "rows", Where, UINT64_MAX, C.Rows))
    return E;
  if (Error E = readUnsigned(*O, "row_bytes", Where, Bytes, C.RowBytes))
    return E;
  C.StrideBytes = C.RowBytes;
  if (Error E =
          readUnsigned(*O, "stride_bytes", Where, UINT64_MAX, C.StrideBytes))
    return E;
  uint64_t Room = Bytes - C.Offset;
  if (C.Rows &&
      (C.RowBytes > Room ||
       (C.Rows > 1 && C.Rows - 1 > (Room - C.RowBytes) /
                                       std::max<uint64_t>(C.StrideBytes, 1))))
    return fail(Where,
                "rows end beyond the buffer's " + Twine(Bytes) + " bytes");
  return Error::success();
}

Error Reader::readBuffer(const json::Object &O, const Twine &Where,
                         ArgSpec &Arg) const {
  if (Error E = unknownKeys(O, Where,
                            {"name", "type", "bytes", "init", "dtype", "shape",
                             "expected", "expected_dtype", "out",
                             "pointer_offset", "written"}))
    return E;
  Arg.IsBuffer = true;
  if (!O.get("bytes"))
    return fail(Where, "missing key 'bytes'");
  if (Error E = readUnsigned(O, "bytes", Where, uint64_t(1) << 46, Arg.Bytes))
    return E;
  if (Error E = readUnsigned(O, "pointer_offset", Where, Arg.Bytes,
                             Arg.PointerOffset))
    return E;
  if (const json::Value *Init = O.get("init"))
    if (Error E = readInit(*Init, Where + ".init", Arg.Bytes, Arg.Init))
      return E;
  std::string Type;
  if (Error E = readString(O, "dtype", Where, false, Type))
    return E;
  if (Error E = readString(O, "expected_dtype", Where, false, Type))
    return E;
  if (!Type.empty() && !(Arg.Type = findDataType(Type)))
    return fail(Where, "unknown dtype '" + Type +
                           "', expected one of: " + dataTypeNames());
  if (Error E = readString(O, "out", Where, false, Arg.Out))
    return E;
  if (!Arg.Out.empty())
    Arg.Out = resolve(Arg.Out);
  if (const json::Value *V = O.get("written")) {
    Arg.Written.emplace();
    if (Error E = readCoverage(*V, Where + ".written", Arg.Bytes, *Arg.Written))
      return E;
  }

  const json::Value *Want = O.get("expected");
  if (!Want)
    return Error::success();
  if (std::optional<StringRef> Name = Want->getAsString()) {
    Arg.Expected.emplace_back();
    if (Error E =
            wholeFile(*Name, Where + ".expected", Arg.Bytes, Arg.Expected[0]))
      return E;
  } else if (const json::Object *W = Want->getAsObject()) {
    if (Error E = unknownKeys(*W, Where + ".expected", {"strided", "sparse"}))
      return E;
    if (Error E = readPieces(*W, Where + ".expected", Arg.Bytes, Arg.Expected))
      return E;
  } else {
    return expected(Where + ".expected", "a file name or an object", *Want);
  }
  if (!Arg.Type)
    Arg.Type = findDataType("uint8");
  for (const Piece &P : Arg.Expected)
    if (P.RowBytes % Arg.Type->Bytes)
      return fail(Where + ".expected", "rows of " + Twine(P.RowBytes) +
                                           " bytes hold no whole elements of " +
                                           Arg.Type->Name);
  return Error::success();
}

Error Reader::readScalar(const json::Object &O, const Twine &Where,
                         const DataType &Type, ArgSpec &Arg) const {
  if (Error E = unknownKeys(O, Where, {"name", "type", "value"}))
    return E;
  const json::Value *V = O.get("value");
  if (!V)
    return fail(Where, "missing key 'value'");
  uint64_t Bits = 0;
  if (Type.IsFloat) {
    std::optional<double> X = V->getAsNumber();
    if (std::optional<StringRef> S = V->getAsString()) {
      double Parsed;
      if (!S->getAsDouble(Parsed))
        X = Parsed;
    }
    if (!X)
      return expected(Where + ".value", "a number", *V);
    if (Type.Bytes == 8) {
      std::memcpy(&Bits, &*X, 8);
    } else if (Type.Bytes == 4) {
      Bits = emu::floatToBits(float(*X));
    } else {
      return fail(Where + ".type",
                  "scalars of type " + Type.Name + " are not supported");
    }
  } else {
    unsigned Width = Type.Bytes * 8;
    std::optional<int64_t> Signed = V->getAsInteger();
    std::optional<uint64_t> Unsigned = V->getAsUINT64();
    if (!Signed && !Unsigned)
      return expected(Where + ".value", "an integer of 64 bits", *V);
    // Kernel arguments have no sign: i32 accepts both readings of its bits.
    bool Fits = (Unsigned && (Width == 64 || *Unsigned >> Width == 0)) ||
                (Signed && *Signed < 0 && isIntN(Width, *Signed));
    if (!Fits)
      return fail(Where + ".value", "does not fit " + Type.Name);
    Bits = Unsigned ? *Unsigned : uint64_t(*Signed);
  }
  for (unsigned I = 0; I != Type.Bytes; ++I)
    Arg.Value.push_back(uint8_t(Bits >> (8 * I)));
  return Error::success();
}

Error Reader::readArg(const json::Value &V, const Twine &Where,
                      ArgSpec &Arg) const {
  const json::Object *O = V.getAsObject();
  if (!O)
    return expected(Where, "an object", V);
  if (Error E = readString(*O, "name", Where, false, Arg.Name))
    return E;
  std::string Type;
  if (Error E = readString(*O, "type", Where, true, Type))
    return E;
  if (Type == "buffer")
    return readBuffer(*O, Where, Arg);
  const DataType *Scalar = findDataType(Type);
  if (!Scalar)
    return fail(Where + ".type", "unknown type '" + Type +
                                     "', expected buffer or a scalar such as "
                                     "i32, i64, f32");
  return readScalar(*O, Where, *Scalar, Arg);
}

Expected<Spec> Reader::read() {
  ErrorOr<std::unique_ptr<MemoryBuffer>> File = MemoryBuffer::getFile(Path);
  if (!File)
    return createStringError(File.getError(), "cannot read '" + Path + "': " +
                                                  File.getError().message());
  Expected<json::Value> Root = json::parse((*File)->getBuffer());
  if (!Root)
    return createStringError(
        inconvertibleErrorCode(),
        Twine(Path) + ": malformed JSON: " + toString(Root.takeError()));
  const json::Object *O = Root->getAsObject();
  if (!O)
    return expected("spec", "an object", *Root);
  if (Error E =
          unknownKeys(*O, "spec",
                      {"arch", "kernel", "code_object", "grid", "block",
                       "dynamic_lds_bytes", "args", "rtol", "name", "comment"}))
    return E;

  Spec S;
  if (Error E = readString(*O, "arch", "spec", true, S.Arch))
    return E;
  if (Error E = readString(*O, "kernel", "spec", true, S.Kernel))
    return E;
  S.CodeObject = "kernel.co";
  if (Error E = readString(*O, "code_object", "spec", false, S.CodeObject))
    return E;
  S.CodeObject = resolve(S.CodeObject);
  if (Error E = readDim(*O, "grid", S.Grid))
    return E;
  if (Error E = readDim(*O, "block", S.Block))
    return E;
  uint64_t Lds = 0;
  if (Error E = readUnsigned(*O, "dynamic_lds_bytes", "spec", UINT32_MAX, Lds))
    return E;
  S.DynamicLds = uint32_t(Lds);
  if (const json::Value *V = O->get("rtol")) {
    std::optional<double> X = V->getAsNumber();
    if (!X)
      return expected("rtol", "a number", *V);
    if (*X < 0)
      return fail("rtol",
                  "expected at least 0, found " + formatv("{0}", *X).str());
    S.Rtol = *X;
  }
  if (const json::Value *V = O->get("args")) {
    const json::Array *A = V->getAsArray();
    if (!A)
      return expected("args", "an array", *V);
    for (unsigned I = 0; I != A->size(); ++I) {
      S.Args.emplace_back();
      if (Error E = readArg((*A)[I], "args[" + Twine(I) + "]", S.Args.back()))
        return E;
      if (S.Args.back().Name.empty())
        S.Args.back().Name = ("args[" + Twine(I) + "]").str();
    }
  }
  return S;
}

} // namespace

Expected<Spec> pagedattn::run::loadSpec(StringRef Path) {
  return Reader(Path).read();
}
