"""The runtime of a model: its kernels and their headers, under names that contain hashes of their text.

The hash in a file's name covers the file and all that it includes. The hash in a function's name also covers its symbol
and the sizes that it is generated for. Equal names therefore mean equal text. Builds by two versions of mcugen can be
linked into one image, and their include folders can be given in any order.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from mcugen import kernels
from mcugen.errors import InternalError, UsageError
from mcugen.formats import registry
from mcugen.ir.call import Call
from mcugen.ir.kernel import Kernel
from mcugen.solve.schedule import Choice
from mcugen.system import resources

RUNTIME = "runtime.h"
INTERFACE = "interface.h"
MAX_NAME = 31
"""Significant characters of an external name in C99 (5.2.4.1); file names have the same limit."""

_DIGEST = 6
_STEM = MAX_NAME - len("_.c") - _DIGEST
_SHORT = re.compile(r"[a-z][a-z0-9_]{0,14}", re.ASCII)
_INCLUDE = re.compile(r'^(#include "mcugen/)([\w./]+)"$', re.MULTILINE)
_FUNCTION = re.compile(r"(^#define MG_\w+ |\b)(mg_\w+)(?=\(|$)", re.MULTILINE)
"""The name of a function in a declaration, definition or call, or in a macro that passes it to a template."""

_SHARED = re.compile(r"^MG_LINKAGE \w+ \*?(mg_\w+)\(", re.MULTILINE)
"""The name of a function in a helper source. Kernels of several sizes call it."""

_FILE_NAME = re.compile(r"\w+\.[ch]", re.ASCII)
_LICENSE = "SPDX-License-Identifier: Apache-2.0"
_OWNER = "You own this file; mcugen's licence does not apply to it."
"""Line of an emitted file. It replaces the licence line of mcugen's own source."""


def of(choices: Iterable[Choice]) -> Bundle:
    """The runtime with the kernels chosen. Raises UsageError if two files with one name differ."""
    choices = tuple(choices)
    brought = brought_files(choice.kernel for choice in choices)
    if not brought and all(_runtime().knows(choice.kernel) for choice in choices):
        return _runtime()
    further = (kernel for choice in choices for kernel in (choice.kernel, *kernels.of(choice.node.op)))
    return Bundle((*known(), *further), brought)


@functools.cache
def _runtime() -> Bundle:
    return Bundle(known())


@functools.cache
def known() -> tuple[Kernel, ...]:
    """All kernels that have C code, of all operators and families."""
    ops = dict.fromkeys((*registry.own(), *registry.load().ops))
    return tuple(kernel for op in ops for kernel in kernels.of(op) if kernel.has_code)


def brought_files(used: Iterable[Kernel]) -> dict[str, str]:
    """C files that plugins' operators supply for these kernels, by name. Raises UsageError if two clash."""
    found: dict[str, str] = {}
    for kernel in used:
        for name, text in kernel.text.files.items():
            if not _FILE_NAME.fullmatch(name):
                raise UsageError(f"kernel {kernel.symbol} has a file named {name!r}", hint="name it <name>.c or .h")
            taken = name in resources.c_files()
            if taken or found.setdefault(name, text) != text:
                raise UsageError(
                    f"kernel {kernel.symbol} has a file {name}; another file of this name differs",
                    hint="rename the file and the kernel",
                )
    return found


