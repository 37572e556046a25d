//===- pa-run.cpp - Run a code object and check its buffers ---------------===//
//
// Exit codes: 0 all expectations hold, 1 a buffer differs, 2 bad usage or spec,
// 3 invalid memory access, 4 unknown instruction, 5 no progress.
//
//===----------------------------------------------------------------------===//

#include "Compare.h"
#include "PagedAttn/Emulator/Emulator.h"
#include "PagedAttn/Emulator/HotLoop.h"
#include "PagedAttn/Emulator/ReportWriter.h"
#include "Spec.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace llvm;
using namespace pagedattn;
using namespace pagedattn::run;

namespace {

enum ExitCode { ExitOk = 0, ExitDiffers = 1, ExitUsage = 2 };
enum class ReportFormat { Text, Json };

/// Built in main, after LLVM's own options have made room.
struct CommandLine {
  cl::OptionCategory Category{"pa-run options"};
  cl::opt<std::string> SpecPath{cl::Positional, cl::Required,
                                cl::desc("SPEC.json"), cl::cat(Category)};
  cl::opt<bool> Cost{
      "cost", cl::cat(Category),
      cl::desc("Run nothing: the file is a code object, of which to print the "
               "static cost as JSON")};
  cl::opt<std::string> StatsPath{"stats", cl::value_desc("file"),
                                 cl::desc("Write what the run did as JSON"),
                                 cl::cat(Category)};
  cl::opt<ReportFormat> Format{
      "report", cl::desc("How to print reports and results"),
      cl::values(clEnumValN(ReportFormat::Text, "text", "for people"),
                 clEnumValN(ReportFormat::Json, "json", "for programs")),
      cl::init(ReportFormat::Text), cl::cat(Category)};
  cl::opt<uint64_t> Seed{
      "seed", cl::init(0), cl::cat(Category),
      cl::desc("Permute workgroups and waves; 0 keeps them in order")};
  cl::opt<unsigned> Threads{"threads", cl::init(0), cl::cat(Category),
                            cl::desc("Host threads; 0 means one per core")};
  cl::opt<std::string> Trace{
      "trace", cl::value_desc("first-last"), cl::cat(Category),
      cl::desc("Print the instructions with a pc in this range")};
  cl::opt<uint64_t> Budget{
      "budget", cl::init(0), cl::cat(Category),
      cl::desc("Wave instructions a workgroup may execute; 0 means the "
               "default")};
  cl::opt<unsigned> Examples{"report-examples", cl::init(4), cl::cat(Category),
                             cl::desc("Examples shown of each report")};
};

int usageError(const Twine &Message) {
  errs() << "pa-run: error: " << Message << '\n';
  return ExitUsage;
}

int usageError(Error E) { return usageError(toString(std::move(E))); }

bool parseTrace(StringRef Text, emu::LaunchOptions &Options) {
  auto [First, Last] = Text.split('-');
  if (First.trim().getAsInteger(0, Options.TraceFirst))
    return false;
  if (Last.empty()) {
    Options.TraceLast = Options.TraceFirst;
    return true;
  }
  return !Last.trim().getAsInteger(0, Options.TraceLast) &&
         Options.TraceFirst <= Options.TraceLast;
}

/// Kernel arguments of a spec with their addresses in device memory.
struct Launchable {
  std::unique_ptr<emu::Device> Dev;
  const emu::Kernel *Kernel = nullptr;
  std::vector<uint64_t> Addresses;
  std::vector<uint8_t> Kernarg;
};

Error fillBuffer(emu::Device &Dev, const ArgSpec &Arg, uint64_t Address) {
  if (Arg.Init.Fill == InitSpec::Base::Pattern)
    if (Error E = Dev.fill(Address, Arg.Init.Pattern, 4, Arg.Bytes / 4))
      return E;
  for (const Piece &P : Arg.Init.Pieces) {
    auto File = MemoryBuffer::getFile(P.File, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
    if (!File)
      return createStringError(File.getError(),
                               "cannot read '" + Twine(P.File) +
                                   "': " + File.getError().message());
    if ((*File)->getBufferSize() < P.Rows * P.RowBytes)
      return createStringError(inconvertibleErrorCode(),
                               "'" + Twine(P.File) + "' is too short");
    for (uint64_t Row = 0; Row != P.Rows; ++Row)
      if (Error E = Dev.write(Address + P.Offset + Row * P.StrideBytes,
                              (*File)->getBufferStart() + Row * P.RowBytes,
                              P.RowBytes))
        return E;
  }
  return Error::success();
}

Expected<Launchable> prepare(const Spec &S) {
  Launchable L;
  Expected<std::unique_ptr<emu::Device>> Dev = emu::Device::create(S.Arch);
  if (!Dev)
    return Dev.takeError();
  L.Dev = std::move(*Dev);
  auto File = MemoryBuffer::getFile(S.CodeObject, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (!File)
    return createStringError(File.getError(),
                             "cannot read code object '" + S.CodeObject +
                                 "': " + File.getError().message());
  Expected<emu::Module *> Module =
      L.Dev->load((*File)->getBuffer(), S.CodeObject);
  if (!Module)
    return createStringError(inconvertibleErrorCode(),
                             "'" + Twine(S.CodeObject) +
                                 "': " + toString(Module.takeError()));
  L.Kernel = (*Module)->kernel(S.Kernel);
  if (!L.Kernel) {
    std::string Names;
    for (const emu::Kernel &K : (*Module)->kernels())
      Names += (Names.empty() ? "" : ", ") + K.Name;
    return createStringError(inconvertibleErrorCode(),
                             "no kernel '" + S.Kernel + "' in '" +
                                 S.CodeObject + "', it has: " + Names);
  }

  std::vector<const emu::KernelArg *> Explicit;
  for (const emu::KernelArg &A : L.Kernel->Args)
    if (!A.isHidden())
      Explicit.push_back(&A);
  if (S.Args.size() > Explicit.size())
    return createStringError(
        inconvertibleErrorCode(),
        "kernel '" + Twine(S.Kernel) + "' takes " + Twine(Explicit.size()) +
            " arguments, the spec has " + Twine(S.Args.size()));
  L.Kernarg.assign(L.Kernel->KernargBytes, 0);
  for (unsigned I = 0; I != S.Args.size(); ++I) {
    const ArgSpec &Arg = S.Args[I];
    const emu::KernelArg &Formal = *Explicit[I];
    uint64_t Address = 0;
    std::vector<uint8_t> Value = Arg.Value;
    if (Arg.IsBuffer) {
      emu::Contents Initial = Arg.Init.Fill == InitSpec::Base::Undefined
                                  ? emu::Contents::Undefined
                                  : emu::Contents::Zero;
      Expected<uint64_t> A = L.Dev->allocate(Arg.Bytes, Initial, Arg.Name);
      if (!A)
        return A.takeError();
      Address = *A;
      if (Error E = fillBuffer(*L.Dev, Arg, Address))
        return E;
      uint64_t Pointer = Address + Arg.PointerOffset;
      Value.resize(8);
      std::memcpy(Value.data(), &Pointer, 8);
    }
    L.Addresses.push_back(Address);
    if (Value.size() != Formal.Size)
      return createStringError(inconvertibleErrorCode(),
                               "argument " + Twine(I) + " ('" + Arg.Name +
                                   "') has " + Twine(Value.size()) +
                                   " bytes, the kernel expects " +
                                   Twine(Formal.Size));
    if (uint64_t(Formal.Offset) + Formal.Size > L.Kernarg.size())
      return createStringError(inconvertibleErrorCode(),
                               "argument " + Twine(I) +
                                   " lies outside the kernel argument "
                                   "segment of " +
                                   Twine(L.Kernarg.size()) + " bytes");
    std::memcpy(&L.Kernarg[Formal.Offset], Value.data(), Value.size());
  }
  return L;
}

Error writeFile(StringRef Path, function_ref<Error(raw_ostream &)> Body) {
  std::error_code EC;
  raw_fd_ostream OS(Path, EC);
  if (EC)
    return createStringError(EC,
                             "cannot write '" + Path + "': " + EC.message());
  if (Error E = Body(OS))
    return E;
  OS.close();
  if (OS.has_error()) {
    EC = OS.error();
    OS.clear_error();
    return createStringError(EC,
                             "cannot write '" + Path + "': " + EC.message());
  }
  return Error::success();
}

Error writeBuffer(const emu::Device &Dev, const ArgSpec &Arg,
                  uint64_t Address) {
  return writeFile(Arg.Out, [&](raw_ostream &OS) -> Error {
    // An empty buffer is nowhere in memory.
    if (Arg.Bytes == 0)
      return Error::success();
    const uint8_t *Data = Dev.hostPointer(Address, Arg.Bytes);
    if (!Data)
      return createStringError(inconvertibleErrorCode(),
                               "buffer '" + Twine(Arg.Name) +
                                   "' is no longer in device memory");
    OS.write(reinterpret_cast<const char *>(Data), Arg.Bytes);
    return Error::success();
  });
}

void printText(const Spec &S, const emu::LaunchResult &Result,
               ArrayRef<BufferResult> Buffers, bool Ok) {
  emu::writeReports(outs(), Result);
  for (const BufferResult &R : Buffers)
    writeResult(outs(), R);
  if (!Result.Message.empty())
    errs() << "pa-run: error: " << Result.Message << '\n';
  outs() << "kernel " << S.Kernel << " on " << S.Arch << ": "
         << (Result.Code != emu::Status::Ok ? emu::statusName(Result.Code)
             : Ok                           ? StringRef("ok")
                                            : StringRef("buffers differ"))
         << ", " << Result.Counters.Instructions << " wave instructions in "
         << format("%.3f", Result.Counters.Seconds) << " s\n";
}

void printJson(const Spec &S, const emu::LaunchResult &Result,
               ArrayRef<BufferResult> Buffers, int Code) {
  json::Array BufferArray;
  for (const BufferResult &R : Buffers)
    BufferArray.push_back(resultToJson(R));
  json::Object O{{"kernel", json::fixUTF8(S.Kernel)},
                 {"chip", json::fixUTF8(S.Arch)},
                 {"status", Code == ExitDiffers ? StringRef("buffers-differ")
                                                : emu::statusName(Result.Code)},
                 {"exit_code", Code},
                 {"message", json::fixUTF8(Result.Message)},
                 {"seconds", Result.Counters.Seconds},
                 {"instructions", int64_t(Result.Counters.Instructions)},
                 {"reports", emu::reportsToJson(Result)},
                 {"buffers", std::move(BufferArray)}};
  outs() << formatv("{0:2}", json::Value(std::move(O))) << '\n';
}

int runSpec(const CommandLine &Line) {
  emu::LaunchOptions Options;
  Options.Seed = Line.Seed;
  Options.Threads = Line.Threads;
  Options.ReportExamples = Line.Examples;
  if (Line.Budget)
    Options.InstructionBudget = Line.Budget;
  if (!Line.Trace.empty() && !parseTrace(Line.Trace, Options))
    return usageError("--trace: expected FIRST-LAST, found '" + Line.Trace +
                      "'");

  Expected<Spec> S = loadSpec(Line.SpecPath);
  if (!S)
    return usageError(S.takeError());
  Expected<Launchable> L = prepare(*S);
  if (!L)
    return usageError(L.takeError());
  Expected<emu::LaunchResult> Result = L->Dev->launch(
      *L->Kernel, S->Grid, S->Block, S->DynamicLds, L->Kernarg, Options);
  if (!Result)
    return usageError(Result.takeError());

  bool Ok = true;
  std::vector<BufferResult> Buffers;
  for (unsigned I = 0; I != S->Args.size(); ++I) {
    const ArgSpec &Arg = S->Args[I];
    if (!Arg.IsBuffer)
      continue;
    if (!Arg.Out.empty())
      if (Error E = writeBuffer(*L->Dev, Arg, L->Addresses[I]))
        return usageError(std::move(E));
    // After a fault the buffers are in the middle of something.
    if (Result->Code != emu::Status::Ok)
      continue;
    Expected<BufferResult> R =
        compareBuffer(*L->Dev, Arg, L->Addresses[I], S->Rtol);
    if (!R)
      return usageError(R.takeError());
    Ok &= R->ok();
    Buffers.push_back(std::move(*R));
  }
  if (!Line.StatsPath.empty())
    if (Error E = writeFile(Line.StatsPath, [&](raw_ostream &OS) -> Error {
          OS << formatv("{0:2}",
                        json::Value(emu::statsToJson(Result->Counters)))
             << '\n';
          return Error::success();
        }))
      return usageError(std::move(E));

  int Code = Result->Code != emu::Status::Ok ? int(Result->Code)
             : Ok                            ? ExitOk
                                             : ExitDiffers;
  if (Line.Format == ReportFormat::Json)
    printJson(*S, *Result, Buffers, Code);
  else
    printText(*S, *Result, Buffers, Ok);
  return Code;
}

/// The kernels of a code object with their hot loops.
int printCost(StringRef Path) {
  auto File = MemoryBuffer::getFile(Path, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (!File)
    return usageError("cannot read code object '" + Path +
                      "': " + File.getError().message());
  Expected<std::vector<emu::KernelCode>> Kernels =
      emu::readKernelCode((*File)->getBuffer());
  if (!Kernels)
    return usageError("'" + Path + "': " + toString(Kernels.takeError()));
  json::Array Entries;
  for (const emu::KernelCode &K : *Kernels) {
    json::Object Entry{{"symbol", K.Symbol}, {"instructions", K.Instructions}};
    if (K.Loop) {
      Entry["hot_loop"] = emu::hotLoopToJson(*K.Loop);
      Entry["text"] = json::Array(K.Loop->Text);
    }
    Entries.push_back(std::move(Entry));
  }
  outs() << formatv("{0:2}", json::Value(std::move(Entries))) << '\n';
  return ExitOk;
}

} // namespace

int main(int Argc, char **Argv) {
  // LLVM registers options of its own, --stats and --threads among them.
  cl::ResetCommandLineParser();
  auto &Registered = cl::getRegisteredOptions();
  auto Stats = Registered.find("stats");
  if (Stats != Registered.end())
    Stats->second->setArgStr("llvm-stats");
  CommandLine Line;
  // LLVM's options would drown ours in the help text.
  cl::HideUnrelatedOptions(Line.Category);
  // With a stream for errors the parser returns instead of exiting with 1,
  // which here means that a buffer differs.
  if (!cl::ParseCommandLineOptions(
          Argc, Argv,
          "Runs a kernel of an AMDGPU code object in the emulator\n", &errs()))
    return ExitUsage;
  if (!Line.Cost)
    return runSpec(Line);
  if (!Line.StatsPath.empty() || !Line.Trace.empty())
    return usageError("--cost runs nothing, so that --stats and --trace do not "
                      "go with it");
  return printCost(Line.SpecPath);
}
