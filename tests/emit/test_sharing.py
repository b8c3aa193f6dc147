# SPDX-License-Identifier: Apache-2.0
"""Models in one memory: run in turn they compute what each computes alone; what cannot share is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from mcugen.builds import shared_arena
from mcugen.builds.shared_arena import Shared
from mcugen.cli import cli
from mcugen.emit import EXAMPLE, sources_of
from mcugen.errors import MemoryBudgetError, UsageError
from mcugen.machines.toolchain import host_gcc
from mcugen.machines.toolchain.process import run_checked
from mcugen.options import Options
from mcugen.oracle import interpreter
from mcugen.system.tabular import text_of
from tests.emit.built import ROOT, WARNINGS
from tests.formats.small_models import image_net, three_dense

DIGITS = ROOT / "examples/digits/digits.tflite"


@pytest.fixture
def other(tmp_path: Path) -> Path:
    path = tmp_path / "image_net.tflite"
    path.write_bytes(image_net())
    return path


def shared(paths: list[Path], folder: Path, **choices: Any) -> Shared:
    made = shared_arena.build(paths, Options(**choices))
    made.write(folder)
    return made


def driver(made: Shared, runs: int) -> str:
    """A program that runs the models in turn: inputs from stdin, outputs to stdout."""
    name = made.name
    text = ["#include <stdio.h>", f'#include "{name}.h"']
    text += [f"static {r.name}_t {r.variable};" for r in made.regions]
    expressions = {}
    for a in made.artifacts:
        v = a.view
        homes = [next(r.variable for r in made.regions if r.region in ("", x.name)) for x in v.regions]
        expressions[a.name] = f"{homes[0]}.{a.name}"
        if v.spread:
            placed = ", ".join(f"{home}.{a.name}" for home in homes)
            text.append(f"static {a.name}_t {a.name} = {v.macro}_INIT({placed});")
            expressions[a.name] = a.name
    text += ["int main(void) {", f"for (int k = 0; k < {runs}; k += 1) {{"]
    for a in made.artifacts:
        m, (x,), (y,) = f"&{expressions[a.name]}", a.view.inputs, a.view.outputs
        if a.view.push:
            push = a.view.push
            text += [f"static {push.c_type} {a.name}_row[{push.row_length}]; {a.name}_reset({m});"]
            text += [f"for (int r = 0; r < {push.rows}; r += 1) {{"]
            text += [f"if (fread({a.name}_row, sizeof {a.name}_row, 1, stdin) != 1) return 1;"]
            text += [f"(void){a.name}_push_row({m}, {a.name}_row); }}"]
        else:
            text += [f"if (fread({x.function}({m}), {x.nbytes}, 1, stdin) != 1) return 1;", f"{a.name}_run({m});"]
        text += [f"fwrite({y.function}({m}), {y.nbytes}, 1, stdout);"]
    return "\n".join([*text, "}", "return 0; }", ""])


def require_same_bits(made: Shared, folder: Path, runs: int = 3) -> None:
    rng = np.random.default_rng(4)
    data, expected = b"", b""
    for _ in range(runs):
        for a in made.artifacts:
            t = a.imported.type(a.imported.inputs[0])
            x = rng.integers(-128, 128, t.shape).astype(np.int8)
            values = interpreter.run(a.imported, [x], a.view.reference)
            data += x.tobytes()
            expected += b"".join(values[name].tobytes() for name in a.imported.outputs)
    (folder / "in_turn.c").write_text(driver(made, runs))
    sources = [folder / path for path in sources_of(made.files)]
    flags = ["-std=c99", "-O1", *WARNINGS, *host_gcc.SANITIZE, f"-I{folder}"]
    run_checked(["gcc", *flags, folder / "in_turn.c", *sources, "-lm", "-o", folder / "in_turn"])
    assert run_checked([folder / "in_turn"], stdin=data).stdout == expected


@pytest.mark.whole
@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"amalgamate": True, "optimize": "ram", "name": "both"},
        {"input_mode": "rows"},
        {"region": "a=1200,b=1700", "board": "cortex-m7"},
    ],
    ids=lambda c: "-".join(c) or "plain",
)
def test_models_run_in_turn_compute_the_same(tmp_path: Path, other: Path, choices: dict[str, Any]) -> None:
    made = shared([DIGITS, other], tmp_path / "out", **choices)
    require_same_bits(made, tmp_path / "out")
    run_checked(["gcc", "-std=c99", *WARNINGS, "-c", EXAMPLE, "-I.", "-o", "main.o"], cwd=tmp_path / "out")


def test_the_memory_is_that_of_the_largest(tmp_path: Path, other: Path) -> None:
    small = tmp_path / "three_dense.tflite"
    small.write_bytes(three_dense())
    made = shared([other, DIGITS, small], tmp_path / "out")
    sizes = {a.name: a.report.ram_bytes for a in made.artifacts}
    assert made.ram_bytes == max(sizes.values()) == sizes["digits"]
    facts = json.loads((tmp_path / "out/report.json").read_bytes())
    assert (facts["ram_bytes"], facts["ram_bytes_apart"]) == (made.ram_bytes, sum(sizes.values()))
    assert {m["model"]: m["nbytes"] for m in facts["regions"][0]["members"]} == sizes
    on_disk = {str(p.relative_to(tmp_path / "out")) for p in (tmp_path / "out").rglob("*") if p.is_file()}
    assert set(facts["files"]) == on_disk
    assert "digits_memory.svg" in on_disk
    text = text_of(shared_arena.as_parts(made))
    assert f"{made.ram_bytes:,} bytes  in all; {sum(sizes.values()):,} where each has its own" in text


def test_what_cannot_share_is_refused(tmp_path: Path, other: Path) -> None:
    with pytest.raises(UsageError, match="needs two models or more"):
        shared_arena.build([DIGITS], Options())
    with pytest.raises(UsageError, match="keep rows between frames"):
        shared_arena.build([DIGITS, other], Options(input_mode="frames"))
    for paths, name in (([DIGITS, DIGITS], ""), ([DIGITS, other], "digits")):
        with pytest.raises(UsageError, match="are the same"):
            shared_arena.build(paths, Options(name=name))


def test_command_line(tmp_path: Path, other: Path) -> None:
    run = CliRunner().invoke
    done = run(cli, ["build", str(DIGITS), str(other), "--share-arena", "-o", str(tmp_path / "out"), "--json"])
    assert done.exit_code == 0
    value = json.loads(done.output)
    assert [m["name"] for m in value["models"]] == ["digits", "image_net"]
    assert (tmp_path / "out" / "models.h").is_file()
    alone = run(cli, ["build", str(DIGITS), str(other), "-o", str(tmp_path / "other")])
    assert isinstance(alone.exception, UsageError)
    assert "2 models were given for one build" in str(alone.exception)
    assert not (tmp_path / "other").exists()


def test_the_constants_of_all_models_must_fit(other: Path) -> None:
    alone = sum(shared_arena.build([DIGITS, other], Options()).artifacts[k].report.weights_bytes for k in range(2))
    shared_arena.build([DIGITS, other], Options(flash=str(alone)))
    with pytest.raises(MemoryBudgetError, match=f"--flash: the constants of the models need {alone:,} bytes.*: 1 over"):
        shared_arena.build([DIGITS, other], Options(flash=str(alone - 1)))
