"""One .c and one .h: the runtime's headers and kernels folded in, the kernels static."""

from __future__ import annotations

import re
from collections.abc import Mapping

from mcugen.emit.bundle import includes

_OWN_INCLUDE = re.compile(r'^#include "[\w./]+"\n', re.MULTILINE)
_PROTOTYPE = re.compile(r"^void mg_\w+\([^;{]*\);\n", re.MULTILINE)
_KERNEL = re.compile(r"^void (?=mg_\w+\([^;{]*\)\n\{)", re.MULTILINE)
_LOCAL = re.compile(r"^static (?:inline )?(?:const )?\w+ \*?(\w+)\(", re.MULTILINE)
_EXTERN = re.compile(r"^extern [^;]*;[^\n]*\n", re.MULTILINE)


def amalgamate(files: Mapping[str, bytes], name: str) -> dict[str, bytes]:
    """<name>.h with the runtime header folded in, and <name>.c with weights, kernels and the model."""
    text = {path: content.decode() for path, content in files.items()}
    headers = _in_order([p for p in text if p.startswith("mcugen/") and p != "mcugen/runtime.h"], text)
    kernels = sorted(path for path in text if path.startswith("kernels/"))
    public = text[f"{name}.h"].replace('#include "mcugen/runtime.h"\n', text["mcugen/runtime.h"])
    parts = [_banner(text[f"{name}.c"]), f'#include "{name}.h"\n']
    parts += [_PROTOTYPE.sub("", _OWN_INCLUDE.sub("", text[path])) for path in headers]
    parts += [_static(f"{name}_weights.c", text)]
    parts += [_static_kernel(path, text[path]) for path in kernels]
    parts += [_OWN_INCLUDE.sub("", text[f"{name}.c"].removeprefix(_banner(text[f"{name}.c"])))]
    return {f"{name}.h": public.encode(), f"{name}.c": "\n".join(parts).encode()}


def _banner(source: str) -> str:
    """The leading comment of a generated file."""
    return source[: source.index("*/\n") + 3]


def _in_order(headers: list[str], text: Mapping[str, str]) -> list[str]:
    """Headers after the ones they include."""
    done: list[str] = []

    def visit(path: str) -> None:
        for other in includes(text[path].encode()):
            if f"mcugen/{other}" in headers and f"mcugen/{other}" not in done:
                visit(f"mcugen/{other}")
        if path not in done:
            done.append(path)

    for path in sorted(headers):
        visit(path)
    return done


def _static(path: str, text: Mapping[str, str]) -> str:
    """The weights as file-local constants."""
    body = _OWN_INCLUDE.sub("", text[path].removeprefix(_banner(text[path])))
    return re.sub(r"^const ", "static const ", body, flags=re.MULTILINE)


def _static_kernel(path: str, source: str) -> str:
    """A kernel made static, its local functions renamed so that those of two files do not meet."""
    stem = path.removeprefix("kernels/").removesuffix(".c")
    for local in dict.fromkeys(_LOCAL.findall(source)):
        source = re.sub(rf"(?<![\w.>]){local}(?=\()", f"mg_{stem}_{local.removeprefix('mg_')}", source)
    return _KERNEL.sub("static void ", _OWN_INCLUDE.sub("", source))
