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

struct Registry {
  StringMap<const OpInfo *> Map;

  void add(OpTable Table) {
    for (const OpInfo &Op : Table)
      Map.try_emplace(Op.Name, &Op);
  }

  Registry() {
    add(scalarAluOps());
    add(scalarFloatOps());
    add(scalarMemoryOps());
    add(controlOps());
    add(waitOps());
    add(laneOps());
    add(ldsOps());
    add(ldsAtomicOps());
    add(globalOps());
    add(globalAtomicOps());
    add(bufferOps());
    add(asyncOps());
    add(tensorOps());
    add(transposedLoadOps());
    add(mfmaOps());
    add(wmmaOps());
    add(smallFloatOps());
#define PA_ADD(Family) add(PA_SET::Family());
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
};

} // namespace

const OpInfo *findOp(StringRef Mnemonic) {
  static const Registry Ops;
  auto It = Ops.Map.find(Mnemonic);
  return It == Ops.Map.end() ? nullptr : It->second;
}

} // namespace pagedattn::emu
