"""The terminal: a verdict first, tables that fit, colour only where it belongs, and help in groups."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np
import pytest

from mcugen.builds import inspection
from mcugen.cli import _console, cli, main
from mcugen.system.tabular import TableColumn, TextTable, largest

ROOT = Path(__file__).resolve().parents[1]
DIGITS = ROOT / "examples" / "digits" / "digits.tflite"
HEADINGS = ["Options:", "Target:", "Model:", "Memory and speed:", "Files:"]


def printed(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    with pytest.raises(SystemExit) as ended:
        main([str(a) for a in arguments])
    assert not ended.value.code
    return capsys.readouterr().out


@pytest.mark.parametrize("width", [80, 120])
def test_a_build_fits_the_terminal(
    width: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    build = ("build", DIGITS, "--board", "nucleo-l4r5zi", "-o", tmp_path)
    *lines, left_out = printed(capsys, *build).splitlines()
    assert all(len(line) <= width for line in [*lines, left_out])
    assert re.match(r"digits fits nucleo-l4r5zi: RAM [\d,]+ of 655,360 bytes \(0\.\d %\), constants [\d,]+", lines[0])
    head = next(k for k, line in enumerate(lines) if line.lstrip().startswith("step"))
    table = lines[head + 1 :]
    assert len(table) == 6 and [line[0] for line in table] == ["*", "*", "*", " ", " ", " "]
    assert all("%" in line for line in table) and "depthwise" in table[1]
    assert ("mg_depthwise_conv2d_s8__planar" in table[1]) == (width == 120) and " ms " in lines[head]
    assert left_out.strip() == f"no room for: {'' if width == 120 else 'kernel, '}sizes, why; --wide shows all"
    wide = printed(capsys, *build, "--wide")
    assert "mg_depthwise_conv2d_s8__planar" in wide and "…" not in wide
    assert printed(capsys, *build, "--quiet") == ""


def test_into_a_file_nothing_is_shortened(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    text = printed(capsys, "build", DIGITS, "--board", "cortex-m4", "--clock", "168M", "-o", tmp_path)
    assert "mg_depthwise_conv2d_s8__planar" in text and "\x1b" not in text and "…" not in text
    assert re.match(r"digits for cortex-m4: RAM [\d,]+ bytes, constants [\d,]+ bytes, [\d.]+ to [\d.]+ ms; ", text)


def test_names_of_layers_keep_their_ends(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """They begin alike: net/block/conv_1, net/block/conv_2."""
    monkeypatch.setenv("COLUMNS", "40")
    columns = (
        TableColumn("layer", shrinks=True, ends=True),
        TableColumn("cycles", right=True),
        TableColumn("kernel", optional=True),
    )
    rows = tuple((f"network/block/number/conv_{k}", "1,000,000,000", "mg_conv2d_s8__dsp8") for k in range(2))
    _console.show([TextTable(columns, rows)])
    lines = capsys.readouterr().out.splitlines()
    assert re.search(r" …\S*conv_0  1,000,000,000$", lines[1]) and "conv_1  1,0" in lines[2] and len(lines[1]) <= 40
    assert lines[3] == "   no room for: kernel; --wide shows all"


def test_errors_are_fitted_to_a_terminal_and_whole_elsewhere(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "no kernel runs these nodes:\n  node 8: " + "a (scale 0.5) " * 12 + "\n  hint: see the list"
    monkeypatch.delenv("COLUMNS", raising=False)
    _console.say_error(text)
    assert capsys.readouterr().err == f"mcugen: error: {text}\n"
    monkeypatch.setenv("COLUMNS", "60")
    _console.say_error(text)
    lines = capsys.readouterr().err.splitlines()
    assert max(map(len, lines)) <= 60 and " ".join(lines).split() == f"mcugen: error: {text}".split()
    assert lines[0].endswith("nodes:") and lines[1].startswith("  node 8: ") and lines[2].startswith("      ")
    assert lines[-1] == "  hint: see the list"


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_no_word_of_a_table_is_cut(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers, kernels and chips are shown whole or, where their column is optional, named as left out."""
    monkeypatch.setenv("COLUMNS", str(width))
    rng = np.random.default_rng(width)
    for _ in range(40):
        columns, rows = [TableColumn("at", right=True)], [[str(k)] for k in range(3)]
        for c in range(rng.integers(1, 9)):
            is_text, optional, ends = (rng.random(3) < 0.5).tolist()
            columns.append(TableColumn(f"head{c}", not is_text, is_text, is_text and ends, optional))
            for k, row in enumerate(rows):
                words = [f"{c}w{k}" + "x" * int(n) for n in rng.integers(1, 20, rng.integers(1, 4) if is_text else 1)]
                row.append(" ".join(words))
        _console.show([TextTable(tuple(columns), tuple(map(tuple, rows)))])
        shown = capsys.readouterr().out
        left_out = re.findall(r"head\d+", " ".join(shown.partition("no room for:")[2].split()))
        assert all(len(line) <= width for line in shown.splitlines())
        assert set(left_out) <= {column.head for column in columns if column.optional}
        for c, column in enumerate(columns):
            words = {word for row in rows for word in row[c].split()}
            assert column.head in shown.split() or column.head in left_out
            assert column.ends or column.head in left_out or words <= set(shown.split())


