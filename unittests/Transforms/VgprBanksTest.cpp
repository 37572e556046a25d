//===- VgprBanksTest.cpp - Banks of registers in assembly text ------------===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VgprBanks.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace {

struct VgprBanksTest : public ::testing::Test {
  /// The text that checkVgprBanks returns, or what it says instead.
  std::string check(llvm::StringRef text) {
    std::string said;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      said = diagnostic.str();
      return success();
    });
    FailureOr<std::string> result = pa::checkVgprBanks(
        text, [&] { return emitError(UnknownLoc::get(&context)); });
    return failed(result) ? "error: " + said : *result;
  }

  /// Nothing to mend.
  void expectKept(llvm::StringRef text) { EXPECT_EQ(check(text), text); }

  MLIRContext context;
};

TEST_F(VgprBanksTest, KeepsWhatIsRight) {
  expectKept("\ts_set_vgpr_msb 0x51\n"
             "\tv_pk_fma_f32 v[2:3] /*v[258:259]*/, v[4:5] /*v[260:261]*/, "
             "v[6:7], v[8:9] /*v[264:265]*/ op_sel_hi:[1,0,1]\n"
             "\ts_set_vgpr_msb 0x5100\n"
             "\tv_add_nc_u32_e32 v1, v2, v3\n");
  // Data of stores are sources, but those of buffers; loads are destinations.
  expectKept("\ts_set_vgpr_msb 4\n"
             "\tds_store_b128 v1, v[2:5] /*v[258:261]*/ offset:16\n"
             "\tglobal_store_b32 v1, v2 /*v258*/, s[0:1]\n"
             "\ts_set_vgpr_msb 0x441\n"
             "\tbuffer_store_b32 v2 /*v258*/, v3 /*v259*/, s[0:3], null offen\n"
             "\tds_load_b128 v[4:7] /*v[260:263]*/, v3 /*v259*/\n"
             "\ts_set_vgpr_msb 0x4100\n"
             "\ts_endpgm\n");
  // A comparison to exec has no destination, one to a scalar has.
  expectKept("\ts_set_vgpr_msb 4\n"
             "\tv_cmpx_gt_i64_e64 s[80:81], v[2:3] /*v[258:259]*/\n"
             "\tv_cmp_gt_u32_e64 s2, 8, v108 /*v364*/\n"
             "\ts_set_vgpr_msb 0x400\n");
  // Both halves of a pair; the scales of a matrix instruction have no bank.
  expectKept(
      "\ts_set_vgpr_msb 0x42\n"
      "\tv_dual_mov_b32 v1 /*v257*/, v2 /*v514*/ :: v_dual_add_f32 v4 "
      "/*v260*/, v5 /*v517*/, v6\n"
      "\tv_wmma_scale_f32_16x16x128_f8f6f4 v[0:7] /*v[256:263]*/, v[8:15] "
      "/*v[520:527]*/, v[16:31], 0, v87, v81\n");
  expectKept("\ts_set_vgpr_msb 0x41\n\tv_swap_b32 v1 /*v257*/, v2 /*v258*/\n");
  // The immediate form of setreg sets banks as well, dst first.
  expectKept("\ts_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 25, 1), 0x1001\n"
             "\tv_mov_b32_e32 v1 /*v257*/, 0\n");
  // What comes after the code is no instruction.
  expectKept("\t.amdgpu_metadata\namdhsa.kernels:\n  - .name: v1\n");
}

TEST_F(VgprBanksTest, MovesASelectionBehindABarrier) {
  EXPECT_EQ(check("\ts_set_vgpr_msb 0x52\n"
                  "\tv_add_f32_e64 v1 /*v257*/, v2 /*v514*/, v3\n"
                  "\ts_barrier_signal -1\n"
                  "\ts_set_vgpr_msb 0x5202\n"
                  "\tv_add_f32_e64 v4 /*v260*/, v5 /*v517*/, v6\n"
                  "\ts_barrier_wait -1\n"
                  "\tv_add_f32_e64 v7, v8 /*v520*/, v9\n"),
            "\ts_set_vgpr_msb 0x52\n"
            "\tv_add_f32_e64 v1 /*v257*/, v2 /*v514*/, v3\n"
            "\ts_barrier_signal -1\n"
            "\tv_add_f32_e64 v4 /*v260*/, v5 /*v517*/, v6\n"
            "\ts_set_vgpr_msb 0x5202\n"
            "\ts_barrier_wait -1\n"
            "\tv_add_f32_e64 v7, v8 /*v520*/, v9\n");
}

TEST_F(VgprBanksTest, RefusesWhatItCannotMend) {
  EXPECT_EQ(check("\tv_mov_b32_e32 v1 /*v257*/, 0\n"),
            "error: line 1 of the assembly, 'v_mov_b32_e32 v1 /*v257*/, 0': "
            "needs banks 0x40 of 0xc0, the bank mode is 0x0");
  // The mode before does not fit either.
  EXPECT_EQ(check("\ts_set_vgpr_msb 1\n\tv_mov_b32_e32 v1 /*v257*/, 0\n"),
            "error: line 2 of the assembly, 'v_mov_b32_e32 v1 /*v257*/, 0': "
            "needs banks 0x40 of 0xc0, the bank mode is 0x1");
  EXPECT_EQ(check("\ts_set_vgpr_msb 1\n\ts_branch .LBB0_1\n"),
            "error: line 2 of the assembly, 's_branch .LBB0_1': branches with "
            "bank mode 0x1");
  EXPECT_EQ(
      check("\ts_cbranch_vccz .LBB0_1\n\ts_set_vgpr_msb 1\n.LBB0_1:\n"),
      "error: line 3 of the assembly, '.LBB0_1:': a branch leads here with "
      "bank mode 0, and the code above with 0x1");
  EXPECT_EQ(check("\tv_wmma_scale_f32_16x16x128_f8f6f4 v[0:7], v[8:15], "
                  "v[16:31], v[0:7], v87 /*v343*/, v81\n"),
            "error: line 1 of the assembly, 'v_wmma_scale_f32_16x16x128_f8f6f4 "
            "v[0:7], v[8:15], v[16:31], v[0:7], v87 /*v343*/, v81': has "
            "registers whose banks cannot be selected together");
  EXPECT_EQ(
      check("\tv_dual_mov_b32 v1, v2 :: v_dual_mov_b32 v3 /*v259*/, v4\n"),
      "error: line 1 of the assembly, 'v_dual_mov_b32 v1, v2 :: "
      "v_dual_mov_b32 v3 /*v259*/, v4': has registers whose banks cannot "
      "be selected together");
  EXPECT_EQ(check("\ts_set_vgpr_msb banks\n"),
            "error: line 1 of the assembly, 's_set_vgpr_msb banks': has no "
            "number");
}

} // namespace
