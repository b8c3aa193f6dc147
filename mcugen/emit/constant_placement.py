"""Chooses a memory for each constant: flash with the code, RAM for constants read often, or further flash."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mcugen.emit.literals import ARRAY_TYPES, comment
from mcugen.emit.model_parts import ArrayView
from mcugen.solve.plan.buffers import align_up
from mcugen.solve.weights import WeightRegions

ARRAY_ALIGN = 4


@dataclass(frozen=True)
class ConstantsView:
    """A memory that holds constants. macro: places a constant there. nbytes: total size of its constants."""

    region: str
    macro: str
    nbytes: int


class ConstantPool:
    """The constants of a model. Equal constants are stored once.

    reads: symbol -> number of element reads per inference.
    """

    def __init__(self, model: str) -> None:
        self.reads: dict[str, int] = {}
        self._model = model
        self._arrays: dict[tuple[str, str], ArrayView] = {}

    @property
    def arrays(self) -> list[ArrayView]:
        return list(self._arrays.values())

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self._arrays.values())

    def symbol(self, data: np.ndarray, c_type: str, note: str, reads: int, layout: str = "") -> str:
        """The symbol of a constant, which is added if it is new.

        reads: element reads per inference by this use. note, layout: comments; those of the first use are emitted.
        """
        stored = np.ascontiguousarray(data)
        key = (c_type, hashlib.sha256(stored.tobytes()).hexdigest())
        if key not in self._arrays:
            symbol = f"{self._model}_k{len(self._arrays)}"
            size, about = max(stored.size, 1), comment(note)
            self._arrays[key] = ArrayView(symbol, c_type, size, stored.nbytes, about, stored, layout=layout)
        found = self._arrays[key].symbol
        self.reads[found] = self.reads.get(found, 0) + reads
        return found

    def initial(self, data: np.ndarray, note: str) -> str:
        """The symbol of a state's initial value. No inference reads it."""
        return self.symbol(data, ARRAY_TYPES[data.dtype], note, 0)


def placed(arrays: Sequence[ArrayView], reads: Mapping[str, int], weight_regions: WeightRegions) -> list[ArrayView]:
    """The arrays with their regions.

    The arrays with the most reads per byte go to the first RAM with space. Of the others, those with the fewest reads
    per byte go to further flash, until the rest fits the flash of the code. The initial images of arrays in RAM stay in
    that flash.
    """
    hot = sorted(arrays, key=lambda a: -reads.get(a.symbol, 0) / max(a.nbytes, 1))
    region: dict[str, str] = {}
    left = {memory.name: memory.nbytes or 0 for memory in weight_regions.fast}
    for array in hot:
        found = next((name for name, free in left.items() if _stored(array) <= free), "") if array.nbytes else ""
        region[array.symbol] = found
        if found:
            left[found] -= _stored(array)
    _move_cold(hot, region, weight_regions)
    return [replace(array, region=region[array.symbol]) for array in arrays]


def _move_cold(hot: Sequence[ArrayView], region: dict[str, str], weight_regions: WeightRegions) -> None:
    if weight_regions.code_bytes is None:
        return
    over = sum(_stored(a) for a in hot) - weight_regions.code_bytes
    left = {memory.name: memory.nbytes or 0 for memory in weight_regions.slow}
    for array in reversed(hot):
        if over <= 0:
            break
        found = next((name for name, free in left.items() if _stored(array) <= free), "")
        if found and not region[array.symbol]:
            region[array.symbol] = found
            left[found] -= _stored(array)
            over -= _stored(array)


def _stored(array: ArrayView) -> int:
    return align_up(array.nbytes, ARRAY_ALIGN)


def places_of(arrays: Sequence[ArrayView], macro: str) -> list[ConstantsView]:
    """The memories that the arrays name, sorted by name."""
    names = sorted({a.region for a in arrays if a.region})
    return [
        ConstantsView(name, f"{macro}_IN_{name.upper()}", sum(_stored(a) for a in arrays if a.region == name))
        for name in names
    ]
