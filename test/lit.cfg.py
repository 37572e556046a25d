import os
import re

import lit.formats

config.name = "PagedAttn"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "fixtures", "Consumer", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.pa_build_dir, "test")

build_bin = os.path.join(config.pa_build_dir, "bin")
build_lib = os.path.join(config.pa_build_dir, "lib")
targets_td = os.path.join(
    config.pa_source_dir, "include", "PagedAttn", "Target", "Targets.td"
)

# A numbered LLVM tool is found whatever else is on PATH.
config.environment["PATH"] = os.pathsep.join(
    [build_bin, config.llvm_tools_dir, "/usr/bin", "/bin"]
)
config.environment["FILECHECK_OPTS"] = "-enable-var-scope"
for variable in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "CI"):
    if variable in os.environ:
        config.environment[variable] = os.environ[variable]


def add_tool(name, path, *arguments):
    """Replaces `name` where it stands as a word of its own."""
    command = " ".join([path, *arguments])
    config.substitutions.append(
        (r"(?<![-\w./%])" + re.escape(name) + r"(?![-\w./])", command)
    )


round_trip = ["--verify-roundtrip"] if lit_config.params.get("roundtrip") else []
for tool in config.pa_tools:
    arguments = round_trip if tool == "pa-opt" else []
    add_tool(tool, os.path.join(build_bin, tool), *arguments)
for tool in ["FileCheck", "not", "count", "split-file"]:
    add_tool(tool, os.path.join(config.llvm_tools_dir, tool))
for tool in [
    "clang",
    "ld.lld",
    "llc",
    "llvm-mc",
    "llvm-mca",
    "llvm-objdump",
    "llvm-readelf",
    "llvm-nm",
    "mlir-opt",
    "mlir-runner",
    "mlir-tblgen",
    "mlir-translate",
]:
    add_tool(tool + "-22", os.path.join(config.llvm_tools_dir, tool))

for name, value in [
    ("%pa_plugin", os.path.join(build_lib, "PagedAttnPlugin.so")),
    ("%pa_emu_runtime", os.path.join(build_lib, "libpagedattn_emu_runtime.so")),
    ("%pa_examples", os.path.join(config.pa_source_dir, "examples")),
    ("%pa_include", os.path.join(config.pa_source_dir, "include")),
    ("%pa_src", config.pa_source_dir),
    ("%pa_build", config.pa_build_dir),
    ("%llvm_tools", config.llvm_tools_dir),
    ("%mlir_include", os.path.join(config.llvm_tools_dir, "..", "include")),
    ("%mlir_lib", os.path.join(config.llvm_tools_dir, "..", "lib")),
    ("%python", config.python),
    ("%cmake", config.cmake),
    ("%doxygen", config.doxygen),
    ("%cxx", config.cxx),
]:
    config.substitutions.append((re.escape(name) + r"\b", value))

# A test that concerns one chip says `REQUIRES: chip-gfx950`, so that it goes
# with the row of the chip table.
with open(targets_td, encoding="utf-8") as table:
    for chip in re.findall(r': Chip<"(gfx\w+)"', table.read()):
        config.available_features.add("chip-" + chip)
if config.sanitize:
    config.available_features.add("sanitizer")
if os.path.exists(config.doxygen):
    config.available_features.add("doxygen")
if os.environ.get("PAGEDATTN_LONG_TESTS"):
    config.available_features.add("long")
