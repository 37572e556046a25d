// RUN: pa-opt %s --pass-pipeline="builtin.module(pa-set-target{chip=gfx950},pa-lower-wave-ops)" | FileCheck %s

// A uniform value goes through a scalar register; an opaque one stays where it is
// and is not looked through; bounds alone leave nothing.
// CHECK-LABEL: func @assume
// CHECK-SAME: %[[I:[a-z0-9]+]]: index, %[[J:[a-z0-9]+]]: i32, %[[K:[a-z0-9]+]]: i64
func.func @assume(%i: index, %j: i32, %k: i64) -> (index, index, i32, i64, i64) {
  // CHECK: %[[WIDE:.*]] = arith.index_castui %[[I]] : index to i64
  // CHECK: %[[FIRST:.*]] = rocdl.readfirstlane %[[WIDE]] : i64
  // CHECK: %[[A:.*]] = arith.index_castui %[[FIRST]] : i64 to index
  %a = pa.assume %i {uniform} : index
  // CHECK: %[[WORD:.*]] = arith.index_castui %[[I]] : index to i32
  // CHECK: %[[KEPT:.*]] = llvm.call_intrinsic "llvm.amdgcn.softwqm"(%[[WORD]]) : (i32) -> i32
  // CHECK: %[[B:.*]] = arith.index_castui %[[KEPT]] : i32 to index
  %b = pa.assume %i {min = 0 : i64, max = 7 : i64, opaque} : index
  // CHECK: %[[C:.*]] = llvm.call_intrinsic "llvm.amdgcn.softwqm"(%[[J]]) : (i32) -> i32
  %c = pa.assume %j {opaque} : i32
  // CHECK: %[[D:.*]] = llvm.inline_asm asm_dialect = att "", "=s,0" %[[K]] : (i64) -> i64
  %d = pa.assume %k {uniform, opaque} : i64
  %e = pa.assume %k {min = 0 : i64} : i64
  // CHECK: return %[[A]], %[[B]], %[[C]], %[[D]], %[[K]]
  return %a, %b, %c, %d, %e : index, index, i32, i64, i64
}