class Bundle:
    """All files of the runtime, with their names and text in the output."""

    def __init__(self, known: Iterable[Kernel], brought: Mapping[str, str] = MappingProxyType({})) -> None:
        """known: kernels that headers may declare. brought: files of plugins, by name."""
        self._brought = brought
        there = [k for k in known if k.has_code and k.text.files.keys() <= brought.keys()]
        self._fixed = {k.symbol: k for k in there if not k.text.is_generated}
        self._helpers = sorted({helper for k in there for helper in k.text.helpers})
        self._stems = {k.source_name: k.short_name for k in there if not (k.text.is_generated or k.text.source)}
        self._stems |= {template_of(k): k.short_name for k in there if k.text.variant and not k.text.source}
        self._declared: dict[str, set[str]] = defaultdict(set)
        for kernel in (k for k in there if not k.text.generate):
            own = () if kernel.text.variant else (kernel.source_name,)
            self._declared[header_of(kernel)] |= {*own, *kernel.text.helpers}
        self._hashes: dict[str, str] = {}
        self._texts: dict[str, bytes] = {}
        self._functions: dict[str, str] = {}

    def files(self, choices: Iterable[Choice]) -> dict[str, bytes]:
        """Path in the output -> text, for the sources of the kernels chosen and all that they include.

        Raises InternalError if two files or two functions would get one name.
        """
        found: dict[str, bytes] = {}
        claims = _Claims()
        wanted = {RUNTIME, INTERFACE}
        for choice in choices:
            kernel, call = choice.kernel, choice.call
            claims.take(self.function(kernel, call), kernel.identity(call))
            wanted |= {*self._needed(kernel, call), *kernel.text.helpers}
            for path, text in self._made(kernel, call, self.function(kernel, call)).items():
                claims.take(path, kernel.identity(call))
                found[path] = text.encode()
        for name in sorted(set().union(*map(self._reached, wanted))):
            claims.take(self.name(name), name)
            found[self.path(name)] = self.text(name)
        return found

    def knows(self, kernel: Kernel) -> bool:
        """Whether the bundle can name the kernel: always for a generated copy, otherwise only if the kernel is
        known.
        """
        return kernel.text.is_generated or kernel.symbol in self._fixed

    def path(self, file: str) -> str:
        """Path of a file of the runtime in the output."""
        return f"{'kernels' if file.endswith('.c') else 'mcugen'}/{self.name(file)}"

    def name(self, file: str) -> str:
        """Name of a file of the runtime in the output: `conv2d_s8.h` becomes `conv2d_s8_3fa2b1.h`."""
        stem, _, suffix = file.rpartition(".")
        short = self._stems.get(file) or re.sub("_+", "_", stem.replace("_template", ""))[:_STEM].rstrip("_")
        return f"{short}_{self._hash(file)[:_DIGEST]}.{suffix}"

    def source(self, kernel: Kernel, call: Call) -> str:
        """Name of the C file that defines the kernel for a call."""
        return f"{self._stem(kernel, call)}.c" if kernel.text.is_generated else self.name(kernel.source_name)

    def header(self, kernel: Kernel, call: Call) -> str:
        """Path of the header that declares the kernel's parameters. It also declares the function, unless that is a
        copy.
        """
        return f"mcugen/{self._stem(kernel, call)}.h" if kernel.text.generate else self.path(header_of(kernel))

    def params(self, kernel: Kernel, call: Call) -> str:
        """C type of the kernel's parameters."""
        return f"{self.function(kernel, call) if kernel.text.generate else kernel.contract}_params"

    def function(self, kernel: Kernel, call: Call) -> str:
        """The C function that computes the call, e.g. `mg_conv2d_dsp16_3fa2b1`. Raises UsageError for a bad
        short name.
        """
        if not kernel.text.is_generated:
            return self._function(kernel.symbol)
        hashes = [self._hash(file) for file in sorted(self._needed(kernel, call))]
        return self._named(kernel, *self._made(kernel, call, "mg_").values(), *hashes)

    def declaration(self, kernel: Kernel, call: Call) -> str:
        """C text that declares the functions of a kernel's copy. The kernel's header must be included before it."""
        return f"MG_DECLARE_{template_of(kernel).removesuffix('_template.h')}({self.function(kernel, call)});"

    def text(self, file: str) -> bytes:
        """The text of a runtime file as emitted, with the owner's line and the emitted names."""
        if file not in self._texts:
            text = _FUNCTION.sub(self._emitted, self._raw(file))
            self._texts[file] = self._owned(text).encode()
        return self._texts[file]

    def _owned(self, text: str, own: str = "") -> str:
        """A text with the owner's line and emitted names. own: a header included in it that is not part of the
        runtime.
        """
        text = _INCLUDE.sub(lambda m: m[0] if m[2] == own else f'{m[1]}{self.name(m[2])}"', text)
        return text.replace(_LICENSE, _OWNER)

    @functools.cached_property
    def _owners(self) -> Mapping[str, tuple[Kernel | str, str]]:
        """Function of the runtime -> (its kernel, suffix) or (its helper source, function)."""
        found: dict[str, tuple[Kernel | str, str]] = {}
        for symbol, kernel in self._fixed.items():
            for part in ("", *kernel.form.suffixes):
                found[symbol + part] = kernel, part
        for helper in self._helpers:
            for function in _SHARED.findall(self._raw(helper)):
                found[function] = helper, function
        return found

    def _function(self, own: str) -> str:
        """Name of a runtime function in the output. It is computed on first use."""
        if own not in self._functions:
            owner, part = self._owners[own]
            if isinstance(owner, Kernel):
                self._functions[own] = self._named(owner, self._hash(owner.source_name)) + part
            else:
                self._functions[own] = f"{part}_{_digest(part, self._hash(owner))}"
        return self._functions[own]

    def _emitted(self, word: re.Match[str]) -> str:
        """A match of _FUNCTION, with the emitted name if it names a function of the runtime."""
        return word[1] + (self._function(word[2]) if word[2] in self._owners else word[2])

    def _named(self, kernel: Kernel, *parts: str) -> str:
        """mg_<short>_<hash>. The hash covers the symbol and the parts that distinguish functions of one kernel."""
        if not _SHORT.fullmatch(kernel.short_name):
            raise UsageError(
                f"kernel {kernel.symbol}: {kernel.short_name!r} cannot be part of a C name",
                hint="state `short`: at most 15 lower-case letters, digits and underscores, beginning with a letter",
            )
        return f"mg_{kernel.short_name}_{_digest(kernel.symbol, *parts)}"

    def _stem(self, kernel: Kernel, call: Call) -> str:
        return self.function(kernel, call).removeprefix("mg_")

    def _needed(self, kernel: Kernel, call: Call) -> set[str]:
        """Runtime files that directly make up a call's function. Files that they include are not listed."""
        if kernel.text.generate:
            made = kernel.text.generate(call).files("mg_")
            return {name for text in made.values() for name in includes(text)} - made.keys()
        return {header_of(kernel), template_of(kernel) if kernel.text.variant else kernel.source_name}

    def _made(self, kernel: Kernel, call: Call, function: str) -> dict[str, str]:
        """Path -> text of the files generated for a call. Empty for a kernel that is a runtime file."""
        if kernel.text.generate:
            made = kernel.text.generate(call).files(function)
            (own,) = (name for name in made if name.endswith(".h"))
            folders = {name: "kernels" if name.endswith(".c") else "mcugen" for name in made}
            return {f"{folders[name]}/{name}": self._owned(text, own) for name, text in made.items()}
        if kernel.text.variant:
            return {f"kernels/{function.removeprefix('mg_')}.c": self._copy(kernel, call, function)}
        return {}

    def _copy(self, kernel: Kernel, call: Call, function: str) -> str:
        """Source of a kernel's copy: macros with the sizes of a call, then an include of the kernel's template."""
        sizes = kernel.sizes(call)
        words = ", ".join(f"{size.replace('_', ' ')} {value}" for size, value in sizes.items())
        constants = {"KERNEL": function} | {size.upper(): value for size, value in sizes.items()}
        lines = [
            f"/* {_OWNER} */",
            f"/* {kernel.symbol} for {words}: the file included here documents each size. */",
        ]
        lines += [f"#define MG_{constant} {value}" for constant, value in constants.items()]
        lines += [f'#include "mcugen/{self.name(template_of(kernel))}"']
        lines += [f"#undef MG_{constant}" for constant in constants]
        return "\n".join([*lines, ""])

    def hashed(self, file: str) -> set[str]:
        """Files whose text the hash in a file's name covers: all that the file includes and, for a header, the sources
        that it declares.
        """
        return self._reached(file, self._declared)

    def _hash(self, file: str) -> str:
        if file not in self._hashes:
            texts = [(name, self._raw(name)) for name in sorted(self.hashed(file))]
            self._hashes[file] = hashlib.sha256(repr([_OWNER, file, texts]).encode()).hexdigest()
        return self._hashes[file]

    def _reached(self, file: str, further: Mapping[str, Iterable[str]] = MappingProxyType({})) -> set[str]:
        """A file, all that it includes, and all that `further` adds to any of these files."""
        found, waiting = set[str](), [file]
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += [*includes(self._raw(name)), *further.get(name, ())]
        return found

    def _raw(self, file: str) -> str:
        return self._brought[file] if file in self._brought else _read(file)


class _Claims:
    """Names used in an output. Each may stand for one thing only."""

    def __init__(self) -> None:
        self._taken: dict[str, str] = {}

    def take(self, name: str, what: str) -> None:
        other = self._taken.setdefault(name, what)
        if other != what:
            raise InternalError(f"{what} and {other} would both be called {name}", where="emit")


def header_of(kernel: Kernel) -> str:
    """Header that declares a kernel and its parameters."""
    return f"{kernel.contract.removeprefix('mg_')}.h"


def template_of(kernel: Kernel) -> str:
    """Name of the header with a kernel's source text. It is compiled once for each set of sizes."""
    return kernel.text.source or f"{kernel.symbol.removeprefix('mg_')}_template.h"


def includes(text: str) -> list[str]:
    """Names of the runtime headers in a source, without the folder."""
    return [match[2] for match in _INCLUDE.finditer(text)]


def _digest(*parts: str) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:_DIGEST]


@functools.cache
def _read(name: str) -> str:
    file = resources.c_files().get(name)
    if file is None:
        raise InternalError(f"the runtime file {name} is missing")
    return file.text
