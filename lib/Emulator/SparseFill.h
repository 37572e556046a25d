//===- SparseFill.h - Patterns over reserved memory -------------*- C++ -*-===//

#ifndef PAGEDATTN_LIB_EMULATOR_SPARSEFILL_H
#define PAGEDATTN_LIB_EMULATOR_SPARSEFILL_H

#include <cstdint>

namespace pagedattn::emu {

/// Repeats a pattern of 1, 2, 4 or 8 bytes. With MayRemap the range is private
/// anonymous memory; a large one then shares a few pages until somebody writes
/// to it, so that a filled buffer of many GiB costs what is touched, like a
/// zeroed one.
void fillPattern(uint8_t *To, uint64_t Bytes, uint64_t Pattern,
                 unsigned PatternBytes, bool MayRemap);

} // namespace pagedattn::emu

#endif // PAGEDATTN_LIB_EMULATOR_SPARSEFILL_H
