#!/usr/bin/env bash
# From a fresh Debian machine to code objects: installs the packages that are
# missing, builds, and lowers the examples for every chip that they name.
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
build release -DPAGEDATTN_BUILD_TESTS=OFF
say "lowering the examples; code objects and manifests go to $output"
"$project_dir/scripts/lower_examples.sh" "$project_dir/build/release/bin" "$output"
# Reports that run the code objects follow, one script each.
for report in "$project_dir"/scripts/reports/*.sh; do
  if [[ -e $report ]]; then
    "$report" "$output"
  fi
done
say "done; ./run-tests.sh builds and runs the tests"
