//===- DataType.h - Element types of buffers --------------------*- C++ -*-===//

#ifndef PAGEDATTN_TOOLS_PA_RUN_DATATYPE_H
#define PAGEDATTN_TOOLS_PA_RUN_DATATYPE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace pagedattn::run {

struct DataType {
  llvm::StringLiteral Name; ///< as NumPy and ml_dtypes name it
  llvm::StringLiteral ScalarName;
  unsigned Bytes;
  double (*ToDouble)(const uint8_t *);
  bool IsFloat;
  bool IsSigned;
};

llvm::ArrayRef<DataType> dataTypes();
/// By either name; null if unknown.
const DataType *findDataType(llvm::StringRef Name);
/// "float32, float16, ..." for messages.
std::string dataTypeNames();

} // namespace pagedattn::run

#endif // PAGEDATTN_TOOLS_PA_RUN_DATATYPE_H
