"""mcugen turns trained neural networks into standalone C for microcontrollers.

import mcugen
artifact = mcugen.compile("model.tflite", board="cortex-m7")
artifact.write("out")
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcugen.pipeline import Artifact

__version__ = "0.1.0"
__all__ = ["__version__", "compile"]


def compile(path: str | os.PathLike[str], *, ops: Sequence[ModuleType] = (), **choices: Any) -> Artifact:
    """Compile a model file for a board.

    path: the model. ops: modules with further operators. choices: the fields of `mcugen.options.Options`, e.g.
    board="cortex-m7". Raises McugenError.
    """
    from mcugen import pipeline  # imported on first use, so that `import mcugen` and `mcugen --help` stay quick

    return pipeline.build(Path(path), pipeline.options_of(choices), ops)
