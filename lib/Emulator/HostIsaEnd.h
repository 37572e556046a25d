//===- HostIsaEnd.h - Closes what HostIsaBegin.h opened -------------------===//
// No include guard: pairs with HostIsaBegin.h.

} // namespace pagedattn::emu::PA_HOST_ISA

#if PA_HOST_ISA_LEVEL != 0
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
