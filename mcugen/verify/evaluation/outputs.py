"""Outputs of many samples, as files and as text."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mcugen.errors import UsageError
from mcugen.machines.native import Model
from mcugen.system import tabular
from mcugen.verify.evaluation.scoring import run_all

_PRINTED = 8
_MOST_IN_JSON = 100_000


@dataclass(frozen=True, eq=False)
class Named:
    """Named outputs of a model, [n, ...] each. notes: on the samples."""

    model: str
    names: tuple[str, ...]
    outputs: tuple[np.ndarray, ...]
    notes: tuple[str, ...]
    called: str

    def as_bytes(self, file: Path) -> bytes:
        """The content of an .npy with the only output, or of an .npz with all. Raises UsageError."""
        stream = io.BytesIO()
        if file.suffix == ".npz":
            np.savez(stream, **dict(zip(self.keys, self.outputs, strict=True)))  # type: ignore[arg-type]
            return stream.getvalue()
        if len(self.outputs) != 1:
            message = f"an .npy holds one output, but {self.called} has {len(self.outputs)}"
            raise UsageError(message, where="-o", hint=f"name it {file.with_suffix('.npz').name}")
        np.save(stream, self.outputs[0])
        return stream.getvalue()

    @property
    def keys(self) -> list[str]:
        """Names of the outputs; numbered names if two are equal."""
        unique = len(set(self.names)) == len(self.names) and "file" not in self.names
        return list(self.names) if unique else [f"out{k}" for k in range(len(self.names))]

    def as_dict(self) -> dict[str, Any]:
        """The outputs as a dictionary with stable keys for JSON. Values of large outputs are left out."""
        listed = [
            {
                "name": name,
                "shape": list(array.shape),
                "dtype": str(array.dtype),
                "values": array.tolist() if array.size <= _MOST_IN_JSON else None,
            }
            for name, array in zip(self.keys, self.outputs, strict=True)
        ]
        return {"name": self.model, "samples": len(self.outputs[0]), "outputs": listed, "notes": list(self.notes)}

    def as_parts(self, file: Path | None) -> tabular.Parts:
        """The outputs as text: the file they were written to, or the first samples if there is no file."""
        count = len(self.outputs[0])
        lines = [
            f"{self.called}: {count:,} sample{'s' if count != 1 else ''}" + (f", outputs in {file}" if file else "")
        ]
        lines += [f"  note: {note}" for note in self.notes]
        for name, array in zip(self.keys, self.outputs, strict=True):
            lines.append(f"  {name}: {array.dtype} {list(array.shape)}")
            rows: Sequence[np.ndarray] = [] if file else list(array[:_PRINTED].reshape(min(count, _PRINTED), -1))
            lines += [f"    {np.array2string(row, threshold=16, max_line_width=110, precision=6)}" for row in rows]
            if not file and count > _PRINTED:
                lines.append(f"    and {count - _PRINTED:,} more: write them with -o")
        return lines


def require_kinds(file: Path | None, record: Path | None) -> None:
    """Raise UsageError, before any work, for file names that do not end in .npy or .npz."""
    if file is not None and file.suffix not in (".npy", ".npz"):
        raise UsageError(f"{file.name!r} is neither an .npy nor an .npz", where="-o", hint="name it y.npy or y.npz")
    if record is not None and record.suffix != ".npz":
        raise UsageError(f"{record.name!r} is not an .npz file", where="--record", hint="name it vectors.npz")


def recording(model: Model, arrays: Sequence[np.ndarray]) -> bytes:
    """An .npz of stored inputs in<k>_<j> and outputs out<k>_<j>; see `mcugen.verify.golden`."""
    if model.takes_signals:
        hint = "leave --record out; a build with --selftest records samples up to the first decision"
        raise UsageError(f"{model.name} takes a stream of samples, which recordings do not hold", hint=hint)
    stored = model.stored(*arrays)
    outputs = run_all(model, stored, real=False)
    named = {
        f"{kind}{k}_{j}": a[k]
        for kind, each in (("in", stored), ("out", outputs))
        for j, a in enumerate(each)
        for k in range(len(a))
    }
    stream = io.BytesIO()
    np.savez_compressed(stream, **named)
    return stream.getvalue()
