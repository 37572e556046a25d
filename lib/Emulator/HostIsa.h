//===- HostIsa.h - One source, several host instruction sets ----*- C++ -*-===//
//
// A vector family includes its headers, then HostIsaBegin.h, defines its table
// function in the namespace PA_HOST_ISA, then includes HostIsaEnd.h. The build
// compiles the file once per set (see CMakeLists.txt). Only the code between
// the two headers is compiled for the wider set, so that inline functions of
// shared headers stay runnable everywhere.
//
//===----------------------------------------------------------------------===//

#ifndef PAGEDATTN_LIB_EMULATOR_HOSTISA_H
#define PAGEDATTN_LIB_EMULATOR_HOSTISA_H

#ifndef PA_HOST_ISA
#define PA_HOST_ISA host_base
#define PA_HOST_ISA_LEVEL 0
#endif

#if PA_HOST_ISA_LEVEL >= 3
#include <immintrin.h>
#endif

#endif // PAGEDATTN_LIB_EMULATOR_HOSTISA_H
