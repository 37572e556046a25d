//===- Passes.td - Passes of PagedAttn ----------------------*- tablegen -*-===//
//
// Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_TRANSFORMS_PASSES_TD
#define PAGEDATTN_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def PALowerToLoops : Pass<"pa-lower-to-loops"> {
  let summary = "lower the operators to scalar loops, their reference meaning";
  let description = [{
    Replaces `pa.paged_logits`, `pa.topk`, `pa.indexer` and `pa.grouped_gemm` on
    memrefs by
    `scf` loops around scalar `memref`, `arith` and `math` ops, one element at a
    time and in f32. The loops are the reference meaning of the ops: they run on
    any CPU, need neither a chip nor an emulator, and say what an op means where
    its description leaves a doubt. They are not meant to be fast.

    Narrow number formats (fp8, mxfp4, E8M0, bf16, f16) are decoded and encoded
    with integer ops, because CPU backends lower few conversions of such types.
    Addresses are formed from `index` values of 64 bits and from the strides of
    the operand types.

    Ops on tensors are an error: bufferize first. All other ops are left alone.
    Activations become `math.exp` and `math.tanh`, for which a CPU wants
    `--convert-math-to-libm` before `--convert-to-llvm`.

    Example:

    ```mlir
    pa.topk values(%values : memref<4x100xf32>) outs(%indices : memref<4x8xi32>)
    ```

    becomes a loop over the 4 rows that finds the 8th greatest key of the row bit
    by bit, then writes the columns that are not below it.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def PASetTarget : Pass<"pa-set-target", "::mlir::ModuleOp"> {
  let summary = "choose the chip and refuse what it cannot do";
  let description = [{
    Sets `pa.target` on the module and checks every op against the chip: fp8
    flavour and number formats. Bytes of another fp8 flavour are an error and are
    never reinterpreted.

    Example: with `chip=gfx950`, `module { ... }` becomes
    `module attributes {pa.target = #pa.target<"gfx950">} { ... }`.
  }];
  let options = [
    Option<"chip", "chip", "std::string", "\"\"", "gfx number of the chip">,
    Option<"numCus", "num-cus", "int64_t", "0",
           "compute units to fill, 0 for those of the full chip">
  ];
  let dependentDialects = ["::mlir::pa::PADialect"];
}

def PAFuseIndexer : Pass<"pa-fuse-indexer", "::mlir::ModuleOp"> {
  let summary = "make one op of paged logits and the top-k that reads them";
  let description = [{
    Replaces a `pa.paged_logits` and a `pa.topk` by a `pa.indexer` where the
    logits are a local allocation, or start from a `tensor.empty`, that nobody
    but the two uses, where every row of both ends at the same column, and where
    the top-k cannot see the fill. Logits that nobody has written, behind the end
    of a row, have no value that would have to be kept. An op with a `config`
    written by hand stays as it is.

    `mode=on` fuses every such pair. `mode=auto` fuses those that a model of the
    cost finds faster: the fused kernels save the memory traffic and the second
    pass over the logits, but have one workgroup where the two ops fill the chip
    with several if there are few sequences, and read the keys again for each
    group of query rows whose candidates do not fit LDS together. With
    `remarks`, every pair gets a remark with the decision and its reason.

    Example: with `mode=on`,

    ```mlir
    %logits = memref.alloc() : memref<64x16384xf32>
    pa.paged_logits queries(%q : ...) ... context_lens(%lens : memref<64xi32>)
        outs(%logits : memref<64x16384xf32>)
    pa.topk values(%logits : memref<64x16384xf32>) context_lens(%lens : memref<64xi32>)
        outs(%indices : memref<64x2048xi32>) {next_n = 1 : i64}
    ```

    becomes

    ```mlir
    %columns = arith.constant 16384 : index
    pa.indexer queries(%q : ...) ... context_lens(%lens : memref<64xi32>)
        columns(%columns) outs(%indices : memref<64x2048xi32>)
    ```
  }];
  let options = [
    Option<"mode", "mode", "std::string", "\"auto\"", "off, on or auto">,
    Option<"remarks", "remarks", "bool", "false",
           "say of each pair whether it is fused, and why">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::pa::PADialect"];
}

def PAConfigure : Pass<"pa-configure", "::mlir::ModuleOp"> {
  let summary = "choose matrix instruction, tile sizes and staging of each op";
  let description = [{
    Gives every op of the dialect without one a `config` attribute,
    from the tables of the module's chip. Few long rows of static extents are
    split among workgroups. A `config` written by hand is checked against
    the chip and kept: an instruction that the chip has not, or more LDS or
    registers than it has, is an error.

    Example: a gfx950 op with 64 heads, 1 query and D = 128 gets
    `#pa.logits_config<mma = mfma_f32_16x16x128_fp8, chunk = 256, waves = 4,
    splits = 0, query = registers>`.

    A `pa.grouped_gemm` gets the configuration of least cost by the model that
    docs/grouped-gemm.md describes; `tune` lists the best ones as remarks, with
    the cycles that the model expects, what bounds them, and their place under the
    roofline.
  }];
  let options = [
    Option<"tune", "tune", "unsigned", "0",
           "remarks with the best so many configurations of each grouped GEMM">];
  let dependentDialects = ["::mlir::pa::PADialect"];
}

def PATile : Pass<"pa-tile", "::mlir::ModuleOp"> {
  let summary = "replace each op by the launch of a kernel of waves and lanes";
  let description = [{
    Makes a `gpu.module` with one kernel for each op and launches it in its
    place. The kernel has explicit waves and lanes, loops over tokens, memref and
    vector accesses with 64-bit indices, and `pa.mma` for matrix instructions. No
    decision about address width is made here.

    Example:

    ```mlir
    pa.paged_logits queries(%q : ...) ... outs(%logits : ...)
    ```

    becomes

    ```mlir
    gpu.launch_func @paged_logits_fp8_n4_h128_d128_p64_tiled::@paged_logits_fp8_n4_h128_d128_p64_tiled
        blocks in (%splits, %B, %c1) threads in (%c256, %c1, %c1) args(...)
    ```
  }];
  let dependentDialects = [
    "::mlir::amdgpu::AMDGPUDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::ROCDL::ROCDLDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def PAAnnotateAddressForm
    : Pass<"pa-annotate-address-form", "::mlir::ModuleOp"> {
  let summary = "state for each global access which address form is proven";
  let description = [{
    Cuts the byte offset of each access to global memory into a wave-uniform part
    U and the rest L, bounds both in 64 bits with overflow checks, and writes
    what follows as `pa.address` on the access:

    | known | form |
    |---|---|
    | U + L + size <= max-offset-bytes | `narrow`: one buffer resource, 32-bit offset |
    | U uniform, L + size <= max-offset-bytes | `rebase`: U in the 64-bit base |
    | otherwise | `global`: a 64-bit address in each lane |

    An unknown range is not narrow, an unknown uniformity is divergent. The limit
    is 2^31 - 1 although the offset of the hardware is unsigned: index arithmetic
    behind it is signed. Nothing but the attribute changes.

    Every op that accesses global memory inside a function of a `gpu.module` is
    annotated. Masked accesses, transfers, gathers, atomics and direct copies to
    LDS by 64-bit pointers keep those and are `global`. `amdgpu.raw_buffer_*` and
    accesses of a `fat_raw_buffer` are `narrow` if proven, else `global`, and an
    error where that is not possible. The base of a tensor DMA must be the same
    in all lanes. Any other op on global memory is an error, and a `gpu.launch`
    that is not outlined. An access with the form `global` keeps it.

    Known are the ranges of integers, static shapes and strides, the sizes of
    grids and blocks where all launches in the module have constant ones,
    `pa.assume`, and the attributes `pa.max_rows`, `pa.max_pages`, `pa.max_bytes`
    and `pa.uniform` of function arguments.

    Example: with 4 MiB rows, `memref.store %v, %logits[%row, %column]` gets
    `{pa.address = #pa.address<rebase, max_offset = 256, "not narrow: ...">}`
    where the row and the first column of the wave are uniform.
  }];
  let options = [
    Option<"maxOffsetBytes", "max-offset-bytes", "int64_t", "2147483647",
           "greatest offset, the size of the access included">,
    Option<"require", "require", "std::string", "\"\"",
           "narrow or rebase: a weaker form is an error">,
    Option<"force", "force", "std::string", "\"\"",
           "narrow, rebase or global: use this form, for bisection; a narrow "
           "form that is not proven loses accesses">,
    Option<"remarks", "remarks", "bool", "false",
           "print form, bound and reason of each access">
  ];
  let dependentDialects = ["::mlir::pa::PADialect"];
}

def PAWidenAddresses : Pass<"pa-widen-addresses", "::mlir::ModuleOp"> {
  let summary = "give each access the address form of its annotation";
  let description = [{
    Rewrites the accesses that `pa-annotate-address-form` has annotated, and
    nothing else. `narrow`: one `amdgpu.fat_raw_buffer_cast` on the whole view.
    `rebase`: a subview at the uniform part, with a resource that covers the lane
    part; accesses with one uniform part share it. `global`, and loads that all
    lanes make from one address, stay as they are. Twice is the same as once.

    The accesses and their forms are recorded on the kernel, and the letters of
    the forms become part of its name.

    Example:

    ```mlir
    %v = vector.load %keys[%page, %byte] {pa.address = #pa.address<rebase, ...>}
    ```

    becomes

    ```mlir
    %view = memref.subview %keys[%page, 0] [1, 1024] [1, 1]
    %buffer = amdgpu.fat_raw_buffer_cast %view validBytes(%c1024) resetOffset
    %v = vector.load %buffer[%c0, %byte]
    ```
  }];
  let options = [
    Option<"maxOffsetBytes", "max-offset-bytes", "int64_t", "2147483647",
           "the limit that the annotation was made with">
  ];
  let dependentDialects = [
    "::mlir::amdgpu::AMDGPUDialect", "::mlir::arith::ArithDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def PAVerifyAddresses : Pass<"pa-verify-addresses", "::mlir::ModuleOp"> {
  let summary = "prove that no 32-bit offset of the kernels can overflow";
  let description = [{
    Proves the final form of the kernels anew, without believing annotations. An
    error is: an access of global memory that is not annotated or of a kind that
    is not handled; an offset into a buffer resource that is not proven to be
    below `max-offset-bytes`, or that passes the `max_offset` of its annotation;
    the form `global` on an access that uses a resource; a resource whose size is
    not proven to fit the bits that the chip has for it; the base of a tensor DMA
    that may differ between lanes. Nothing is changed.

    Example:

    ```mlir
    %r = amdgpu.fat_raw_buffer_cast %m : memref<1024x1048576xf32> to ...
    ```

    is an error on gfx950: a size of 4 GiB would be 0.
  }];
  let options = [
    Option<"maxOffsetBytes", "max-offset-bytes", "int64_t", "2147483647",
           "greatest offset, the size of the access included">
  ];
  let dependentDialects = ["::mlir::pa::PADialect"];
}

def PALowerWaveOps : Pass<"pa-lower-wave-ops", "::mlir::ModuleOp"> {
  let summary = "lower pa.mma, pa.group_sum and pa.assume for the chip";
  let description = [{
    `pa.mma` becomes the `amdgpu` op of its instruction, `pa.group_sum` lane
    exchanges that the chip has, a uniform `pa.assume` a `rocdl.readfirstlane`.

    Example: `pa.mma mfma_f32_16x16x128_fp8 %a, %b, %c` becomes
    `amdgpu.mfma 16x16x128 %a * %b + %c`.
  }];
  let dependentDialects = [
    "::mlir::amdgpu::AMDGPUDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::ROCDL::ROCDLDialect"];
}

def PARelaxLdsAtomics : Pass<"pa-relax-lds-atomics", "::mlir::gpu::GPUModuleOp"> {
  let summary = "let barriers alone order the atomics on LDS";
  let description = [{
    An atomic on a memref becomes an `llvm.atomicrmw` that orders all memory of
    the system, for which the backend waits for every load in flight. The kernels
    of this project share LDS through barriers only, so that the atomics on it
    are made `monotonic` inside the workgroup.

    Example: `llvm.atomicrmw add %p, %x acq_rel : !llvm.ptr<3>, i32` becomes
    `llvm.atomicrmw add %p, %x syncscope("workgroup") monotonic : !llvm.ptr<3>, i32`.
  }];
}

def PASerialize : Pass<"pa-serialize", "::mlir::ModuleOp"> {
  let summary = "compile each gpu.module to a code object in a gpu.binary";
  let description = [{
    Translates each `gpu.module` to LLVM IR, compiles and assembles it for the
    module's chip and links it with LLD inside the process. No ROCm tree, no
    device library and no linker program is used. The `gpu.binary` carries what
    the manifest says of each kernel.

    On gfx1250 the assembly is checked: every instruction must use the registers
    that the backend means, of four banks of 256. Another one is an error.

    Example: `gpu.module @k { llvm.func @k() attributes {gpu.kernel, rocdl.kernel} }`
    becomes `gpu.binary @k [#gpu.object<#rocdl.target<chip = "gfx950">, bin = "...">]`.
  }];
  let options = [
    Option<"abi", "abi", "int64_t", "600",
           "code object version times 100: 500 or 600">,
    Option<"optLevel", "opt-level", "int64_t", "3", "0 to 3">,
    Option<"keepText", "keep-text", "bool", "false",
           "keep LLVM IR and assembly in the properties of the object">
  ];
  let dependentDialects = ["::mlir::gpu::GPUDialect",
                           "::mlir::LLVM::LLVMDialect",
                           "::mlir::ROCDL::ROCDLDialect"];
}

#endif // PAGEDATTN_TRANSFORMS_PASSES_TD
