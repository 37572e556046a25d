//===- Registry.cpp - From mnemonics to handlers --------------------------===//

#include "HostIsa.h"
#include "Ops.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;

namespace pagedattn::emu {

#define PA_DECLARE(Family) OpTable Family();
namespace host_base {
PA_VECTOR_FAMILIES(PA_DECLARE)
}
#ifdef PA_HAVE_HOST_V3
namespace host_v3 {
PA_VECTOR_FAMILIES(PA_DECLARE)
}
#endif
#ifdef PA_HAVE_HOST_V4
namespace host_v4 {
PA_VECTOR_FAMILIES(PA_DECLARE)
}
#endif
#undef PA_DECLARE

namespace {

template <class AddT>
void addVectorFamilies(AddT Add) {
#define PA_ADD(Family) Add(PA_SET::Family());
#ifdef PA_HAVE_HOST_V4
  if (__builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi2")) {
#define PA_SET host_v4
    PA_VECTOR_FAMILIES(PA_ADD)
#undef PA_SET
    return;
  }
#endif
#ifdef PA_HAVE_HOST_V3
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi2")) {
#define PA_SET host_v3
    PA_VECTOR_FAMILIES(PA_ADD)
#undef PA_SET
    return;
  }
#endif
#define PA_SET host_base
  PA_VECTOR_FAMILIES(PA_ADD)
#undef PA_SET
#undef PA_ADD
}

} // namespace

std::vector<OpTable> allOps() {
  std::vector<OpTable> Tables = {
      scalarAluOps(),      scalarFloatOps(),  scalarMemoryOps(), controlOps(),
      waitOps(),           laneOps(),         ldsOps(),          ldsAtomicOps(),
      globalOps(),         globalAtomicOps(), bufferOps(),       asyncOps(),
      transposedLoadOps(), tensorOps(),       mfmaOps(),         wmmaOps(),
      smallFloatOps()};
  addVectorFamilies([&](OpTable Table) { Tables.push_back(Table); });
  return Tables;
}

const OpInfo *findOp(StringRef Mnemonic) {
  static const StringMap<const OpInfo *> Ops = [] {
    StringMap<const OpInfo *> Map;
    for (OpTable Table : allOps())
      for (const OpInfo &Op : Table)
        Map.try_emplace(Op.Name, &Op);
    return Map;
  }();
  auto It = Ops.find(Mnemonic);
  return It == Ops.end() ? nullptr : It->second;
}

} // namespace pagedattn::emu
