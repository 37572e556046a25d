//===- Reporter.cpp - Collects diagnostics of one launch ------------------===//

#include "Reporter.h"
#include "CodeObject.h"
#include "Program.h"
#include "Wave.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace pagedattn::emu {

static Status statusOf(ReportKind Kind) {
  switch (Kind) {
  case ReportKind::UnknownInstruction:
    return Status::UnknownInstruction;
  case ReportKind::NoProgress:
    return Status::NoProgress;
  default:
    return Status::InvalidAccess;
  }
}

void Reporter::add(const Wave &W, const Instruction &I, ReportKind Kind,
                   int Lane, uint64_t Address, uint64_t Size, uint64_t Limit,
                   std::string Text, bool Fatal) {
  const uint64_t Pc = W.Group->Code->elfAddress(I.Pc);
  std::lock_guard<std::mutex> Guard(Lock);
  auto Key = std::make_pair(Kind, Pc);
  auto It = Groups.find(Key);
  if (It == Groups.end()) {
    if (Groups.size() >= Options.ReportGroups && !Fatal)
      return;
    It = Groups.try_emplace(Key).first;
    It->second.Kind = Kind;
    It->second.Pc = Pc;
  }
  ReportGroup &G = It->second;
  ++G.Count;
  if (G.Examples.size() < std::max(1u, Options.ReportExamples)) {
    Report R;
    R.Kind = Kind;
    R.Fatal = Fatal;
    R.Kernel = TheKernel.Name;
    R.Pc = Pc;
    R.Disassembly = I.Text;
    if (G.Examples.empty())
      R.SourceLine = TheKernel.Owner ? TheKernel.Owner->sourceLine(Pc) : "";
    else
      R.SourceLine = G.Examples.front().SourceLine;
    R.Workgroup = W.Group->Id;
    R.Wave = W.Id;
    R.Lane = Lane;
    R.Address = Address;
    R.Size = Size;
    R.Limit = Limit;
    R.Text = std::move(Text);
    if (Fatal && Code == Status::Ok) {
      Code = statusOf(Kind);
      Message =
          formatv("{0}: {1} in kernel {2} at pc {3:x} ({4}), workgroup "
                  "({5},{6},{7}) wave {8}",
                  reportKindName(Kind), R.Text, R.Kernel, R.Pc, R.Disassembly,
                  R.Workgroup[0], R.Workgroup[1], R.Workgroup[2], R.Wave)
              .str();
      if (Lane >= 0)
        Message += formatv(" lane {0}", Lane).str();
    }
    G.Examples.push_back(std::move(R));
  }
  if (Fatal)
    Stopped.store(true, std::memory_order_relaxed);
}

void Reporter::count(ReportKind Kind, uint64_t ElfPc, uint64_t N) {
  std::lock_guard<std::mutex> Guard(Lock);
  auto It = Groups.find(std::make_pair(Kind, ElfPc));
  if (It != Groups.end())
    It->second.Count += N;
}

std::vector<ReportGroup> Reporter::take() {
  std::vector<ReportGroup> Out;
  for (auto &[Key, G] : Groups)
    Out.push_back(std::move(G));
  Groups.clear();
  return Out;
}

} // namespace pagedattn::emu
