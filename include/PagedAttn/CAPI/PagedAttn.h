/*===- PagedAttn.h - Compile text to code objects, from C ------*- C -*-===*\
|*                                                                        *|
|* Part of PagedAttn, under the Apache License v2.0 with LLVM Exceptions. *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                *|
|*                                                                        *|
\*===----------------------------------------------------------------------===*/

/** @file
 *  Compiles text to code objects and a manifest, for hosts that are not written
 *  in C++. Every function may be called from any thread.
 */

#ifndef PAGEDATTN_CAPI_PAGEDATTN_H
#define PAGEDATTN_CAPI_PAGEDATTN_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Visible outside of the shared library. */
#define PA_EXPORT __attribute__((visibility("default")))

/** How bad a diagnostic is. */
typedef enum PaSeverity {
  PaSeverityNote,    /**< belongs to the one before */
  PaSeverityRemark,  /**< asked for by an option */
  PaSeverityWarning, /**< compilation goes on */
  PaSeverityError    /**< there will be no code object */
} PaSeverity;

/** Gets one diagnostic, "place: severity: text", with its notes on further
 *  lines. The text is gone when the callback returns. */
typedef void (*PaDiagnosticCallback)(PaSeverity severity, const char *text,
                                     void *userData);

/** The code objects of one module for one chip. */
typedef struct PaCompilation PaCompilation;

/** Compiles `mlirBytes` bytes of text for `chip`, with `options` of the
 *  pa-lower-to-binary pipeline or null. Returns null after an error, which the
 *  callback (if there is one) has got. Calls of several threads are
 *  independent; one call's callback is never called twice at once. */
PA_EXPORT PaCompilation *paCompile(const char *mlir, size_t mlirBytes,
                                   const char *chip, const char *options,
                                   PaDiagnosticCallback callback,
                                   void *userData);

/** Frees it with everything that was got from it. Null is allowed. */
PA_EXPORT void paCompilationDestroy(PaCompilation *compilation);

/** The manifest as JSON, zero-terminated. */
PA_EXPORT const char *
paCompilationGetManifest(const PaCompilation *compilation);

/** How many code objects there are, at least 1. */
PA_EXPORT size_t paCompilationGetNumObjects(const PaCompilation *compilation);

/** The name that the manifest's `file` has for object `index`; null where there
 *  is no such object. */
PA_EXPORT const char *paCompilationGetFile(const PaCompilation *compilation,
                                           size_t index);

/** The ELF file of object `index` and its size; null where there is none. */
PA_EXPORT const void *paCompilationGetObject(const PaCompilation *compilation,
                                             size_t index, size_t *bytes);

/** The assembly of object `index`; null where there is none. */
PA_EXPORT const char *paCompilationGetAssembly(const PaCompilation *compilation,
                                               size_t index);

/** The known chips, separated by ", ". */
PA_EXPORT const char *paKnownChips(void);

#ifdef __cplusplus
}
#endif

#endif /* PAGEDATTN_CAPI_PAGEDATTN_H */
