import os

import lit.formats

config.name = "PagedAttn-Unit"
# The binaries live in the build folder; there are no test files to find.
config.test_source_root = config.test_exec_root
config.test_format = lit.formats.GoogleTest(".", "Tests")
for variable in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "PAGEDATTN_LONG_TESTS"):
    if variable in os.environ:
        config.environment[variable] = os.environ[variable]