@pytest.mark.parametrize("plain", [False, True])
def test_colour_is_for_terminals(plain: bool) -> None:
    """The knee of a curve is marked: in colour on a terminal, without where NO_COLOR is set."""
    program = (
        "from mcugen.cli._console import show; from mcugen.system.tabular import *;"
        "show([TextTable((TableColumn('a'), TableColumn('b')), (('1', '2'), ('3', '4')), frozenset({1}))])"
    )
    ours, theirs = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS", "FORCE_COLOR")}
    environment |= {"TERM": "xterm-256color"} | ({"NO_COLOR": "1"} if plain else {})
    done = subprocess.run([sys.executable, "-c", program], stdout=theirs, env=environment, cwd=ROOT, check=False)
    os.close(theirs)
    shown = os.read(ours, 10_000).decode()
    os.close(ours)
    assert done.returncode == 0 and "*" in shown
    assert bool(re.search(r"\x1b\[[\d;]*3\dm", shown)) is not plain


TYPED = """
import os, sys, warnings
import numpy as np
from mcugen.cli import main
folder, model, test, left_out = sys.argv[1:]
layer = os.path.abspath("tests/models/f32_fully_connected.tflite")
os.chdir(folder)  # its name, which may be long, would break lines
shapes = {"x0": (1, 33), "x1": (3, 10), "x2": (2, 3, 5), "x3": (1, 2, 3, 4)}
drawn = {k: np.random.default_rng(1).standard_normal((12, *s)).astype(np.float32) for k, s in shapes.items()}
np.savez("x.npz", **drawn)
for line in f'''
build {model} --board nucleo-l4r5zi -o out
inspect {model}
inspect {model} --removed
verify {model} --cases 0
run {model} --input {test} --samples 3
evaluate {model} --data {test} --samples 20
quantize {layer} --data x.npz --method min-max --jobs 1 -o q.tflite
boards
ops
inspect {model} --quiet
'''.split("\\n"):
    if line and line.split()[0] not in left_out.split():
        print(f"$ {line.split()[0]}", flush=True)
        try:
            main(line.split())
        except SystemExit as ended:
            assert not ended.code, line
"""
"""A program that types one command after the other."""
VERDICTS = {
    "build": "digits fits nucleo-l4r5zi: RAM",
    "inspect": "digits: 7 operators, 25,344 MAC",
    "verify": "digits: OK (bits of TFLM)",
    "run": "digits: 3 samples",
    "evaluate": "digits: top1 ",
    "quantize": "q.tflite: ",
}


