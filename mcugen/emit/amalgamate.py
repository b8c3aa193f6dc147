"""One .c and one .h: the runtime's headers and kernels folded in, the kernels static."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from mcugen.emit.view import ModelView

_INCLUDE = re.compile(r'^#include "([\w./]+)"\n', re.MULTILINE)
_GUARDED = re.compile(r"^#ifndef (\w+)\n#define \1\b", re.MULTILINE)
_PROTOTYPE = re.compile(r"^void (mg_\w+)\([^;{]*\);\n", re.MULTILINE)
_KERNEL = re.compile(r"^void (mg_\w+)(?=\([^;{]*\)\n\{)", re.MULTILINE)
LOCAL = re.compile(r"^static (?:inline )?(?:const )?\w+ \*?(?!MG_)(\w+)\(", re.MULTILINE)
"""The name of a function of its file alone, with attributes, if any, before the type; macros name their own."""
_MACRO = re.compile(r"^#define (\w+)", re.MULTILINE)
_NAMED = re.compile(r"^#define MG_\w+ (mg_\w+)$", re.MULTILINE)
"""The name of a function that a source gives to the template which defines it."""

_PARTS = ("", "_begin", "_rows", "_end")


def amalgamate(files: Mapping[str, bytes], view: ModelView) -> dict[str, bytes]:
    """<name>.h with the runtime header folded in, and <name>.c with weights, kernels and the model."""
    name, called = view.name, {step.kernel + part for step in view.steps for part in _PARTS}
    text = {path: content.decode() for path, content in files.items()}
    folded = _Folded(text, view.interface, called)
    public = text[f"{name}.h"].replace(f'#include "{view.interface}"\n', text[view.interface])
    banner = _banner(text[f"{name}.c"])
    parts = [banner.replace(f" in {name}_weights.c", ""), f'#include "{name}.h"\n#define MG_LINKAGE static\n']
    parts += [_weights(text[f"{name}_weights.c"])]
    parts += [folded.kernel(path) for path in sorted(text) if path.startswith("kernels/")]
    parts += [folded.expanded(text[f"{name}.c"].removeprefix(banner))]
    return {f"{name}.h": public.encode(), f"{name}.c": "\n".join(parts).encode()}


class _Folded:
    """Puts headers where they are included, each guarded one once."""

    def __init__(self, text: Mapping[str, str], interface: str, called: Collection[str]) -> None:
        self._text = text
        self._called = called
        self._named = {f for path in text if path.startswith("kernels/") for f in _NAMED.findall(text[path])}
        self._seen = {interface}

    def expanded(self, source: str) -> str:
        """A source with its headers of the runtime put in; the model's own headers are there already."""
        return _INCLUDE.sub(lambda match: self._header(match[1]), source)

    def kernel(self, path: str) -> str:
        """A kernel made static, its local names and macros kept from those of other kernels."""
        stem = path.removeprefix("kernels/").removesuffix(".c")
        source = self._text[path]
        for local in dict.fromkeys(LOCAL.findall(source)):
            source = re.sub(rf"(?<![\w.>]){local}(?=\()", f"mg_{stem}_{local.removeprefix('mg_')}", source)
        macros = [m for m in dict.fromkeys(_MACRO.findall(source)) if f"#undef {m}\n" not in source]
        body = _KERNEL.sub(lambda match: f"static {self._unused(match[1])}{match[0]}", self.expanded(source))
        return body + "".join(f"#undef {macro}\n" for macro in macros)

    def _header(self, path: str) -> str:
        if path in self._seen or path not in self._text or not path.startswith("mcugen/"):
            return ""
        source = self._text[path]
        if _GUARDED.search(source):
            self._seen.add(path)
        return _PROTOTYPE.sub(self._prototype, self.expanded(source))

    def _prototype(self, match: re.Match[str]) -> str:
        """A kernel's declaration makes its definition static, also where a macro spells that; those of others go."""
        there = match[1] in self._called or match[1] in self._named
        return f"static {self._unused(match[1])}{match[0]}" if there else ""

    def _unused(self, symbol: str) -> str:
        return "" if symbol in self._called else "MCUGEN_UNUSED "


def _banner(source: str) -> str:
    """The leading comment of a generated file."""
    return source[: source.index("*/\n") + 3]


def _weights(source: str) -> str:
    """The weights as file-local constants."""
    body = _INCLUDE.sub("", source.removeprefix(_banner(source)))
    return re.sub(r"^const ", "static const ", body, flags=re.MULTILINE)
