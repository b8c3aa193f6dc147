"""Kernels: C functions that compute an operator, the calls they accept, and the constants made for them at build time.

A kernel consists of its form (`forms`), its text (`text`), its cost (`cost`), and the fields that all kernels have.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from mcugen.errors import InternalError
from mcugen.ir.alike import keeps, shared_fact
from mcugen.ir.call import Call, Params, Rule
from mcugen.ir.kernel.cost import Cost
from mcugen.ir.kernel.forms import (
    RESULT,
    Accumulate,
    Alias,
    Form,
    Grid,
    Join,
    NDRange,
    Ring,
    RowStorage,
    RowWindow,
    Run,
    Sliding,
    Tile,
    Whole,
    Window,
)
from mcugen.ir.kernel.text import Text

__all__ = [
    "RESULT",
    "Accumulate",
    "Alias",
    "Cost",
    "Family",
    "Form",
    "Grid",
    "Join",
    "Kernel",
    "NDRange",
    "Ring",
    "RowStorage",
    "RowWindow",
    "Run",
    "Sliding",
    "Text",
    "Tile",
    "Whole",
    "Window",
]

MAX_SHORT = 15
"""Longest abbreviation of a kernel's symbol in the name of an emitted function, in characters."""


@dataclass(frozen=True)
class Kernel:
    """One C function that computes an operator, with its rules and the constants made for it at build time.

    symbol    mg_<op>_<dtype>[__<how>]
    form      how the emitted code calls it
    accepts   the rules of the calls that it can run; their docstrings are the refusals
    params    fields of the C struct <symbol less __how>_params; arrays become constants in flash
    operands  inputs passed as pointers, in that order; None: every input that is not constant
    scratch   bytes of working memory, 16-aligned, or None if the C function takes none
    in_place  inputs whose memory the output may take over, element by element
    text      the C of the function
    cost      its work, for estimates of cycles, and its code size
    needs     features of the core
    widened   whether the constants hold the weights wider than the model does: faster, but takes more flash
    sized     whether calls of equal shapes and types that share a function have constants of equal size
    frugal    whether it is a slower variant that saves bytes of code or constants, for the goal `flash` only
    short     at most 15 characters that replace the symbol in emitted names, mg_<short>_<hash>; by default shortened
    """

    symbol: str
    form: Form
    accepts: tuple[Rule, ...] = ()
    params: Callable[[Call], Params] | None = None
    operands: Callable[[Call], tuple[int, ...]] | tuple[int, ...] | None = None
    scratch: Callable[[Call], int] | None = None
    in_place: tuple[int, ...] = ()
    text: Text = field(default_factory=Text)
    cost: Cost = field(default_factory=Cost)
    needs: frozenset[str] = frozenset()
    widened: bool = False
    sized: bool = False
    frugal: bool = False
    short: str = ""

    def __hash__(self) -> int:
        return hash(self.symbol)

    @functools.cached_property
    def has_code(self) -> bool:
        """Whether the operator becomes a step; without code, its results are bytes of other tensors."""
        return self.form.has_code

    @functools.cached_property
    def slides(self) -> bool:
        """Whether the kernel computes an output row from a window of input rows."""
        return isinstance(self.form, Sliding)

    @property
    def grid(self) -> Grid:
        """The form of a device kernel. Raises InternalError if the form is no Grid."""
        if not isinstance(self.form, Grid):
            raise InternalError(f"{self.symbol} is no kernel of a device")
        return self.form

    @property
    def contract(self) -> str:
        """Base name of the header and the params struct: the text's `struct` if set, else the symbol before `__`."""
        return self.text.struct or self.symbol.split("__")[0]

    @property
    def source_name(self) -> str:
        """Name of the file in c_runtime that defines the function."""
        return self.text.source or f"{self.symbol.removeprefix('mg_')}.c"

    @property
    def short_name(self) -> str:
        """The abbreviated symbol in the names of emitted functions: `short`, else the symbol with its longest words
        shortened.
        """
        words = [word for word in self.symbol.removeprefix("mg_").split("_") if word]
        while not self.short and len("_".join(words)) > MAX_SHORT:
            longest = max(range(len(words)), key=lambda k: (len(words[k]), k))
            words[longest] = words[longest][:-1]
        return self.short or "_".join(words)

    def tiled(self, tile: Tile) -> Kernel:
        """This device kernel with that tile."""
        room = self.grid.room
        scratch = (lambda call: room(call, tile)) if room else None
        return replace(self, form=replace(self.grid, tile=tuple(tile.items())), scratch=scratch)

    def launch(self, call: Call) -> NDRange:
        """The launch of a device kernel with its tile."""
        return self.grid.launch(call, dict(self.grid.tile))

    def sizes(self, call: Call) -> Mapping[str, int]:
        """The constants of the kernel's template for a call, by name; empty for a kernel without a template."""
        return {**_sizes(call, self.text.variant), **self.text.constants} if self.text.variant else {}

    def identity(self, call: Call) -> str:
        """Key of the C function for a call: the symbol with the template's constants or a hash.

        Calls with equal keys share a function.
        """
        return _identity(call, self)

    @functools.cached_property
    def refilling(self) -> Kernel:
        """The variant of this ring kernel that keeps no converted rows between events: less memory, more
        conversions.
        """
        if not isinstance(self.form, Ring):
            raise InternalError(f"{self.symbol} converts no rows")
        return replace(self, form=replace(self.form, keeps=False))

    def ruled(self, *rules: Rule) -> Kernel:
        """This kernel with further rules after its own."""
        return replace(self, accepts=(*self.accepts, *rules))

    def refusals(self, call: Call, features: frozenset[str]) -> list[str]:
        """Why this kernel cannot run the call; empty if it can."""
        missing = sorted(self.needs - features)
        return [*map(_lacking, missing), *(_message(rule) for rule in self.accepts if not keeps(call, rule))]

    def refusal(self, call: Call, features: frozenset[str]) -> str:
        """The first of the reasons why this kernel cannot run the call; empty if it can."""
        return _refusal(call, self, features)

    def overwritable(self, call: Call) -> tuple[int, ...]:
        """The operands of the call whose memory the output may take over."""
        return tuple(k for k in self.in_place if k < len(call.inputs))

    def pointer_operands(self, call: Call) -> tuple[int, ...]:
        """Indices of the inputs that the C call passes as pointers."""
        if self.operands is not None:
            return self.operands(call) if callable(self.operands) else self.operands
        return _computed(call)


