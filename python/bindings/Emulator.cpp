//===- Emulator.cpp - Python's view of the emulator -----------------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/Emulator/Emulator.h"
#include "Bindings.h"
#include "PagedAttn/Emulator/ReportWriter.h"
#include "llvm/Support/FormatVariadic.h"
#include <chrono>
#include <condition_variable>
#include <pybind11/stl.h>
#include <thread>

using namespace pagedattn;
namespace py = pybind11;

namespace {

[[noreturn]] void raise(llvm::Error error) {
  throw std::runtime_error(llvm::toString(std::move(error)));
}

template <class T>
T orRaise(llvm::Expected<T> value) {
  if (!value)
    raise(value.takeError());
  return std::move(*value);
}

void orRaise(llvm::Error error) {
  if (error)
    raise(std::move(error));
}

/// Runs a function in a thread of its own, so that the one that waits can
/// handle signals and show progress.
class Background {
public:
  template <class Function>
  explicit Background(Function function) {
    thread = std::thread([this, function] {
      function();
      std::lock_guard<std::mutex> lock(mutex);
      isDone = true;
      ended.notify_all();
    });
  }
  ~Background() { thread.join(); }
  Background(const Background &) = delete;
  Background &operator=(const Background &) = delete;

  bool waitFor(std::chrono::milliseconds time) {
    std::unique_lock<std::mutex> lock(mutex);
    return ended.wait_for(lock, time, [this] { return isDone; });
  }

private:
  std::mutex mutex;
  std::condition_variable ended;
  bool isDone = false;
  std::thread thread;
};

/// A chip with the memory of one call.
class Device {
public:
  explicit Device(const std::string &chip)
      : device(orRaise(emu::Device::create(chip))) {}

  void mapHost(uint64_t address, uint64_t bytes, bool isWritable,
               const std::string &name) {
    // Python has the addresses of arrays as integers.
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    void *data = reinterpret_cast<void *>(address);
    orRaise(device->mapHost(data, bytes, isWritable, name));
  }

  uint64_t allocate(uint64_t bytes, const std::string &name) {
    return orRaise(device->allocate(bytes, emu::Contents::Undefined, name));
  }

  std::string launch(const std::string &elf, const std::string &kernel,
                     std::array<uint32_t, 3> grid,
                     std::array<uint32_t, 3> block, const std::string &kernarg,
                     uint64_t seed, unsigned threads, uint64_t budget,
                     const py::object &progress);

private:
  const emu::Kernel &findKernel(const std::string &elf,
                                const std::string &name);

  std::unique_ptr<emu::Device> device;
  std::map<std::string, emu::Module *> modules;
};

} // namespace

const emu::Kernel &Device::findKernel(const std::string &elf,
                                      const std::string &name) {
  emu::Module *&module = modules[elf];
  if (!module)
    module = orRaise(device->load(elf, name));
  const emu::Kernel *kernel = module->kernel(name);
  if (!kernel)
    throw std::runtime_error("the code object has no kernel '" + name + "'");
  return *kernel;
}

/// Runs a kernel to its end and gives what happened as JSON. `progress`, if it
/// is not None, is called now and then with the workgroups that have ended and
/// their number. An exception of it, or a signal, ends the run.
std::string Device::launch(const std::string &elf, const std::string &name,
                           std::array<uint32_t, 3> grid,
                           std::array<uint32_t, 3> block,
                           const std::string &kernarg, uint64_t seed,
                           unsigned threads, uint64_t budget,
                           const py::object &progress) {
  const emu::Kernel &kernel = findKernel(elf, name);
  std::atomic<uint64_t> finished{0};
  std::atomic<bool> cancel{false};
  emu::LaunchOptions options;
  options.Seed = seed;
  options.Threads = threads;
  if (budget)
    options.InstructionBudget = budget;
  options.Finished = &finished;
  options.Cancel = &cancel;
  const uint64_t total = uint64_t(grid[0]) * grid[1] * grid[2];
  const llvm::ArrayRef<uint8_t> args(
      reinterpret_cast<const uint8_t *>(kernarg.data()), kernarg.size());

  std::optional<llvm::Expected<emu::LaunchResult>> outcome;
  try {
    py::gil_scoped_release release;
    Background run([&] {
      outcome.emplace(device->launch(kernel, {grid[0], grid[1], grid[2]},
                                     {block[0], block[1], block[2]},
                                     /*DynamicLds=*/0, args, options));
    });
    while (!run.waitFor(std::chrono::milliseconds(100))) {
      py::gil_scoped_acquire acquire;
      try {
        if (PyErr_CheckSignals() != 0)
          throw py::error_already_set();
        if (!progress.is_none())
          progress(finished.load(), total);
      } catch (...) {
        cancel = true;
        throw;
      }
    }
  } catch (...) {
    if (outcome && !*outcome)
      llvm::consumeError(outcome->takeError());
    throw;
  }
  emu::LaunchResult result = orRaise(std::move(*outcome));
  llvm::json::Value json =
      llvm::json::Object{{"status", emu::statusName(result.Code)},
                         {"message", llvm::json::fixUTF8(result.Message)},
                         {"stats", emu::statsToJson(result.Counters)},
                         {"reports", emu::reportsToJson(result)}};
  return llvm::formatv("{0}", json).str();
}

void pagedattn::python::bindEmulator(py::module_ &module) {
  py::class_<Device>(module, "Device")
      .def(py::init<const std::string &>(), py::arg("chip"))
      .def("map_host", &Device::mapHost, py::arg("address"), py::arg("bytes"),
           py::arg("writable"), py::arg("name"))
      .def("allocate", &Device::allocate, py::arg("bytes"), py::arg("name"))
      .def("launch", &Device::launch, py::arg("elf"), py::arg("kernel"),
           py::arg("grid"), py::arg("block"), py::arg("kernarg"),
           py::arg("seed"), py::arg("threads"), py::arg("budget"),
           py::arg("progress"));
}
