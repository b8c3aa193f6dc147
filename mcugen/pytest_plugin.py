"""A fixture for the tests of firmware: a model's C against recorded vectors. pytest finds it where mcugen is installed.

def test_model(mcugen_recorded):
    mcugen_recorded("model.tflite", "vectors.npz", board="cortex-m4")

`mcugen run MODEL --input x.npy --record vectors.npz` writes the vectors.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from typing import Unpack

    from mcugen.options import Choices

_SHOWN = 5


@pytest.fixture(scope="session")
def mcugen_recorded() -> Callable[..., None]:
    """A function that builds a model, runs its C on this machine, and fails where outputs differ from recorded ones."""
    return check


def check(model: str | os.PathLike[str], vectors: str | os.PathLike[str], **choices: Unpack[Choices]) -> None:
    """Fail the test where the C of a model differs from recorded vectors. choices: those of `mcugen.compile`."""
    import mcugen
    from mcugen.verify import recorded

    found = recorded.differences(mcugen.compile(model, **choices), Path(vectors))
    if found:
        more = f"\nand {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        pytest.fail(f"{model} differs from {vectors}:\n" + "\n".join(found[:_SHOWN]) + more, pytrace=False)
