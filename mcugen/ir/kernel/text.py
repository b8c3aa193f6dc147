"""The C of kernels: a file of the runtime, a copy of a template for the sizes of a call, or a generated function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from mcugen.ir.call import Call


class GeneratedFunction(Protocol):
    """A C function generated for a call: `mcugen.ir.element.Loop`, or a class of a kernel family."""

    @property
    def digest(self) -> str:
        """Six hexadecimal digits of a hash of the files' text."""

    def files(self, function: str) -> dict[str, str]:
        """The header and the source that define `function`, by name; the header has the type `function`_params."""


@dataclass(frozen=True)
class Text:
    """The C of a kernel.

    variant   constants of a template for a call, by name in lower case: each set of them makes one copy of the template
    constants constants of the template that are the same for all calls
    generate  returns the C function if it is generated for a call, for example from expressions
    source    the file of c_runtime, by default <symbol less mg_>.c, with `variant` <symbol less mg_>_template.h; unused
              with a generated function
    helpers   further sources of c_runtime that the function needs
    struct    base name of the header and the params struct, if it is not the part of the symbol before `__`
    files     C files that come with an operator from outside: name -> text, the source and the header <contract>.h of
              the kernel among them; empty for kernels of c_runtime
    """

    variant: Callable[[Call], Mapping[str, int]] | None = None
    constants: Mapping[str, int] = field(default_factory=dict, hash=False)
    generate: Callable[[Call], GeneratedFunction] | None = None
    source: str = ""
    helpers: tuple[str, ...] = ()
    struct: str = ""
    files: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def is_generated(self) -> bool:
        """Whether the function is made for the sizes or expressions of a call, so that c_runtime has no file with
        it.
        """
        return self.variant is not None or self.generate is not None
