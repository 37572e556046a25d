# What the scripts of this project share; sourced, not run.

set -Eeuo pipefail

project_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Debian packages for building, and for the tests on top of it. doxygen makes the
# reference of the C++ API.
build_packages=(
  clang-22 cmake liblld-22-dev libmlir-22-dev lld-22 llvm-22-dev mlir-22-tools
  ninja-build pybind11-dev python3 python3-dev python3-numpy
)
test_packages=(
  doxygen libgtest-dev llvm-22-tools python3-pip python3-pytest python3-pytest-xdist
  python3-setuptools python3-venv python3-wheel
)

say() {
  printf '==> %s\n' "$*"
}

fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# Says which command failed: `set -e` alone ends a script without a word.
trap 'fail "\`$BASH_COMMAND\` failed (line $LINENO of ${BASH_SOURCE[0]##*/})"' ERR

is_installed() {
  [[ $(dpkg-query -W -f='${Status}' "$1" 2>/dev/null) == "install ok installed" ]]
}

# install_packages NAME... installs those that are missing.
install_packages() {
  local missing=() package
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    fail "this script installs Debian packages, and there is no apt-get here;" \
      "install the equivalents of: $* and build with cmake --preset release"
  fi
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then
    say "all Debian packages are installed"
    return
  fi
  local as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null ||
      fail "missing packages: ${missing[*]}; run as root, or install sudo"
    as_root=(sudo)
  fi
  say "installing Debian packages: ${missing[*]}"
  "${as_root[@]}" apt-get update -qq ||
    fail "apt-get update failed; check the network and /etc/apt/sources.list"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null ||
    fail "apt-get could not install: ${missing[*]};" \
      "on Debian 12 they come from bookworm and bookworm-security, section main"
}

# build PRESET TESTS builds build/PRESET, with the tests where TESTS is ON. A folder that is
# configured stays as it is, unless the tests are missing: ninja runs CMake again by itself
# where that is needed.
build() {
  local preset=$1 tests=$2
  local folder=$project_dir/build/$preset
  local log=$folder.configure.log launcher=()
  if [[ ! -f $folder/build.ninja ]] ||
    { [[ $tests == ON ]] && ! grep -q '^PAGEDATTN_BUILD_TESTS:BOOL=ON' "$folder/CMakeCache.txt"; }; then
    if command -v ccache >/dev/null; then
      launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
    fi
    mkdir -p "$project_dir/build"
    say "configuring build/$preset"
    (cd "$project_dir" &&
      cmake --preset "$preset" "${launcher[@]}" "-DPAGEDATTN_BUILD_TESTS=$tests") >"$log" 2>&1 ||
      { tail -n 20 "$log" >&2; fail "cmake failed; the whole output is in $log"; }
  fi
  say "building build/$preset"
  ninja -C "$folder" ||
    fail "the build failed; the compiler's messages are above"
}
