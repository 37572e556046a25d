//===- Reporter.h - Collects diagnostics of one launch ----------*- C++ -*-===//

#ifndef PAGEDATTN_LIB_EMULATOR_REPORTER_H
#define PAGEDATTN_LIB_EMULATOR_REPORTER_H

#include "PagedAttn/Emulator/Emulator.h"
#include <atomic>
#include <map>
#include <mutex>

namespace pagedattn::emu {

struct Wave;
struct Instruction;

/// Shared by all host threads of a launch.
class Reporter {
public:
  Reporter(const Kernel &K, const LaunchOptions &Options)
      : TheKernel(K), Options(Options) {}

  /// Adds one occurrence; fills kernel, pc, disassembly, workgroup and wave.
  void add(const Wave &W, const Instruction &I, ReportKind Kind, int Lane,
           uint64_t Address, uint64_t Size, uint64_t Limit, std::string Text,
           bool Fatal = false);

  /// Occurrences at a pc that a thread counted beyond its examples.
  void count(ReportKind Kind, uint64_t ElfPc, uint64_t N);

  /// A fatal report was added, or the caller has cancelled: every workgroup
  /// stops at its next slice.
  bool stopped() const {
    return Stopped.load(std::memory_order_relaxed) || cancelled();
  }

  std::vector<ReportGroup> take();
  Status status() const {
    return Code == Status::Ok && cancelled() ? Status::Cancelled : Code;
  }
  const std::string &message() const { return Message; }

private:
  bool cancelled() const {
    return Options.Cancel && Options.Cancel->load(std::memory_order_relaxed);
  }

  const Kernel &TheKernel;
  const LaunchOptions &Options;
  std::mutex Lock;
  std::map<std::pair<ReportKind, uint64_t>, ReportGroup> Groups;
  std::atomic<bool> Stopped{false};
  Status Code = Status::Ok;
  std::string Message;
};

} // namespace pagedattn::emu

#endif // PAGEDATTN_LIB_EMULATOR_REPORTER_H
