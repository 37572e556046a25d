//===- TensorDma.cpp - tensor_load_to_lds and tensor_store_from_lds -------===//
//
// A descriptor in scalar registers describes a tensor of up to five dimensions
// whose origin is the tile's first element, and a tile of it. Elements of the
// tile outside the tensor are zero in LDS on a load, and are not written on a
// store. The instruction belongs to the wave: EXEC does not matter.
//
// Groups of the descriptor, as 32-bit words, lowest bit first:
//   0: count:2 ... gather index size at 30 (1: 32 bits), gather mode at 31 |
//      LDS address | global address 57 bits, type at 62 (2)
//   1: workgroup mask:16, data size:2 (log2), atomic barrier, iterate, padding,
//      early timeout, pad interval:3, pad amount:7, barrier address:16,
//      tensor dim 0:32, tensor dim 1:32, tile dims 0..2 of 16 bits,
//      stride 0:48, stride 1:48
//   2: tensor dim 2:32, tensor dim 3:32, stride 2:48, tile dim 3:16
//   3: stride 3:48, tensor dim 4:32, tile dim 4:16
// Iterating takes LDS increment, global increment:48 and count - 1 from words 1
// to 3 of group 2; gathering takes row numbers from groups 2 and 3.
//
//===----------------------------------------------------------------------===//

#include "LdsCopy.h"
#include "Operands.h"
#include "Ops.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FormatVariadic.h"

namespace pagedattn::emu {

namespace {

constexpr unsigned MaxDims = 5;

struct Descriptor {
  bool Active = false;
  uint32_t Lds = 0;
  uint64_t Global = 0;
  unsigned ElementBytes = 1;
  uint32_t WorkgroupMask = 0;
  bool Pad = false;
  uint32_t PadEvery = 0, PadBytes = 0; ///< in bytes of LDS
  uint32_t Tensor[MaxDims] = {1, 1, 1, 1, 1};
  uint32_t Tile[MaxDims] = {1, 1, 1, 1, 1};
  /// In elements; Stride[d] is from one index of dimension d to the next.
  uint64_t Stride[MaxDims] = {1, 0, 0, 0, 0};
  bool Gather = false;
  std::vector<uint32_t> Rows; ///< of a gather
  uint32_t Iterations = 1;
  uint32_t LdsIncrement = 0;    ///< in elements
  uint64_t GlobalIncrement = 0; ///< in elements
};

/// All groups in a row; bit N of the descriptor is bit N of this.
class Words {
public:
  Words(Wave &W, const Instruction &I) {
    static const unsigned Sizes[] = {4, 8, 4, 4};
    unsigned At = 0;
    for (unsigned G = 0; G != 4; ++G)
      for (unsigned D = 0; D != Sizes[G]; ++D, ++At)
        if (G < I.NumSrc && I.Src[G].isSgpr() && I.Src[G].Reg != RegNull)
          Values[At] = W.S[I.Src[G].Reg + D];
  }

