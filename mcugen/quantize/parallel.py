"""Parallel work on samples in parts of a fixed size, so that results do not depend on the number of threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from mcugen.quantize.backwards import GradientNetwork

Found = TypeVar("Found")
_ELEMENTS, _MOST = 1 << 23, 8
"""Elements per part, so that they stay in a cache, and the most samples per part."""


def parts(network: GradientNetwork, count: int) -> list[slice]:
    """The samples of each part."""
    size = max(1, min(_MOST, _ELEMENTS // max(1, network.elements)))
    size = 1 << (size.bit_length() - 1)  # a power of two divides a batch
    return [slice(k, min(k + size, count)) for k in range(0, count, size)]


def in_threads(function: Callable[[slice], Found], which: Sequence[slice]) -> list[Found]:
    """Results of a function on each part, in order."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return list(pool.map(function, which))
