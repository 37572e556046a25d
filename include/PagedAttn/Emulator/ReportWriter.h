//===- ReportWriter.h - Reports as text and as JSON -------------*- C++ -*-===//

#ifndef PAGEDATTN_EMULATOR_REPORTWRITER_H
#define PAGEDATTN_EMULATOR_REPORTWRITER_H

#include "PagedAttn/Emulator/Emulator.h"
#include "llvm/Support/JSON.h"

namespace llvm {
class raw_ostream;
}

namespace pagedattn::emu {

/// "ok", "invalid-access", ...
llvm::StringRef statusName(Status Code);

/// One block of lines per group: what, where, the first examples, the count.
void writeReports(llvm::raw_ostream &OS, const LaunchResult &Result);

/// One object per group: kind, pc, count, kernel, fatal, instruction, source
/// and examples.
llvm::json::Array reportsToJson(const LaunchResult &Result);
/// The counts by the names of `pa-run --stats`.
llvm::json::Object statsToJson(const Stats &Counters);

} // namespace pagedattn::emu

#endif // PAGEDATTN_EMULATOR_REPORTWRITER_H
