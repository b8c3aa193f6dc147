# SPDX-License-Identifier: Apache-2.0
"""Models over several memories: the same bits however they are split, and nothing written outside the buffers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import mcugen
from mcugen import pipeline, solve
from mcugen.emit import EXAMPLE
from mcugen.emit.check_c import CHECK_FLAGS, INTEGER_HEADERS, check_files
from mcugen.emit.stub_headers import stubs
from mcugen.errors import ToolError
from mcugen.machines.toolchain.process import run_checked
from mcugen.options import Options
from mcugen.pipeline import Artifact
from mcugen.solve.plan import MemoryPlan, check
from mcugen.solve.plan.buffers import align_up
from mcugen.solve.schedule import Schedule
from mcugen.verify import emulated, host
from mcugen.verify.cases import cases
from tests.emit.built import ROOT, WARNINGS, Built
from tests.formats.small_models import image_net
from tests.support.tflite_writer import ModelWriter

DIGITS = ROOT / "examples/digits/digits.tflite"
GAP = 32


def over(region: str, folder: Path, **choices: Any) -> Built:
    """The digits model over some regions, written to folder/out."""
    artifact = mcugen.compile(DIGITS, region=region, **choices)
    artifact.write(folder / "out")
    return Built(folder / "out", artifact)


def require_exact(artifact: Artifact) -> None:
    check(artifact.schedule.buffers(), artifact.plan)
    assert len(artifact.plan.parts) == len(artifact.view.regions) > 1
    verdict = host.verify(artifact, list(cases(artifact.imported, 3)))
    assert verdict.agrees, verdict.first_difference


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "choices",
    [
        {"region": "dtcm=1200,sram=1700"},
        {"region": "a=400,b=600,c=600", "optimize": "ram"},
        {"region": "a=400,b=900", "input_mode": "rows"},
        {"region": "a=1K,b=2K", "keep_input": True, "amalgamate": True},
    ],
    ids=lambda c: "-".join(c),
)
def test_a_split_is_exact(choices: dict[str, Any]) -> None:
    require_exact(mcugen.compile(DIGITS, **choices))


def stream() -> bytes:
    """Three convolutions over 16 frames of 8 values, with a kernel of 5, 5 and 8 frames."""
    rng = np.random.default_rng(8)
    m = ModelWriter()
    x = first = m.tensor("frames", (1, 16, 1, 8), "s8", scale=0.05)
    for k, (frames, taps) in enumerate(((12, 5), (8, 5), (1, 8))):
        w = m.tensor(f"w{k}", (8, taps, 1, 8), "s8", scale=(0.01,) * 8, data=rng.integers(-127, 128, (8, taps, 1, 8)))
        y = m.tensor(f"y{k}", (1, frames, 1, 8), "s8", scale=0.05)
        m.op("CONV_2D", [x, w], [y], {"padding": "VALID", "stride_h": 1, "stride_w": 1})
        x = y
    return m.build([first], [x])


def test_frames_keep_their_state_in_several_regions(tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(stream())
    whole = mcugen.compile(tmp_path / "m.tflite", input_mode="frames").report.ram_bytes
    require_exact(mcugen.compile(tmp_path / "m.tflite", input_mode="frames", region="a=160,b=160"))
    assert 160 < whole <= 320


def test_frames_take_the_leanest_kernels_where_ram_is_the_goal(tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(stream())
    made = {
        goal: mcugen.compile(tmp_path / "m.tflite", board="cortex-m0plus", input_mode="frames", optimize=goal)
        for goal in ("ram", "balanced", "speed")
    }
    verdict = host.verify(made["ram"], list(cases(made["ram"].imported, 3)))
    assert verdict.agrees, verdict.first_difference
    assert made["ram"].report.ram_bytes < made["speed"].report.ram_bytes
    assert made["ram"].report.ram_bytes <= made["balanced"].report.ram_bytes


def test_what_fits_the_first_region_stays_there() -> None:
    plain = mcugen.compile(DIGITS, board="cortex-m7")
    roomy = mcugen.compile(DIGITS, board="cortex-m7", region="dtcm=32K,sram=64K")
    assert roomy.plan.region == "dtcm"
    assert roomy.plan.further == ()
    assert roomy.view.regions[0].memory_map == plain.view.regions[0].memory_map
    assert roomy.files["digits.h"] == plain.files["digits.h"]
    assert roomy.report.regions[0].why == "everything fits"


# any plan ------------------------------------------------------------------------------------------------------


def spaced(made: Schedule, rng: Random, regions: int) -> MemoryPlan:
    """Every buffer in bytes of its own, in a region drawn at random, with gaps around."""
    parts = []
    held = {b.name: rng.randrange(regions) if k >= regions else k for k, b in enumerate(made.buffers())}
    for k in range(regions):
        inside = [b for b in made.buffers() if held[b.name] == k]
        offset: dict[str, int] = {}
        at = GAP
        for b in inside:
            offset[b.name] = align_up(at, 16)
            at = offset[b.name] + b.nbytes + GAP
        live = live_at_each(inside)
        parts.append(MemoryPlan(offset, align_up(at, 16), max(live), live.index(max(live)), False, "", region=f"r{k}"))
    return replace(parts[0], further=tuple(parts[1:]))


def live_at_each(buffers: list[Any]) -> list[int]:
    last = max(b.last for b in buffers)
    return [sum(p.nbytes for b in buffers for p in b.pieces if p.first <= t <= p.last) for t in range(last + 1)]


def gaps(artifact: Artifact, part: MemoryPlan) -> Iterator[tuple[int, int]]:
    """(first, end) bytes of a region that are nobody's."""
    at = 0
    size = {b.name: b.nbytes for b in artifact.schedule.buffers()}
    for name, offset in sorted(part.offset.items(), key=lambda item: item[1]):
        yield at, offset
        at = offset + size[name]
    yield at, part.nbytes


