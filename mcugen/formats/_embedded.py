"""Models as arrays of bytes in C, as `xxd -i` writes them: `const unsigned char model_data[] = {0x1c, 0x00, ...};`."""

from __future__ import annotations

import re
from collections.abc import Iterator

_LOOKED_AT = 4096
_NEAR = 200
_NAME = re.compile(rb"(\w+)\s*\[")
_ARRAY = re.compile(rb"=\s*\{([0-9a-fA-FxX,\s]*)\}")


def arrays(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The byte arrays in C source, each with its name, "" if it has none; no arrays if the data are not text."""
    if b"\0" in data[:_LOOKED_AT]:
        return
    text = _without_comments(data)
    for found in _ARRAY.finditer(text):
        try:
            values = bytes(int(number, 0) for number in found[1].replace(b",", b" ").split())
        except ValueError:  # not a number, or out of the range of a byte
            continue
        names = _NAME.findall(text, max(0, found.start() - _NEAR), found.start())
        yield names[-1].decode() if names else "", values


def _without_comments(data: bytes) -> bytes:
    """A C text without its comments, in a single pass. Strings are not parsed, as arrays of bytes have none."""
    parts: list[bytes] = []
    at = 0
    while True:
        start = data.find(b"/", at)
        if start < 0:
            return b" ".join([*parts, data[at:]])
        end = {b"/*": b"*/", b"//": b"\n"}.get(data[start : start + 2])
        if end is None:
            parts.append(data[at : start + 1])
            at = start + 1
            continue
        parts.append(data[at:start])
        stop = data.find(end, start + 2)
        if stop < 0:
            return b" ".join(parts)
        at = stop + len(end)
