//===- TestPasses.h - Passes that print analyses ------------------*- C++
//-*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_TOOLS_PA_OPT_TESTPASSES_H
#define PAGEDATTN_TOOLS_PA_OPT_TESTPASSES_H

namespace mlir::pa {

/// `test-pa-uniformity`.
void registerTestUniformityPass();

} // namespace mlir::pa

#endif // PAGEDATTN_TOOLS_PA_OPT_TESTPASSES_H
