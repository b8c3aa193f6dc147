"""What the user can choose about a build. The command line is made from these fields."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from typing import Any

from mcugen.errors import UsageError

REFERENCES = ("tflm", "litert")
INPUT_MODES = ("whole", "rows")
GOALS = ("balanced", "speed", "ram", "flash")
_C_KEYWORDS = frozenset(
    "auto break case char const continue default do double else enum extern float for goto if inline int long "
    "register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while "
    "alignas alignof and asm bool catch class constexpr delete explicit export false friend main mutable namespace "
    "new not operator or private protected public template this throw true try typeid typename using virtual xor".split()
)
_TAKEN = frozenset(
    "main mg mcugen size ssize ptrdiff wchar wint intptr uintptr intmax uintmax time clock off div ldiv fpos va_list "
    "int8 int16 int32 int64 uint8 uint16 uint32 uint64 run_step".split()
)


def _option(default: Any, text: str, **extra: Any) -> Any:
    return field(default=default, metadata={"help": text, **extra})


@dataclass(frozen=True)
class Options:
    """Choices of one build; immutable, passed as an argument, never read from the environment."""

    board: str = _option("host", "Board or bare core to build for; `mcugen boards` lists them.", metavar="NAME")
    features: str = _option(
        "", "Switch core features off (or on), e.g. `-dsp` or `-dsp,-fpu`.", metavar="LIST"
    )
    name: str = _option("", "Prefix of the C symbols and files; by default made from the file name.", metavar="NAME")
    reference: str = _option(
        "tflm",
        "Runtime whose bits to reproduce: TensorFlow Lite Micro, or LiteRT's reference kernels.",
        choices=REFERENCES,
    )
    optimize: str = _option("balanced", "What to favour where kernels differ.", choices=GOALS)
    input_mode: str = _option(
        "whole",
        "How the input comes: whole, in memory; or rows, pushed one by one as from a camera.",
        choices=INPUT_MODES,
    )
    no_rows: bool = _option(False, "Run every layer whole, never row by row.")
    keep_input: bool = _option(False, "Leave the input intact during a run (costs RAM).")
    selftest: bool = _option(False, "Add one input with its output, and <name>_selftest().")
    amalgamate: bool = _option(False, "Emit one .c and one .h instead of separate kernels.")

    def __post_init__(self) -> None:
        for item in fields(self):
            choices = item.metadata.get("choices")
            value = getattr(self, item.name)
            if choices and value not in choices:
                raise UsageError(f"--{item.name} is {value!r}", hint=f"choose one of {', '.join(choices)}")
        if self.name and not is_c_name(self.name):
            raise UsageError(
                f"--name {self.name!r} cannot prefix C symbols",
                hint="use letters, digits and underscores, not starting with a digit, at most 40, and no C or C++ keyword",
            )


def is_c_name(text: str) -> bool:
    """Whether `text` can prefix C symbols and name files: no keyword, and <text>_t no type of the C library."""
    return re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,39}", text) is not None and text not in _C_KEYWORDS | _TAKEN


def c_name_from(stem: str) -> str:
    """A C name made from a file's stem: `person-detect.v2` becomes `person_detect_v2`."""
    cleaned = re.sub(r"[^A-Za-z0-9]+", "_", stem.encode("ascii", "ignore").decode()).strip("_")[:40].rstrip("_")
    if not cleaned or not cleaned[0].isalpha():
        cleaned = f"model_{cleaned}".rstrip("_")[:40]
    return cleaned if is_c_name(cleaned) else f"{cleaned[:34]}_model"
