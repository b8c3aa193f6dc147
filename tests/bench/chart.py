"""The chart and the table at the head of README.md, from the figures of ci/bench: python -m tests.bench.chart."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mcugen.report.svg import document, line, num, text
from tests.bench.measure import GOAL
from tests.bench.page import figures

ROOT = Path(__file__).resolve().parents[2]
FIGURES, README, PICTURE = ROOT / "tests/bench/figures.json", ROOT / "README.md", ROOT / "docs/benchmarks.svg"
CORE = "cortex-m4"
MODELS = {
    "IC": ("mlperf_ic_int8", "image classification"),
    "KWS": ("mlperf_kws_int8", "keyword spotting"),
    "VWW": ("mlperf_vww_int8", "visual wake words"),
    "AD": ("mlperf_ad_int8", "anomaly detection"),
    "SWW": ("mlperf_strww_int8", "streaming wake word"),
}
"""The models of MLPerf Tiny: name in the figures -> name in the baselines, and what it does."""
BEGIN, END = "<!-- chart: python -m tests.bench.chart -->", "<!-- end of chart -->"
_WIDTH, _ROW, _LEFT, _RIGHT = 760, 44, 180, 110


def rows() -> list[tuple[str, int, int, Mapping[str, Any]]]:
    """(title, instructions of mcugen, of the other stack, all figures) of each model."""
    found = figures(FIGURES.read_text(encoding="utf-8"))
    (other,) = found["baselines"].values()
    own = found["presets"][GOAL][CORE]
    return [(what, own[m]["instructions"], other[folder][CORE], own[m]) for m, (folder, what) in MODELS.items()]


def picture() -> bytes:
    """Two bars for each model: the other stack's instructions as the full width, and mcugen's."""
    span = _WIDTH - _LEFT - _RIGHT
    body = [text(16, 24, "Instructions of an inference, same bits: Cortex-M4", "title")]
    for k, (what, own, other, _) in enumerate(rows()):
        y = 44 + k * _ROW
        body += [
            text(16, y + 20, what),
            f'<rect class="scratch" x="{_LEFT}" y="{y}" width="{span}" height="13"/>',
            f'<rect class="point" x="{_LEFT}" y="{y + 16}" width="{num(span * own / other)}" height="13"/>',
            text(_LEFT + span + 8, y + 11, f"{other / 1e6:.2f} million", "small"),
            text(_LEFT + span * own / other + 8, y + 27, f"{own / 1e6:.2f} million"),
        ]
    end = 44 + len(MODELS) * _ROW
    body.append(line(_LEFT, 38, _LEFT, end, "axis"))
    body.append(
        text(
            _LEFT,
            end + 16,
            "above: TensorFlow Lite Micro with CMSIS-NN; below: mcugen; each model on a scale of its own",
            "small",
        )
    )
    return document(_WIDTH, end + 28, body, "instructions of TensorFlow Lite Micro with CMSIS-NN and of mcugen")


def head() -> str:
    """The lines of README.md: picture and table."""
    lines = [
        BEGIN,
        "![Instructions of an inference beside TensorFlow Lite Micro with CMSIS-NN](docs/benchmarks.svg)",
        "",
        "| MLPerf Tiny, int8, on a Cortex-M4 | instructions | of TFLM with CMSIS-NN | RAM | constants and code |",
        "|---|---:|---:|---:|---:|",
    ]
    for what, own, other, taken in rows():
        flash = taken["constant_bytes"] + taken["code_bytes"]
        share = f"{100 * own / other:.0f} %"
        lines.append(f"| {what} | {own:,} | {share} | {taken['ram_bytes']:,} bytes | {flash:,} bytes |")
    note = f"Built with `--optimize {GOAL}`, counted on an emulated core, outputs equal to the runtime's bit for bit; "
    return "\n".join([*lines, "", note + "[all figures](docs/benchmarks.md), made by `ci/bench`.", END])


def readme(old: str) -> str:
    """README.md with its head as the figures are now."""
    before, _, rest = old.partition(BEGIN)
    return before + head() + rest.partition(END)[2]


def main() -> None:
    README.write_text(readme(README.read_text(encoding="utf-8")), encoding="utf-8")
    PICTURE.write_bytes(picture())


if __name__ == "__main__":
    main()