def on_a_terminal(width: int, *arguments: str | Path, **environment: str) -> str:
    """The output of a program on a terminal of that width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS", "FORCE_COLOR", "LINES")}
    given = {"stdout": theirs, "stderr": theirs, "env": clean | {"TERM": "xterm-256color"} | environment, "cwd": ROOT}
    with subprocess.Popen([sys.executable, "-c", *map(str, arguments)], **given) as program:
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # Linux ends a terminal that nobody writes to by an error
            while part := os.read(ours, 65536):
                shown += part
    os.close(ours)
    assert program.returncode == 0, shown.decode()[-2000:]
    return shown.decode()


def test_every_command_fits_a_terminal(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Plain pytest leaves out the wide terminal, and the commands that take longest."""
    whole, test = request.config.getoption("--whole"), DIGITS.parent / "digits_test.npz"
    given, left_out = (tmp_path, DIGITS, test), "" if whole else "verify evaluate quantize ops"
    for width, environment in ((80, {}), (120, {"NO_COLOR": "1"})) if whole else ((80, {}),):
        cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
        shown = on_a_terminal(width, TYPED, *given, left_out, **environment, **cache)
        assert bool(re.search(r"\x1b\[[\d;]*3\dm", shown)) == (not environment)
        plain = re.sub(r"\x1b\[[\d;]*m", "", shown).replace("\r\n", "\n")
        plain = re.sub(r"[^\n]*\r", "", plain)  # progress, which takes itself back
        assert [line for line in plain.splitlines() if len(line) > width] == []
        for command, verdict in VERDICTS.items():
            if command not in left_out.split():
                assert verdict in plain.partition(f"$ {command}\n")[2].splitlines()[0], command
        assert {"conv", "depthwise", "pooled"} <= set(plain.split())
        assert not re.search(r"\S…", plain)  # nothing but the beginning of a layer's name is ever left out
        assert plain.rstrip().endswith("$ inspect")  # --quiet prints nothing


def test_columns_give_way() -> None:
    columns = (TableColumn("n", right=True), TableColumn("text", shrinks=True), TableColumn("more", optional=True))
    grid = TextTable(columns, (("1", "aaaaa " * 5, "b" * 10), ("22", "c", "d")))
    assert _console._widths(grid, 80) == {0: 2, 1: 30, 2: 10}
    assert _console._widths(grid, 40) == {0: 2, 1: 21, 2: 10}
    assert _console._widths(grid, 25) == {0: 2, 1: 18}
    assert _console._widths(grid, 5) == {0: 2, 1: 16}
    assert list(_console._blocks({0: 2, 1: 16}, 5)) == [{0: 2, 1: 16}]
    assert list(_console._blocks({0: 2, 1: 16, 2: 4}, 25)) == [{0: 2, 1: 16}, {0: 2, 2: 4}]
    assert grid.text().splitlines()[1] == f"    1  {'aaaaa ' * 5}  {'b' * 10}"
    assert largest([1, 9, 3, 4, 0]) == {1, 2, 3} and largest([1, 2, 3]) == set() and largest([0] * 9) == set()


def test_equal_rows_are_marked_alike() -> None:
    assert largest([1, 0, 7, 1, 7, 2, 7, 1, 7, 1]) == {2, 4, 6, 8}
    assert largest([9, *[5] * 7]) == {0} and largest([5] * 40) == set()


def test_a_number_and_its_unit_stay_together() -> None:
    line = "  0.1 % more for 5 s, 1,024 bytes of 2,048 bytes (50.0 %), 80 MHz"
    for width in range(20, 70):
        shown = _console._wrapped(line, width).splitlines()
        assert " ".join(part.strip() for part in shown) == line.strip() and max(map(len, shown)) <= width
        assert not any(re.match(r"\s*(%|s,|bytes|MHz)", part) for part in shown)


