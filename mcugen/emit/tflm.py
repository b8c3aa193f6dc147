"""Records that replace the flatbuffer in firmware written for the C++ interface of TensorFlow Lite Micro."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mcugen.emit.literals import C_TYPES, comment, float32, packed
from mcugen.emit.model_parts import EndView, StepView
from mcugen.errors import UnsupportedError, UsageError
from mcugen.ir.graph import Graph
from mcugen.options import TFLM, Options

_TYPES = {
    "s8": "kTfLiteInt8",
    "u8": "kTfLiteUInt8",
    "s16": "kTfLiteInt16",
    "s32": "kTfLiteInt32",
    "u32": "kTfLiteUInt32",
    "s64": "kTfLiteInt64",
    "u64": "kTfLiteUInt64",
    "f32": "kTfLiteFloat32",
    "bool": "kTfLiteBool",
}
_COMMENT = re.compile(rb"/\*.*?\*/|//[^\n]*", re.DOTALL)
_FIRST = 64
"""Number of leading bytes of a flatbuffer to compare before its CRC-32 is computed."""

_TENSOR_BYTES = 40
"""Most bytes of a tensor record on a 32-bit core. It has 36 if enumerations are short."""

NO_VARIABLE = 0xFFFF

_ALIGN_BYTES = 30
"""Most bytes lost to alignment: an arena may begin and end anywhere, but objects lie at multiples of 16."""


@dataclass(frozen=True)
class PortView:
    """An input or output as in the file. dims: the rank, then the shape. scales: empty if not quantized."""

    symbol: str
    type: str
    label: str
    offset: int
    nbytes: int
    dims: tuple[int, ...]
    scales: tuple[str, ...]
    zero_points: tuple[int, ...]
    axis: int


@dataclass(frozen=True)
class TflmView:
    """A model behind the C++ interface.

    symbols, lengths: (namespaces, name) of each firmware variable that held the flatbuffer, or its length. find:
    whether the flatbuffer is recognized by its content. nbytes, crc, first: facts of the flatbuffer. prefix:
    folder before the paths of included headers. indices: of the ports among the file's tensors. variable: index of the
    only variable tensor, NO_VARIABLE for none or several. layers: the operator of each step.
    """

    ports: tuple[PortView, ...]
    symbols: tuple[tuple[tuple[str, ...], str], ...]
    lengths: tuple[tuple[tuple[str, ...], str], ...]
    find: bool
    prefix: str
    nbytes: int
    crc: int
    first: tuple[str, ...]
    object_bytes: int
    indices: tuple[int, ...]
    variable: int
    layers: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """The C++ names of the variables, with namespaces."""
        return ["::".join((*space, name)) for space, name in (*self.symbols, *self.lengths)]

    @property
    def arena_bytes(self) -> int:
        """Size of a tensor arena that suffices on any 32-bit core, at any alignment."""
        return self.object_bytes + _TENSOR_BYTES * len(self.ports) + _ALIGN_BYTES


def asked(
    options: Options,
    imported: Graph,
    name: str,
    ends: Sequence[EndView],
    steps: Sequence[StepView],
    object_bytes: int,
    *,
    spread: bool,
) -> TflmView | None:
    """The view, or None if the export is not chosen.

    ends: inputs, then outputs. object_bytes: size of the model object. spread: whether it points to several memories.
    Raises UsageError and UnsupportedError if inputs and outputs cannot be those of the file.
    """
    if TFLM not in options.export:
        return None
    _require_same_interface(imported, ends, spread=spread)
    symbols, lengths = (_own(entries, name, flag) for entries, flag in _entries(options))
    file = imported.file
    return TflmView(
        ports=tuple(_ports(imported, name, ends)),
        symbols=symbols,
        lengths=lengths,
        find=options.find or not symbols,
        prefix=f"{options.header_prefix.strip('/')}/" if options.header_prefix else "",
        nbytes=len(file),
        crc=zlib.crc32(file),
        first=tuple(packed(f"0x{byte:02x}," for byte in file[:_FIRST].ljust(_FIRST, b"\0"))),
        object_bytes=object_bytes,
        indices=imported.indices,
        variable=_variable(imported),
        layers=tuple(step.title.split()[0] for step in steps),
    )


def require_free(model: str, view: TflmView | None, files: Mapping[str, bytes]) -> None:
    """Raise UsageError if a variable of the firmware has the name of something in the C of the model."""
    symbols = [name for space, name in (*view.symbols, *view.lengths) if not space] if view else []
    for name in (name for name in symbols if name.lower().startswith(f"{model}_".lower())):
        for path, text in files.items():
            if name.encode() in text and re.search(rb"\b%b\b" % name.encode(), _COMMENT.sub(b"", text)):
                raise UsageError(
                    f"{name!r} is a name in {path}, and the firmware has a variable of this name",
                    where=f"--export {TFLM}",
                    hint="choose another --name for the model",
                )


def notes(options: Options) -> tuple[str, ...]:
    """Notes on the interface for the author of the firmware."""
    if TFLM not in options.export or options.keep_input:
        return ()
    return (
        "a run may overwrite the inputs, as in TensorFlow Lite Micro: write all of them before each "
        "run, or build with --keep-input",
    )


def _require_same_interface(imported: Graph, ends: Sequence[EndView], *, spread: bool) -> None:
    """Raise an error if inputs and outputs differ from those of the file, or if one arena cannot hold the model."""
    if imported.format != "tflite":
        raise UsageError(
            f"the firmware's flatbuffer is a .tflite file, but this model is .{imported.format}",
            where=f"--export {TFLM}",
            hint="give the .tflite file that the firmware contains",
        )
    if imported.unlike_file:
        raise UnsupportedError(
            f"the compiled model's interface differs from the file's: {imported.unlike_file[0]}",
            where=f"--export {TFLM}",
            hint="use the C interface of the build for this model",
        )
    if spread:
        raise UsageError(
            "the model needs several memories, but the firmware gives one arena",
            where=f"--export {TFLM}",
            hint="leave --region out, or name one region",
        )
    count = len(imported.inputs) + len(imported.outputs)
    if len(ends) != count:
        raise UnsupportedError(f"the build has {len(ends)} inputs and outputs, but the file has {count}")


def _variable(imported: Graph) -> int:
    alone = len(imported.variables) == len(imported.states) == 1
    return imported.variables[0] if alone else NO_VARIABLE


def _entries(options: Options) -> tuple[tuple[tuple[str, ...], str], tuple[tuple[str, ...], str]]:
    return (options.symbol, "--symbol"), (options.length_symbol, "--length-symbol")


def _own(entries: Sequence[str], name: str, flag: str) -> tuple[tuple[tuple[str, ...], str], ...]:
    """(namespaces, name) of variables given as SYMBOL or MODEL=SYMBOL. Raises UsageError if MODEL is not this model."""
    owned = []
    for entry in entries:
        model, equals, symbol = entry.rpartition("=")
        if equals and model != name:
            raise UsageError(f"{entry!r} names the model {model!r}, but this model is {name!r}", where=flag)
        *space, last = symbol.split("::")
        owned.append((tuple(space), last))
    return tuple(owned)


def _ports(imported: Graph, name: str, ends: Sequence[EndView]) -> list[PortView]:
    ports = []
    for k, (tensor, end) in enumerate(zip((*imported.inputs, *imported.outputs), ends, strict=True)):
        t = imported.type(tensor)
        if (end.nbytes, end.c_type) != (t.nbytes, C_TYPES[t.dtype]):
            raise UnsupportedError(
                f"{end.label!r} has {end.length} elements {end.c_type} in the build, {t} in the file"
            )
        quant = t.quant
        ports.append(
            PortView(
                symbol=f"{name}_port{k}",
                type=_TYPES[t.dtype],
                label=comment(imported.tensors[tensor].label),
                offset=end.offset,
                nbytes=end.nbytes,
                dims=(len(t.shape), *t.shape),
                scales=tuple(float32(scale) for scale in quant.scale) if quant else (),
                zero_points=tuple(quant.zero_point) if quant else (),
                axis=quant.axis if quant else 0,
            )
        )
    return ports
