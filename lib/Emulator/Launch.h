//===- Launch.h - One grid in flight ----------------------------*- C++ -*-===//

#ifndef PAGEDATTN_LIB_EMULATOR_LAUNCH_H
#define PAGEDATTN_LIB_EMULATOR_LAUNCH_H

#include "CodeObject.h"
#include "Wave.h"

namespace pagedattn::emu {

/// Everything the host threads of a launch share.
struct Launch {
  const ChipInfo *Chip = nullptr;
  const Kernel *K = nullptr;
  KernelDescriptor Descriptor;
  GlobalMemory *Memory = nullptr;
  Program *Code = nullptr;
  Reporter *Reports = nullptr;
  const LaunchOptions *Options = nullptr;
  Dim3 Grid, Block;
  uint32_t LdsBytes = 0;
  uint32_t WavesPerGroup = 1;
  uint64_t KernargAddress = 0;
  const uint8_t *Kernarg = nullptr; ///< host view, padded
  uint64_t DispatchPacket = 0;
};

/// Sets up the registers of a fresh wave. The vector registers and scratch
/// are already allocated.
void initialiseWave(const Launch &L, Workgroup &G, Wave &W);

/// Runs a workgroup to its end or to a fatal report.
void runWorkgroup(const Launch &L, Workgroup &G, ThreadContext &T);

} // namespace pagedattn::emu

#endif // PAGEDATTN_LIB_EMULATOR_LAUNCH_H
