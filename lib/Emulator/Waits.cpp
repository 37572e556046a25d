//===- Waits.cpp - Waits, barriers, hints and messages --------------------===//

#include "Operands.h"
#include "Ops.h"

using namespace llvm;

namespace pagedattn::emu {

namespace {

//===----------------------------------------------------------------------===//
// Waits
//===----------------------------------------------------------------------===//

// GFX9: vmcnt in bits 3:0 and 15:14, expcnt in 6:4, lgkmcnt in 11:8.
void waitcnt(Wave &W, const Instruction &I) {
  const unsigned Imm = unsigned(I.Imm);
  const unsigned Vm = (Imm & 0xf) | ((Imm >> 10) & 0x30);
  const unsigned Lgkm = (Imm >> 8) & 0xf;
  // The largest value a field holds means no wait.
  if (Vm != 63)
    W.waitFor(Counter::Load, Vm);
  if (Lgkm != 15)
    W.waitFor(Counter::Lgkm, Lgkm);
}

template <Counter C>
void waitOne(Wave &W, const Instruction &I) {
  W.waitFor(C, uint16_t(I.Imm));
}

template <Counter Upper>
void waitTwo(Wave &W, const Instruction &I) {
  const unsigned Imm = unsigned(I.Imm);
  W.waitFor(Upper, (Imm >> 8) & 0x3f);
  W.waitFor(Counter::Lgkm, Imm & 0x3f);
}

void waitIdle(Wave &W, const Instruction &I) { W.deliverAll(); }

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

void signal(Wave &W, unsigned B) {
  BarrierState &S = W.Group->Barriers[B];
  W.SignalPhase[B] = S.Phase;
  ++S.Signalled;
}

void block(Wave &W, unsigned B) {
  W.WaitingBarrier = int32_t(B);
  W.Event |= EventBarrier;
}

void barrier(Wave &W, const Instruction &I) {
  signal(W, 0);
  block(W, 0);
}

/// Index of a barrier number: -1 is the workgroup's, 1..16 are named.
bool barrierIndex(Wave &W, int32_t Number, unsigned &Index) {
  if (Number == -1) {
    Index = 0;
    return true;
  }
  if (Number >= 1 && Number <= 16) {
    Index = unsigned(Number);
    return true;
  }
  W.fatal(ReportKind::UnknownInstruction,
          "barrier number " + Twine(Number) +
              " is not supported: expected -1 or 1 to 16");
  return false;
}

/// The number in an inline constant or in the low bits of M0.
int32_t barrierNumber(Wave &W, const Instruction &I) {
  uint32_t X = readScalar32(W, I, I.Src[0]);
  if (I.Src[0].isSgpr())
    return int32_t(X << 26) >> 26;
  return int32_t(X);
}

void barrierSignal(Wave &W, const Instruction &I) {
  unsigned B;
  if (barrierIndex(W, barrierNumber(W, I), B)) {
    // M0 may set the member count with the signal of a named barrier.
    if (B && I.Src[0].isSgpr() && (W.m0() >> 16) & 0x7f)
      W.Group->Barriers[B].Members = (W.m0() >> 16) & 0x7f;
    signal(W, B);
  }
}

void barrierSignalIsFirst(Wave &W, const Instruction &I) {
  unsigned B;
  if (!barrierIndex(W, barrierNumber(W, I), B))
    return;
  W.Scc = W.Group->Barriers[B].Signalled == 0;
  signal(W, B);
}

void barrierWait(Wave &W, const Instruction &I) {
  unsigned B;
  int32_t Number = int16_t(I.Imm);
  if (Number >= 1)
    Number = W.JoinedBarrier ? W.JoinedBarrier : Number;
  if (barrierIndex(W, Number, B))
    block(W, B);
}

void barrierInit(Wave &W, const Instruction &I) {
  unsigned B;
  if (!barrierIndex(W, barrierNumber(W, I), B))
    return;
  W.Group->Barriers[B] = BarrierState();
  W.Group->Barriers[B].Members = (W.m0() >> 16) & 0x7f;
}

void barrierJoin(Wave &W, const Instruction &I) {
  unsigned B;
  if (barrierIndex(W, barrierNumber(W, I), B)) {
    W.JoinedBarrier = int32_t(B);
    W.SignalPhase[B] = W.Group->Barriers[B].Phase;
  }
}

void barrierLeave(Wave &W, const Instruction &I) {
  if (W.JoinedBarrier) {
    BarrierState &S = W.Group->Barriers[unsigned(W.JoinedBarrier)];
    W.Scc = S.Members != 0;
    if (S.Members)
      --S.Members;
  }
  W.JoinedBarrier = 0;
}

void barrierState(Wave &W, const Instruction &I) {
  unsigned B;
  if (!barrierIndex(W, barrierNumber(W, I), B))
    return;
  const BarrierState &S = W.Group->Barriers[B];
  uint32_t Members = B ? S.Members : W.Group->LiveWaves;
  writeScalar32(W, I, I.Dst[0], S.Signalled << 4 | Members << 16 | 1);
}

//===----------------------------------------------------------------------===//
// Messages and hints
//===----------------------------------------------------------------------===//

void yield(Wave &W, const Instruction &I) { W.Event |= EventYield; }

void nothing(Wave &W, const Instruction &I) {}

void sendmsg(Wave &W, const Instruction &I) {
  // DEALLOC_VGPRS (3 since GFX11) and the interrupt (1) change no state here.
  unsigned Id = unsigned(I.Imm) & (W.Chip->Gfx12 ? 0xff : 0xf);
  if (Id != 1 && Id != 3)
    W.fatal(ReportKind::UnknownInstruction,
            "message " + Twine(Id) + " is not supported");
}

constexpr OpInfo sync(const char *Name, Handler Fn) {
  return {Name, Fn, OpClass::Sync, 0, {Ty::Imm}};
}

constexpr OpInfo Table[] = {
    sync("s_waitcnt", waitcnt),
    sync("s_wait_loadcnt", waitOne<Counter::Load>),
    sync("s_wait_storecnt", waitOne<Counter::Store>),
    sync("s_wait_samplecnt", waitOne<Counter::Sample>),
    sync("s_wait_bvhcnt", waitOne<Counter::Bvh>),
    sync("s_wait_expcnt", waitOne<Counter::Exp>),
    sync("s_wait_dscnt", waitOne<Counter::Lgkm>),
    sync("s_wait_kmcnt", waitOne<Counter::Km>),
    sync("s_wait_xcnt", waitOne<Counter::X>),
    sync("s_wait_asynccnt", waitOne<Counter::Async>),
    sync("s_wait_tensorcnt", waitOne<Counter::Tensor>),
    sync("s_wait_loadcnt_dscnt", waitTwo<Counter::Load>),
    sync("s_wait_storecnt_dscnt", waitTwo<Counter::Store>),
    sync("s_wait_idle", waitIdle),
    sync("s_wait_alu", nothing),
    sync("s_wait_event", nothing),
    sync("s_waitcnt_depctr", nothing),
    sync("s_barrier", barrier),
    sync("s_barrier_wait", barrierWait),
    {"s_barrier_signal", barrierSignal, OpClass::Sync, 0, {Ty::B32}},
    {"s_barrier_signal_isfirst",
     barrierSignalIsFirst,
     OpClass::Sync,
     0,
     {Ty::B32}},
    {"s_barrier_init", barrierInit, OpClass::Sync, 0, {Ty::B32}},
    {"s_barrier_join", barrierJoin, OpClass::Sync, 0, {Ty::B32}},
    sync("s_barrier_leave", barrierLeave),
    {"s_get_barrier_state", barrierState, OpClass::Sync, 1, {Ty::B32, Ty::B32}},
    {"s_wakeup_barrier", nothing, OpClass::Sync, 0, {Ty::B32}},
    sync("s_sleep", yield),
    {"s_sleep_var", yield, OpClass::Sync, 0, {Ty::B32}},
    sync("s_monitor_sleep", yield),
    sync("s_sethalt", nothing),
    sync("s_setprio", nothing),
    sync("s_setprio_inc_wg", nothing),
    sync("s_nop", nothing),
    sync("s_clause", nothing),
    sync("s_delay_alu", nothing),
    sync("s_wakeup", nothing),
    sync("s_incperflevel", nothing),
    sync("s_decperflevel", nothing),
    sync("s_ttracedata", nothing),
    sync("s_ttracedata_imm", nothing),
    sync("s_icache_inv", nothing),
    sync("s_set_inst_prefetch_distance", nothing),
    sync("s_version", nothing),
    sync("s_sendmsg", sendmsg),
    sync("s_sendmsghalt", sendmsg),
    {"s_dcache_inv", nothing, OpClass::Sync, 0, {}},
    {"s_dcache_inv_vol", nothing, OpClass::Sync, 0, {}},
    {"s_dcache_wb", nothing, OpClass::Sync, 0, {}},
    {"s_dcache_wb_vol", nothing, OpClass::Sync, 0, {}},
    {"s_prefetch_inst", nothing, OpClass::Sync, 0, {}},
    {"s_prefetch_inst_pc_rel", nothing, OpClass::Sync, 0, {}},
    {"s_prefetch_data", nothing, OpClass::Sync, 0, {}},
    {"s_prefetch_data_pc_rel", nothing, OpClass::Sync, 0, {}},
    {"s_buffer_prefetch_data", nothing, OpClass::Sync, 0, {}},
    {"global_prefetch_b8", nothing, OpClass::Sync, 0, {}},
    {"flat_prefetch_b8", nothing, OpClass::Sync, 0, {}},
    {"buffer_inv", nothing, OpClass::Sync, 0, {}},
    {"buffer_wbl2", nothing, OpClass::Sync, 0, {}},
    {"global_inv", nothing, OpClass::Sync, 0, {}},
    {"global_wb", nothing, OpClass::Sync, 0, {}},
    {"global_wbinv", nothing, OpClass::Sync, 0, {}},
    {"v_nop", nothing, OpClass::VectorAlu, 0, {}},
    {"v_pipeflush", nothing, OpClass::VectorAlu, 0, {}},
    {"v_clrexcp", nothing, OpClass::VectorAlu, 0, {}},
    {"ds_nop", nothing, OpClass::Lds, 0, {}},
};

} // namespace

OpTable waitOps() { return Table; }

} // namespace pagedattn::emu
