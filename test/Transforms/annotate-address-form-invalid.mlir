// RUN: not pa-opt %s --pa-annotate-address-form=max-offset-bytes=0 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not pa-opt %s --pa-annotate-address-form=max-offset-bytes=2147483648 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: not pa-opt %s --pa-annotate-address-form=require=small 2>&1 | FileCheck %s --check-prefix=REQUIRE
// RUN: not pa-opt %s --pa-annotate-address-form=force=wide 2>&1 | FileCheck %s --check-prefix=FORCE

// ZERO: error: max-offset-bytes must be from 1 to 2147483647, found 0
// LARGE: error: max-offset-bytes must be from 1 to 2147483647, found 2147483648
// REQUIRE: error: require must be narrow, rebase or global, found 'small'
// FORCE: error: force must be narrow, rebase or global, found 'wide'
gpu.module @m {
}
