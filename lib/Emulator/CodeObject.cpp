//===- CodeObject.cpp - An ELF file in device memory ----------------------===//

#include "CodeObject.h"
#include "Metadata.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace llvm::object;

namespace pagedattn::emu {

KernelDescriptor KernelDescriptor::read(const uint8_t *B) {
  using namespace support::endian;
  KernelDescriptor D;
  D.GroupSegmentBytes = read32le(B);
  D.PrivateSegmentBytes = read32le(B + 4);
  D.KernargBytes = read32le(B + 8);
  D.EntryOffset = int64_t(read64le(B + 16));
  D.Rsrc3 = read32le(B + 44);
  D.Rsrc1 = read32le(B + 48);
  D.Rsrc2 = read32le(B + 52);
  D.Properties = read16le(B + 56);
  D.KernargPreload = read16le(B + 58);
  return D;
}

CodeObject::~CodeObject() {
  Code.reset();
  if (Image)
    consumeError(Memory.release(Image->Base, /*Host=*/false));
}

Error CodeObject::checkHeader() {
  const ELF64LE::Ehdr &Header = File->getELFFile().getHeader();
  if (Header.e_machine != ELF::EM_AMDGPU)
    return createStringError("not an AMDGPU ELF file");
  unsigned Abi = Header.e_ident[ELF::EI_ABIVERSION];
  if (Header.e_ident[ELF::EI_OSABI] != ELF::ELFOSABI_AMDGPU_HSA ||
      Abi < ELF::ELFABIVERSION_AMDGPU_HSA_V4 ||
      Abi > ELF::ELFABIVERSION_AMDGPU_HSA_V6)
    return createStringError(
        formatv("code object version {0} is not supported: expected 4 to 6",
                Abi + 2)
            .str());
  if (Header.e_type != ELF::ET_DYN)
    return createStringError("not a linked code object (ELF type is not DYN)");
  std::optional<StringRef> Cpu = File->tryGetCPUName();
  if (!Cpu || *Cpu != Chip.Name)
    return createStringError(
        formatv("code object is for {0}, the device is {1}",
                Cpu ? *Cpu : "an unknown chip", Chip.Name)
            .str());
  return Error::success();
}

Error CodeObject::loadSegments(StringRef Name) {
  auto Headers = File->getELFFile().program_headers();
  if (!Headers)
    return Headers.takeError();
  uint64_t Low = ~uint64_t(0), High = 0;
  uint64_t CodeLow = ~uint64_t(0), CodeHigh = 0;
  const uint64_t FileSize = Buffer->getBufferSize();
  for (const ELF64LE::Phdr &P : *Headers) {
    if (P.p_type != ELF::PT_LOAD)
      continue;
    if (P.p_offset > FileSize || P.p_filesz > FileSize - P.p_offset ||
        P.p_filesz > P.p_memsz || P.p_memsz > (uint64_t(1) << 32) ||
        P.p_vaddr > (uint64_t(1) << 40))
      return createStringError("a segment lies outside the file");
    Low = std::min<uint64_t>(Low, P.p_vaddr);
    High = std::max<uint64_t>(High, P.p_vaddr + P.p_memsz);
    if (P.p_flags & ELF::PF_X) {
      CodeLow = std::min<uint64_t>(CodeLow, P.p_vaddr);
      CodeHigh = std::max<uint64_t>(CodeHigh, P.p_vaddr + P.p_filesz);
    }
  }
  if (Low >= High || CodeLow >= CodeHigh)
    return createStringError("code object has no executable segment");
  if (High - Low > (uint64_t(1) << 32))
    return createStringError("code object's segments span more than 4 GiB");
  Low &= ~uint64_t(4095);
  auto A = Memory.allocate(High - Low, Contents::Zero, Name);
  if (!A)
    return A.takeError();
  Image = *A;
  Image->Code = true;
  LowAddress = Low;
  for (const ELF64LE::Phdr &P : *Headers)
    if (P.p_type == ELF::PT_LOAD)
      std::memcpy(Image->Data + (P.p_vaddr - Low),
                  Buffer->getBufferStart() + P.p_offset, P.p_filesz);
  auto Prog = Program::create(
      Chip, Image->Base + (CodeLow - Low),
      ArrayRef<uint8_t>(Image->Data + (CodeLow - Low), CodeHigh - CodeLow),
      CodeLow);
  if (!Prog)
    return Prog.takeError();
  Code = std::move(*Prog);
  return Error::success();
}

Error CodeObject::relocate() {
  const ELFFile<ELF64LE> &Elf = File->getELFFile();
  auto Sections = Elf.sections();
  if (!Sections)
    return Sections.takeError();
  for (const ELF64LE::Shdr &Section : *Sections) {
    if (Section.sh_type != ELF::SHT_RELA ||
        !(Section.sh_flags & ELF::SHF_ALLOC))
      continue;
    auto Relas = Elf.relas(Section);
    if (!Relas)
      return Relas.takeError();
    auto SymTab = Elf.getSection(Section.sh_link);
    if (!SymTab)
      return SymTab.takeError();
    for (const ELF64LE::Rela &R : *Relas) {
      uint64_t Value = Image->Base - LowAddress + R.r_addend;
      switch (R.getType(false)) {
      case ELF::R_AMDGPU_RELATIVE64:
        break;
      case ELF::R_AMDGPU_ABS64: {
        auto Sym = Elf.getRelocationSymbol(R, *SymTab);
        if (!Sym)
          return Sym.takeError();
        if (!*Sym || (*Sym)->st_shndx == ELF::SHN_UNDEF)
          return createStringError("relocation names an undefined symbol");
        Value += (*Sym)->st_value;
        break;
      }
      default:
        return createStringError(
            formatv("relocation type {0} is not supported", R.getType(false))
                .str());
      }
      if (R.r_offset < LowAddress || Image->Size < 8 ||
          R.r_offset - LowAddress > Image->Size - 8)
        return createStringError("relocation outside the image");
      support::endian::write64le(Image->Data + (R.r_offset - LowAddress),
                                 Value);
    }
  }
  return Error::success();
}

Expected<std::pair<uint64_t, uint64_t>>
CodeObject::symbol(StringRef Name) const {
  for (const ELFSymbolRef Sym : File->getDynamicSymbolIterators()) {
    auto SymName = Sym.getName();
    if (!SymName) {
      consumeError(SymName.takeError());
      continue;
    }
    if (*SymName != Name)
      continue;
    auto Raw = File->getSymbol(Sym.getRawDataRefImpl());
    if (!Raw)
      return Raw.takeError();
    uint64_t Value = (*Raw)->st_value;
    if ((*Raw)->st_shndx == ELF::SHN_UNDEF || Value < LowAddress ||
        Value - LowAddress > Image->Size)
      break;
    return std::make_pair(Image->Base + (Value - LowAddress),
                          uint64_t((*Raw)->st_size));
  }
  return createStringError("code object has no symbol " + Name.str());
}

Error CodeObject::readMetadata() {
  const ELFFile<ELF64LE> &Elf = File->getELFFile();
  auto Headers = Elf.program_headers();
  if (!Headers)
    return Headers.takeError();
  std::optional<Metadata> Found;
  for (const ELF64LE::Phdr &P : *Headers) {
    if (P.p_type != ELF::PT_NOTE || Found)
      continue;
    Error Err = Error::success();
    std::optional<Error> Failed;
    for (const ELF64LE::Note &Note : Elf.notes(P, Err)) {
      if (Note.getName() != "AMDGPU" ||
          Note.getType() != ELF::NT_AMDGPU_METADATA)
        continue;
      auto M = parseMetadata(
          Note.getDescAsStringRef(std::max<uint64_t>(4, P.p_align)));
      if (!M) {
        Failed = M.takeError();
        break;
      }
      Found = std::move(*M);
      break;
    }
    if (Failed) {
      consumeError(std::move(Err));
      return std::move(*Failed);
    }
    if (Err)
      return Err;
  }
  if (!Found)
    return createStringError("code object has no AMDGPU metadata note");
  for (auto &[K, Symbol] : Found->Kernels) {
    auto Where = symbol(Symbol);
    if (!Where)
      return Where.takeError();
    uint64_t Offset = Where->first - Image->Base;
    if (Image->Size < 64 || Offset > Image->Size - 64)
      return createStringError("kernel descriptor of " + K.Name +
                               " lies outside the image");
    KernelDescriptor D = KernelDescriptor::read(Image->Data + Offset);
    K.DescriptorAddress = Where->first;
    K.EntryAddress = Where->first + D.EntryOffset;
    K.Owner = this;
    if (K.EntryAddress - Code->base() >= Code->size() || (K.EntryAddress & 3))
      return createStringError("entry of kernel " + K.Name +
                               " lies outside the code");
    if (K.WaveSize != Chip.WaveSize)
      return createStringError(
          formatv("kernel {0} is compiled for waves of {1}, {2} has {3}",
                  K.Name, K.WaveSize, Chip.Name, Chip.WaveSize)
              .str());
    K.LdsBytes = std::max(K.LdsBytes, D.GroupSegmentBytes);
    K.ScratchBytes = std::max(K.ScratchBytes, D.PrivateSegmentBytes);
    K.KernargBytes = std::max(K.KernargBytes, D.KernargBytes);
    Kernels.push_back(std::move(K));
    Descriptors.push_back(D);
  }
  return Error::success();
}

Expected<std::unique_ptr<CodeObject>> CodeObject::load(const ChipInfo &Chip,
                                                       GlobalMemory &Memory,
                                                       StringRef Elf,
                                                       StringRef Name) {
  std::unique_ptr<CodeObject> C(new CodeObject(Chip, Memory));
  C->Buffer = MemoryBuffer::getMemBufferCopy(Elf, Name);
  auto File = ELF64LEObjectFile::create(C->Buffer->getMemBufferRef());
  if (!File)
    return File.takeError();
  C->File = std::make_unique<ELF64LEObjectFile>(std::move(*File));
  if (Error E = C->checkHeader())
    return E;
  if (Error E = C->loadSegments(Name))
    return E;
  if (Error E = C->relocate())
    return E;
  if (Error E = C->readMetadata())
    return E;
  return C;
}

const Kernel *CodeObject::kernel(StringRef Name) const {
  for (const Kernel &K : Kernels)
    if (K.Name == Name)
      return &K;
  return nullptr;
}

const KernelDescriptor &CodeObject::descriptor(const Kernel &K) const {
  return Descriptors[&K - Kernels.data()];
}

std::string CodeObject::sourceLine(uint64_t ElfAddress) const {
  std::lock_guard<std::mutex> Guard(LineLock);
  if (!Lines)
    Lines = DWARFContext::create(*File);
  SectionedAddress Address{ElfAddress, SectionedAddress::UndefSection};
  auto Info = Lines->getLineInfoForAddress(Address);
  if (!Info || Info->FileName.empty() ||
      Info->FileName == DILineInfo::BadString || Info->Line == 0)
    return {};
  return (sys::path::filename(Info->FileName) + ":" + Twine(Info->Line)).str();
}

} // namespace pagedattn::emu
