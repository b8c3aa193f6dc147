# SPDX-License-Identifier: Apache-2.0
"""The best published latencies of the benchmark models on boards of the page, for its comparison.

Source: results of MLPerf Tiny (github.com/mlcommons/tiny_results_v1.1 and v1.2, closed division): the median latency
that a submitter measured on the board, times its clock.
"""

from __future__ import annotations

from dataclasses import dataclass

_ST = "STMicroelectronics, X-CUBE-AI 9.0.0, v1.2"
_PLUMERAI = "Plumerai 2023.05, v1.1"


@dataclass(frozen=True)
class Published:
    """A latency in milliseconds at a clock in MHz, and who measured it."""

    ms: float
    mhz: float
    who: str

    @property
    def cycles(self) -> int:
        return round(self.ms * self.mhz * 1000)


BEST: dict[str, dict[str, Published]] = {
    "nucleo-l4r5zi": {
        "mlperf_ic_int8": Published(165.125, 120, _ST),
        "mlperf_kws_int8": Published(43.187, 120, _ST),
        "mlperf_vww_int8": Published(88.928, 120, _ST),
        "mlperf_ad_int8": Published(4.052, 120, _PLUMERAI),
    },
}
"""Board -> the collection's folder -> the least latency published for it, whatever the software."""
