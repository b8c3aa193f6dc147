"""A pytest fixture for firmware tests: compares a model's C with recorded vectors. pytest loads it if mcugen is
installed.

def test_model(mcugen_recorded):
    mcugen_recorded("model.tflite", "vectors.npz", board="cortex-m4")

`mcugen run MODEL --input x.npy --record vectors.npz` records the vectors.
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
    """A function that builds a model, runs its C on this computer, and fails if outputs differ from recorded ones."""
    return check


def check(model: str | os.PathLike[str], vectors: str | os.PathLike[str], **choices: Unpack[Choices]) -> None:
    """Fail the test if the C of a model differs from recorded vectors. choices: options of `mcugen.compile`."""
    import mcugen
    from mcugen.verify import recorded

    found = recorded.differences(mcugen.compile(model, **choices), Path(vectors))
    if found:
        more = f"\nand {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        pytest.fail(f"{model} differs from {vectors}:\n" + "\n".join(found[:_SHOWN]) + more, pytrace=False)