@pytest.mark.sampled(4)
@pytest.mark.parametrize("optimize", ["balanced", "ram"])
@pytest.mark.parametrize("seed", range(2))
def test_any_split_is_exact_and_stays_in_its_buffers(tmp_path: Path, seed: int, optimize: str) -> None:
    (tmp_path / "net.tflite").write_bytes(image_net())
    model = pipeline.prepare(tmp_path / "net.tflite", Options(optimize=optimize))
    solution = solve.solve(model.graph, model.board, model.options)
    plan = spaced(solution.schedule, Random(seed), 2 + seed)
    regions = tuple(replace(solution.regions[0], name=part.region) for part in plan.parts)
    artifact = pipeline.finish(model, replace(solution, plan=plan, regions=regions))
    artifact.write(tmp_path / "out")
    driver = guarded_driver(artifact)
    program = Built(tmp_path / "out", artifact).program(["-O1", "-fsanitize=address,undefined"], driver)
    for case in cases(artifact.imported, 2):
        data = b"".join(a.tobytes() for a in case.inputs)
        expected = oracle(artifact, case.inputs)
        assert run_checked([program], stdin=data).stdout == expected


def oracle(artifact: Artifact, inputs: Any) -> bytes:
    values = mcugen.oracle.interpreter.run(artifact.imported, inputs, "tflm")
    return b"".join(values[name].tobytes() for name in artifact.imported.outputs)


def guarded_driver(artifact: Artifact) -> str:
    """A program that fills the arenas, runs, and fails where a byte between the buffers has changed."""
    v = artifact.view
    arenas = [f"static {v.name}_{r.name}_t m_{r.name};" for r in v.regions]
    checks = [
        f"for (int i = {first}; i < {end}; i += 1) if (m_{part.region}.{part.region}[i] != 0xa5) return 2;"
        for part in artifact.plan.parts
        for first, end in gaps(artifact, part)
    ]
    fills = [f"memset(&m_{r.name}, 0xa5, sizeof m_{r.name});" for r in v.regions]
    made = ", ".join(f"m_{r.name}" for r in v.regions)
    (x,), (y,) = v.inputs, v.outputs
    return "\n".join(
        [
            f'#include <stdio.h>\n#include "{v.name}.h"',
            *arenas,
            f"static {v.name}_t m = {v.macro}_INIT({made});",
            "int main(void) {",
            *fills,
            f"if (fread({x.function}(&m), 1, {x.nbytes}, stdin) != {x.nbytes}) return 1;",
            f"{v.name}_run(&m);",
            *checks,
            f"return fwrite({y.function}(&m), 1, {y.nbytes}, stdout) != {y.nbytes}; }}\n",
        ]
    )


# what is emitted -----------------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mode", ["whole", "rows"])
def test_header_and_example_are_clean_c_and_cpp(tmp_path: Path, mode: str) -> None:
    built = over("dtcm=700,sram=1700", tmp_path, selftest=True, input_mode=mode)
    assert built.view.spread
    for source in (*built.sources(), EXAMPLE):
        built.gcc("-std=c99", "-O2", *WARNINGS, "-c", source, "-o", tmp_path / "o.o")
    unit = ["gcc", *CHECK_FLAGS, f"-I{stubs()}", f"-I{built.folder}", built.folder / "digits.c"]
    allowed = INTEGER_HEADERS | {"digits.h", "digits_weights.h"}
    assert check_files({"digits.c": run_checked(unit).stdout.decode()}, allowed_headers=allowed) == []
    use = tmp_path / "use.cpp"
    use.write_text(
        '#include "digits.h"\nstatic digits_dtcm_t d;\nstatic digits_sram_t s;\n'
        "digits_t model = DIGITS_INIT(d, s);\nconst int8_t *result() { return digits_output(&model); }\n"
    )
    flags = [flag for flag in WARNINGS if flag != "-Wcast-align=strict"]
    run_checked(["g++", "-std=c++17", *flags, f"-I{built.folder}", "-c", use, "-o", tmp_path / "use.o"])
    tested = 'int main(void) { printf("%d", digits_selftest(&m)); return 0; }'
    objects = "static digits_dtcm_t d; static digits_sram_t s; static digits_t m = DIGITS_INIT(d, s);"
    program = built.program(driver=f'#include <stdio.h>\n#include "digits.h"\n{objects}\n{tested}\n')
    assert run_checked([program]).stdout == b"0"
    built.gcc("-O1", EXAMPLE, *built.sources(), "-lm", "-o", tmp_path / "example")
    assert len(run_checked([tmp_path / "example"]).stdout.splitlines()) == 10


