//===- LinkCodeObject.cpp - LLD in process -----------------------*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinkCodeObject.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace mlir;
using namespace mlir::pa;

namespace {
/// Takes all command-line options out of LLVM's registry for its lifetime. The
/// linker resets every registered option of the process to its default, also
/// those of the tool that called us: without this, the output folder that a
/// user gave would be forgotten after the first kernel.
class HiddenOptions {
public:
  HiddenOptions() {
    for (llvm::cl::SubCommand *command : llvm::cl::getRegisteredSubcommands())
      saved.push_back(
          {command, std::exchange(command->PositionalOpts, {}),
           std::exchange(command->SinkOpts, {}),
           std::exchange(command->OptionsMap, decltype(command->OptionsMap)()),
           std::exchange(command->ConsumeAfterOpt, nullptr)});
  }
  ~HiddenOptions() {
    for (Saved &s : saved) {
      s.command->PositionalOpts = std::move(s.positional);
      s.command->SinkOpts = std::move(s.sinks);
      s.command->OptionsMap = std::move(s.options);
      s.command->ConsumeAfterOpt = s.consumeAfter;
    }
  }
  HiddenOptions(const HiddenOptions &) = delete;
  HiddenOptions &operator=(const HiddenOptions &) = delete;

private:
  struct Saved {
    llvm::cl::SubCommand *command;
    decltype(llvm::cl::SubCommand::PositionalOpts) positional;
    decltype(llvm::cl::SubCommand::SinkOpts) sinks;
    decltype(llvm::cl::SubCommand::OptionsMap) options;
    llvm::cl::Option *consumeAfter;
  };
  std::vector<Saved> saved;
};
} // namespace

FailureOr<SmallVector<char, 0>>
mlir::pa::linkCodeObject(ArrayRef<char> object,
                         function_ref<InFlightDiagnostic()> emitError) {
  SmallString<128> objectPath, linkedPath;
  int objectFd = -1;
  if (std::error_code error = llvm::sys::fs::createTemporaryFile(
          "pagedattn", "o", objectFd, objectPath))
    return emitError() << "cannot make a temporary file for the linker in "
                       << llvm::sys::path::parent_path(objectPath) << ": "
                       << error.message();
  llvm::FileRemover objectRemover(objectPath);
  {
    llvm::raw_fd_ostream os(objectFd, /*shouldClose=*/true);
    os.write(object.data(), object.size());
    os.flush();
    if (os.has_error()) {
      std::string message = os.error().message();
      os.clear_error();
      return emitError() << "cannot write " << objectPath << ": " << message;
    }
  }
  if (std::error_code error =
          llvm::sys::fs::createTemporaryFile("pagedattn", "co", linkedPath))
    return emitError() << "cannot make a temporary file for the linker: "
                       << error.message();
  llvm::FileRemover linkedRemover(linkedPath);

  static std::mutex linkerMutex;
  std::string messages;
  bool hasLinked = false;
  {
    std::lock_guard<std::mutex> lock(linkerMutex);
    HiddenOptions hidden;
    llvm::raw_string_ostream os(messages);
    const char *args[] = {"ld.lld",           "-shared", "--threads=1",
                          objectPath.c_str(), "-o",      linkedPath.c_str()};
    lld::Result result =
        lld::lldMain(args, os, os, {{lld::Gnu, &lld::elf::link}});
    hasLinked = result.retCode == 0;
  }
  if (!hasLinked)
    return emitError() << "linking failed: " << messages;
  auto buffer = llvm::MemoryBuffer::getFile(linkedPath);
  if (!buffer)
    return emitError() << "cannot read " << linkedPath << ": "
                       << buffer.getError().message();
  StringRef bytes = (*buffer)->getBuffer();
  return SmallVector<char, 0>(bytes.begin(), bytes.end());
}
