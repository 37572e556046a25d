"""From text or an op to code objects."""

from __future__ import annotations

import hashlib
import json
import pathlib
from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from . import cache
from ._native import native
from .arrays import as_array
from .context import check_chip
from .errors import ArgumentError, CompileError, MissingKernelsError
from .ops import Op, option_text
from .plan import KernelPlan, check_operands, plan_kernels
from .runtime import Result, choose_device, launch_all


@dataclass(frozen=True)
class CompiledModule:
    """The code objects of a module for one chip.

    Attributes:
        chip: the gfx number.
        manifest: what docs/manifest.md describes.
        objects: the ELF files by the names that the manifest has for them.
        isa: assembly of each kernel, by symbol.
        messages: warnings and remarks of the compiler.
        key: the hash under which the cache keeps it.
    """

    chip: str
    manifest: Dict[str, Any]
    objects: Dict[str, bytes] = field(repr=False)
    isa: Dict[str, str] = field(repr=False)
    messages: Tuple[str, ...] = ()
    key: str = ""

    @property
    def kernels(self) -> List[Dict[str, Any]]:
        """Entries of the manifest, in the order of the launches."""
        return self.manifest["kernels"]

    @property
    def plans(self) -> List[KernelPlan]:
        """The kernels of the one op, ready to be bound to arrays."""
        if self.key not in _plans:
            _plans[self.key] = plan_kernels(self.kernels)
        return _plans[self.key]

    def save(self, folder: Union[str, pathlib.Path]) -> pathlib.Path:
        """Writes ``NAME.CHIP.co``, ``NAME.CHIP.s`` and ``manifest.json``, as pa-compile
        does, and gives the folder."""
        path = pathlib.Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        for name, elf in self.objects.items():
            (path / name).write_bytes(elf)
        for kernel in self.kernels:
            (path / kernel["file"]).with_suffix(".s").write_text(self.isa[kernel["symbol"]])
        (path / "manifest.json").write_text(json.dumps(self.manifest, indent=2) + "\n")
        return path

    def launch(
        self,
        operands: Mapping[str, Any],
        *,
        scalars: Optional[Mapping[str, int]] = None,
        device: Optional[str] = None,
    ) -> Result:
        """Runs the kernels of a module with one op.

        Args:
            operands: an array for each operand that the manifest names.
            scalars: values for the manifest's scalars, in place of its expressions.
            device: ``emulator`` or ``hip``; by default where the arrays are.

        Returns:
            A :class:`pagedattn.Result`; its ``out`` is None.

        Raises:
            ArgumentError: an array is not what the kernel takes.
            EmulatorError: the kernel has faulted in the emulator.
        """
        arrays = {name: as_array(name, value) for name, value in operands.items()}
        check_operands(self.plans, arrays)
        return launch_all(self, arrays, scalars or {}, choose_device(arrays, device))


_plans: Dict[str, List[KernelPlan]] = {}


def _make(text: str, chip: str, options: str) -> cache.Files:
    answer = native().compile(text, chip, options)
    if "objects" not in answer:
        raise CompileError(answer["errors"])
    files = {"manifest.json": answer["manifest"].encode()}
    files["messages.json"] = json.dumps(answer["messages"]).encode()
    for entry in answer["objects"]:
        files[entry["file"]] = entry["elf"]
        files[entry["file"][: -len(".co")] + ".s"] = entry["isa"].encode()
    return files


def _wrap(key: str, chip: str, files: cache.Files) -> CompiledModule:
    manifest = json.loads(files["manifest.json"])
    isa = {
        kernel["symbol"]: files[kernel["file"][: -len(".co")] + ".s"].decode()
        for kernel in manifest["kernels"]
    }
    objects = {name: data for name, data in files.items() if name.endswith(".co")}
    messages = tuple(json.loads(files["messages.json"]))
    return CompiledModule(chip, manifest, objects, isa, messages, key)


def _label(source: Any, text: str, chip: str) -> str:
    if isinstance(source, Op):
        return f"{chip} {source}"
    return f"{chip} module {hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _text_of(source: Any) -> str:
    text = source if isinstance(source, str) else getattr(source, "mlir", None)
    if not isinstance(text, str):
        raise ArgumentError(
            "mlir_text_or_op",
            "must be text or an op of pagedattn.ops",
            type(source).__name__,
            "str, pagedattn.ops.Op, any object with a text `mlir`",
        )
    return text


def compile(mlir_text_or_op: Any, chip: str, **options: Any) -> CompiledModule:
    """Compiles a module, or takes it from the cache.

    Args:
        mlir_text_or_op: MLIR text with ``pa`` ops, or an :class:`pagedattn.ops.Op`.
        chip: gfx number, for example ``gfx950``.
        options: ``num_cus``, ``fuse_indexer``, ``fusion_remarks``, ``max_offset_bytes``,
            ``require_address_form``, ``force_address_form``, ``address_remarks``, ``abi``,
            ``opt_level``: those of the pipeline pa-lower-to-binary.

    Raises:
        ArgumentError: an argument is none of these.
        CompileError: the text or the op cannot be compiled; with the diagnostics.
        MissingKernelsError: it is not in the cache and compiling is switched off.
    """
    text = _text_of(mlir_text_or_op)
    check_chip(chip)
    arguments = option_text(options)
    key = cache.key_of(text, chip, arguments)
    return cache.get(
        key,
        _label(mlir_text_or_op, text, chip),
        lambda: _make(text, chip, arguments),
        lambda files: _wrap(key, chip, files),
    )


def precompile(
    modules: Iterable[Sequence[Any]], **options: Any
) -> List[CompiledModule]:
    """Compiles pairs ``(text or op, chip)``, all before the first is needed.

    Raises:
        MissingKernelsError: compiling is switched off; it lists all that is not in
            the cache.
    """
    pairs = [(source, check_chip(chip)) for source, chip in modules]
    if cache.is_strict():
        arguments = option_text(options)
        found = cache.missing(
            (cache.key_of(_text_of(s), chip, arguments), _label(s, _text_of(s), chip))
            for s, chip in pairs
        )
        if found:
            raise MissingKernelsError(found, str(cache.folder()))
    return [compile(source, chip, **options) for source, chip in pairs]
