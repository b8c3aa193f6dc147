"""Amalgamation: one .c and one .h, with the runtime's headers and kernels included, the kernels static."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from mcugen.emit.view import ModelView

_INCLUDE = re.compile(r'^#include "([\w./]+)"\n', re.MULTILINE)
_BRANCH = re.compile(r'^#include "([\w./]+)"\n|^[ \t]*#[ \t]*(?:(if)|endif)', re.MULTILINE)
"""An #include, or the start or end of a condition that may skip the includes inside."""

GUARDED = re.compile(r"^#ifndef (\w+)\n#define \1\n", re.MULTILINE)
"""Guard of a header; a template's macro with a default value does not match."""

_PROTOTYPE = re.compile(r"^void (mg_\w+)\([^;{]*\);\n", re.MULTILINE)
_KERNEL = re.compile(r"^void (mg_\w+)(?=\([^;{]*\)\n\{)", re.MULTILINE)
LOCAL = re.compile(r"^static (?:inline )?(?:const )?\w+ \*?(?!MG_|__)(\w+)\(", re.MULTILINE)
"""Name of a file-local function, with any attributes before the type. Macros give their own names, so they are
excluded.
"""
_MACRO = re.compile(r"^#define (\w+)", re.MULTILINE)
_NAMED = re.compile(r"^#define MG_\w+ (mg_\w+)$", re.MULTILINE)
"""Name of a function that a source passes, by a macro, to the template that defines the function."""

_PARTS = ("", "_row", "_begin", "_rows", "_end")


def amalgamate(files: Mapping[str, bytes], view: ModelView) -> dict[str, bytes]:
    """<name>.h with the runtime header included, and <name>.c with weights, kernels and the model."""
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
    """Expands includes. A header with a guard is expanded once, unless a condition may skip it."""

    def __init__(self, text: Mapping[str, str], interface: str, called: Collection[str]) -> None:
        self._text = text
        self._called = called
        self._named = {f for path in text if path.startswith("kernels/") for f in _NAMED.findall(text[path])}
        self._seen = {interface}

    def expanded(self, source: str, surely: bool = True) -> str:
        """A source with the runtime's headers expanded. The model's own headers are already in the file.

        surely: whether the source is compiled for all values of macros.
        """
        depth = -1 if GUARDED.search(source) else 0

        def put(match: re.Match[str]) -> str:
            nonlocal depth
            if match[1]:
                return self._header(match[1], surely and depth == 0)
            depth += 1 if match[2] else -1
            return match[0]

        return _BRANCH.sub(put, source)

    def kernel(self, path: str) -> str:
        """The text of a kernel, made static. Its local names and macros, and those of its templates, are renamed or
        undefined so that they do not clash with other kernels.
        """
        stem = path.removeprefix("kernels/").removesuffix(".c")
        source = self._with_templates(self._text[path])
        for local in dict.fromkeys(LOCAL.findall(source)):
            own = f"mg_{stem}_{local.removeprefix('mg_')}"
            source = re.sub(rf"(?<![\w.>]){local}(?=\()", own, source)
            source = re.sub(rf"^(#define MG_\w+ ){local}$", rf"\g<1>{own}", source, flags=re.MULTILINE)
        macros = [m for m in dict.fromkeys(_MACRO.findall(source)) if f"#undef {m}\n" not in source]
        body = _KERNEL.sub(lambda match: f"static {self._unused(match[1])}{match[0]}", self.expanded(source))
        return body + "".join(f"#undef {macro}\n" for macro in macros)

    def _with_templates(self, source: str) -> str:
        """A source with headers that have no guard expanded. Each source needs a copy of such a header."""

        def put(match: re.Match[str]) -> str:
            text = self._text.get(match[1], "") if match[1].startswith("mcugen/") else ""
            return self._with_templates(text) if text and not GUARDED.search(text) else match[0]

        return _INCLUDE.sub(put, source)

    def _header(self, path: str, surely: bool) -> str:
        if path in self._seen or path not in self._text or not path.startswith("mcugen/"):
            return ""
        source = self._text[path]
        if surely and GUARDED.search(source):
            self._seen.add(path)
        return _PROTOTYPE.sub(self._prototype, self.expanded(source, surely))

    def _prototype(self, match: re.Match[str]) -> str:
        """A kernel's declaration, made static; "" for kernels that the model does not use.

        The definition then is static too, even if it is the expansion of a macro.
        """
        there = match[1] in self._called or match[1] in self._named
        return f"static {self._unused(match[1])}{match[0]}" if there else ""

    def _unused(self, symbol: str) -> str:
        return "" if symbol in self._called else "MCUGEN_UNUSED "


def _banner(source: str) -> str:
    """The leading comment of a generated file."""
    return source[: source.index("*/\n") + 3]


def _weights(source: str) -> str:
    """The weights as file-local constants: the text of the weights file, with each constant static."""
    body = _INCLUDE.sub("", source.removeprefix(_banner(source)))
    return re.sub(r"^const ", "static const ", body, flags=re.MULTILINE)
