#!/usr/bin/env bash
# From a fresh Debian machine to code objects: installs the packages that are
# missing, builds, lowers the examples for every chip that they name, and runs
# one of them in the emulator.
#
#   ./quickstart.sh [OUTPUT_FOLDER]
#
# OUTPUT_FOLDER is out/ by default. Works as root and with sudo, and again
# without effect once everything is there.

source "$(dirname "${BASH_SOURCE[0]}")/scripts/common.sh"

if (($# > 1)) || [[ ${1:-} == -* ]]; then
  sed -n '2,/^$/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
  [[ ${1:-} == -h || ${1:-} == --help ]] && exit 0
  fail "expected at most one output folder, found: $*"
fi
output=${1:-$project_dir/out}

install_packages "${build_packages[@]}"
build release OFF
say "lowering the examples; code objects and manifests go to $output"
"$project_dir/scripts/lower_examples.sh" "$project_dir/build/release/bin" "$output"
say "running the GLM-5.2 kernel in the emulator: logits of 4 GiB, is every row written?"
/usr/bin/python3 "$project_dir/examples/row_coverage.py" "$output/glm52_indexer" \
  --pa-run "$project_dir/build/release/bin/pa-run"
say "done; ./run-tests.sh builds and runs the tests"
