"""The options of custom operators: a FlexBuffer that holds one map of numbers. The reader checks every offset.

Source: https://flatbuffers.dev/internals/#flexbuffers.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

from mcugen.errors import CorruptModelError, UnsupportedError

Number = int | float
_MAP, _BOOL = 9, 26
_DIRECT = {1: "bhiq", 2: "BHIQ", 3: " efd", _BOOL: "BHIQ"}
"""FlexBuffer type -> struct codes for values of 1, 2, 4 and 8 bytes; a space where the format has no such value."""
_INDIRECT = {6: 1, 7: 2, 8: 3}
"""FlexBuffer type of a number stored by offset -> type of the number itself."""
_MOST = 64
_INT, _FLOAT = 1, 3
_WORD, _WORD_BITS = 4, 2
"""Size of an offset or number that `written` uses, in bytes, and the format's code for that size."""


def numbers(data: bytes) -> dict[str, Number]:
    """The numbers of a map by name. Raises CorruptModelError or UnsupportedError for anything else."""
    if len(data) < 3:
        raise CorruptModelError(f"the custom options have {len(data)} bytes; a FlexBuffer has at least 3")
    reader, kind, width = _Reader(data), data[-2] >> 2, data[-1]
    if kind != _MAP or width not in (1, 2, 4, 8):
        raise UnsupportedError("custom options must be a FlexBuffer map of numbers")
    at = reader.target(len(data) - 2 - width, width)
    return dict(reader.entries(at, 1 << (data[-2] & 3)))


def options(data: bytes, **wanted: Number) -> Mapping[str, Number]:
    """The options of a custom operator. `wanted` gives the name and default of each option that the operator has.

    Raises UnsupportedError for an option that is not in `wanted`.
    """
    found = numbers(data) if data else {}
    unknown = sorted(set(found) - set(wanted))
    if unknown:
        raise UnsupportedError(f"option {unknown[0]} is not supported (known: {', '.join(wanted)})")
    return {**wanted, **found}


def written(options: Mapping[str, Number]) -> bytes:
    """The options as a FlexBuffer. Names are sorted; every number and offset has four bytes."""
    names = sorted(options)
    made, places = bytearray(), []
    for name in names:
        places.append(len(made))
        made += name.encode("ascii") + b"\0"
    made += bytes(-len(made) % _WORD) + struct.pack("<I", len(names))
    keys = len(made)
    for place in places:
        made += struct.pack("<I", len(made) - place)
    made += struct.pack("<3I", len(made) - keys, _WORD, len(names))
    values, kinds = len(made), bytearray()
    for name in names:
        is_float = isinstance(options[name], float)
        made += struct.pack("<f" if is_float else "<i", options[name])
        kinds.append((_FLOAT if is_float else _INT) << 2 | _WORD_BITS)
    made += kinds + bytes(-len(kinds) % _WORD)
    made += struct.pack("<I", len(made) - values)
    return bytes(made) + bytes((_MAP << 2 | _WORD_BITS, _WORD))


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data

    def value(self, at: int, width: int, kind: int) -> Number:
        """The number of `width` bytes at offset `at`. Raises CorruptModelError if it lies outside the data."""
        code = _DIRECT[kind][(1, 2, 4, 8).index(width)]
        if at < 0 or at + width > len(self._data) or code == " ":
            raise CorruptModelError("the custom options refer to bytes outside of them")
        found: Number = struct.unpack_from("<" + code, self._data, at)[0]
        return found

    def target(self, at: int, width: int) -> int:
        """The position that the offset stored at `at` refers to. FlexBuffer offsets count backwards from themselves."""
        return at - int(self.value(at, width, 2))

    def entries(self, at: int, width: int) -> list[tuple[str, Number]]:
        """The (name, number) pairs of the map whose values begin at `at`, each `width` bytes apart."""
        size = int(self.value(at - width, width, 2))
        if size > _MOST:
            raise CorruptModelError(f"the custom options have {size} entries, more than {_MOST}")
        keys, key_width = self.target(at - 3 * width, width), int(self.value(at - 2 * width, width, 2))
        if key_width not in (1, 2, 4, 8):
            raise CorruptModelError(f"the custom options give names a width of {key_width} bytes, not 1, 2, 4 or 8")
        return [
            (self._key(self.target(keys + k * key_width, key_width)), self._number(at, width, size, k))
            for k in range(size)
        ]

    def _key(self, at: int) -> str:
        end = self._data.find(0, max(at, 0))
        if at < 0 or end < 0:
            raise CorruptModelError("a name in the custom options has no end")
        return self._data[at:end].decode("ascii", "replace")

    def _number(self, at: int, width: int, size: int, k: int) -> Number:
        packed = int(self.value(at + size * width + k, 1, 2))
        kind, place = packed >> 2, at + k * width
        if kind in _INDIRECT:
            return self.value(self.target(place, width), 1 << (packed & 3), _INDIRECT[kind])
        if kind not in _DIRECT:
            raise UnsupportedError(f"custom options with a value of type {kind} are not supported")
        return self.value(place, width, kind)
