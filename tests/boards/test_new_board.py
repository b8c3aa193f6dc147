# SPDX-License-Identifier: Apache-2.0
"""`mcugen boards new`: board files that load, questions on a terminal, and nothing overwritten."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest

from mcugen.boards import target
from mcugen.cli import main


def typed(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(["boards", "new", *map(str, arguments)])
    out, err = capsys.readouterr()
    return int(ended.value.code or 0), out, err


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "name", [*[n for n in target.names() if target.load(n).regions][::8], "nucleo-wl55jc", "stm32f746-disco"]
)
def test_a_board_like_another_is_that_board(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = typed(capsys, "mine", "--like", name)
    assert status == 0 and out.startswith("mine/board.toml: "), err
    mine, theirs = target.load("mine"), target.load(name)
    assert (mine.core, mine.features, mine.clock_hz) == (theirs.core, theirs.features, theirs.clock_hz)
    assert (mine.flash_regions(), mine.ram_regions()) == (theirs.flash_regions(), theirs.ram_regions())
    assert mine.title == "mine"


def test_what_is_given_takes_the_place(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--clock", "48M", "--ram", "64K", "--ram", "back=8K@0x30000000", "--title", 'My "board" (µC1)']
    status, out, _ = typed(capsys, "mine", "--like", "nrf52840-dk", *options, "--source", "schematic 3")
    mine = target.load("mine")
    assert status == 0 and "cortex-m4 at 48 MHz, 1,048,576 bytes of flash, 65,536 of RAM" in out
    assert (mine.clock_hz, mine.ram_bytes, mine.title) == (48_000_000, 65_536, 'My "board" (µC1)')
    assert [(r.name, r.address, r.source) for r in mine.ram_regions()] == [
        ("sram", 0x20000000, "schematic 3"), ("back", 0x30000000, "schematic 3"),
    ]  # fmt: skip
    assert f"mcugen simulate MODEL --board {mine.name}" in out and str(target.resources.boards()) in out


def test_a_bare_core_takes_memories_with_addresses(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    memories = ["--flash", "256K@0x08000000", "--ram", "dtcm=64K@536870912"]
    status, out, err = typed(capsys, "mine", "--like", "cortex-m33", *memories, "--json")
    assert status == 0, err
    assert [(r["name"], r["address"]) for r in json.loads(out)["regions"]] == [("flash", 0x08000000), ("dtcm", 1 << 29)]
    assert target.load("mine").clock_hz is None


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["mine", "--like", "nrf52840-dk", "--ram", "much"], "is not a size"),
        (["mine", "--like", "nrf52840-dk", "--ram", "x@y"], "is not a memory"),
        (["mine", "--like", "nrf52840-dk", "--clock", "fast"], "is not a frequency"),
        (["mine", "--like", "nrf52840-dk", "--ram", "9M@0x0"], "expected an address past the end of"),
        (["mine", "--like", "cortex-m4"], "describes no flash"),
        (["mine", "--like", "cortex-m4", "--flash", "1M"], "has no address"),
        (["mine", "--like", "host"], "is not a microcontroller"),
        (["mine", "--like", "nothing"], "no board named"),
        (["mine"], "no board or core to copy from"),
        (["nrf52840-dk", "--like", "cortex-m4"], "ships with mcugen"),
        (["a b", "--like", "nrf52840-dk"], "cannot name a board"),
    ],
)
def test_what_is_wrong_leaves_nothing(
    arguments: list[str], says: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = typed(capsys, *arguments)
    assert status == 2 and says in err and not out and not list(folder.iterdir())


def test_nothing_is_overwritten(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert typed(capsys, "mine", "--like", "nrf52840-dk")[0] == 0
    before = (folder / "mine" / "board.toml").read_bytes()
    status, _, err = typed(capsys, "mine", "--like", "esp32-c3")
    assert status == 2 and "exists already" in err and (folder / "mine" / "board.toml").read_bytes() == before


def test_a_terminal_asks(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter(["nrf52840", "Mine (X1)", "32M", "", "32K", "my schematic"])
    asked = []

    def prompt(text: str, default: Any = None, **more: Any) -> Any:
        asked.append(text)
        return next(answers) or default

    monkeypatch.setattr(click, "prompt", prompt)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True))
    status, _, err = typed(capsys, "mine")
    assert status == 0 and len(asked) == 6, err
    mine, theirs = target.load("mine"), target.load("nrf52840-dk")
    assert (mine.title, mine.clock_hz, mine.ram_bytes) == ("Mine (X1)", 32_000_000, 32_768)
    assert mine.flash_regions() == theirs.flash_regions() and mine.ram_regions()[0].source == "my schematic"
