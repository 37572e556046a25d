// k(descriptor, data, image, out, store): LDS = image; the descriptor's
// transfer, with data's address added to its own; out = LDS.
.text
.globl k
.p2align 8
.type k,@function
k:
  s_load_b256 s[4:11], s[0:1], 0x0
  s_load_b32 s12, s[0:1], 0x20
  s_wait_kmcnt 0x0
  s_load_b128 s[16:19], s[4:5], 0x0
  s_load_b256 s[20:27], s[4:5], 0x10
  s_load_b128 s[28:31], s[4:5], 0x30
  s_load_b128 s[32:35], s[4:5], 0x40
  s_wait_kmcnt 0x0
  s_add_co_u32 s18, s18, s6
  s_add_co_ci_u32 s19, s19, s7

  v_lshlrev_b32_e32 v1, 4, v0
  s_mov_b32 s13, 32
fill:
  global_load_b128 v[4:7], v1, s[8:9]
  s_wait_loadcnt 0x0
  ds_store_b128 v1, v[4:7]
  v_add_nc_u32_e32 v1, 0x200, v1
  s_sub_co_i32 s13, s13, 1
  s_cmp_lg_u32 s13, 0
  s_cbranch_scc1 fill
  s_wait_dscnt 0x0

  s_cmp_eq_u32 s12, 0
  s_cbranch_scc0 store
  tensor_load_to_lds s[16:19], s[20:27], s[28:31], s[32:35]
  s_branch wait
store:
  tensor_store_from_lds s[16:19], s[20:27], s[28:31], s[32:35]
wait:
  s_wait_tensorcnt 0x0

  v_lshlrev_b32_e32 v1, 4, v0
  s_mov_b32 s13, 32
dump:
  ds_load_b128 v[4:7], v1
  s_wait_dscnt 0x0
  global_store_b128 v1, v[4:7], s[10:11]
  v_add_nc_u32_e32 v1, 0x200, v1
  s_sub_co_i32 s13, s13, 1
  s_cmp_lg_u32 s13, 0
  s_cbranch_scc1 dump
  s_endpgm

.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_group_segment_fixed_size 16384
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_kernarg_size 40
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 40
  .amdhsa_wavefront_size32 1
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 40
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 16384
    .private_segment_fixed_size: 0
    .wavefront_size: 32
    .sgpr_count: 40
    .vgpr_count: 8
    .max_flat_workgroup_size: 1024
    .args:
      - {.offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.offset: 16, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.offset: 24, .size: 8, .value_kind: global_buffer, .address_space: global}
      - {.offset: 32, .size: 4, .value_kind: by_value}
...
.end_amdgpu_metadata
