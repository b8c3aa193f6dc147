"""Outside programs: missing, failing, endless; host programs; damaged ELF files."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mcugen.errors import ToolError
from mcugen.machines.toolchain import elf, host_gcc, process


def test_missing_tool_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(ToolError, match="gcc is not installed") as caught:
        process.run(["gcc"])
    assert "apt-get install gcc libc6-dev" in caught.value.hint
    with pytest.raises(ToolError) as caught:
        process.run(["x-gcc"], package="gcc-x")
    assert "apt-get install gcc-x" in caught.value.hint


def test_output_and_status_come_back() -> None:
    script = "import sys; d = sys.stdin.read(); print(d.upper()); print('no', file=sys.stderr); sys.exit(3)"
    done = process.run([sys.executable, "-c", script], stdin=b"abc")
    assert (done.stdout, done.stderr, done.returncode) == (b"ABC\n", b"no\n", 3)
    with pytest.raises(ToolError, match="failed with exit status 3") as caught:
        process.run_checked([sys.executable, "-c", script], stdin=b"abc")
    assert "no" in caught.value.explain()


def test_endless_program_is_ended_with_its_children(tmp_path: Path) -> None:
    script = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'])"
    with pytest.raises(ToolError, match="did not end within"):
        process.run([sys.executable, "-c", script], cwd=tmp_path, timeout_s=0.5)


def test_signal_is_named() -> None:
    with pytest.raises(ToolError, match="ended by signal SIGABRT"):
        process.run_checked([sys.executable, "-c", "import os; os.abort()"])


def test_long_output_is_cut_in_the_middle() -> None:
    text = process.shown(b"a" * 5000 + b"b" * 5000)
    assert text.startswith("a") and text.endswith("b")
    assert "6000 characters left out" in text
    assert len(text) < 4100


def test_host_program_is_compiled_strictly_and_sanitized(tmp_path: Path) -> None:
    source = tmp_path / "main.c"
    source.write_text("int main(int argc, char **argv) { (void)argv; int a[2] = { 0 }; return a[argc * 2]; }\n")
    program = host_gcc.compile_program([source], tmp_path / "main", [], [*host_gcc.STRICT_WARNINGS, *host_gcc.SANITIZE])
    done = process.run([program])
    assert done.returncode != 0
    assert b"out of bounds" in done.stderr


def test_host_compiler_refuses_a_warning(tmp_path: Path) -> None:
    source = tmp_path / "main.c"
    source.write_text("int main(void) { int unused; return 0; }\n")
    with pytest.raises(ToolError, match="gcc: failed") as caught:
        host_gcc.compile_program([source], tmp_path / "main", [], host_gcc.STRICT_WARNINGS)
    assert "unused variable" in caught.value.output


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x7fELF",
        b"\x7fELF\x02\x01" + bytes(58),
        b"\x7fELF\x01\x02" + bytes(58),
        b"\x7fELF\x01\x01" + b"\xff" * 100,
        b"MZ" * 100,
    ],
)
def test_what_is_no_elf_image_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.elf"
    path.write_bytes(data)
    with pytest.raises(ToolError, match="not a little-endian ELF image"):
        elf.read_elf(path)


def test_input_that_is_too_large_for_a_pipe_arrives_whole() -> None:
    """It is given as a file."""
    done = process.run_checked(["wc", "-c"], stdin=bytes(2**24 + 1))
    assert int(done.stdout) == 2**24 + 1