  uint64_t field(unsigned Word, unsigned Bit, unsigned Width) const {
    Bit += Word * 32;
    uint64_t X = 0;
    for (unsigned B = 0; B < Width; ++B)
      X |= uint64_t(Values[(Bit + B) / 32] >> ((Bit + B) % 32) & 1) << B;
    return X;
  }
  uint32_t operator[](unsigned Word) const { return Values[Word]; }

private:
  uint32_t Values[20] = {};
};

/// First words of the groups.
enum { G0 = 0, G1 = 4, G2 = 12, G3 = 16 };

bool unsupported(Wave &W, const llvm::Twine &What) {
  W.fatal(ReportKind::UnknownInstruction, "tensor descriptor: " + What);
  return false;
}

void readDims(const Words &X, Descriptor &D, bool Iterate) {
  D.Tensor[0] = uint32_t(X.field(G1 + 1, 16, 32));
  D.Tensor[1] = uint32_t(X.field(G1 + 2, 16, 32));
  D.Tile[0] = uint32_t(X.field(G1 + 3, 16, 16));
  D.Tile[1] = uint32_t(X.field(G1 + 4, 0, 16));
  D.Stride[1] = X.field(G1 + 5, 0, 48);
  if (D.Gather)
    return;
  D.Tile[2] = uint32_t(X.field(G1 + 4, 16, 16));
  D.Stride[2] = X.field(G1 + 6, 16, 48);
  D.Tensor[2] = X[G2];
  if (Iterate) {
    D.LdsIncrement = X[G2 + 1];
    D.GlobalIncrement = X.field(G2 + 2, 0, 48);
    D.Iterations = uint32_t(X.field(G2 + 3, 16, 16)) + 1;
    return;
  }
  D.Tensor[3] = X[G2 + 1];
  D.Stride[3] = X.field(G2 + 2, 0, 48);
  D.Tile[3] = uint32_t(X.field(G2 + 3, 16, 16));
  D.Stride[4] = X.field(G3, 0, 48);
  D.Tensor[4] = uint32_t(X.field(G3 + 1, 16, 32));
  D.Tile[4] = uint32_t(X.field(G3 + 2, 16, 16));
}

bool readDescriptor(Wave &W, const Instruction &I, Descriptor &D) {
  Words X(W, I);
  const uint32_t Count = uint32_t(X.field(G0, 0, 2));
  if (Count == 0)
    return true; // predicated off
  if (Count != 1)
    return unsupported(W, "count " + llvm::Twine(Count) + ", expected 0 or 1");
  const uint32_t Type = uint32_t(X.field(G0 + 3, 30, 2));
  if (Type != 2)
    return unsupported(W, "type " + llvm::Twine(Type) + ", expected 2");
  D.Active = true;
  D.Lds = X[G0 + 1];
  D.Global = X.field(G0 + 2, 0, 57);
  D.WorkgroupMask = uint32_t(X.field(G1, 0, 16));
  D.ElementBytes = 1u << X.field(G1, 16, 2);
  if (X.field(G1, 18, 1))
    return unsupported(W, "atomic barrier is not supported");
  const bool Iterate = X.field(G1, 19, 1);
  D.Pad = X.field(G1, 20, 1);
  D.PadEvery = 8u << X.field(G1, 22, 3);
  D.PadBytes = 4 * uint32_t(X.field(G1, 25, 7) + 1);

  const bool WideIndex = X.field(G0, 30, 1);
  D.Gather = X.field(G0, 31, 1);
  if (WideIndex && !D.Gather)
    return unsupported(W, "gather index size without gather mode");
  if (Iterate && D.Gather)
    return unsupported(W, "iterate and gather at once");
  readDims(X, D, Iterate);
  if (D.Gather) {
    const uint32_t Max = WideIndex ? 8 : 16;
    if (D.Tile[1] > Max)
      return unsupported(W, llvm::Twine(D.Tile[1]) +
                                " gather rows, expected at most " +
                                llvm::Twine(Max));
    for (uint32_t R = 0; R != D.Tile[1]; ++R)
      D.Rows.push_back(WideIndex
                           ? X[G2 + R]
                           : uint32_t(X.field(G2 + R / 2, R % 2 * 16, 16)));
  }
  // A tile size of 0 marks a dimension that is not used.
  for (unsigned N = 1; N != MaxDims; ++N)
    if (D.Tile[N] == 0)
      D.Tile[N] = D.Tensor[N] = 1;
  return true;
}

/// Calls Row(linear byte in the tile, global address, elements inside the
/// tensor) for every row of the tile, in LDS order.
template <class RowT>
void forRows(const Descriptor &D, uint64_t Global, RowT Row) {
  const uint32_t Inside = std::min(D.Tile[0], D.Tensor[0]);
  const uint64_t RowBytes = uint64_t(D.Tile[0]) * D.ElementBytes;
  uint64_t Linear = 0;
  if (D.Gather) {
    for (uint32_t R : D.Rows) {
      uint64_t Address = Global + R * D.Stride[1] * D.ElementBytes;
      Row(Linear, Address, R < D.Tensor[1] ? Inside : 0);
      Linear += RowBytes;
    }
    return;
  }
  uint32_t At[MaxDims] = {};
  for (At[4] = 0; At[4] != D.Tile[4]; ++At[4])
    for (At[3] = 0; At[3] != D.Tile[3]; ++At[3])
      for (At[2] = 0; At[2] != D.Tile[2]; ++At[2])
        for (At[1] = 0; At[1] != D.Tile[1]; ++At[1]) {
          uint64_t Offset = 0;
          bool In = true;
          for (unsigned N = 1; N != MaxDims; ++N) {
            Offset += At[N] * D.Stride[N];
            In &= At[N] < D.Tensor[N];
          }
          Row(Linear, Global + Offset * D.ElementBytes, In ? Inside : 0);
          Linear += RowBytes;
        }
}

uint64_t tileBytes(const Descriptor &D) {
  uint64_t Bytes = D.ElementBytes;
  for (unsigned N = 0; N != MaxDims; ++N)
    Bytes *= D.Tile[N];
  return Bytes;
}

/// What a tile may hold: no LDS is larger, and the bound keeps a corrupt
/// descriptor from taking all memory of the host.
constexpr uint64_t MaxTileBytes = uint64_t(1) << 22;

bool checkTile(Wave &W, const Descriptor &D) {
  const uint64_t Bytes = tileBytes(D) * D.Iterations;
  if (Bytes <= MaxTileBytes)
    return true;
  return unsupported(W, "the tile has " + llvm::Twine(Bytes) +
                            " bytes, more than any LDS");
}

void warnMask(Wave &W, const Descriptor &D) {
  if (D.WorkgroupMask)
    W.report(ReportKind::Other, -1, 0, 0, 0, [&] {
      return llvm::formatv("workgroup mask {0:x} is ignored: the launch has no "
                           "clusters",
                           D.WorkgroupMask)
          .str();
    });
}

void load(Wave &W, const Instruction &I) {
  Descriptor D;
  if (!readDescriptor(W, I, D))
    return;
  LdsTransfer T;
  if (D.Active) {
    if (!checkTile(W, D))
      return;
    warnMask(W, D);
    std::vector<uint8_t> Tile(tileBytes(D));
    for (uint32_t N = 0; N != D.Iterations; ++N) {
      std::fill(Tile.begin(), Tile.end(), uint8_t(0));
      forRows(D, D.Global + N * D.GlobalIncrement * D.ElementBytes,
              [&](uint64_t Linear, uint64_t Address, uint32_t Elements) {
                if (Elements && !(W.Event & EventFatal))
                  loadGlobal(W, I, -1, Address, Tile.data() + Linear,
                             Elements * D.ElementBytes);
              });
      if (W.Event & EventFatal)
        return;
      // Padding skips LDS bytes, which keep what they hold.
      const uint32_t Lds = D.Lds + N * D.LdsIncrement * D.ElementBytes;
      const uint32_t Step = D.Pad ? D.PadEvery : uint32_t(Tile.size());
      for (uint32_t At = 0, To = Lds; At < Tile.size(); At += Step) {
        uint32_t Bytes = std::min<uint32_t>(Step, Tile.size() - At);
        std::memcpy(T.append(To, Bytes, -1), Tile.data() + At, Bytes);
        To += Bytes + D.PadBytes;
      }
    }
  }
  deferToLds(W, I, Counter::Tensor, std::move(T));
}

void deliverStore(Wave &W, const Instruction &I, const Descriptor &D) {
  AttributeTo Here(W, I);
  std::vector<uint8_t> Row(uint64_t(D.Tile[0]) * D.ElementBytes);
  for (uint32_t N = 0; N != D.Iterations; ++N) {
    const uint32_t Lds = D.Lds + N * D.LdsIncrement * D.ElementBytes;
    forRows(D, D.Global + N * D.GlobalIncrement * D.ElementBytes,
            [&](uint64_t Linear, uint64_t Address, uint32_t Elements) {
              if (!Elements || W.Event & EventFatal)
                return;
              const uint32_t Bytes = Elements * D.ElementBytes;
              W.Group->Lds->load(W, I, 0, Lds + uint32_t(Linear), Row.data(),
                                 Bytes);
              storeGlobal(W, I, -1, Address, Row.data(), Bytes);
            });
  }
}

void store(Wave &W, const Instruction &I) {
  Descriptor D;
  if (!readDescriptor(W, I, D))
    return;
  if (D.Active) {
    if (!checkTile(W, D))
      return;
    if (D.Pad)
      W.report(ReportKind::Other, -1, 0, 0, 0,
               [] { return std::string("LDS padding is ignored on a store"); });
  }
  W.defer(Counter::Tensor, [&I, D](Wave &W) {
    if (D.Active)
      deliverStore(W, I, D);
  });
}

bool prepare(Instruction &I, const ChipInfo &, std::string &Err) {
  static const unsigned Sizes[] = {4, 8, 4, 4};
  if (I.NumSrc != 2 && I.NumSrc != 4) {
    Err = "expected 2 or 4 descriptor groups";
    return false;
  }
  for (unsigned N = 0; N != I.NumSrc; ++N) {
    const Operand &O = I.Src[N];
    bool Null = O.isNone() || (O.isSgpr() && O.Reg == RegNull);
    if (Null ? N < 2 : !O.isSgpr() || O.Dwords != Sizes[N]) {
      Err = "descriptor group " + std::to_string(N) + " is not in " +
            std::to_string(Sizes[N]) + " scalar registers";
      return false;
    }
  }
  return true;
}

constexpr OpInfo tensor(const char *Name, Handler Fn) {
  return {
      Name,   Fn, OpClass::Async, 0, {Ty::Wide, Ty::Wide, Ty::Wide, Ty::Wide},
      prepare};
}

constexpr OpInfo Table[] = {
    tensor("tensor_load_to_lds", load),
    tensor("tensor_store_from_lds", store),
};

} // namespace

OpTable tensorOps() { return Table; }

} // namespace pagedattn::emu
