# SPDX-License-Identifier: Apache-2.0
"""The emitted self-test passes, and fails where a constant or a parameter was changed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mcugen.machines.toolchain.process import run_checked
from tests.emit.built import MODELS, Built, build


@pytest.mark.sampled(8)
@pytest.mark.parametrize("model", MODELS)
def test_selftest_passes(tmp_path: Path, model: str) -> None:
    assert _selftest(build(model, tmp_path, selftest=True)) == 0


@pytest.mark.sampled(4)
@pytest.mark.parametrize("model", ["image_net", "digits", "s8_split"])
def test_selftest_finds_a_changed_constant(tmp_path: Path, model: str) -> None:
    built = build(model, tmp_path, selftest=True)
    name = f"{built.name}_selftest.c"
    text = (built.folder / name).read_text()
    last = text.rindex("selftest_out")
    array = text.index("= {\n", text.index("static const int8_t selftest_out0"))
    first_number = re.compile(r"(-?\d+)")
    match = first_number.search(text, array)
    assert match is not None and last > array
    changed = text[: match.start()] + str(int(match[1]) ^ 1) + text[match.end() :]
    (built.folder / name).write_text(changed)
    assert _selftest(built) == 1


def test_selftest_finds_a_changed_parameter(tmp_path: Path) -> None:
    built = build("three_dense", tmp_path, selftest=True)
    expected = re.search(r"selftest_out0\[1\] = \{\s*(-?\d+)", (built.folder / "three_dense_selftest.c").read_text())
    assert expected is not None
    source = built.folder / "three_dense.c"
    text, last = source.read_text(), re.compile(r"\.out_min = -128, \.out_max = 127,")
    assert len(last.findall(text)) == 1
    wrong = int(expected[1]) ^ 1
    source.write_text(last.sub(f".out_min = {wrong}, .out_max = {wrong},", text))
    assert _selftest(built) == 1


def test_selftest_finds_a_compiler_that_contracts(tmp_path: Path) -> None:
    built = build("f32_softmax", tmp_path, selftest=True)
    source = built.folder / f"{built.name}_selftest.c"
    text = source.read_text()
    assert text.count("product + rest") == 1
    source.write_text(text.replace("product + rest", "(product, __builtin_fmaf(a, a, rest))"))
    assert _selftest(built) == -1


def _selftest(built: Built) -> int:
    main = f'int main(void) {{ static {built.name}_t m; printf("%d", {built.name}_selftest(&m)); return 0; }}'
    driver = f'#include <stdio.h>\n#include "{built.name}.h"\n{main}\n'
    return int(run_checked([built.program(driver=driver)]).stdout)
