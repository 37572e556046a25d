"""What the address forms cost, counted in the assembly."""

import pathlib
import subprocess

import pytest

import kernel_harness
from isa_loops import MATRIX, WIDE, count, loops_of
from test_logits_kernel import Case, make

CHIPS = ("gfx942", "gfx950", "gfx1250")
# Instructions of a waterfall loop: the resource differs between lanes.
WATERFALL = r"\s+s_cbranch_execnz"
READ_LANE = r"\s+v_readfirstlane"

PAGES = """
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%cache: memref<?x8448xi8, strided<[1002240, 1]>>, %table: memref<?xi32>,
                %out: memref<?x256xi32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %b = gpu.block_id x
      %t = gpu.thread_id x
      %c4 = arith.constant 4 : index
      %byte = arith.muli %t, %c4 : index
      %entry = memref.load %table[ENTRY] : memref<?xi32>
      %page = arith.index_castui %entry : i32 to index
      %v = vector.load %cache[%page, %byte] : memref<?x8448xi8, strided<[1002240, 1]>>, vector<4xi8>
      %w = vector.bitcast %v : vector<4xi8> to vector<1xi32>
      vector.store %w, %out[%b, %t] : memref<?x256xi32>, vector<1xi32>
      gpu.return
    }
  }
}
"""


def assemble(mlir: str, chip: str, folder: pathlib.Path, options: str = "") -> str:
    done = subprocess.run(
        [kernel_harness.BIN / "pa-compile", "-", f"--chip={chip}", "--emit=s", "-o", folder,
         f"--options={options}"], input=mlir, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (text,) = folder.glob("*.s")
    return text.read_text()


@pytest.mark.parametrize("chip", CHIPS)
def test_rebase_is_scalar(chip, tmp_path):
    """A page that is the same in all lanes: its byte offset is made of scalar
    instructions, the lane's part is a 32-bit offset."""
    lines = assemble(PAGES.replace("ENTRY", "%b"), chip, tmp_path).splitlines()
    assert count(lines, r"\s+buffer_load") == 1 and count(lines, r"\s+buffer_store") == 1
    assert count(lines, r"\s+s_mul_(hi_u32|u64|hi_i32)") > 0
    assert count(lines, WIDE) == 0
    assert count(lines, WATERFALL) == 0
    assert count(lines, READ_LANE) == 0
    # Without the form, the same access has a 64-bit address in each lane.
    forced = assemble(PAGES.replace("ENTRY", "%b"), chip, tmp_path / "global",
                      "force-address-form=global").splitlines()
    assert count(forced, r"\s+buffer_") == 0


@pytest.mark.parametrize("chip", CHIPS)
def test_global_is_per_lane(chip, tmp_path):
    """A page for each lane: 64-bit addresses in vector registers, and no loop over
    the lanes."""
    lines = assemble(PAGES.replace("ENTRY", "%t"), chip, tmp_path).splitlines()
    # The entries of the table are near each other, the pages are not.
    assert count(lines, r"\s+buffer_load") == 1
    assert count(lines, r"\s+global_load") == 1
    assert count(lines, r"\s+v_mad_(co_|nc_)?u64_u32") > 0
    assert count(lines, WATERFALL) == 0
    assert count(lines, READ_LANE) == 0


@pytest.mark.parametrize("page", [16, 64])
@pytest.mark.parametrize("chip", CHIPS)
def test_logits_tile_loop(chip, page, tmp_path):
    """The loop over tiles of tokens, with its loads of keys: rebase adds no vector
    instruction to it."""
    mlir = make(Case(chip=chip, page=page, heads=128, queries=4)).mlir
    keys = r"\s+((buffer|global)_load_(dwordx4|b128)|tensor_load_to_lds)"

    def tile_loop(text):
        return min((lines for lines in loops_of(text)
                    if count(lines, MATRIX) and count(lines, keys)), key=len)
    tile = tile_loop(assemble(mlir, chip, tmp_path))
    assert count(tile, WATERFALL) == 0
    # Not addresses: gfx1250 has a 64-bit minimum for vectors and none for scalars,
    # so that the loop over rows counts its rows in a vector register.
    counters = 1 if chip == "gfx1250" else 0
    assert count(tile, WIDE) <= counters
    # With a 64-bit address for each access there are more.
    forced = assemble(mlir, chip, tmp_path / "global", "force-address-form=global")
    assert count(tile_loop(forced), WIDE) > counters
