#!/usr/bin/env bash
# Installs what is missing, builds, and runs all tests.
#
#   ./run-tests.sh [--long] [--preset NAME]
#
#   --long         also the tests that take minutes
#   --preset NAME  build preset, release by default
#
# The last line is `N passed, N failed, N skipped`; the exit status is 0 when
# nothing failed.

source "$(dirname "${BASH_SOURCE[0]}")/scripts/common.sh"

preset=release
while (($#)); do
  case $1 in
    --long) export PAGEDATTN_LONG_TESTS=1 ;;
    --preset)
      (($# > 1)) || fail "--preset needs the name of a preset of CMakePresets.json"
      preset=$2
      shift
      ;;
    -h | --help)
      sed -n '2,/^$/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    *) fail "unknown argument '$1'; known are --long and --preset NAME" ;;
  esac
  shift
done

install_packages "${build_packages[@]}" "${test_packages[@]}"
build "$preset" ON

results=$project_dir/build/$preset/test-results
rm -f "$results"/*
say "running the tests of build/$preset"
# All suites run even if one fails: the summary decides.
ninja -C "$project_dir/build/$preset" --quiet -k 0 check-pa || true
say "results"
python=$(sed -n 's/^Python3_EXECUTABLE:[A-Z]*=//p' "$project_dir/build/$preset/CMakeCache.txt")
trap - ERR
exec "$python" "$project_dir/scripts/summarize_tests.py" \
  "$results"/{lit.json,roundtrip.json,unit.json,python.xml}
