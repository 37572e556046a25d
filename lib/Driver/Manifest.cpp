//===- Manifest.cpp - What a launch has to know of a kernel ----------*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Manifest.h"
#include "PagedAttn/Dialect/PA.h"
#include "PagedAttn/Target/TargetInfo.h"

using namespace mlir;
using namespace mlir::pa;
namespace json = llvm::json;

static int64_t getInt(DictionaryAttr dict, StringRef name) {
  auto attr = dict ? dict.getAs<IntegerAttr>(name) : IntegerAttr();
  return attr ? attr.getInt() : 0;
}

static std::string getString(DictionaryAttr dict, StringRef name) {
  auto attr = dict ? dict.getAs<StringAttr>(name) : StringAttr();
  return attr ? attr.str() : std::string();
}

static json::Array getStrings(DictionaryAttr dict, StringRef name) {
  json::Array result;
  if (auto array = dict.getAs<ArrayAttr>(name))
    for (Attribute attr : array)
      if (auto text = dyn_cast<StringAttr>(attr))
        result.push_back(text.str());
  return result;
}

static std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// The scalars that one operand becomes, in the order in which the kernel takes
/// them: a memref is passed as its descriptor.
static void addArgs(DictionaryAttr arg, int64_t &offset, json::Array &args) {
  constexpr int64_t kBytes = 8;
  std::string name = getString(arg, "name");
  auto typeAttr = arg.getAs<TypeAttr>("type");
  Type type = typeAttr ? typeAttr.getValue() : Type();
  auto add = [&](const std::string &field, StringRef kind) {
    args.push_back(json::Object{{"name", field},
                                {"kind", kind.str()},
                                {"bytes", kBytes},
                                {"offset", offset}});
    offset += kBytes;
  };
  auto memref = dyn_cast_or_null<MemRefType>(type);
  if (!memref) {
    add(name, "i64");
    return;
  }
  add(name + ".allocated", "pointer");
  add(name + ".aligned", "pointer");
  add(name + ".offset", "i64");
  for (int64_t i = 0; i < memref.getRank(); ++i)
    add(name + ".size" + std::to_string(i), "i64");
  for (int64_t i = 0; i < memref.getRank(); ++i)
    add(name + ".stride" + std::to_string(i), "i64");
}

json::Object mlir::pa::makeKernelEntry(gpu::KernelMetadataAttr kernel,
                                       const pagedattn::emu::KernelCode &code,
                                       StringRef chip, StringRef objectName,
                                       size_t elfBytes) {
  DictionaryAttr elf = kernel.getMetadata();
  auto info = elf ? elf.getAs<DictionaryAttr>(PADialect::kKernelInfoAttrName)
                  : DictionaryAttr();
  const TargetInfo *target = TargetInfo::lookup(chip);
  // Chips without accumulation registers report -1 of them.
  int64_t vgprs = getInt(elf, "vgpr_count");
  int64_t agprs =
      std::max<int64_t>(0, static_cast<int32_t>(getInt(elf, "agpr_count")));
  int64_t ldsBytes = getInt(elf, "group_segment_fixed_size");
  int64_t waveSize = getInt(elf, "wavefront_size");
  json::Object entry{
      {"symbol", kernel.getName().str()},
      {"chip", chip.str()},
      {"file", (objectName + "." + chip + ".co").str()},
      {"file_bytes", static_cast<int64_t>(elfBytes)},
      {"wave_size", waveSize},
      {"lds_bytes", ldsBytes},
      {"scratch_bytes", getInt(elf, "private_segment_fixed_size")},
      {"registers", json::Object{{"vgprs", vgprs},
                                 {"agprs", agprs},
                                 {"sgprs", getInt(elf, "sgpr_count")}}},
      {"spills", json::Object{{"vgprs", getInt(elf, "vgpr_spill_count")},
                              {"sgprs", getInt(elf, "sgpr_spill_count")}}}};
  entry["instructions"] = code.Instructions;
  if (code.Loop)
    entry["hot_loop"] = pagedattn::emu::hotLoopToJson(*code.Loop);
  if (!info)
    return entry;

  int64_t blockSize = getInt(info, "block_size");
  entry["op"] = getString(info, "op");
  entry["workgroup_size"] = json::Array{blockSize, 1, 1};
  if (target && waveSize > 0)
    entry["waves_per_simd"] =
        target->getOccupancy(vgprs, ldsBytes, blockSize / waveSize);
  entry["grid"] = getStrings(info, "grid");
  entry["preconditions"] = getStrings(info, "preconditions");

  json::Array args, operands;
  int64_t offset = 0;
  if (auto attrs = info.getAs<ArrayAttr>("args"))
    for (auto arg : attrs.getAsRange<DictionaryAttr>()) {
      addArgs(arg, offset, args);
      operands.push_back(json::Object{
          {"name", getString(arg, "name")},
          {"type", print(arg.getAs<TypeAttr>("type").getValue())}});
    }
  entry["operands"] = std::move(operands);
  entry["args"] = std::move(args);
  entry["kernarg_bytes"] = offset;

  json::Object sizes, scalars;
  if (auto attrs = info.getAs<ArrayAttr>("sizes"))
    for (auto size : attrs.getAsRange<DictionaryAttr>())
      sizes[getString(size, "name")] = json::Object{
          {"operand", getString(size, "arg")}, {"dim", getInt(size, "dim")}};
  if (auto attrs = info.getAs<DictionaryAttr>("scalars"))
    for (NamedAttribute attr : attrs)
      scalars[attr.getName().str()] = getString(attrs, attr.getName());
  entry["sizes"] = std::move(sizes);
  entry["scalars"] = std::move(scalars);

  json::Object workspaces;
  if (auto attrs = info.getAs<DictionaryAttr>("workspaces"))
    for (NamedAttribute attr : attrs)
      workspaces[attr.getName().str()] = getStrings(attrs, attr.getName());
  entry["workspaces"] = std::move(workspaces);

  json::Array accesses;
  if (auto attrs = info.getAs<ArrayAttr>("accesses"))
    for (auto access : attrs.getAsRange<DictionaryAttr>())
      accesses.push_back(
          json::Object{{"operand", getString(access, "arg")},
                       {"kind", getString(access, "kind")},
                       {"form", getString(access, "form")},
                       {"max_offset", getInt(access, "max_offset")},
                       {"count", getInt(access, "count")},
                       {"reason", getString(access, "reason")}});
  entry["accesses"] = std::move(accesses);
  return entry;
}