def test_arenas_of_the_wrong_region_do_not_compile(tmp_path: Path) -> None:
    built = over("dtcm=1200,sram=1700", tmp_path)
    text = '#include "digits.h"\ndigits_dtcm_t d;\ndigits_sram_t s;\ndigits_t m = DIGITS_INIT({});\n'
    for given, compiles in (("d, s", True), ("s, d", False), ("d, d", False)):
        (tmp_path / "use.c").write_text(text.replace("{}", given))
        command = ["gcc", f"-I{built.folder}", "-c", tmp_path / "use.c", "-o", tmp_path / "use.o"]
        if compiles:
            run_checked(command)
        else:
            with pytest.raises(ToolError) as caught:
                run_checked(command)
            assert "has no member" in caught.value.output


def test_several_instances_have_arenas_each(tmp_path: Path) -> None:
    built = over("dtcm=1200,sram=1700", tmp_path)
    first, second = built.inputs(1), built.inputs(2)
    one = """#include <stdio.h>
#include "digits.h"
static digits_dtcm_t fast[2];
static digits_sram_t slow[2];
static digits_t m[2] = {DIGITS_INIT(fast[0], slow[0]), DIGITS_INIT(fast[1], slow[1])};
int main(void) {
    for (int k = 0; k < 2; k += 1) if (fread(digits_input(&m[k]), 1, 64, stdin) != 64) return 1;
    for (int k = 0; k < 2; k += 1) digits_run(&m[k]);
    for (int k = 0; k < 2; k += 1) fwrite(digits_output(&m[k]), 1, 10, stdout);
    return 0;
}
"""
    both = run_checked([built.program(driver=one)], stdin=first + second).stdout
    graph = built.artifact.imported
    expected = [oracle(built.artifact, [np.frombuffer(x, np.int8).reshape(graph.type(graph.inputs[0]).shape)])
                for x in (first, second)]  # fmt: skip
    assert both == b"".join(expected)


def test_report_and_picture_show_every_region() -> None:
    artifact = mcugen.compile(DIGITS, board="cortex-m7", optimize="speed", region="dtcm=1200,sram=1700")
    fast, slow = artifact.report.regions
    assert [(r.name, r.size_bytes) for r in (fast, slow)] == [("dtcm", 1200), ("sram", 1700)]
    assert 0 < fast.used_bytes <= 1200
    assert 0 < slow.used_bytes <= 1700
    assert fast.accesses / fast.used_bytes > slow.accesses / slow.used_bytes
    assert {*fast.tensors, *slow.tensors} == {b.name for b in artifact.schedule.buffers()}
    assert artifact.report.ram_bytes == fast.used_bytes + slow.used_bytes + 2 * 4  # and two pointers
    text = mcugen.report.as_text(artifact.report)
    assert f"{fast.used_bytes:,} bytes  dtcm of 1,200" in text
    assert "what dtcm had no room for" in text
    drawn = artifact.files["memory.svg"].decode()
    for part in artifact.plan.parts:
        assert f"digits, {part.region}: {part.nbytes:,} bytes of arena" in drawn
    assert drawn.count('class="block') - 2 * 4 == len(artifact.schedule.buffers())  # less the legends


@pytest.mark.sampled(4)
@pytest.mark.parametrize("core", ["cortex-m7", "rv32imc"])
def test_firmware_over_two_regions_is_exact(core: str) -> None:
    artifact = mcugen.compile(DIGITS, board=core, optimize="speed", region="dtcm=1200,sram=1700")
    result = emulated.simulate(artifact, list(cases(artifact.imported, 1))[:1])
    assert result.agrees
    assert result.repeatable
    assert result.ram_regions == tuple((r.name, r.used_bytes) for r in artifact.report.regions)
    assert [name for name, _ in result.ram_regions] == ["dtcm", "sram"]
    assert result.instructions > 10_000
