//===- Metadata.cpp - The AMDGPU metadata note ----------------------------===//

#include "Metadata.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"

using namespace llvm;

namespace pagedattn::emu {

namespace {

/// Optional members: an absent or mistyped one keeps the default, the caller
/// checks what it cannot do without.
void get(msgpack::MapDocNode &Map, StringRef Key, uint32_t &To) {
  auto It = Map.find(Key);
  if (It == Map.end())
    return;
  if (It->second.getKind() == msgpack::Type::UInt)
    To = uint32_t(It->second.getUInt());
  else if (It->second.getKind() == msgpack::Type::Int)
    To = uint32_t(It->second.getInt());
}

void get(msgpack::MapDocNode &Map, StringRef Key, std::string &To) {
  auto It = Map.find(Key);
  if (It != Map.end() && It->second.getKind() == msgpack::Type::String)
    To = It->second.getString().str();
}

msgpack::ArrayDocNode *getArray(msgpack::MapDocNode &Map, StringRef Key) {
  auto It = Map.find(Key);
  return It != Map.end() && It->second.isArray() ? &It->second.getArray()
                                                 : nullptr;
}

} // namespace

Expected<Metadata> parseMetadata(StringRef Blob) {
  msgpack::Document Doc;
  if (!Doc.readFromBlob(Blob, /*Multi=*/false) || !Doc.getRoot().isMap())
    return createStringError("malformed AMDGPU metadata note");
  msgpack::MapDocNode &Root = Doc.getRoot().getMap();
  Metadata M;
  get(Root, "amdhsa.target", M.Target);
  msgpack::ArrayDocNode *Kernels = getArray(Root, "amdhsa.kernels");
  if (!Kernels)
    return M;
  for (msgpack::DocNode &Node : *Kernels) {
    if (!Node.isMap())
      return createStringError("malformed kernel in the AMDGPU metadata note");
    msgpack::MapDocNode &Map = Node.getMap();
    Kernel K;
    std::string Symbol;
    get(Map, ".name", K.Name);
    get(Map, ".symbol", Symbol);
    if (K.Name.empty() || Symbol.empty())
      return createStringError("kernel without name or symbol in the AMDGPU "
                               "metadata note");
    get(Map, ".kernarg_segment_size", K.KernargBytes);
    get(Map, ".kernarg_segment_align", K.KernargAlign);
    get(Map, ".group_segment_fixed_size", K.LdsBytes);
    get(Map, ".private_segment_fixed_size", K.ScratchBytes);
    get(Map, ".max_flat_workgroup_size", K.MaxWorkgroupSize);
    get(Map, ".wavefront_size", K.WaveSize);
    get(Map, ".vgpr_count", K.Vgprs);
    get(Map, ".agpr_count", K.AccVgprs);
    get(Map, ".sgpr_count", K.Sgprs);
    get(Map, ".vgpr_spill_count", K.VgprSpills);
    get(Map, ".sgpr_spill_count", K.SgprSpills);
    if (msgpack::ArrayDocNode *Size = getArray(Map, ".reqd_workgroup_size"))
      for (unsigned I = 0; I != std::min<size_t>(3, Size->size()); ++I)
        if ((*Size)[I].getKind() == msgpack::Type::UInt)
          K.RequiredWorkgroupSize[I] = uint32_t((*Size)[I].getUInt());
    if (msgpack::ArrayDocNode *Args = getArray(Map, ".args"))
      for (msgpack::DocNode &ArgNode : *Args) {
        if (!ArgNode.isMap())
          return createStringError(
              "malformed argument in the AMDGPU metadata note");
        msgpack::MapDocNode &ArgMap = ArgNode.getMap();
        KernelArg A;
        get(ArgMap, ".name", A.Name);
        get(ArgMap, ".value_kind", A.ValueKind);
        get(ArgMap, ".address_space", A.AddressSpace);
        get(ArgMap, ".offset", A.Offset);
        get(ArgMap, ".size", A.Size);
        K.Args.push_back(std::move(A));
      }
    M.Kernels.push_back({std::move(K), std::move(Symbol)});
  }
  return M;
}

} // namespace pagedattn::emu
