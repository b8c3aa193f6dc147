"""The outermost fields of a protobuf message, to recognise its format. Nothing is copied or unpacked."""

from __future__ import annotations

from collections.abc import Iterator

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MOST_BYTES = 10
_SIZES = {_FIXED64: 8, _FIXED32: 4}


def fields(data: bytes) -> Iterator[tuple[int, int]]:
    """(number, wire type) of each field. Raises ValueError if the bytes are no message."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        wire = tag & 7
        if wire == _VARINT:
            _, at = _varint(data, at)
        elif wire == _BYTES:
            length, at = _varint(data, at)
            at += length
        elif wire in _SIZES:
            at += _SIZES[wire]
        else:
            raise ValueError(f"wire type {wire}")
        if at > len(data) or not tag >> 3:
            raise ValueError("a field that leads out of the bytes")
        yield tag >> 3, wire


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for k, byte in enumerate(data[at : at + _MOST_BYTES]):
        value |= (byte & 0x7F) << (7 * k)
        if byte < 0x80:
            return value, at + k + 1
    raise ValueError("a number without an end")
