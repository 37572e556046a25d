//===- LoweringOps.cpp - pa.assume and pa.mma ------------------------------*-
// C++ -*-===//
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
                             std::pair(StringRef("max"), getMax())})
    if (bound && !llvm::isIntN(width, *bound))
      return emitOpError() << name << " must fit " << type << ", found "
                           << *bound;
  if (getMin() && getMax() && *getMin() > *getMax())
    return emitOpError() << "min must not be above max, found min = "
                         << *getMin() << " and max = " << *getMax();
  if (getDivisor() && *getDivisor() <= 0)
    return emitOpError() << "divisor must be positive, found " << *getDivisor();
  return success();
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
  return success();
}

LogicalResult GroupSumOp::verify() {
  size_t count = getValues().size();
  if (count != 2 && count != 4)
    return emitOpError() << "operands must be 2 or 4, found " << count;
  return success();
}
