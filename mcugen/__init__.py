"""mcugen turns trained neural networks into standalone C for microcontrollers.

    import mcugen
    artifact = mcugen.compile("model.tflite", board="cortex-m7")
    artifact.write("out")
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcugen.compile import compile as compile

__version__ = "0.1.0"
__all__ = ["__version__", "compile"]


def __getattr__(name: str) -> Any:
    """Import the compiler on first use, so that `import mcugen` and `mcugen --help` stay quick."""
    if name == "compile":
        return importlib.import_module("mcugen.compile").compile
    raise AttributeError(f"module 'mcugen' has no attribute {name!r}")
