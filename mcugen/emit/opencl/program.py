"""OpenCL C of a model: each kernel once, with the headers it needs, and the arguments of each kernel."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from mcugen.emit.opencl.arguments import Arguments, packed
from mcugen.errors import InternalError
from mcugen.ir.element import in_opencl
from mcugen.kernels.grid import GridLoop
from mcugen.solve.schedule import Choice
from mcugen.system import resources

_INCLUDE = re.compile(r'^#include [<"]([\w./]+)[>"]\n', re.MULTILINE)
_MACRO = re.compile(r"^#define (\w+)", re.MULTILINE)
_FIRST = ("runtime.h",)
_DIGEST = 6
_UNLESS_GIVEN = {"HALF": 0, "LINE": 0, "LOOSE": 0, "DOT": 0}
"""Defaults of macros that some kernel texts use and their kernels do not set: storage as half, and rounding of integer
sums.
"""


@dataclass(frozen=True)
class Program:
    """The OpenCL C. functions, arguments: by `identity` of a choice, its function and the function's arguments."""

    text: str
    functions: Mapping[str, str]
    arguments: Mapping[str, Arguments]


def identity(choice: Choice) -> str:
    """Key of a choice. Choices with the same kernel text have equal keys."""
    return f"{choice.kernel.identity(choice.call)} {_tile(choice)}"


def digest_of(choice: Choice) -> str:
    """Hash of the kernel text of a choice."""
    return _kernel(choice)[0].rsplit("_", 1)[-1]


def _tile(choice: Choice) -> dict[str, int]:
    """Macros that the tile sets, as far as the kernel text uses them."""
    if choice.kernel.text.generate:
        return {}
    text = source(choice.kernel.source_name)
    return {name: value for name, value in choice.kernel.grid.tile if re.search(rf"\b{name}\b", text)}


def of(choices: Iterable[Choice]) -> Program:
    """The program for these choices. Each must have a kernel for a device."""
    functions: dict[str, str] = {}
    arguments: dict[str, Arguments] = {}
    texts: list[str] = []
    headers: list[str] = list(_FIRST)
    for choice in choices:
        key = identity(choice)
        if key in functions:
            continue
        function, text, needed = _kernel(choice)
        functions[key] = function
        text, arguments[key] = packed(text, function, _constants(choice))
        texts.append(text)
        headers += needed
    parts = [_template("prelude.cl"), *_headers(headers), _template("integers.cl"), *texts]
    return Program("\n".join(parts), functions, arguments)


def _kernel(choice: Choice) -> tuple[str, str, tuple[str, ...]]:
    """Function name of a choice's kernel, its text, and the headers that it needs."""
    kernel, call = choice.kernel, choice.call
    if kernel.text.generate:
        made = kernel.text.generate(call)
        assert isinstance(made, GridLoop)
        function = f"mg_{kernel.short_name}_{_digest(kernel.symbol, made.digest)}"
        return function, next(iter(made.files(function).values())), made.headers
    text, tail = source(kernel.source_name), kernel.grid.tail(call) if kernel.grid.tail else None
    constants = _constants(choice)
    ends = (tail.digest,) if tail else ()
    function = f"mg_{kernel.short_name}_{_digest(kernel.symbol, text, repr(sorted(constants.items())), *ends)}"
    text = tail.into(text, function) if tail else text
    defines = "".join(f"#define {name} {value}\n" for name, value in constants.items())
    undefines = "".join(f"#undef {name}\n" for name in (*constants, "KERNEL", *dict.fromkeys(_MACRO.findall(text))))
    needed = (*(name.rsplit("/", 1)[-1] for name in _INCLUDE.findall(text)), *(tail.headers if tail else ()))
    return function, f"{defines}#define KERNEL {function}\n{_INCLUDE.sub('', text)}{undefines}", needed


def _constants(choice: Choice) -> dict[str, Any]:
    """Macros defined before the text of a choice's kernel."""
    return {} if choice.kernel.text.generate else {**_UNLESS_GIVEN, **choice.kernel.sizes(choice.call), **_tile(choice)}


def _digest(*parts: str) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:_DIGEST]


def _headers(names: Iterable[str]) -> list[str]:
    """Texts of headers of the C runtime. Each appears once, after the headers that it includes."""
    found: dict[str, str] = {}

    def add(name: str) -> None:
        file = resources.c_files().get(name)
        if name in found or file is None or name == "interface.h":
            return
        for included in _INCLUDE.findall(file.text):
            add(included.rsplit("/", 1)[-1])
        found[name] = in_opencl(_INCLUDE.sub("", file.text))

    for name in names:
        add(name)
    return list(found.values())


@cache
def source(name: str) -> str:
    """Text of a kernel's .cl file. Raises InternalError if it is missing."""
    path = resources.cl_files().get(name)
    if path is None:
        raise InternalError(f"the runtime file {name} is missing")
    return path.read_text(encoding="utf-8")


@cache
def _template(name: str) -> str:
    return (resources.templates() / "opencl" / name).read_text(encoding="utf-8")
