//===- VgprBanks.cpp - Registers beyond the first 256 of gfx1250 ----------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operand has 8 bits for a register. On gfx1250 s_set_vgpr_msb gives two
// more bits to each of src0, src1, src2 and dst of the instructions behind it.
//
//===----------------------------------------------------------------------===//

#include "VgprBanks.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::pa;
using llvm::StringRef;

namespace {
/// Bits of the mode that an instruction depends on, and what they must be.
struct Need {
  unsigned mask = 0, value = 0;

  bool isMetBy(unsigned mode) const { return (mode & mask) == value; }
};

constexpr unsigned kDstShift = 6, kModeMask = 0xff;
constexpr StringRef kSetMode = "s_set_vgpr_msb";
} // namespace

/// Operands between commas, those in brackets and comments aside.
static SmallVector<StringRef> splitOperands(StringRef text) {
  SmallVector<StringRef> operands;
  size_t begin = 0;
  bool isInside = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[')
      isInside = true;
    else if (text[i] == ']')
      isInside = false;
    else if (text[i] == ',' && !isInside) {
      operands.push_back(text.slice(begin, i).trim());
      begin = i + 1;
    }
  }
  operands.push_back(text.drop_front(begin).trim());
  return operands;
}

/// Operands at the front that are encoded as destinations, although the data of
/// a buffer store is read.
static size_t countDestinations(StringRef name, StringRef modifiers) {
  auto isAnyOf = [&](std::initializer_list<StringRef> prefixes) {
    return llvm::any_of(prefixes,
                        [&](StringRef p) { return name.starts_with(p); });
  };
  if (isAnyOf({"ds_store", "global_store", "flat_store", "scratch_store",
               "v_cmpx"}))
    return 0;
  if (isAnyOf({"global_atomic", "flat_atomic"}))
    return modifiers.contains("TH_ATOMIC_RETURN") ? 1 : 0;
  // What returns a value says so, and what only moves one between lanes.
  if (name.starts_with("ds_"))
    return name.contains("_rtn") || isAnyOf({"ds_load", "ds_bpermute",
                                             "ds_permute", "ds_swizzle"})
               ? 1
               : 0;
  if (isAnyOf(
          {"v_add_co", "v_sub_co", "v_subrev_co", "v_div_scale", "v_mad_co"}))
    return 2;
  return 1;
}

/// The number in "v12", "v[12:13]" or behind a sign; nothing for other
/// operands.
static std::optional<unsigned> getRegister(StringRef text) {
  text = text.ltrim("-|");
  if (!text.consume_front("v"))
    return std::nullopt;
  text.consume_front("[");
  unsigned number;
  if (text.consumeInteger(10, number))
    return std::nullopt;
  return number;
}

/// What one instruction, or one half of a pair, needs of the mode; nothing
/// where the text is not understood.
static std::optional<Need> getNeed(StringRef instruction) {
  auto [name, rest] = instruction.split(' ');
  Need need;
  const size_t destinations = countDestinations(name, rest);
  for (auto [i, operand] : llvm::enumerate(splitOperands(rest))) {
    std::optional<unsigned> number = getRegister(operand);
    if (!number)
      continue;
    if (size_t comment = operand.find("/*"); comment != StringRef::npos)
      number = getRegister(operand.drop_front(comment + 2));
    if (!number)
      return std::nullopt;
    const unsigned bank = *number / 256;
    const bool isScale = name.contains("wmma_scale") && i >= 4;
    if (isScale) {
      // Its bank cannot be selected.
      if (bank != 0)
        return std::nullopt;
      continue;
    }
    const size_t source = std::min<size_t>(i - destinations, 2);
    const unsigned shift =
        i < destinations ? kDstShift : static_cast<unsigned>(2 * source);
    // Two operands of one field have to agree.
    if ((need.mask >> shift & 3) != 0 && (need.value >> shift & 3) != bank)
      return std::nullopt;
    need.mask |= 3U << shift;
    need.value |= bank << shift;
  }
  return need;
}

/// Both halves of a pair of instructions.
static std::optional<Need> getNeedOfLine(StringRef line) {
  auto [first, second] = line.split(" :: ");
  std::optional<Need> need = getNeed(first.trim());
  if (!need || second.empty())
    return need;
  std::optional<Need> other = getNeed(second.trim());
  const unsigned both = other ? need->mask & other->mask : 0;
  if (!other || (need->value & both) != (other->value & both))
    return std::nullopt;
  return Need{need->mask | other->mask, need->value | other->value};
}