@shared_fact
def _refusal(call: Call, kernel: Kernel, features: frozenset[str]) -> str:
    if not kernel.needs <= features:
        return _lacking(min(kernel.needs - features))
    for rule in kernel.accepts:
        if not keeps(call, rule):
            return _message(rule)
    return ""


@shared_fact
def _identity(call: Call, kernel: Kernel) -> str:
    if kernel.text.generate:
        return f"{kernel.symbol} {kernel.text.generate(call).digest}"
    tail = [kernel.form.tail(call).digest] if isinstance(kernel.form, Grid) and kernel.form.tail else []
    return " ".join([kernel.symbol, *(f"{name} {value}" for name, value in kernel.sizes(call).items()), *tail])


@shared_fact
def _computed(call: Call) -> tuple[int, ...]:
    """The inputs that are present and not constant."""
    return tuple(k for k, t in enumerate(call.inputs) if t is not None and call.constants[k] is None)


@shared_fact
def _sizes(call: Call, variant: Callable[[Call], Mapping[str, int]]) -> Mapping[str, int]:
    """The constants that `variant` returns for a call, by name. Kernels with the same `variant` share the result."""
    return dict(sorted(variant(call).items()))


def _lacking(feature: str) -> str:
    return f"the core has no {feature}"


def _message(rule: Rule) -> str:
    return (rule.__doc__ or rule.__name__).strip()


@dataclass(frozen=True, eq=False)
class Family:
    """A package of kernels for an instruction set or a method that only some cores have or run well.

    rank     families of a lower rank are preferred if costs are not known
    needs    features of the core that its kernels may need
    serves   operator class -> its kernels of this family, best first
    device   whether the kernels are for OpenCL devices, of the form Grid; they are offered for no other target
    derives  for a device family: operator class -> further kernels, generated from the operator's declarations
    folder   the package's folder, with costs/<core>.json; set when the family is loaded
    """

    rank: int
    needs: frozenset[str]
    serves: Mapping[type, tuple[Kernel, ...]]
    device: bool = False
    derives: Callable[[type], tuple[Kernel, ...]] | None = None
    folder: Path = Path()

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels for all operators."""
        return tuple(kernel for kernels in self.serves.values() for kernel in kernels)
