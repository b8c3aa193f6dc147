"""Looks at report.html of several models in Debian's chromium: python -m tests.doors.pages MODULES [--models FOLDER].

MODULES: node_modules with playwright-core and axe-core. Each page must show report.json's numbers, load in under a
second of processor time without any request or error, work when clicked and hovered, land on the link of a layer, fit
390 pixels, show every header or a mark that its table scrolls, the time of layers in sight, and have nothing that
axe-core finds serious, in three widths, light and dark. The page of many steps is audited by axe-core with --models
alone: its elements are those of the other pages. --shots FOLDER keeps pictures, to be looked at.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import mcugen
from tests.support.tflite_writer import ModelWriter

ROOT = Path(__file__).resolve().parents[2]
OWN = ("examples/digits/digits.tflite", "examples/microphone/sweeps.tflite", "tests/models/s8_concatenation.tflite")
COLLECTED = (
    "hello_world_int8 micro_speech_int8 mlperf_kws_int8 mlperf_ic_int8 mlperf_ad_int8 mlperf_vww_int8 "
    "person_detect_int8 mobilenet_v2_100_224_uint8 seanet mww_okay_nabu_v2"
)
BOARD = "nucleo-h743zi"
DEEP = 600
MOST_SECONDS, MOST_BYTES = 1.0, 500_000


def deep() -> bytes:
    """A model of as many steps as a page should bear."""
    writer = ModelWriter()
    ends = [writer.tensor(f"t{k}", (1, 8), "f32") for k in range(DEEP + 1)]
    for before, after in pairwise(ends):
        writer.op("SOFTMAX", [before], [after], {"beta": 1.0})
    return writer.build([ends[0]], [ends[-1]])


def built(collection: Path | None, folder: Path) -> Iterator[tuple[str, dict[str, Any], bytes]]:
    """Name, document and page of each model."""
    paths = [ROOT / name for name in (OWN[:1] if collection is None else OWN)]
    if collection is not None:
        folders = [collection / name for name in COLLECTED.split()]
        paths += [next(folder.glob("model.tflite")) for folder in folders if (folder / "model.tflite").is_file()]
    paths.append(folder / "deep.tflite")
    paths[-1].write_bytes(deep())
    for path in paths:
        board = BOARD if path.stat().st_size < 1_000_000 else "host"
        made = mcugen.compile(path, board=board, export=("none",))
        yield made.name, json.loads(made.files["report.json"]), made.files["report.html"]
    spread = mcugen.compile(paths[0], board=BOARD, name="spread", no_rows=True, region="dtcm=640,sram1=2K")
    yield spread.name, json.loads(spread.files["report.json"]), spread.files["report.html"]


def numbers(facts: dict[str, Any], step: dict[str, Any]) -> list[int]:
    """The numbers of a step in the table of layers, in its order; with cycles where all steps have some."""
    cycles = step["cycles"]
    ends = [cycles["low"], cycles["high"]] if facts["cycles"] else []
    return [step["macs"], *ends, step["constants_bytes"], step["scratch_bytes"]]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", type=Path)
    parser.add_argument("--models", type=Path)
    parser.add_argument("--shots", type=Path)
    given = parser.parse_args(arguments)
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("tests.doors.pages: no chromium")
    jobs: list[dict[str, Any]] = []
    large = 0
    with tempfile.TemporaryDirectory() as place:
        for name, facts, page in built(given.models, Path(place)):
            file = Path(place) / f"{name}.html"
            file.write_bytes(page)
            large += len(page) > MOST_BYTES
            layers = [numbers(facts, step) for step in facts["steps"]]
            audited = len(layers) < DEEP or given.models is not None
            jobs.append({"name": name, "file": str(file), "layers": layers, "audited": audited})
            print(f"{name}: {len(facts['steps'])} steps, {len(page):,} bytes", flush=True)
        (Path(place) / "jobs.json").write_text(json.dumps(jobs))
        shots = [str(given.shots.resolve())] if given.shots else []
        script = Path(__file__).with_name("browser.cjs")
        command = ["node", str(script), str(given.modules.resolve()), chromium, f"{place}/jobs.json", *shots]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    faults = [f"{one['name']}: {fault}" for one in found for fault in one["faults"]]
    faults += [f"{one['name']}: loaded in {one['seconds']:.2f} s" for one in found if one["seconds"] > MOST_SECONDS]
    print("\n".join(faults))
    slowest = max(one["seconds"] for one in found)
    print(f"{len(found)} pages, {len(faults)} faults, the slowest loaded in {slowest:.2f} s, {large} too large")
    return int(bool(faults or large or len(found) < len(jobs)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