namespace {
/// Follows the mode through the text.
class BankCheck {
public:
  BankCheck(StringRef isa, function_ref<InFlightDiagnostic()> emitError)
      : emitError(emitError) {
    isa.split(lines, '\n');
  }

  FailureOr<std::string> run();

private:
  LogicalResult visitLabel(size_t line, StringRef name);
  LogicalResult visit(size_t line, StringRef instruction);
  LogicalResult fail(size_t line, const Twine &what) {
    return emitError() << "line " << line + 1 << " of the assembly, '"
                       << lines[line].trim() << "': " << what.str();
  }

  function_ref<InFlightDiagnostic()> emitError;
  SmallVector<StringRef> lines;
  llvm::StringSet<> targets;
  unsigned mode = 0, modeBefore = 0;
  /// The mode was set here, and no register was named since.
  std::optional<size_t> lastSet;
};
} // namespace

/// The bits that s_setreg_imm32_b32 of the mode register selects beside what it
/// names: there dst comes first.
static unsigned getModeOfSetreg(unsigned value) {
  const unsigned bits = value >> 12 & kModeMask;
  return (bits >> 2 | bits << kDstShift) & kModeMask;
}

LogicalResult BankCheck::visitLabel(size_t line, StringRef name) {
  if (targets.contains(name) && mode != 0)
    return fail(line,
                "a branch leads here with bank mode 0, and the code above "
                "with 0x" +
                    Twine::utohexstr(mode));
  return success();
}

LogicalResult BankCheck::visit(size_t line, StringRef instruction) {
  auto [name, rest] = instruction.split(' ');
  if (name == kSetMode || name == "s_setreg_imm32_b32") {
    unsigned value;
    StringRef number = name == kSetMode ? rest : rest.rsplit(',').second;
    if (number.trim().getAsInteger(0, value))
      return fail(line, "has no number");
    modeBefore = mode;
    mode = name == kSetMode ? value & kModeMask : getModeOfSetreg(value);
    lastSet = name == kSetMode ? std::optional(line) : std::nullopt;
    return success();
  }
  if (name.starts_with("s_branch") || name.starts_with("s_cbranch"))
    return mode == 0 ? success()
                     : fail(line, "branches with bank mode 0x" +
                                      Twine::utohexstr(mode));
  if (name == "s_endpgm")
    mode = 0;
  std::optional<Need> need = getNeedOfLine(instruction);
  if (!need)
    return fail(line, "has registers whose banks cannot be selected together");
  if (need->mask == 0)
    return success();
  if (!need->isMetBy(mode)) {
    if (!lastSet || !need->isMetBy(modeBefore))
      return fail(line, "needs banks 0x" + Twine::utohexstr(need->value) +
                            " of 0x" + Twine::utohexstr(need->mask) +
                            ", the bank mode is 0x" + Twine::utohexstr(mode));
    // The selection belongs behind this instruction.
    std::rotate(lines.begin() + *lastSet, lines.begin() + *lastSet + 1,
                lines.begin() + line + 1);
  }
  lastSet.reset();
  return success();
}

FailureOr<std::string> BankCheck::run() {
  auto withoutComment = [](StringRef line) {
    return line.split(';').first.trim();
  };
  for (StringRef line : lines) {
    line = withoutComment(line);
    if (line.starts_with("s_branch") || line.starts_with("s_cbranch"))
      targets.insert(line.split(' ').second.trim());
  }
  for (size_t i = 0; i < lines.size(); ++i) {
    StringRef line = withoutComment(lines[i]);
    if (line == ".amdgpu_metadata")
      break;
    if (line.consume_back(":")) {
      if (failed(visitLabel(i, line)))
        return failure();
    } else if (!line.empty() && !line.starts_with(".")) {
      if (failed(visit(i, line)))
        return failure();
    }
  }
  return llvm::join(lines, "\n");
}

FailureOr<std::string>
mlir::pa::checkVgprBanks(StringRef isa,
                         function_ref<InFlightDiagnostic()> emitError) {
  return BankCheck(isa, emitError).run();
}
