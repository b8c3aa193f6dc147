"""The command line as a user meets it: results, JSON keys, errors and exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import mcugen
from mcugen.cli import cli
from mcugen.errors import McugenError, UsageError
from mcugen.machines.toolchain import runtimes
from mcugen.options import Options
from mcugen.report import estimates, page, support_tables

DIGITS = Path(__file__).parent.parent / "examples" / "digits" / "digits.tflite"


def shell(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mcugen", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False, timeout=120)


def test_build_writes_a_folder_and_reports(tmp_path: Path) -> None:
    done = shell("build", DIGITS, "--board", "nucleo-l4r5zi", "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "nucleo-l4r5zi" in done.stdout and "RAM" in done.stdout
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    written = {str(p.relative_to(tmp_path / "out")) for p in (tmp_path / "out").rglob("*") if p.is_file()}
    assert set(report["files"]) == written
    assert {"digits.h", "digits.c", "digits_weights.c", "examples/main.c", "CMakeLists.txt"} <= written


def test_build_json_has_the_stable_keys(tmp_path: Path) -> None:
    done = shell("build", DIGITS, "--board", "cortex-m4", "-o", tmp_path / "out", "--json")
    value = json.loads(done.stdout)
    keys = (
        "name board reference ram_bytes arena_bytes lower_bound proven gap_bytes scratch_bytes weights_bytes "
        "macs live_macs steps files"
    )
    assert set(keys.split()) <= set(value)
    assert {"index", "op", "kernel", "why"} <= set(value["steps"][0])
    assert value["lower_bound"] <= value["arena_bytes"] <= value["ram_bytes"] < value["arena_bytes"] + 16


def test_a_clock_makes_milliseconds_of_cycles() -> None:
    asked = mcugen.compile(DIGITS, board="cortex-m4", clock="168 MHz").report
    bare = mcugen.compile(DIGITS, board="cortex-m4").report
    assert (asked.clock_hz, bare.clock_hz) == (168_000_000, None)
    assert asked.cycles == bare.cycles is not None
    (line,), (plain,) = estimates.as_lines(asked), estimates.as_lines(bare)
    assert f"{1e3 * asked.cycles.low / 168e6:.3g} to" in line and line.endswith(" ms") and " ms" not in plain
    own = mcugen.compile(DIGITS, board="nucleo-l4r5zi").report
    slower = mcugen.compile(DIGITS, board="nucleo-l4r5zi", clock="32.768k").report
    assert (own.clock_hz, slower.clock_hz) == (120_000_000, 32_768)


@pytest.mark.parametrize("text", ["fast", "0", "-3M", "1e9", "0.2", "999G", "16 MB"])
def test_what_is_no_clock_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a frequency"):
        Options(clock=text)


def test_verify_finds_the_digits_model_exact() -> None:
    done = shell("verify", DIGITS, "--cases", "2", "--json")
    assert done.returncode == 0, done.stderr
    value = json.loads(done.stdout)
    assert {"exact", "cases", "max_abs_diff", "first_difference"} <= set(value)
    assert value["exact"] is True and value["cases"] == 10 and value["first_difference"] is None


def test_simulate_counts_instructions_per_step() -> None:
    done = shell("simulate", DIGITS, "--board", "cortex-m4", "--cases", "1", "--json")
    assert done.returncode == 0, done.stderr
    value = json.loads(done.stdout)
    keys = (
        "board exact instructions cycles milliseconds steps text_bytes rodata_bytes weights_bytes ram_bytes stack_bytes"
    )
    assert set(keys.split()) <= set(value)
    assert value["exact"] and value["repeatable"] and value["milliseconds"] is None
    assert value["instructions"] <= value["cycles"]["low"] <= value["cycles"]["high"] <= 3 * value["instructions"]
    in_steps = sum(step["instructions"] for step in value["steps"])
    assert 0 < value["instructions"] - in_steps < 200
    assert all(step["instructions"] > 0 for step in value["steps"])
    assert all(40 <= step["code_bytes"] <= value["text_bytes"] for step in value["steps"])
    dense = next(step for step in value["steps"] if step["name"] == "dense")
    assert dense["code_bytes"] > 100
    assert 0 < value["stack_bytes"] < 2048 and value["weights_bytes"] <= value["rodata_bytes"]


@pytest.mark.whole
def test_inspect_shows_operators_and_live_bytes() -> None:
    text = shell("inspect", DIGITS, "--wide").stdout
    assert "DEPTHWISE_CONV_2D" in text and "live bytes" in text
    value = json.loads(shell("inspect", DIGITS, "--json").stdout)
    assert max(step["live_bytes"] for step in value["steps"]) == value["lower_bound"]


@pytest.mark.parametrize("arguments", [["inspect", DIGITS, "--memory"], ["pareto", DIGITS, "--plot"]])
def test_pictures_are_svg(arguments: list[str], tmp_path: Path) -> None:
    done = shell(*arguments, tmp_path / "m.png")
    assert done.returncode == 2 and "'m.png' does not end in .svg" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("arguments", [["build", DIGITS], ["frobnicate"], ["inspect", DIGITS, "--ir", "no stage"]])
def test_usage_errors_are_json_where_asked(arguments: list[str]) -> None:
    done = shell(*arguments, "--json")
    error = json.loads(done.stdout)["error"]
    assert done.returncode == 2 and error["kind"] == "UsageError" and error["message"] in done.stderr


@pytest.mark.sampled(4)
@pytest.mark.parametrize("stage", ["imported", "passes", "schedule", "plan"])
def test_inspect_dumps_every_stage(stage: str) -> None:
    done = shell("inspect", DIGITS, "--ir", stage)
    assert done.returncode == 0 and len(done.stdout.splitlines()) > 5


def test_boards_and_ops_come_from_the_tables() -> None:
    boards = {row["name"]: row for row in json.loads(shell("boards", "--json").stdout)["boards"]}
    assert [r["name"] for r in boards["nucleo-h743zi"]["regions"]][:3] == ["flash", "dtcm", "axi_sram"]
    assert boards["nucleo-h743zi"]["core"] == "cortex-m7" and boards["cortex-m55"]["ram_bytes"] is None
    ops = {row["op"]: row for row in json.loads(shell("ops", "--json").stdout)["operators"]}
    assert "tflite CONV_2D" in ops["Conv2D"]["imports"]
    assert all(row["kernels"] for row in ops.values())


@pytest.mark.whole
def test_ops_of_a_name() -> None:
    """The name of an operator, or of a format, lists what has it; a part of a name all that contain it."""
    wanted = {"Conv2D": {"Conv2D"}, "conv_2d": {"Conv2D", "HybridConv2D"}, "softma": {"LogSoftmax", "Softmax"}}
    assert {name: {row["op"] for row in support_tables.operators(name)} for name in wanted} == wanted
    detail = shell("ops", "Conv2D").stdout
    assert detail.startswith("Conv2D  (tflite CONV_2D)")
    assert "Source: TFLite CONV_2D" in detail and "Bits of TensorFlow Lite Micro: s8, s16, f32" in detail
    assert "no operator's name contains 'frobnicate'" in shell("ops", "frobnicate").stderr


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["build", "missing.tflite", "-o", "out"], 2, "missing.tflite"),
        (["build", "model.txt", "-o", "out"], 2, ".tflite"),
        (["build", str(DIGITS), "--board", "cortex-m9", "-o", "out"], 2, "cortex-m"),
        (["build", str(DIGITS), "--name", "9lives", "-o", "out"], 2, "9lives"),
        (["build", str(DIGITS)], 2, "--output"),
        (["frobnicate"], 2, "frobnicate"),
    ],
)
def test_usage_errors_exit_with_2_and_leave_nothing(arguments: list[str], code: int, says: str, tmp_path: Path) -> None:
    (tmp_path / "model.txt").write_text("not a model")
    done = shell(*arguments, cwd=tmp_path)
    assert done.returncode == code and says in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


EARLY = {
    "a file for a folder": (["build", "-o", "taken.txt"], "not an earlier build"),
    "no such export": (["build", "-o", "out", "--export", "kmake"], "kmake"),
    "no build to note in": (["verify", "--into", "none"], "report.json"),
    "another board's build": (["simulate", "--board", "cortex-m4", "--into", "."], "'cortex-m7' there"),
    "no board": (["simulate"], "no emulated machine"),
    "no recording": (["verify", "--golden", "none.npz"], "cannot read 'none.npz'"),
    "no samples": (["run", "--input", "none.npy"], "cannot read 'none.npy'"),
    "no test": (["evaluate", "--data", "none.npz"], "cannot read 'none.npz'"),
    "no calibration": (["quantize", "--data", "none.npz", "-o", "y.tflite"], "cannot read 'none.npz'"),
    "no runtime": (["verify", "--runtime", "litert"], "is not installed"),
    "no port": (["validate", "--port", "none"], "cannot open 'none'"),
}


@pytest.mark.parametrize("name", EARLY)
def test_what_needs_no_model_is_said_before_one_is_read(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model is missing, too, which would be said when it is read."""
    arguments, says = EARLY[name]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    monkeypatch.setitem(runtimes.PACKAGES, "litert", ("ai-edge-litert", "no_such_module"))
    (tmp_path / "taken.txt").touch()
    (tmp_path / "report.json").write_text('{"board": "cortex-m7"}')
    monkeypatch.setattr(page, "checked", lambda document, where: document)
    error = CliRunner().invoke(cli, [arguments[0], "absent.tflite", *arguments[1:]]).exception
    assert isinstance(error, McugenError) and says in str(error) and "absent.tflite" not in str(error)


def test_a_damaged_model_exits_with_3(tmp_path: Path) -> None:
    (tmp_path / "cut.tflite").write_bytes(DIGITS.read_bytes()[:1000])
    done = shell("build", tmp_path / "cut.tflite", "-o", tmp_path / "out", "--json")
    assert done.returncode == 3 and json.loads(done.stdout)["error"]["kind"].endswith("Error")
    assert not (tmp_path / "out").exists()
