"""Notes on the layout of constants, taken from the header of their kernel.

The comment at the top of a header describes fields on lines ` * name text` or ` * a, b text`. Lines with more
indentation continue a description.
"""

from __future__ import annotations

import re
from functools import cache

from mcugen.emit.literals import comment
from mcugen.ir.kernel import Kernel
from mcugen.system import resources

_FIELD = re.compile(r"^ \* (\w+(?:, \w+)*):? +(\S.*)$")
_MORE = re.compile(r"^ \* {3,}(\S.*)$")


def layout_of(kernel: Kernel, field: str) -> str:
    """Note on a parameter field from the kernel's header, on one line; "" if there is none."""
    name = f"{kernel.contract.removeprefix('mg_')}.h"
    file = resources.c_files().get(name)
    text = kernel.text.files.get(name) or (file.text if file else "")
    return " ".join(comment(line) for line in _described(text).get(field, ()))


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
