# SPDX-License-Identifier: Apache-2.0
"""Examples of every operator on its OpenCL kernels, by PoCL; and the texts of the kernels."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from mcugen import kernels
from mcugen.emit.opencl import launches, program
from mcugen.errors import InternalError
from mcugen.formats import registry
from mcugen.solve.schedule import Choice
from tests.opencl import launched
from tests.opencl.fused import ALL
from tests.test_conformance import OPS

EVERY = 400
"""Where not all launches of an operator are run, one in this number is."""

MOST = 400
"""Cases of a program, which compiles all their kernels and has to end in minutes."""

SAMPLED = (
    ("Conv2D", "mg_matmul_f16__tiled"),
    ("FullyConnected", "mg_vector_f16"),
    ("DepthwiseConv2D", "mg_depthwise_f16"),
    ("MaxPool2D", "mg_max_pool_f16"),
    ("Add", "mg_add_f16"),
    ("DepthwiseConv2D", "LINE"),
)
"""Operators, and the kernel of each, or its constant, of which one launch is run where not all are."""


def test_kernels_equal_the_oracle(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    """One launch in many of each operator, and one of some kernels on halves and with lines; with --whole, all."""
    whole = pytestconfig.getoption("--whole")
    cases = _all() if whole else _sampled()
    problems, count = [], 0
    while some := list(islice(cases, MOST)):
        problems += launched.check(some, tmp_path / str(count))
        count += len(some)
    assert count > 10
    assert not problems, "\n".join(problems[:8])


def _all() -> Iterator[launched.Launched]:
    """Every launch of each operator, those of one kernel together: a program compiles it for all of them."""
    found = [launch for name in sorted(ALL) for launch in launched.choices(ALL[name])]
    for launch in sorted(found, key=lambda launch: program.identity(launch[1])):
        yield from launched.cases(*launch)


def _sampled() -> Iterator[launched.Launched]:
    """One launch in many of each operator, and the first launch of each of the sampled kernels."""
    for name in sorted(OPS):
        yield from launched.launched(ALL[name], EVERY)
    for name, asked in SAMPLED:
        found = (c for c in launched.choices(OPS[name]) if _is_asked(c[1], asked))
        yield next(launched.cases(*next(found)))


def _is_asked(choice: Choice, asked: str) -> bool:
    kernel = choice.kernel
    return kernel.symbol.startswith(asked) or (not kernel.text.generate and bool(kernel.sizes(choice.call).get(asked)))


@pytest.mark.whole
def test_sources_are_opencl_1_2(tmp_path: Path) -> None:
    """Every kernel's text with constants of some example passes the checks of a compiler of OpenCL C 1.2."""
    chosen = {}
    for name in sorted(ALL):
        for _, choice, _ in launched.choices(ALL[name]):
            kernel = choice.kernel
            constants = kernel.sizes(choice.call) if not kernel.text.generate else {}
            chosen.setdefault((kernel.symbol, str(sorted(constants.items()))), choice)
    text = program.of(chosen.values()).text
    file = tmp_path / "all.cl"
    file.write_text(text, encoding="utf-8")
    flags = ["-x", "cl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header", "-fsyntax-only", "-Werror"]
    done = subprocess.run(["clang", *flags, str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    used = {choice.kernel.source_name for choice in chosen.values() if not choice.kernel.text.generate}
    serving = [k for kind in registry.own() for k in kernels.on_device(kind) if k.has_code]
    assert {k.source_name for k in serving if not k.text.generate} - used <= {"vector_f32.cl"}


def _first(operator: str, symbol: str) -> Choice:
    return next(choice for _, choice, _ in launched.choices(OPS[operator]) if choice.kernel.symbol == symbol)


def _softmax() -> Choice:
    return _first("Softmax", "mg_softmax_f32__cl")


def test_an_argument_that_nothing_gives_is_a_defect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arguments are bound by name: one that no step states shows when the program is made."""
    text = program.source("softmax_f32.cl").replace("const int classes)", "const int classes, const int nobody)")
    assert "nobody" in text
    monkeypatch.setattr(program, "source", lambda name: text)
    with pytest.raises(InternalError, match="nobody that no operand or parameter gives"):
        launches.files_of([_softmax()], str(tmp_path))


def test_a_launch_has_few_arguments() -> None:
    """Drivers look at each of them: tensors of the arena, one memory of constants, and all numbers as one."""
    product = _first("Conv2D", "mg_matmul_s8__tiled")
    for choice, memories in ((product, ("mem_in0", "mem_out", "mem_constants")), (_softmax(), ("mem_in0", "mem_out"))):
        (taken,) = program.of([choice]).arguments.values()
        assert taken.memories == memories
        assert {f"at_{name.removeprefix('mem_')}" for name in memories[:2]} < {*taken.numbers}
    (taken,) = program.of([product]).arguments.values()
    assert {"at_weights", "at_bias", "at_mult", "at_shift", "pixels"} < {*taken.numbers}
