//===- CodeObject.h - An ELF file in device memory --------------*- C++ -*-===//

#ifndef PAGEDATTN_LIB_EMULATOR_CODEOBJECT_H
#define PAGEDATTN_LIB_EMULATOR_CODEOBJECT_H

#include "GlobalMemory.h"
#include "PagedAttn/Emulator/Emulator.h"
#include "Program.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/Object/ELFObjectFile.h"

namespace pagedattn::emu {

/// The 64-byte kernel descriptor.
struct KernelDescriptor {
  uint32_t GroupSegmentBytes = 0;
  uint32_t PrivateSegmentBytes = 0;
  uint32_t KernargBytes = 0;
  int64_t EntryOffset = 0;
  uint32_t Rsrc1 = 0, Rsrc2 = 0, Rsrc3 = 0;
  uint16_t Properties = 0;
  uint16_t KernargPreload = 0;

  static KernelDescriptor read(const uint8_t *Bytes);
  unsigned preloadLength() const { return KernargPreload & 0x7f; }
  unsigned preloadOffset() const { return (KernargPreload >> 7) & 0x1ff; }
};

class CodeObject {
public:
  static llvm::Expected<std::unique_ptr<CodeObject>> load(const ChipInfo &Chip,
                                                          GlobalMemory &Memory,
                                                          llvm::StringRef Elf,
                                                          llvm::StringRef Name);
  ~CodeObject();

  llvm::ArrayRef<Kernel> kernels() const { return Kernels; }
  const Kernel *kernel(llvm::StringRef Name) const;
  llvm::Expected<std::pair<uint64_t, uint64_t>>
  symbol(llvm::StringRef Name) const;
  Program &program() const { return *Code; }
  const KernelDescriptor &descriptor(const Kernel &K) const;
  /// "file:line" of an ELF address, or empty.
  std::string sourceLine(uint64_t ElfAddress) const;
  uint64_t loadAddress() const { return Image->Base; }

private:
  CodeObject(const ChipInfo &Chip, GlobalMemory &Memory)
      : Chip(Chip), Memory(Memory) {}
  llvm::Error checkHeader();
  llvm::Error loadSegments(llvm::StringRef Name);
  llvm::Error relocate();
  llvm::Error readMetadata();

  const ChipInfo &Chip;
  GlobalMemory &Memory;
  std::unique_ptr<llvm::MemoryBuffer> Buffer;
  std::unique_ptr<llvm::object::ELF64LEObjectFile> File;
  Allocation *Image = nullptr;
  uint64_t LowAddress = 0; ///< ELF address of the image's first byte
  std::unique_ptr<Program> Code;
  std::vector<Kernel> Kernels;
  std::vector<KernelDescriptor> Descriptors;
  mutable std::mutex LineLock;
  mutable std::unique_ptr<llvm::DWARFContext> Lines;
};

} // namespace pagedattn::emu

#endif // PAGEDATTN_LIB_EMULATOR_CODEOBJECT_H
