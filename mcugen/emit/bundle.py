"""Which runtime files a model needs: its kernels, and the headers they include."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from mcugen import resources
from mcugen.errors import InternalError, UsageError
from mcugen.kernel import Kernel
from mcugen.schedule import Choice

_INCLUDE = re.compile(rb'^#include "mcugen/([\w./]+)"$', re.MULTILINE)
_FILE_NAME = re.compile(r"\w+\.[ch]", re.ASCII)
_LICENSE = b"SPDX-License-Identifier: Apache-2.0"
_OWNER = b"You own this file; mcugen's licence does not apply to it."
"""The line of an emitted file that replaces the licence under which mcugen holds it."""


def brought_files(kernels: Iterable[Kernel]) -> dict[str, str]:
    """The C files that operators from outside bring for these kernels, by name. Raises UsageError where two clash."""
    found: dict[str, str] = {}
    for kernel in kernels:
        for name, text in kernel.files.items():
            if not _FILE_NAME.fullmatch(name):
                raise UsageError(f"kernel {kernel.symbol} brings a file named {name!r}", hint="name it <name>.c or .h")
            taken = name in resources.c_files()
            if taken or found.setdefault(name, text) != text:
                raise UsageError(
                    f"kernel {kernel.symbol} brings a file {name} that is there already, with other text",
                    hint="rename the file and the kernel",
                )
    return found


def source_name(choice: Choice) -> str:
    """The C file that defines the kernel of a choice: one of the runtime's, or one made for the sizes of its call."""
    if choice.kernel.variant is None and choice.kernel.loop is None:
        return choice.kernel.source_name
    return f"{choice.kernel.function(choice.call).removeprefix('mg_')}.c"


def made_files(choices: Sequence[Choice]) -> dict[str, str]:
    """The C files that are not in the runtime's folders, by name: brought by operators, or made for their calls."""
    found = brought_files(c.kernel for c in choices)
    found |= {source_name(c): _variant_text(c) for c in choices if c.kernel.variant}
    for choice in choices:
        if choice.kernel.loop is not None:
            found |= choice.kernel.loop(choice.call).files(choice.kernel.function(choice.call))
    return found


def _variant_text(choice: Choice) -> str:
    """A copy of a kernel's template for the sizes of a call."""
    kernel = choice.kernel
    values = kernel.variant(choice.call) if kernel.variant else {}
    stem = kernel.symbol.removeprefix("mg_")
    constants = {"KERNEL": kernel.function(choice.call)} | {name.upper(): value for name, value in values.items()}
    lines = [
        f"/* {_OWNER.decode()} */",
        f"/* mcugen/{stem}_template.h, instantiated for these layer sizes; that file documents each macro. */",
    ]
    lines += [f"#define MG_{name} {value}" for name, value in constants.items()]
    lines += [f'#include "mcugen/{stem}_template.h"']
    lines += [f"#undef MG_{name}" for name in constants]
    return "\n".join([*lines, ""])


def runtime_files(
    kernels: Iterable[str], headers: Iterable[str], brought: Mapping[str, str] = MappingProxyType({})
) -> dict[str, bytes]:
    """Path in the output folder -> content, for kernel sources, their headers and everything those include.

    brought: files that are not in the runtime's folders but come with an operator.
    """

    def read(name: str) -> bytes:
        return owned(brought[name].encode()) if name in brought else _read(name)

    files = {f"kernels/{Path(name).name}": read(name) for name in kernels}
    wanted = ["runtime.h", *headers, *(h for text in files.values() for h in includes(text))]
    seen: dict[str, bytes] = {}
    while wanted:
        header = wanted.pop()
        if header not in seen:
            seen[header] = read(header)
            wanted += includes(seen[header])
    return files | {f"mcugen/{name}": seen[name] for name in sorted(seen)}


def includes(text: bytes) -> list[str]:
    """The runtime headers a source names, without the folder."""
    return [name.decode() for name in _INCLUDE.findall(text)]


def _read(name: str) -> bytes:
    """A file of the runtime as it is emitted, with the line about its owner."""
    path = resources.c_files().get(name)
    if path is None:
        raise InternalError(f"the runtime file {name} is missing")
    return owned(path.read_bytes())


def owned(text: bytes) -> bytes:
    """The text of a file as its user gets it."""
    return text.replace(_LICENSE, _OWNER)
