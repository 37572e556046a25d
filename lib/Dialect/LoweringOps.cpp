//===- LoweringOps.cpp - pa.assume and pa.mma -----------------------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PagedAttn/Dialect/PA.h"
#include "PagedAttn/Target/MmaLayout.h"

using namespace mlir;
using namespace mlir::pa;

static ParseResult parseMmaKind(OpAsmParser &parser, MmaIdAttr &kind) {
  StringRef name;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return failure();
  std::optional<MmaId> id = symbolizeMmaId(name);
  if (!id)
    return parser.emitError(loc)
           << "unknown matrix instruction '" << name << "'";
  kind = MmaIdAttr::get(parser.getContext(), *id);
  return success();
}

static void printMmaKind(OpAsmPrinter &printer, Operation *, MmaIdAttr kind) {
  printer << stringifyMmaId(kind.getValue());
}

#define GET_OP_CLASSES
#include "PagedAttn/Dialect/PALoweringOps.cpp.inc"
#define GET_OP_CLASSES
#include "PagedAttn/Dialect/PAOps.cpp.inc"

LogicalResult AssumeOp::verify() {
  Type type = getValue().getType();
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  for (auto [name, bound] : {std::pair(StringRef("min"), getMin()),
                             std::pair(StringRef("max"), getMax()),
                             std::pair(StringRef("divisor"), getDivisor())})
    if (bound && !llvm::isIntN(width, *bound))
      return emitOpError() << name << " must fit " << type << ", found "
                           << *bound;
  if (getMin() && getMax() && *getMin() > *getMax())
    return emitOpError() << "min must not be above max, found min = "
                         << *getMin() << " and max = " << *getMax();
  if (getDivisor() && *getDivisor() <= 0)
    return emitOpError() << "divisor must be positive, found " << *getDivisor();
  if (getOpaque() && !getUniform() && width == 64) {
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    auto toText = [](std::optional<int64_t> bound) {
      return bound ? std::to_string(*bound) : std::string("none");
    };
    if (getMin().value_or(-1) < 0 || getMax().value_or(kMost + 1) > kMost)
      return emitOpError()
             << "an opaque value of a lane needs min and max from "
                "0 to "
             << kMost << ", found min = " << toText(getMin())
             << " and max = " << toText(getMax());
  }
  return success();
}

/// The least value that is not negative and congruent to `value`.
static APInt modulo(const APInt &value, const APInt &divisor) {
  APInt rest = value.srem(divisor);
  return rest.isNegative() ? rest + divisor : rest;
}

void AssumeOp::inferResultRanges(ArrayRef<ConstantIntRanges> argRanges,
                                 SetIntRangeFn setResultRange) {
  unsigned width = argRanges[0].smin().getBitWidth();
  APInt smin = argRanges[0].smin(), smax = argRanges[0].smax();
  if (getMin())
    smin = llvm::APIntOps::smax(
        smin, APInt(width, static_cast<uint64_t>(*getMin()), true));
  if (getMax())
    smax = llvm::APIntOps::smin(
        smax, APInt(width, static_cast<uint64_t>(*getMax()), true));
  if (getDivisor() && *getDivisor() > 1) {
    APInt divisor(width, static_cast<uint64_t>(*getDivisor()), true);
    // The multiples next to the bounds, where they do not leave the type.
    APInt below = modulo(smax, divisor), above = modulo(smin, divisor);
    if (APInt down = smax - below; down.sle(smax))
      smax = down;
    if (APInt up = smin + (divisor - above); !above.isZero() && up.sge(smin))
      smin = up;
  }
  // Contradicting facts have no defined result; keep what was known before.
  if (smin.sgt(smax))
    return setResultRange(getResult(), argRanges[0]);
  setResultRange(getResult(), ConstantIntRanges::fromSigned(smin, smax));
}

LogicalResult MmaOp::verify() {
  FragmentTypes expected = getFragmentTypes(getContext(), getKind());
  struct {
    StringRef name;
    Type found, wanted;
  } vectors[] = {{"a", getA().getType(), expected.a},
                 {"b", getB().getType(), expected.b},
                 {"acc", getAcc().getType(), expected.acc}};
  for (auto &vector : vectors)
    if (vector.found != vector.wanted)
      return emitOpError() << vector.name << " of " << stringifyMmaId(getKind())
                           << " must be " << vector.wanted << ", found "
                           << vector.found;
  const MmaInfo &mma = getMmaInfo(getKind());
  for (auto [name, scales] : {std::pair(StringRef("a"), getAScales()),
                              std::pair(StringRef("b"), getBScales())})
    if (bool(scales) != mma.isScaled())
      return emitOpError() << "scales of " << name << " must be "
                           << (mma.isScaled() ? "present" : "absent") << " for "
                           << stringifyMmaId(getKind());
  for (auto [name, operand, selector] :
       {std::tuple(StringRef("a"), MmaOperand::a, getASelect()),
        std::tuple(StringRef("b"), MmaOperand::b, getBSelect())}) {
    // One of the four codes of a lane, or one of the lane halves that the
    // operand leaves.
    int64_t choices = 1;
    if (mma.isScaled())
      choices = mma.scalesPerLane == 1
                    ? 4
                    : mma.waveSize / mma.getScaleLanes(operand);
    if (selector >= static_cast<uint64_t>(choices))
      return emitOpError() << "scale selector of " << name << " must be below "
                           << choices << " for " << stringifyMmaId(getKind())
                           << ", found " << static_cast<int32_t>(selector);
  }
  return success();
}

LogicalResult GroupSumOp::verify() {
  size_t count = getValues().size();
  if (count != 2 && count != 4)
    return emitOpError() << "operands must be 2 or 4, found " << count;
  return success();
}
