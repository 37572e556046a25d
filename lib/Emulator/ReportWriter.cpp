//===- ReportWriter.cpp - Reports as text and as JSON ---------------------===//

#include "PagedAttn/Emulator/ReportWriter.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace pagedattn::emu;

StringRef pagedattn::emu::statusName(Status Code) {
  switch (Code) {
  case Status::Ok:
    return "ok";
  case Status::InvalidAccess:
    return "invalid-access";
  case Status::UnknownInstruction:
    return "unknown-instruction";
  case Status::NoProgress:
    return "no-progress";
  case Status::Cancelled:
    return "cancelled";
  }
  return "unknown";
}

static void writeExample(raw_ostream &OS, const Report &R) {
  OS << "    workgroup (" << R.Workgroup[0] << ", " << R.Workgroup[1] << ", "
     << R.Workgroup[2] << "), wave " << R.Wave;
  if (R.Lane >= 0)
    OS << ", lane " << R.Lane;
  if (R.Size) {
    OS << ": " << R.Size << (R.Size == 1 ? " byte" : " bytes") << " at "
       << format_hex(R.Address, 0);
    if (R.Limit)
      OS << ", limit " << format_hex(R.Limit, 0);
  }
  if (!R.Text.empty())
    OS << ": " << R.Text;
  OS << '\n';
}

void pagedattn::emu::writeReports(raw_ostream &OS, const LaunchResult &Result) {
  for (const ReportGroup &G : Result.Reports) {
    if (G.Examples.empty()) {
      OS << reportKindName(G.Kind) << " at pc " << format_hex(G.Pc, 0) << ": "
         << G.Count << " times\n";
      continue;
    }
    const Report &First = G.Examples.front();
    OS << (First.Fatal ? "error: " : "report: ") << reportKindName(G.Kind)
       << " in kernel " << First.Kernel << " at pc " << format_hex(G.Pc, 0);
    if (!First.SourceLine.empty())
      OS << " (" << First.SourceLine << ')';
    OS << ", " << G.Count << (G.Count == 1 ? " time" : " times") << '\n';
    if (!First.Disassembly.empty())
      OS << "    " << StringRef(First.Disassembly).trim() << '\n';
    for (const Report &R : G.Examples)
      writeExample(OS, R);
    if (G.Count > G.Examples.size())
      OS << "    and " << G.Count - G.Examples.size() << " more\n";
  }
}

/// Addresses do not fit the 53 bits that JSON readers keep of a number.
static std::string hex(uint64_t X) { return "0x" + utohexstr(X, true); }

json::Array pagedattn::emu::reportsToJson(const LaunchResult &Result) {
  json::Array Groups;
  for (const ReportGroup &G : Result.Reports) {
    json::Array Examples;
    for (const Report &R : G.Examples) {
      json::Object O{
          {"workgroup",
           json::Array{int64_t(R.Workgroup[0]), int64_t(R.Workgroup[1]),
                       int64_t(R.Workgroup[2])}},
          {"wave", int64_t(R.Wave)},
          {"lane", int64_t(R.Lane)},
          {"address", hex(R.Address)},
          {"size", int64_t(R.Size)},
          {"limit", hex(R.Limit)},
          {"text", json::fixUTF8(R.Text)},
      };
      Examples.push_back(std::move(O));
    }
    json::Object O{{"kind", reportKindName(G.Kind)},
                   {"pc", hex(G.Pc)},
                   {"count", int64_t(G.Count)}};
    if (!G.Examples.empty()) {
      const Report &First = G.Examples.front();
      O["kernel"] = json::fixUTF8(First.Kernel);
      O["fatal"] = First.Fatal;
      O["instruction"] = json::fixUTF8(StringRef(First.Disassembly).trim());
      if (!First.SourceLine.empty())
        O["source"] = json::fixUTF8(First.SourceLine);
    }
    O["examples"] = std::move(Examples);
    Groups.push_back(std::move(O));
  }
  return Groups;
}

static json::Object countsToJson(const std::map<std::string, uint64_t> &Map) {
  json::Object O;
  for (const auto &[Name, Count] : Map)
    O[json::fixUTF8(Name)] = int64_t(Count);
  return O;
}

json::Object pagedattn::emu::statsToJson(const Stats &Counters) {
  json::Object Loaded, Stored;
  for (unsigned S = 0; S != NumMemorySpaces; ++S) {
    StringRef Name = memorySpaceName(static_cast<MemorySpace>(S));
    Loaded[Name] = int64_t(Counters.BytesLoaded[S]);
    Stored[Name] = int64_t(Counters.BytesStored[S]);
  }
  json::Object Buffers;
  for (const auto &[Name, Bytes] : Counters.ByBuffer)
    Buffers[json::fixUTF8(Name)] =
        json::Object{{"bytes_loaded", int64_t(Bytes.Loaded)},
                     {"bytes_stored", int64_t(Bytes.Stored)}};
  return json::Object{
      {"instructions", int64_t(Counters.Instructions)},
      {"matrix_ops", int64_t(Counters.MatrixOps)},
      {"workgroups", int64_t(Counters.Workgroups)},
      {"waves", int64_t(Counters.Waves)},
      {"seconds", Counters.Seconds},
      {"bytes_loaded", std::move(Loaded)},
      {"bytes_stored", std::move(Stored)},
      {"by_buffer", std::move(Buffers)},
      {"lds_bank_conflicts", int64_t(Counters.LdsConflicts)},
      {"by_class", countsToJson(Counters.ByClass)},
      {"by_mnemonic", countsToJson(Counters.ByMnemonic)},
  };
}
