"""Notes on the layout of constants, taken from the header of their kernel.

The comment at the top of a header describes fields on lines ` * name text` or ` * a, b text`. Lines with more
indentation continue a description. Fields that several kernels share come from a macro `MG_..._FIELDS`; the header that
defines the macro describes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from mcugen.emit.literals import comment
from mcugen.ir.kernel import Kernel
from mcugen.system import resources

_FIELD = re.compile(r"^ \* (\w+(?:, \w+)*):? +(\S.*)$")
_INCLUDE = re.compile(r'^#include "mcugen/(\w+\.h)"$', re.MULTILINE)
_MORE = re.compile(r"^ \* {3,}(\S.*)$")
_SAME = re.compile(r"^typedef mg_(\w+)_params mg_\w+_params;$", re.MULTILINE)
_SHARED = re.compile(r"^ +(MG_\w+_FIELDS)$", re.MULTILINE)


def layout_of(kernel: Kernel, field: str) -> str:
    """Note on a parameter field from the headers of its kernel, on one line; "" if there is none."""
    for text in _headers(kernel, f"{kernel.contract.removeprefix('mg_')}.h"):
        if lines := _described(text).get(field):
            return " ".join(comment(line) for line in lines)
    return ""


def _headers(kernel: Kernel, name: str) -> Iterator[str]:
    """Text of a header, then of headers whose parameters it renames, then of those that define its macros of fields."""
    own = _text(kernel, name)
    yield own
    for other in _SAME.findall(own):
        yield from _headers(kernel, f"{other}.h")
    included = [_text(kernel, file) for file in _INCLUDE.findall(own)]
    for macro in _SHARED.findall(own):
        yield from (text for text in included if f"#define {macro} " in text)


def _text(kernel: Kernel, name: str) -> str:
    """Text of a header of the kernel or of the runtime; "" if there is none of that name."""
    file = resources.c_files().get(name)
    return kernel.text.files.get(name) or (file.text if file else "")


@cache
def _described(header: str) -> dict[str, list[str]]:
    """Field -> the lines of the header that describe it."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in header.partition("*/")[0].splitlines():
        if more := _MORE.match(line):
            lines.append(more[1])
        elif field := _FIELD.match(line):
            lines = [field[2]]
            found |= dict.fromkeys(field[1].split(", "), lines)
        else:
            lines = []
    return found
