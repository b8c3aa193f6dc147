# SPDX-License-Identifier: Apache-2.0
"""Every kind of error as a user reads it: what is wrong, where, and what to do; `errors.txt` keeps the text.

`python -m tests.test_errors` writes that file anew.
"""

from __future__ import annotations

import functools
import inspect
import re
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import mcugen
from mcugen import errors
from mcugen.boards import target
from mcugen.errors import InternalError, McugenError
from mcugen.machines.toolchain import process
from tests.support.tflite_writer import ModelWriter

ROOT = Path(__file__).resolve().parent.parent
DIGITS = ROOT / "examples" / "digits" / "digits.tflite"
KEPT = Path(__file__).parent / "errors.txt"
BASES = {"McugenError", "ModelError", "TargetError"}
"""Errors that are never raised as such."""


def kinds() -> list[str]:
    found = vars(errors).items()
    return [name for name, kind in found if inspect.isclass(kind) and issubclass(kind, McugenError)]


def _file(folder: Path, content: bytes) -> Path:
    (folder / "net.tflite").write_bytes(content)
    return folder / "net.tflite"


def _usage(folder: Path) -> None:
    mcugen.compile(DIGITS, board="cortex-m9")


def _corrupt(folder: Path) -> None:
    mcugen.compile(_file(folder, DIGITS.read_bytes()[:2000]))


def _unsupported(folder: Path) -> None:
    writer = ModelWriter()
    x, y = (writer.tensor(name, (1, 4), "f32") for name in "xy")
    writer.op("CUSTOM", [x], [y], custom_code="Secret")
    mcugen.compile(_file(folder, writer.build([x], [y])))


def _shape(folder: Path) -> None:
    writer = ModelWriter()
    a, b, y = (writer.tensor(name, shape, "f32") for name, shape in (("a", (1, 4)), ("b", (1, 3)), ("y", (1, 4))))
    writer.op("ADD", [a, b], [y])
    mcugen.compile(_file(folder, writer.build([a, b], [y])))


def _quantization(folder: Path) -> None:
    writer = ModelWriter()
    x, y = (writer.tensor(name, (1, 4), "s8", scale=0.5) for name in "xy")
    w = writer.tensor("w", (4, 4), "s8", data=np.ones((4, 4), np.int8))
    writer.op("FULLY_CONNECTED", [x, w, -1], [y])
    mcugen.compile(_file(folder, writer.build([x], [y])))


def _no_kernel(folder: Path) -> None:
    model = ROOT / "tests" / "models" / "f32_scatter_nd.tflite"
    mcugen.compile(model, backend="opencl", board="opencl-generic", require_accelerated=True)


def _budget(folder: Path) -> None:
    mcugen.compile(DIGITS, board="cortex-m4", flash="1K")


def _tool(folder: Path) -> None:
    process.run_checked(["mcugen-has-no-such-tool"], package="a-package", timeout_s=5)


def _internal(folder: Path) -> None:
    raise InternalError("two buffers share byte 16", where="memory plan")


RAISES: dict[str, Callable[[Path], None]] = {
    "UsageError": _usage,
    "CorruptModelError": _corrupt,
    "UnsupportedError": _unsupported,
    "ShapeError": _shape,
    "QuantizationError": _quantization,
    "NoKernelError": _no_kernel,
    "MemoryBudgetError": _budget,
    "ToolError": _tool,
    "InternalError": _internal,
}


@functools.cache
def caught(name: str) -> McugenError:
    with tempfile.TemporaryDirectory() as folder:
        try:
            RAISES[name](Path(folder))
        except McugenError as error:
            assert type(error).__name__ == name, error.explain()
            return error
    raise AssertionError(f"no {name}")


def printed() -> str:
    found = (caught(name) for name in RAISES)
    text = "\n\n".join(f"{type(e).__name__} ({e.exit_code})\n{e.explain()}" for e in found) + "\n"
    return text.replace(", ".join(target.names()), "BOARDS")


def test_every_kind_is_raised_here() -> None:
    assert {*RAISES} | BASES == {*kinds()}
    general = re.compile(rf"\b(?:{'|'.join(sorted(BASES))})\(\s*f?\"")
    for file in sorted((ROOT / "mcugen").rglob("*.py")):
        assert not general.search(file.read_text(encoding="utf-8")), file


def test_texts_are_those_kept() -> None:
    assert printed() == KEPT.read_text(encoding="utf-8"), "python -m tests.test_errors"


@pytest.mark.parametrize("name", RAISES)
def test_errors_say_what_where_and_what_to_do(name: str) -> None:
    error = caught(name)
    assert len(error.message) > 10 and error.hint and "\n  hint: " in error.explain()
    assert "".join(traceback.format_exception(error)).count(f"\n  hint: {error.hint}\n") == 1
    assert error.where or name in ("MemoryBudgetError", "NoKernelError"), str(error)  # their text names the layers
    assert getattr(errors, name)("what").hint == getattr(errors, name).advice or name == "InternalError"


if __name__ == "__main__":
    KEPT.write_text(printed(), encoding="utf-8")
