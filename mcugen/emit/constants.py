"""Which memory each constant lies in: with the code, in RAM where it is read most, or in further flash."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mcugen.emit.parts import ArrayView
from mcugen.plan.buffers import align_up
from mcugen.select.weights import WeightRooms

ARRAY_ALIGN = 4


@dataclass(frozen=True)
class ConstantsView:
    """A memory with constants: the macro that places them, and their bytes."""

    region: str
    macro: str
    nbytes: int


def placed(arrays: Sequence[ArrayView], reads: Mapping[str, int], rooms: WeightRooms) -> list[ArrayView]:
    """The arrays with their regions.

    Those with the most reads per byte go to the RAM that still holds them; of the rest those with the fewest go to
    further flash until what stays, with the images of those in RAM, is no more than the code's flash holds.
    """
    hot = sorted(arrays, key=lambda a: -reads.get(a.symbol, 0) / max(a.nbytes, 1))
    region: dict[str, str] = {}
    left = {room.name: room.nbytes or 0 for room in rooms.fast}
    for array in hot:
        home = next((name for name, free in left.items() if _stored(array) <= free), "") if array.nbytes else ""
        region[array.symbol] = home
        if home:
            left[home] -= _stored(array)
    _move_cold(hot, region, rooms)
    return [replace(array, region=region[array.symbol]) for array in arrays]


def _move_cold(hot: Sequence[ArrayView], region: dict[str, str], rooms: WeightRooms) -> None:
    if rooms.code_bytes is None:
        return
    over = sum(_stored(a) for a in hot) - rooms.code_bytes
    left = {room.name: room.nbytes or 0 for room in rooms.slow}
    for array in reversed(hot):
        if over <= 0:
            break
        home = next((name for name, free in left.items() if _stored(array) <= free), "")
        if home and not region[array.symbol]:
            region[array.symbol] = home
            left[home] -= _stored(array)
            over -= _stored(array)


def _stored(array: ArrayView) -> int:
    return align_up(array.nbytes, ARRAY_ALIGN)


def places_of(arrays: Sequence[ArrayView], macro: str) -> list[ConstantsView]:
    """The memories named by the arrays, in the order of their names."""
    names = sorted({a.region for a in arrays if a.region})
    return [
        ConstantsView(name, f"{macro}_IN_{name.upper()}", sum(_stored(a) for a in arrays if a.region == name))
        for name in names
    ]
