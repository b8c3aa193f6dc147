# SPDX-License-Identifier: Apache-2.0
"""Constants are written with the fewest digits that read back as the same number, whole arrays as single ones."""

from __future__ import annotations

import numpy as np
import pytest

from mcugen.emit.literals import array_text, data_float, float32
from mcugen.errors import QuantizationError

RNG = np.random.default_rng(3)
ARRAYS = {
    "usual weights": RNG.normal(0, 0.1, 3000),
    "all magnitudes": 10 ** RNG.uniform(-45, 38, 3000) * RNG.choice([-1, 1], 3000),
    "powers of ten": 10.0 ** np.arange(-44, 39),
    "whole numbers": RNG.integers(-200_000, 200_000, 3000),
    "as in half precision": RNG.normal(0, 1, 3000).astype(np.float16),
    "few digits": RNG.integers(-10_000, 10_000, 3000) / 1000,
    "next to powers of ten": np.nextafter(np.float32(10.0) ** np.arange(-4, 6), np.float32(0)),
    "ends": [0.0, -0.0, np.inf, -np.inf, 1e-4, 2e-5, 99_999.0, 100_000.0, 3.4028235e38, 1e-45],
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_have_the_text_of_their_elements(name: str) -> None:
    data = np.array(ARRAYS[name]).astype(np.float32)
    texts = "".join(array_text(data)).replace(",\n", ", ").replace("    ", "").removesuffix(", ").split(", ")
    assert texts == [data_float(value) for value in data.tolist()]
    read = np.array([text.replace("MCUGEN_INFINITY", "inff")[:-1] for text in texts]).astype(np.float32)
    np.testing.assert_array_equal(read, data)
    assert max(map(len, texts)) <= 16


def test_bounds_are_numbers_and_data_need_not_be() -> None:
    assert float32(np.inf) == "3.4028235e+38f" and float32(-np.inf) == "-3.4028235e+38f"
    assert list(array_text(np.array([1.0, np.nan], np.float32))) == ["    1.0f, MCUGEN_NAN,\n"]
    with pytest.raises(QuantizationError, match="not a number"):
        float32(np.nan)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16])
@pytest.mark.parametrize("count", [1, 23, 24, 25, 256, 5000])
def test_integers_have_their_decimals_in_lines(dtype: type[np.integer], count: int) -> None:
    data = np.resize(np.arange(256, dtype=np.uint8), count).astype(dtype)
    text = "".join(array_text(data))
    assert text.count("\n") == -(-count // 24) and all(line.startswith("    ") for line in text.splitlines())
    assert [int(item) for item in text.replace("\n", " ").split(",")[:-1]] == data.tolist()
