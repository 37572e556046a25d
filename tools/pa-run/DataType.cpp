//===- DataType.cpp - Element types of buffers ----------------------------===//

#include "DataType.h"
#include "PagedAttn/Emulator/Formats.h"
#include <string>

using namespace llvm;
using namespace pagedattn;
using namespace pagedattn::run;

template <typename T>
static double plain(const uint8_t *Bytes) {
  T X;
  std::memcpy(&X, Bytes, sizeof(X));
  return double(X);
}

template <emu::NumFormat Format>
static double narrow(const uint8_t *Bytes) {
  uint32_t Code = Bytes[0];
  if (emu::traits(Format).Bits == 16)
    Code |= uint32_t(Bytes[1]) << 8;
  return emu::decode(Format, Code);
}

static const DataType Types[] = {
    {"float64", "f64", 8, plain<double>, true, true},
    {"float32", "f32", 4, plain<float>, true, true},
    {"float16", "f16", 2, narrow<emu::NumFormat::F16>, true, true},
    {"bfloat16", "bf16", 2, narrow<emu::NumFormat::BF16>, true, true},
    {"float8_e4m3fn", "f8E4M3FN", 1, narrow<emu::NumFormat::E4M3FN>, true,
     true},
    {"float8_e4m3fnuz", "f8E4M3FNUZ", 1, narrow<emu::NumFormat::E4M3FNUZ>, true,
     true},
    {"float8_e5m2", "f8E5M2", 1, narrow<emu::NumFormat::E5M2>, true, true},
    {"float8_e5m2fnuz", "f8E5M2FNUZ", 1, narrow<emu::NumFormat::E5M2FNUZ>, true,
     true},
    {"int64", "i64", 8, plain<int64_t>, false, true},
    {"int32", "i32", 4, plain<int32_t>, false, true},
    {"int16", "i16", 2, plain<int16_t>, false, true},
    {"int8", "i8", 1, plain<int8_t>, false, true},
    {"uint64", "u64", 8, plain<uint64_t>, false, false},
    {"uint32", "u32", 4, plain<uint32_t>, false, false},
    {"uint16", "u16", 2, plain<uint16_t>, false, false},
    {"uint8", "u8", 1, plain<uint8_t>, false, false},
    {"bool", "i1", 1, plain<uint8_t>, false, false},
};

ArrayRef<DataType> pagedattn::run::dataTypes() { return Types; }

const DataType *pagedattn::run::findDataType(StringRef Name) {
  for (const DataType &T : Types)
    if (Name == T.Name || Name == T.ScalarName)
      return &T;
  return nullptr;
}

std::string pagedattn::run::dataTypeNames() {
  std::string Names;
  for (const DataType &T : Types)
    Names += (Names.empty() ? "" : ", ") + T.Name.str();
  return Names;
}
