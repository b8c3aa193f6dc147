# SPDX-License-Identifier: Apache-2.0
"""The board of this computer: chosen by the processor's flags, never one whose kernels have nothing here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import mcugen
from mcugen.machines.native import processor
from mcugen.pipeline import Artifact

DIGITS = Path(__file__).resolve().parents[3] / "examples/digits/digits.tflite"


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """A test finds out anew what the processor has."""
    cached = (processor.board, processor._best, processor._floats)
    for function in cached:
        function.cache_clear()
    yield
    for function in cached:
        function.cache_clear()


def pretend(machine: str, cpuinfo: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes this computer one of the machine's kind, on which /proc/cpuinfo has this text."""
    file = folder / "cpuinfo"
    file.write_text(cpuinfo)
    monkeypatch.setattr(processor, "_CPUINFO", file)
    monkeypatch.setattr("platform.machine", lambda: machine)


@pytest.mark.parametrize(
    ("machine", "flags", "board", "as_vnni", "as_avx2"),
    [
        ("x86_64", "sse2 avx2 avx_vnni avx512_vnni", "x86-64", "AVX512-VNNI", "AVX2"),
        ("x86_64", "sse2 avx2 avx_vnni", "x86-64", "AVX-VNNI", "AVX2"),
        ("x86_64", "sse2 avx2", "x86-64", "AVX2", "AVX2"),
        ("x86_64", "sse2 avx", "host", "portable C", "portable C"),
        ("riscv64", "asimd avx2", "host", "portable C", "portable C"),
    ],
)
def test_flags_choose_the_board(
    machine: str, flags: str, board: str, as_vnni: str, as_avx2: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend(machine, f"processor\t: 0\nmodel name\t: Some Processor 7\nflags\t\t: {flags}\n", tmp_path, monkeypatch)
    assert processor.board() == board and processor.name() == "Some Processor 7"
    found = [
        processor.instructions_of(needs) for needs in ([{"avx2", "vnni"}, {"avx2"}], [set(), {"avx2"}], [{"dsp"}], [])
    ]
    assert found == [as_vnni, as_avx2, "portable C", "portable C"]


@pytest.mark.parametrize(
    ("flags", "of_floats", "of_both"),
    [
        ("avx2 fma avx512f avx512_vnni", "AVX-512", "AVX512-VNNI and AVX-512"),
        ("avx2 fma", "FMA", "AVX2 and FMA"),
        ("avx2", "portable C", "AVX2"),
        ("fma", "portable C", "portable C"),
    ],
)
def test_kernels_on_floats_have_sets_of_their_own(
    flags: str, of_floats: str, of_both: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend("x86_64", f"flags\t\t: {flags}\n", tmp_path, monkeypatch)
    assert processor.instructions_of([{"fma"}]) == of_floats
    assert processor.instructions_of([{"fma"}, {"avx2", "vnni"}]) == of_both


@pytest.mark.parametrize(
    ("flags", "board", "best"),
    [
        ("fp asimd asimddp", "aarch64-linux", "NEON with dot products"),
        ("fp asimd", "aarch64-linux", "NEON"),
        ("fp", "host", "portable C"),
    ],
)
def test_flags_of_arm_choose_the_board(
    flags: str, board: str, best: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretend("aarch64", f"processor\t: 0\nFeatures\t: {flags}\n\nModel\t\t: Some Board 7\n", tmp_path, monkeypatch)
    assert processor.board() == board and processor.name() == "Some Board 7"
    assert processor.instructions_of([{"dotprod", "neon"}, set()]) == best
    assert processor.instructions_of([{"fma"}]) == ("NEON" if board != "host" else "portable C")
    assert processor.instructions_of([{"neon"}, {"fpu"}]) == ("NEON" if board != "host" else "portable C")


def test_a_system_without_flags_runs_portable_c(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processor, "_CPUINFO", tmp_path / "absent")
    assert processor.board() == "host" and processor.name()


def test_load_builds_for_this_processor_and_compile_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[str] = []
    monkeypatch.setattr(Artifact, "load", lambda self: built.append(self.target.name))
    mcugen.load(DIGITS)
    mcugen.load(DIGITS, board="cortex-m4")
    assert built == [processor.board(), "cortex-m4"]
    assert mcugen.compile(DIGITS).target.name == "host"
