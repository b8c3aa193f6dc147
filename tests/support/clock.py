# SPDX-License-Identifier: Apache-2.0
"""Processor time as a usual core takes it, so that a limit means the same on slow and on busy machines."""

from __future__ import annotations

import time

_ADDITIONS = 1_000_000
_USUAL_SECONDS = 0.05
"""Time of the additions on a core that runs Python 3.11 at 50 ns per loop."""


class Watch:
    """Seconds of this process since it was made, less what this machine is slower at present."""

    def __init__(self) -> None:
        self._began = time.process_time()

    def seconds(self) -> float:
        taken = time.process_time() - self._began
        return taken / slowness()


def slowness() -> float:
    """How many times as long as on a usual core plain Python takes now, at least once."""
    return max(min(_added() for _ in range(3)) / _USUAL_SECONDS, 1.0)


def _added() -> float:
    began, total = time.process_time(), 0
    for k in range(_ADDITIONS):
        total += k
    assert total == _ADDITIONS * (_ADDITIONS - 1) // 2
    return time.process_time() - began