def test_indexes_of_operators_are_right_aligned() -> None:
    sources = [f"operator {k} ADD" for k in (9, 10)] + ["node 9 Conv '/a/Conv'", "subgraph 1 operator 2 ADD"]
    assert inspection._aligned(sources) == [" 9 ADD", "10 ADD", "node  9 Conv '/a/Conv'", sources[3]]


def helps(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    """Each command with its help for 80 columns."""
    yield context.command_path, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            if below := command.get_command(context, name):
                yield from helps(below, click.Context(below, info_name=name, parent=context, terminal_width=80))


def test_help_fits_80_columns() -> None:
    pages = dict(helps(cli, click.Context(cli, info_name="mcugen", terminal_width=80, **cli.context_settings)))
    long = [(name, line) for name, text in pages.items() for line in text.splitlines() if len(line) > 80]
    assert long == [] and "mcugen boards new" in pages


def test_what_is_left_is_estimated() -> None:
    assert _console._left("3 of 12 schedules counted", 6.0) == ", about 18 s left"
    assert _console._left("compiling", 6.0) == _console._left("3 of 12", 1.0) == _console._left("0 of 12", 6.0) == ""


@pytest.mark.parametrize("command", ["build", "verify", "simulate", "pareto", "inspect", "run", "evaluate"])
def test_help_has_groups_and_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, command, "--help")
    expected = HEADINGS if command == "build" else HEADINGS[:-1]
    assert [line for line in text.splitlines() if line in HEADINGS] == expected
    assert f"      mcugen {command} " in text or f"    mcugen {command} " in text
    assert ("--no-report" in text) == ("--export" in text) == (command == "build")
    assert text.index("\n  --board") > text.index("Target:") > text.index("--json")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("build --board nucleo-l4r", ["nucleo-l4r5zi"]),
        ("build --export zeph", ["zephyr"]),
        ("build --export non", ["none"]),
        ("build --board cortex-m4 --features ", ["-dsp", "-fpu", "-multiple_loads"]),
        ("build --board cortex-m4 --features dsp,-f", ["dsp,-fpu"]),
    ],
)
def test_values_complete_in_the_shell(typed: str, expected: list[str]) -> None:
    count = str(len(typed.split(" ")))
    environment = os.environ | {"_MCUGEN_COMPLETE": "bash_complete", "COMP_WORDS": f"mcugen {typed}"}
    call = [sys.executable, "-c", "from mcugen.cli import cli; cli(prog_name='mcugen')"]
    done = subprocess.run(call, env=environment | {"COMP_CWORD": count}, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [f"plain,{value}" for value in expected]


FAILS = "import sys; from mcugen.cli import main\ntry: main(sys.argv[1:])\nexcept SystemExit as e: print(e.code)"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("given", [("build",), ("build", "x.tflite", "-o", "out"), ("boards", "--nothing")])
def test_errors_have_one_style(given: tuple[str, ...]) -> None:
    """Errors of mcugen and of the command-line library, in colour where the terminal supports it."""
    for environment in ({}, {"NO_COLOR": "1"}):
        shown = on_a_terminal(80, FAILS, *given, **environment)
        plain = re.sub(r"[^\n]*\r(?!\n)", "", re.sub(r"\x1b\[[\d;]*m", "", shown))  # without progress
        assert re.match(r"mcugen: error: [a-z'].*[^.]\r\n  hint: [a-z]", plain) and "Usage:" not in plain
        assert ("\x1b[31m" in shown and "\x1b[36m" in shown) == (not environment)
        assert plain.split()[-1] in ("2", "3")


def test_long_work_is_not_silent() -> None:
    """Work without messages for seconds still shows its title, and erases the line at the end."""
    program = """
import time
from mcugen.cli._console import progress
with progress("building", quiet=False) as tell:
    tell("net.onnx")
    time.sleep(1.5)
"""
    shown = on_a_terminal(80, program)
    assert "\rbuilding: net.onnx (1 s)" in shown and re.search(r"\r +\r$", shown)
