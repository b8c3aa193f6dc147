"""mcugen turns trained neural networks into standalone C for microcontrollers.

import mcugen
artifact = mcugen.compile("model.tflite", board="cortex-m7")
artifact.write("out")
model = mcugen.load("model.tflite")
y = model.run(x)
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from mcugen.errors import (
    CorruptModelError,
    InternalError,
    McugenError,
    MemoryBudgetError,
    ModelError,
    NoKernelError,
    QuantizationError,
    ShapeError,
    TargetError,
    ToolError,
    UnsupportedError,
    UsageError,
)
from mcugen.interop import from_keras, from_lightgbm, from_sklearn, from_torch, from_xgboost

if TYPE_CHECKING:
    from typing import Unpack

    from mcugen.machines.native import Model
    from mcugen.options import Choices
    from mcugen.pipeline import Artifact

__version__ = "0.1.0"
__all__ = [
    "CorruptModelError",
    "InternalError",
    "McugenError",
    "MemoryBudgetError",
    "ModelError",
    "NoKernelError",
    "QuantizationError",
    "ShapeError",
    "TargetError",
    "ToolError",
    "UnsupportedError",
    "UsageError",
    "__version__",
    "compile",
    "from_keras",
    "from_lightgbm",
    "from_sklearn",
    "from_torch",
    "from_xgboost",
    "load",
]


def __dir__() -> list[str]:
    return [*__all__]


def compile(path: str | os.PathLike[str], *, ops: Sequence[ModuleType] = (), **choices: Unpack[Choices]) -> Artifact:
    """Compile a model file for a board.

    path: the model file. ops: modules with further operators. choices: fields of `mcugen.options.Options`, e.g.
    board="cortex-m7". Raises McugenError.
    """
    from mcugen import pipeline  # imported here, so that `import mcugen` and `mcugen --help` stay fast

    return pipeline.build(Path(path), pipeline.options_of(choices), ops)


def load(path: str | os.PathLike[str], *, ops: Sequence[ModuleType] = (), **choices: Unpack[Choices]) -> Model:
    """A model whose generated C runs on this computer: `load("model.tflite").run(x)`.

    The arguments are those of `compile`; without a board, the C is for this computer's processor. gcc compiles the C
    once. The result is cached in the user's cache folder. Raises McugenError.
    """
    from mcugen.machines.native import processor

    if "board" not in choices and not choices.get("backend"):
        choices["board"] = processor.board()
    return compile(path, ops=ops, **choices).load()
