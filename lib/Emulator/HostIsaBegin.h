//===- HostIsaBegin.h - Opens the code of one host instruction set --------===//
// No include guard: pairs with HostIsaEnd.h.

#include "HostIsa.h"

#if PA_HOST_ISA_LEVEL == 3
#if defined(__clang__)
#pragma clang attribute push(                                                  \
    __attribute__((target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt"))),            \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,bmi,bmi2,lzcnt,popcnt")
#endif
#elif PA_HOST_ISA_LEVEL == 4
#if defined(__clang__)
#pragma clang attribute push(                                                  \
    __attribute__((target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,"  \
                          "fma,f16c,bmi,bmi2,lzcnt,popcnt,"                    \
                          "prefer-256-bit"))),                                 \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target(                                                            \
    "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,f16c,bmi,bmi2,"      \
    "lzcnt,popcnt")
#endif
#endif

namespace pagedattn::emu::PA_HOST_ISA {
