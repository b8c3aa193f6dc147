"""The mutation check itself: which mutants it makes, how it judges them, and that it runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from mcugen.emit import bundle
from tests.support import conformance, program
from tests.support.cases import cases_of
from tests.support.mutants import Mutant, alike, body_tokens, mutants
from tests.support.mutation import Laboratory, bench

ROOT = Path(__file__).resolve().parent.parent
TEMPLATE = "max_pool_2d_template.h"
SOURCE = """/* a + b */
#define TWICE(x) ((x) + 1)
typedef struct { int32_t in_w, in_h; } params;
static int32_t f(const params *p, int32_t x0, int32_t x1)
{
    for (int32_t i = 0; i < p->in_w; i += 1) {
        x0 = x0 + p->in_h * x1; /* i - 1 */
    }
    return x0 << 1;
}
"""


def changed_lines() -> set[str]:
    return {m.applied(SOURCE).splitlines()[SOURCE.count("\n", 0, m.at)].strip() for m in mutants("f.c", SOURCE)}


def test_mutants_change_operators_constants_names_and_terms() -> None:
    made = changed_lines()
    assert "for (int32_t i = 0; i <= p->in_w; i += 1) {" in made
    assert "for (int32_t i = 1; i < p->in_w; i += 1) {" in made
    assert "for (int32_t i = 0; i < p->in_h; i += 1) {" in made
    assert "for (int32_t i = 0; i < p->in_w; i -= 1) {" in made
    assert "x0 = x0 - p->in_h * x1; /* i - 1 */" in made
    assert "x0 = x0 + p->in_h; /* i - 1 */" in made
    assert "x0 = x0 + p->in_h * x0; /* i - 1 */" in made
    assert "return x0 >> 1;" in made and "return x0;" in made


def test_only_bodies_of_functions_are_changed() -> None:
    assert {token.function for token in body_tokens(SOURCE)} == {"f"}
    first = SOURCE.index("{\n    for")
    assert all(m.at > first for m in mutants("f.c", SOURCE))
    assert not any("/* i + 1" in line or "+ 2" in line for line in changed_lines())
    texts = [SOURCE[m.at : m.at + m.length] for m in mutants("f.c", SOURCE)]
    assert not any(text.startswith(("/*", "#", "int32_t")) for text in texts)


def test_names_are_alike_by_a_letter_or_a_part() -> None:
    assert alike("x0", "x1") and alike("out_min", "out_max") and alike("in_w", "in_c")
    assert not alike("x0", "x0") and not alike("in", "outer") and not alike("out_min", "in_max")


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory: pytest.TempPathFactory) -> Laboratory:
    cases, _ = cases_of(conformance.operators()["MaxPool2D"])
    group = program.Group("maxpool2d", tuple(cases))
    return Laboratory([bench(group, tmp_path_factory.mktemp("bench") / "maxpool")])


def planted(laboratory: Laboratory, old: str, new: str) -> Mutant:
    file = bundle.of([]).path(TEMPLATE)
    return Mutant(file, laboratory.sources[file].rindex(old), len(old), new, "MG_KERNEL")


@pytest.mark.whole
@pytest.mark.parametrize(
    ("old", "new", "outcome"),
    [
        ("uint32_t x = 0u", "uint32_t x = 1u", "caught"),
        ("uint32_t x = 0u", "uint32_t x = 0u + 0u", "equivalent"),
        ("uint32_t x = 0u", "uint32_t x = undeclared", "refused"),
        ("x += 1u", "x += 0u", "caught"),
        # No example has 5,000 columns: wrong only where nobody looks.
        ("uint32_t x = 0u", "uint32_t x = p->out_w == 5000u", "survived"),
    ],
)
def test_outcomes(laboratory: Laboratory, tmp_path: Path, old: str, new: str, outcome: str) -> None:
    trial = laboratory.try_mutant(planted(laboratory, old, new), tmp_path / "trial")
    assert trial.outcome == outcome


@pytest.mark.whole
def test_kernels_made_of_expressions_are_mutated(tmp_path: Path) -> None:
    cases, _ = cases_of(conformance.operators()["SquaredDifference"])
    made = [bench(program.Group("squares", tuple(cases)), tmp_path / "squares")]
    laboratory = Laboratory(made)
    sources = laboratory.sources
    files = sorted(name for name in laboratory.reachable() if name.startswith("kernels/squ_dif_f32_bro_"))
    assert files
    changes = ((m, m.applied(sources[file])) for file in files for m in mutants(file, sources[file]))
    mutant = next(m for m, text in changes if "(a + b) * (a - b)" in text)
    assert laboratory.try_mutant(mutant, tmp_path / "trial").outcome == "caught"


def test_a_mutant_is_described_by_its_line(laboratory: Laboratory) -> None:
    mutant = planted(laboratory, "uint32_t x = 0u", "uint32_t x = 1u")
    lines = mutant.describe(laboratory.sources[mutant.file]).splitlines()
    assert re.fullmatch(r"mcugen/max_pool_2d_\w{6}\.h:\d+ in MG_KERNEL", lines[0])
    assert lines[1].startswith("  - for (uint32_t x = 0u;") and lines[2].startswith("  + for (uint32_t x = 1u;")


@pytest.mark.whole
def test_the_command_reports_a_share() -> None:
    command = [
        sys.executable,
        ROOT / "ci" / "mutate",
        "--count",
        "6",
        "--op",
        "MaxPool2D",
        "max_pool_2d_channels_template.h",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    found = re.search(r"^(\d+) of 6 mutants caught: ([\d.]+) %", done.stdout, re.MULTILINE)
    assert found is not None, done.stdout + done.stderr
    assert done.returncode == (0 if float(found[2]) >= 95 else 1)
    assert int(found[1]) >= 5
