//===- LowerWaveOps.h - Patterns of pa-lower-wave-ops ------------*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_LIB_TRANSFORMS_LOWERWAVEOPS_H
#define PAGEDATTN_LIB_TRANSFORMS_LOWERWAVEOPS_H

#include "PagedAttn/Dialect/PA.h"
#include "PagedAttn/Target/TargetInfo.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::pa {

/// pa.mma to the upstream op of its family.
void populateLowerMmaPatterns(RewritePatternSet &patterns,
                              const TargetInfo &target);

/// pa.group_sum to lane exchanges that the chip has.
void populateLowerGroupSumPatterns(RewritePatternSet &patterns,
                                   const TargetInfo &target);

/// pa.assume to rocdl.readfirstlane where it is uniform, else to nothing.
void populateLowerAssumePatterns(RewritePatternSet &patterns);

} // namespace mlir::pa

#endif // PAGEDATTN_LIB_TRANSFORMS_LOWERWAVEOPS_H
