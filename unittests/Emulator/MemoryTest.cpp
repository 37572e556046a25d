//===- MemoryTest.cpp - Vector memory instructions ------------------------===//

#include "Snippet.h"
#include "gtest/gtest.h"
#include <set>

using namespace pagedattn::emu;

namespace {

class MemoryTest : public testing::TestWithParam<const char *> {
protected:
  static std::string chip() { return GetParam(); }
  static bool gfx12() { return chip() == "gfx1250"; }
  /// The same text in the syntax of either generation.
  static std::string pick(const char *Gfx9, const char *Gfx12) {
    return gfx12() ? Gfx12 : Gfx9;
  }
};
INSTANTIATE_TEST_SUITE_P(Chips, MemoryTest,
                         testing::Values("gfx942", "gfx950", "gfx1250"),
                         [](const auto &Info) { return Info.param; });

void setAddress(Snippet &S, unsigned Register, uint64_t Base, uint64_t Stride) {
  for (unsigned L = 0; L != S.wave().Lanes; ++L) {
    S.v(Register, L) = uint32_t(Base + L * Stride);
    S.v(Register + 1, L) = uint32_t((Base + L * Stride) >> 32);
  }
}

uint32_t word(const Allocation &A, uint64_t Offset) {
  uint32_t X;
  std::memcpy(&X, A.Data + Offset, 4);
  return X;
}

//===----------------------------------------------------------------------===//
// Global
//===----------------------------------------------------------------------===//

TEST_P(MemoryTest, GlobalLoadsOfEveryWidth) {
  Snippet S(chip());
  Allocation &A = S.allocate(4096);
  for (unsigned I = 0; I != 4096; ++I)
    A.Data[I] = uint8_t(I * 7 + 0x80);
  setAddress(S, 0, A.Base + 16, 16);
  S.fill(20, 0xaaaabbbb);
  S.fill(21, 0xaaaabbbb);
  EXPECT_EQ(S.run(pick("global_load_ubyte v2, v[0:1], off\n"
                       "global_load_sbyte v3, v[0:1], off\n"
                       "global_load_ushort v4, v[0:1], off\n"
                       "global_load_sshort v5, v[0:1], off offset:2\n"
                       "global_load_dword v6, v[0:1], off offset:-4\n"
                       "global_load_dwordx2 v[8:9], v[0:1], off\n"
                       "global_load_dwordx3 v[10:12], v[0:1], off\n"
                       "global_load_dwordx4 v[14:17], v[0:1], off\n"
                       "global_load_short_d16 v20, v[0:1], off\n"
                       "global_load_short_d16_hi v21, v[0:1], off\n",
                       "global_load_u8 v2, v[0:1], off\n"
                       "global_load_i8 v3, v[0:1], off\n"
                       "global_load_u16 v4, v[0:1], off\n"
                       "global_load_i16 v5, v[0:1], off offset:2\n"
                       "global_load_b32 v6, v[0:1], off offset:-4\n"
                       "global_load_b64 v[8:9], v[0:1], off\n"
                       "global_load_b96 v[10:12], v[0:1], off\n"
                       "global_load_b128 v[14:17], v[0:1], off\n"
                       "global_load_d16_b16 v20, v[0:1], off\n"
                       "global_load_d16_hi_b16 v21, v[0:1], off\n")),
            Status::Ok);
  for (unsigned L : {0u, 5u, S.wave().Lanes - 1}) {
    const uint64_t O = 16 + 16 * L;
    EXPECT_EQ(S.v(2, L), A.Data[O]);
    EXPECT_EQ(S.v(3, L), uint32_t(int32_t(int8_t(A.Data[O]))));
    EXPECT_EQ(S.v(4, L), word(A, O) & 0xffff);
    EXPECT_EQ(S.v(5, L), uint32_t(int32_t(int16_t(word(A, O + 2)))));
    EXPECT_EQ(S.v(6, L), word(A, O - 4));
    EXPECT_EQ(S.v(9, L), word(A, O + 4));
    EXPECT_EQ(S.v(12, L), word(A, O + 8));
    EXPECT_EQ(S.v(17, L), word(A, O + 12));
    EXPECT_EQ(S.v(20, L), 0xaaaa0000 | (word(A, O) & 0xffff));
    EXPECT_EQ(S.v(21, L), 0x0000bbbb | word(A, O) << 16);
  }
}

TEST_P(MemoryTest, GlobalStoresMarkWhatTheyWrite) {
  Snippet S(chip());
  Allocation &A = S.allocate(4096, Contents::Undefined);
  setAddress(S, 0, A.Base, 8);
  S.fill(2, 0x11223344);
  S.wave().setExec(1);
  EXPECT_EQ(S.run(pick("global_store_byte v[0:1], v2, off\n"
                       "global_store_short_d16_hi v[0:1], v2, off offset:2\n"
                       "global_load_dword v3, v[0:1], off\n",
                       "global_store_b8 v[0:1], v2, off\n"
                       "global_store_d16_hi_b16 v[0:1], v2, off offset:2\n"
                       "global_load_b32 v3, v[0:1], off\n")),
            Status::Ok);
  EXPECT_EQ(word(A, 0), 0x11220044u);
  EXPECT_FALSE(A.isDefined(A.Base, 4));
  EXPECT_TRUE(A.isDefined(A.Base + 2, 2));
  EXPECT_EQ(S.count(ReportKind::UninitializedRead), 1u);
}

TEST_P(MemoryTest, ScalarBaseAndVectorOffset) {
  Snippet S(chip());
  Allocation &A = S.allocate(uint64_t(3) << 30);
  uint32_t X = 0x1234;
  std::memcpy(A.Data + 0x7ffffff0, &X, 4);
  S.setS64(2, A.Base);
  S.fill(0, 0x7fffffe0);
  EXPECT_EQ(S.run(pick("global_load_dword v1, v0, s[2:3] offset:16",
                       "global_load_b32 v1, v0, s[2:3] offset:16")),
            Status::Ok);
  EXPECT_EQ(S.v(1), 0x1234u);
  if (gfx12())
    return;
  // Unsigned on these chips: offsets from 2 GiB on work.
  std::memcpy(A.Data + 0x80000010, &X, 4);
  S.fill(0, 0x80000000);
  EXPECT_EQ(S.run("global_load_dword v2, v0, s[2:3] offset:16"), Status::Ok);
  EXPECT_EQ(S.v(2), 0x1234u);
}

TEST_P(MemoryTest, AccessOutsideEveryAllocation) {
  Snippet S(chip());
  Allocation &A = S.allocate(64);
  setAddress(S, 0, A.Base, 4); // the later lanes are past the end
  EXPECT_EQ(S.run(pick("global_load_dword v2, v[0:1], off",
                       "global_load_b32 v2, v[0:1], off")),
            Status::InvalidAccess);
  ASSERT_FALSE(S.Reports.empty());
  const Report &R = S.Reports.front().Examples.front();
  EXPECT_EQ(R.Lane, 16);
  EXPECT_EQ(R.Address, A.Base + 64);
  EXPECT_NE(R.Text.find("past the end"), std::string::npos) << R.Text;
}

TEST_P(MemoryTest, StoreToReadOnlyHostMemory) {
  for (const std::string &Text :
       {pick("global_store_dword v[0:1], v2, off",
             "global_store_b32 v[0:1], v2, off"),
        pick("global_atomic_add v[0:1], v2, off",
             "global_atomic_add_u32 v[0:1], v2, off")}) {
    Snippet S(chip());
    alignas(64) uint32_t Data[64] = {};
    Allocation &A = llvm::cantFail(S.memory().mapHost(
        Data, sizeof(Data), /*Writable=*/false, "weights"))[0];
    setAddress(S, 0, A.Base, 4);
    S.fill(2, 7);
    EXPECT_EQ(S.run(Text), Status::InvalidAccess);
    EXPECT_NE(S.Message.find("weights, which is read-only"), std::string::npos)
        << S.Message;
    EXPECT_EQ(Data[0], 0u);
  }
}

TEST_P(MemoryTest, CancelledLaunchEnds) {
  Snippet S(chip());
  std::atomic<bool> Cancel{true};
  S.Options.Cancel = &Cancel;
  EXPECT_EQ(S.run("loop: s_branch loop"), Status::Cancelled);
}

TEST_P(MemoryTest, GlobalAtomics) {
  Snippet S(chip());
  Allocation &A = S.allocate(64);
  setAddress(S, 0, A.Base, 0);
  for (unsigned L = 0; L != S.wave().Lanes; ++L)
    S.v(2, L) = L;
  const uint32_t N = S.wave().Lanes;
  EXPECT_EQ(S.run(pick("global_atomic_add v3, v[0:1], v2, off sc0\n"
                       "global_atomic_umax v[0:1], v2, off offset:4\n"
                       "global_atomic_add_f32 v[0:1], v4, off offset:8\n",
                       "global_atomic_add_u32 v3, v[0:1], v2, off "
                       "th:TH_ATOMIC_RETURN\n"
                       "global_atomic_max_u32 v[0:1], v2, off offset:4\n"
                       "global_atomic_add_f32 v[0:1], v4, off offset:8\n")),
            Status::Ok);
  EXPECT_EQ(word(A, 0), N * (N - 1) / 2);
  EXPECT_EQ(S.v(3, 3), 0u + 1 + 2);
  EXPECT_EQ(word(A, 4), N - 1);
}

TEST_P(MemoryTest, CompareAndSwap) {
  Snippet S(chip());
  Allocation &A = S.allocate(64);
  uint32_t Old = 5;
  std::memcpy(A.Data, &Old, 4);
  setAddress(S, 0, A.Base, 0);
  S.fill(2, 9); // new
  S.fill(3, 5); // expected
  S.wave().setExec(3);
  EXPECT_EQ(S.run(pick("global_atomic_cmpswap v4, v[0:1], v[2:3], off sc0\n",
                       "global_atomic_cmpswap_b32 v4, v[0:1], v[2:3], off "
                       "th:TH_ATOMIC_RETURN\n")),
            Status::Ok);
  EXPECT_EQ(word(A, 0), 9u);
  EXPECT_EQ(S.v(4, 0), 5u);
  EXPECT_EQ(S.v(4, 1), 9u);
}

//===----------------------------------------------------------------------===//
// Buffer
//===----------------------------------------------------------------------===//

TEST_P(MemoryTest, BufferRangeCheckIsPerDword) {
  Snippet S(chip());
  Allocation &A = S.allocate(64);
  std::memset(A.Data, 0x22, 64);
  S.setBuffer(8, A.Base, 24);
  S.fill(0, 16);
  S.fill(4, 0xdead);
  S.fill(5, 0xdead);
  S.fill(6, 0xdead);
  S.fill(7, 0xdead);
  S.wave().setExec(1);
  EXPECT_EQ(S.run(pick("buffer_load_dwordx4 v[4:7], v0, s[8:11], 0 offen",
                       "buffer_load_b128 v[4:7], v0, s[8:11], null offen")),
            Status::Ok);
  EXPECT_EQ(S.v(4), 0x22222222u);
  EXPECT_EQ(S.v(5), 0x22222222u);
  EXPECT_EQ(S.v(6), 0u);
  EXPECT_EQ(S.v(7), 0u);
  EXPECT_EQ(S.count(ReportKind::OutOfRangeLoad), 2u);
}

TEST_P(MemoryTest, StorePastNumRecordsIsDropped) {
  Snippet S(chip());
  Allocation &A = S.allocate(256);
  S.setBuffer(8, A.Base, 64);
  for (unsigned L = 0; L != S.wave().Lanes; ++L)
    S.v(0, L) = L * 4;
  S.fill(1, 0x33);
  EXPECT_EQ(S.run(pick("buffer_store_dword v1, v0, s[8:11], 0 offen",
                       "buffer_store_b32 v1, v0, s[8:11], null offen")),
            Status::Ok);
  EXPECT_EQ(word(A, 60), 0x33u);
  EXPECT_EQ(word(A, 64), 0u);
  EXPECT_EQ(S.count(ReportKind::DroppedStore), S.wave().Lanes - 16);
  const Report &R = S.Reports.front().Examples.front();
  EXPECT_EQ(R.Lane, 16);
  EXPECT_EQ(R.Address, 64u);
  EXPECT_EQ(R.Limit, 64u);
}

TEST_P(MemoryTest, VoffsetWrapsAt32Bits) {
  Snippet S(chip());
  Allocation &A = S.allocate(256);
  uint32_t X = 0x77;
  std::memcpy(A.Data + 4, &X, 4);
  S.setBuffer(8, A.Base, 256);
  S.fill(0, 0xfffffffc);
  EXPECT_EQ(S.run(pick("buffer_load_dword v1, v0, s[8:11], 0 offen offset:8",
                       "buffer_load_b32 v1, v0, s[8:11], null offen offset:8")),
            Status::Ok);
  EXPECT_EQ(S.v(1), 0x77u);
}

TEST_P(MemoryTest, LargeOffsetsAreUnsigned) {
  Snippet S(chip());
  Allocation &A = S.allocate(uint64_t(3) << 30);
  uint32_t X = 0x55;
  std::memcpy(A.Data + 0x90000000, &X, 4);
  S.setBuffer(8, A.Base, uint64_t(3) << 30);
  S.fill(0, 0x90000000);
  EXPECT_EQ(S.run(pick("buffer_load_dword v1, v0, s[8:11], 0 offen",
                       "buffer_load_b32 v1, v0, s[8:11], null offen")),
            Status::Ok);
  EXPECT_EQ(S.v(1), 0x55u);
}

TEST_P(MemoryTest, EmptyBufferHasNothingInRange) {
  Snippet S(chip());
  Allocation &A = S.allocate(64);
  S.setBuffer(8, A.Base, 0);
  S.fill(0, 0);
  EXPECT_EQ(S.run(pick("buffer_store_dword v1, v0, s[8:11], 0 offen",
                       "buffer_store_b32 v1, v0, s[8:11], null offen")),
            Status::Ok);
  EXPECT_EQ(S.count(ReportKind::DroppedStore), S.wave().Lanes);
}

TEST_P(MemoryTest, SoffsetPastTheEndIsNoted) {
  Snippet S(chip());
  Allocation &A = S.allocate(256);
  S.setBuffer(8, A.Base, 64);
  S.fill(0, 32);
  S.s(4) = 64;
  S.wave().setExec(1);
  EXPECT_EQ(S.run(pick("buffer_load_dword v1, v0, s[8:11], s4 offen",
                       "buffer_load_b32 v1, v0, s[8:11], s4 offen")),
            Status::Ok);
  EXPECT_EQ(S.count(ReportKind::OutOfRangeLoad), 0u);
  EXPECT_EQ(S.count(ReportKind::Other), 1u);
}

TEST_P(MemoryTest, BufferAtomicOutOfRange) {
  Snippet S(chip());
  Allocation &A = S.allocate(64);
  S.setBuffer(8, A.Base, 8);
  S.fill(0, 8);
  S.fill(1, 1);
  S.wave().setExec(1);
  EXPECT_EQ(S.run(pick("buffer_atomic_add v1, v0, s[8:11], 0 offen sc0",
                       "buffer_atomic_add_u32 v1, v0, s[8:11], null offen "
                       "th:TH_ATOMIC_RETURN")),
            Status::Ok);
  EXPECT_EQ(S.v(1), 0u);
  EXPECT_EQ(word(A, 8), 0u);
  EXPECT_EQ(S.count(ReportKind::OutOfRangeAtomic), 1u);
}

TEST(BufferGfx9, StructuredAndSwizzled) {
  Snippet S("gfx942");
  Allocation &A = S.allocate(4096);
  for (uint32_t I = 0; I != 1024; ++I)
    std::memcpy(A.Data + 4 * I, &I, 4);
  S.setBuffer(8, A.Base, 1024);
  S.s(9) |= 16u << 16; // stride of 16 bytes
  for (unsigned L = 0; L != 64; ++L) {
    S.v(0, L) = L % 16; // index
    S.v(1, L) = 4;      // offset
  }
  EXPECT_EQ(S.run("buffer_load_dword v2, v[0:1], s[8:11], 0 idxen offen"),
            Status::Ok);
  EXPECT_EQ(S.v(2, 3), 3u * 4 + 1);
  // Swizzled over 8 records: dword 1 of record 3 follows dword 1 of record 2.
  // num_records then counts records.
  S.s(9) |= 1u << 31;
  S.s(10) = 10;
  EXPECT_EQ(S.run("buffer_load_dword v2, v[0:1], s[8:11], 0 idxen offen"),
            Status::Ok);
  EXPECT_EQ(S.v(2, 3), 8u + 3);
  EXPECT_EQ(S.v(2, 9), 8u * 4 + 8 + 1);
  EXPECT_EQ(S.v(2, 10), 0u);
  EXPECT_EQ(S.count(ReportKind::OutOfRangeLoad), 4u * 6);
}

TEST(BufferGfx1250, WideNumRecords) {
  Snippet S("gfx1250");
  Allocation &A = S.allocate(uint64_t(5) << 30);
  S.setBuffer(8, A.Base, uint64_t(5) << 30);
  S.fill(0, 0xfffffff0);
  EXPECT_EQ(S.run("buffer_load_b32 v1, v0, s[8:11], null offen"), Status::Ok);
  EXPECT_TRUE(S.Reports.empty());
}

//===----------------------------------------------------------------------===//
// LDS
//===----------------------------------------------------------------------===//

TEST_P(MemoryTest, LdsWidthsAndOffsets) {
  Snippet S(chip(), 1, 4096);
  for (unsigned L = 0; L != S.wave().Lanes; ++L) {
    S.v(0, L) = L * 16;
    for (unsigned D = 0; D != 4; ++D)
      S.v(4 + D, L) = L * 100 + D;
  }
  EXPECT_EQ(S.run(pick("ds_write_b128 v0, v[4:7]\n"
                       "ds_read_b32 v8, v0 offset:4\n"
                       "ds_read2_b32 v[10:11], v0 offset0:1 offset1:3\n"
                       "ds_read_u16 v12, v0 offset:8\n"
                       "ds_read_b96 v[14:16], v0 offset:4\n"
                       "ds_write_b8 v0, v4 offset:1\n"
                       "ds_read_b64 v[18:19], v0\n",
                       "ds_store_b128 v0, v[4:7]\n"
                       "ds_load_b32 v8, v0 offset:4\n"
                       "ds_load_2addr_b32 v[10:11], v0 offset0:1 offset1:3\n"
                       "ds_load_u16 v12, v0 offset:8\n"
                       "ds_load_b96 v[14:16], v0 offset:4\n"
                       "ds_store_b8 v0, v4 offset:1\n"
                       "ds_load_b64 v[18:19], v0\n")),
            Status::Ok);
  EXPECT_EQ(S.v(8, 3), 301u);
  EXPECT_EQ(S.v(10, 3), 301u);
  EXPECT_EQ(S.v(11, 3), 303u);
  EXPECT_EQ(S.v(12, 3), 302u);
  EXPECT_EQ(S.v(16, 3), 303u);
  EXPECT_EQ(S.v(18, 1), 100u | 100u << 8);
  EXPECT_EQ(S.v(19, 1), 101u);
  EXPECT_TRUE(S.Reports.empty());
}

TEST_P(MemoryTest, LdsTwoAddressesInUnitsOf64) {
  Snippet S(chip(), 1, 8192);
  S.fill(0, 8);
  S.fill(1, 0x11);
  S.fill(2, 0x22);
  EXPECT_EQ(
      S.run(pick("ds_write2st64_b32 v0, v1, v2 offset0:1 offset1:3\n"
                 "ds_read2st64_b32 v[4:5], v0 offset0:1 offset1:3\n",
                 "ds_store_2addr_stride64_b32 v0, v1, v2 offset0:1 offset1:3\n"
                 "ds_load_2addr_stride64_b32 v[4:5], v0 offset0:1 "
                 "offset1:3\n")),
      Status::Ok);
  EXPECT_EQ(S.lds()[8 + 256], 0x11);
  EXPECT_EQ(S.lds()[8 + 768], 0x22);
  EXPECT_EQ(S.v(4), 0x11u);
  EXPECT_EQ(S.v(5), 0x22u);
}

TEST_P(MemoryTest, LdsOutOfRange) {
  Snippet S(chip(), 1, 64);
  S.fill(0, 60);
  S.fill(1, 7);
  S.fill(2, 0xdead);
  S.fill(3, 0xdead);
  S.wave().setExec(1);
  EXPECT_EQ(S.run(pick("ds_write_b64 v0, v[0:1]\nds_read_b64 v[2:3], v0\n",
                       "ds_store_b64 v0, v[0:1]\nds_load_b64 v[2:3], v0\n")),
            Status::Ok);
  EXPECT_EQ(S.v(2), 0u);
  EXPECT_EQ(S.count(ReportKind::LdsOutOfRange), 2u);
}

TEST_P(MemoryTest, LdsReadOfUnwritten) {
  Snippet S(chip(), 1, 64);
  S.fill(0, 0);
  S.wave().setExec(1);
  EXPECT_EQ(S.run(pick("ds_write_b8 v0, v0 offset:1\nds_read_b32 v1, v0\n",
                       "ds_store_b8 v0, v0 offset:1\nds_load_b32 v1, v0\n")),
            Status::Ok);
  EXPECT_EQ(S.count(ReportKind::UninitializedLds), 1u);
}

TEST_P(MemoryTest, LdsRaceWithoutBarrier) {
  Snippet S(chip(), 2, 256);
  S.s(0, 0) = 0;
  S.s(0, 1) = 1;
  S.fill(0, 16);
  S.fill(1, 5);
  // Wave 0 writes, wave 1 reads.
  const std::string Text =
      "s_cmp_eq_u32 s0, 0\n"
      "s_cbranch_scc0 reader\n" +
      pick("ds_write_b32 v0, v1\n", "ds_store_b32 v0, v1\n") +
      "s_branch end\n"
      "reader:\n" +
      pick("ds_read_b32 v2, v0\n", "ds_load_b32 v2, v0\n") + "end:\n";
  EXPECT_EQ(S.run(Text), Status::Ok);
  EXPECT_GE(S.count(ReportKind::LdsRace), 1u);
}

TEST_P(MemoryTest, BytesOfOneDwordDoNotRace) {
  Snippet S(chip(), 2, 256);
  for (unsigned N = 0; N != 2; ++N)
    for (unsigned L = 0; L != S.wave().Lanes; ++L)
      S.v(0, L, N) = L * 4 + 2 * N; // each wave has its half of every dword
  EXPECT_EQ(S.run(pick("ds_write_b16 v0, v1\n", "ds_store_b16 v0, v1\n")),
            Status::Ok);
  EXPECT_EQ(S.count(ReportKind::LdsRace), 0u);
}

TEST_P(MemoryTest, LdsAtomics) {
  Snippet S(chip(), 1, 256);
  std::memset(S.lds(), 0, 256);
  S.fill(0, 8);
  S.fill(1, 3);
  EXPECT_EQ(S.run(pick("ds_write_b32 v0, v2\n", "ds_store_b32 v0, v2\n") +
                  "ds_add_u32 v0, v1\n"
                  "ds_max_rtn_u32 v3, v0, v1\n"),
            Status::Ok);
  uint32_t X;
  std::memcpy(&X, S.lds() + 8, 4);
  EXPECT_EQ(X, 3 * S.wave().Lanes);
  EXPECT_EQ(S.v(3), 3 * S.wave().Lanes);
}

//===----------------------------------------------------------------------===//
// Cross-lane
//===----------------------------------------------------------------------===//

TEST_P(MemoryTest, Permutes) {
  Snippet S(chip(), 1, 64);
  for (unsigned L = 0; L != S.wave().Lanes; ++L) {
    S.v(0, L) = (L ^ 1) * 4;
    S.v(1, L) = L + 100;
  }
  EXPECT_EQ(S.run("ds_bpermute_b32 v2, v0, v1\n"
                  "ds_permute_b32 v3, v0, v1\n"
                  "ds_swizzle_b32 v4, v1 offset:swizzle(SWAP,4)\n"
                  "ds_swizzle_b32 v5, v1 offset:swizzle(BROADCAST,8,3)\n"
                  "ds_swizzle_b32 v6, v1 offset:swizzle(QUAD_PERM,3,2,1,0)\n"),
            Status::Ok);
  EXPECT_EQ(S.v(2, 6), 107u);
  EXPECT_EQ(S.v(3, 6), 107u);
  EXPECT_EQ(S.v(4, 6), 102u);
  EXPECT_EQ(S.v(5, 13), 111u);
  EXPECT_EQ(S.v(6, 13), 114u);
}

TEST_P(MemoryTest, Dpp) {
  Snippet S(chip());
  for (unsigned L = 0; L != S.wave().Lanes; ++L)
    S.v(0, L) = L;
  for (unsigned R = 1; R != 8; ++R)
    S.fill(R, 777);
  EXPECT_EQ(S.run("v_mov_b32_dpp v1, v0 row_shl:1 row_mask:0xf bank_mask:0xf\n"
                  "v_mov_b32_dpp v2, v0 row_shr:2 row_mask:0xf bank_mask:0xf "
                  "bound_ctrl:1\n"
                  "v_mov_b32_dpp v3, v0 row_ror:1 row_mask:0x1 bank_mask:0xf\n"
                  "v_mov_b32_dpp v4, v0 quad_perm:[1,0,3,2] row_mask:0xf "
                  "bank_mask:0xf\n"
                  "v_mov_b32_dpp v5, v0 row_mirror row_mask:0xf "
                  "bank_mask:0x1\n"),
            Status::Ok);
  EXPECT_EQ(S.v(1, 0), 1u);
  EXPECT_EQ(S.v(1, 15), 777u); // no source: keeps the old value
  EXPECT_EQ(S.v(2, 17), 0u);   // no source: zero with bound_ctrl
  EXPECT_EQ(S.v(2, 18), 16u);
  EXPECT_EQ(S.v(3, 0), 15u);
  EXPECT_EQ(S.v(3, 16), 777u); // row switched off
  EXPECT_EQ(S.v(4, 6), 7u);
  EXPECT_EQ(S.v(5, 1), 14u);
  EXPECT_EQ(S.v(5, 4), 777u); // bank switched off
}

TEST(Dpp, BroadcastGfx9) {
  Snippet S("gfx942");
  for (unsigned L = 0; L != 64; ++L) {
    S.v(0, L) = L;
    S.v(1, L) = 1000;
  }
  EXPECT_EQ(S.run("v_add_u32_dpp v1, v0, v1 row_bcast:15 row_mask:0xa "
                  "bank_mask:0xf\n"),
            Status::Ok);
  EXPECT_EQ(S.v(1, 5), 1000u);
  EXPECT_EQ(S.v(1, 20), 1015u);
  EXPECT_EQ(S.v(1, 40), 1000u);
  EXPECT_EQ(S.v(1, 50), 1047u);
}

TEST(Dpp, InactiveSource) {
  Snippet S("gfx942");
  for (unsigned L = 0; L != 64; ++L)
    S.v(0, L) = L;
  S.fill(1, 777);
  S.fill(2, 777);
  S.wave().setExec(1);
  EXPECT_EQ(S.run("v_mov_b32_dpp v1, v0 row_shl:1 row_mask:0xf bank_mask:0xf\n"
                  "v_mov_b32_dpp v2, v0 row_shl:1 row_mask:0xf bank_mask:0xf "
                  "bound_ctrl:1\n"),
            Status::Ok);
  EXPECT_EQ(S.v(1, 0), 777u);
  EXPECT_EQ(S.v(2, 0), 0u);
}

TEST(Lane, PermlaneSwapGfx950) {
  Snippet S("gfx950");
  for (unsigned L = 0; L != 64; ++L) {
    S.v(0, L) = S.v(2, L) = L;
    S.v(1, L) = S.v(3, L) = 100 + L;
  }
  EXPECT_EQ(S.run("v_permlane32_swap_b32 v0, v1\n"
                  "v_permlane16_swap_b32 v2, v3\n"),
            Status::Ok);
  EXPECT_EQ(S.v(0, 5), 5u);
  EXPECT_EQ(S.v(0, 40), 108u); // upper half of v0 is v1's lower half
  EXPECT_EQ(S.v(1, 8), 40u);
  EXPECT_EQ(S.v(1, 40), 140u);
  EXPECT_EQ(S.v(2, 20), 104u);
  EXPECT_EQ(S.v(3, 4), 20u);
  EXPECT_EQ(S.v(2, 52), 136u);
}

TEST(Lane, PermlaneGfx1250) {
  Snippet S("gfx1250");
  for (unsigned L = 0; L != 32; ++L)
    S.v(0, L) = L;
  S.s(0) = 0x76543210;
  S.s(1) = 0xfedcba98;
  EXPECT_EQ(S.run("v_permlanex16_b32 v1, v0, s0, s1\n"
                  "v_permlane16_b32 v2, v0, 0, 0\n"),
            Status::Ok);
  EXPECT_EQ(S.v(1, 3), 19u);
  EXPECT_EQ(S.v(1, 19), 3u);
  EXPECT_EQ(S.v(2, 3), 0u);
  EXPECT_EQ(S.v(2, 19), 16u);
}

TEST_P(MemoryTest, ReadAndWriteLane) {
  Snippet S(chip());
  for (unsigned L = 0; L != S.wave().Lanes; ++L)
    S.v(0, L) = L * 3;
  S.s(1) = 7;
  S.wave().setExec(0xf0);
  EXPECT_EQ(S.run("v_readfirstlane_b32 s2, v0\n"
                  "v_readlane_b32 s3, v0, s1\n"
                  "v_writelane_b32 v1, s3, 2\n"),
            Status::Ok);
  EXPECT_EQ(S.s(2), 12u);
  EXPECT_EQ(S.s(3), 21u);
  EXPECT_EQ(S.v(1, 2), 21u); // EXEC does not matter
}

TEST_P(MemoryTest, MaskedBitCount) {
  Snippet S(chip());
  const bool Wave32 = S.wave().Lanes == 32;
  S.setS64(0, 0xf00000000000000f);
  EXPECT_EQ(S.run("v_mbcnt_lo_u32_b32 v0, s0, 10\n"
                  "v_mbcnt_hi_u32_b32 v1, s1, v0\n"),
            Status::Ok);
  EXPECT_EQ(S.v(0, 2), 12u);
  EXPECT_EQ(S.v(0, 20), 14u);
  if (!Wave32)
    EXPECT_EQ(S.v(1, 62), 16u);
}

//===----------------------------------------------------------------------===//
// Scratch and flat
//===----------------------------------------------------------------------===//

TEST_P(MemoryTest, ScratchIsPrivate) {
  Snippet S(chip(), 1, 64, 32);
  for (unsigned L = 0; L != S.wave().Lanes; ++L)
    S.v(0, L) = L;
  S.fill(1, 8);
  EXPECT_EQ(S.run(pick("scratch_store_dword off, v0, off offset:8\n"
                       "scratch_load_dword v2, v1, off\n",
                       "scratch_store_b32 off, v0, off offset:8\n"
                       "scratch_load_b32 v2, v1, off\n")),
            Status::Ok);
  EXPECT_EQ(S.v(2, 9), 9u);
  EXPECT_EQ(S.run(pick("scratch_load_dword v2, v1, off offset:24\n",
                       "scratch_load_b32 v2, v1, off offset:24\n")),
            Status::InvalidAccess);
}

TEST_P(MemoryTest, FlatFindsItsSpace) {
  Snippet S(chip(), 1, 64, 32);
  Allocation &A = S.allocate(64);
  setAddress(S, 0, A.Base, 0);
  S.fill(2, 0x11);
  EXPECT_EQ(S.run("s_mov_b64 s[0:1], src_shared_base\n"
                  "v_mov_b32 v4, 16\n"
                  "v_mov_b32 v5, s1\n" +
                  pick("flat_store_dword v[0:1], v2\n"
                       "flat_store_dword v[4:5], v2\n"
                       "flat_load_dword v6, v[4:5]\n",
                       "flat_store_b32 v[0:1], v2\n"
                       "flat_store_b32 v[4:5], v2\n"
                       "flat_load_b32 v6, v[4:5]\n")),
            Status::Ok);
  EXPECT_EQ(word(A, 0), 0x11u);
  EXPECT_EQ(S.lds()[16], 0x11);
  EXPECT_EQ(S.v(6), 0x11u);
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

TEST_P(MemoryTest, BytesCountForTheAllocationTheyAreIn) {
  Snippet S(chip());
  Allocation &A = S.allocate(4096), &B = S.allocate(4096);
  const uint64_t Lanes = S.wave().Lanes;
  setAddress(S, 0, A.Base, 16);
  setAddress(S, 2, B.Base, 8);
  S.setS64(4, B.Base);
  EXPECT_EQ(S.run(pick("global_load_dwordx4 v[4:7], v[0:1], off\n"
                       "global_store_dwordx2 v[2:3], v[4:5], off\n"
                       "global_atomic_add v8, v[2:3], v4, off sc0\n"
                       "s_load_dwordx4 s[8:11], s[4:5], 0x0\n"
                       "s_waitcnt vmcnt(0) lgkmcnt(0)\n",
                       "global_load_b128 v[4:7], v[0:1], off\n"
                       "global_store_b64 v[2:3], v[4:5], off\n"
                       "global_atomic_add_u32 v8, v[2:3], v4, off "
                       "th:TH_ATOMIC_RETURN\n"
                       "s_load_b128 s[8:11], s[4:5], 0x0\n"
                       "s_wait_loadcnt 0x0\n"
                       "s_wait_kmcnt 0x0\n")),
            Status::Ok)
      << S.Message;
  EXPECT_EQ(S.bytes(A).Loaded, 16 * Lanes);
  EXPECT_EQ(S.bytes(A).Stored, 0u);
  EXPECT_EQ(S.bytes(B).Loaded, 4 * Lanes + 16);
  EXPECT_EQ(S.bytes(B).Stored, (8 + 4) * Lanes);
}

TEST(GlobalMemoryTest, NumbersOfAllocationsAreUsedAgain) {
  GlobalMemory Memory;
  auto Make = [&] {
    return llvm::cantFail(Memory.allocate(64, Contents::Zero, ""));
  };
  Allocation *A = Make(), *B = Make(), *C = Make();
  EXPECT_EQ(std::set<uint32_t>({A->Number, B->Number, C->Number}),
            std::set<uint32_t>({0, 1, 2}));
  const uint32_t Free = B->Number;
  llvm::cantFail(Memory.release(B->Base, /*Host=*/false));
  EXPECT_EQ(Make()->Number, Free);
  EXPECT_EQ(Make()->Number, 3u);
}

} // namespace
