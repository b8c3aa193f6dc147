"""Every board file that ships, and boards from outside."""

from __future__ import annotations

import re
import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from mcugen.boards import target
from mcugen.boards.machine import UserMode
from mcugen.errors import UsageError
from mcugen.system import resources, toml_file

CORES = {
    "cortex-m0plus": set(),
    "cortex-m3": set(),
    "cortex-m4": {"dsp", "fpu", "multiple_loads"},
    "cortex-m7": {"dsp", "fpu"},
    "cortex-m33": {"dsp", "fpu", "multiple_loads"},
    "cortex-m55": {"dsp", "fpu", "mve", "mve_float"},
    "cortex-m85": {"dsp", "fpu", "mve", "mve_float"},
    "rv32imc": set(),
    "host": set(),
    "x86-64": {"avx2", "vnni", "fma"},
    "aarch64-linux": {"dotprod", "fma", "fpu", "neon"},
}
BOARDS = {
    "nucleo-l4r5zi": ("cortex-m4", 2048, 640),
    "stm32f746-disco": ("cortex-m7", 1024, 320),
    "nucleo-h743zi": ("cortex-m7", 2048, 512),
    "nucleo-h7a3zi": ("cortex-m7", 2048, 1024),
    "nucleo-u575zi": ("cortex-m33", 2048, 768),
    "nucleo-g0b1re": ("cortex-m0plus", 512, 144),
    "stm32f4-disco": ("cortex-m4", 1024, 128),
    "nrf52840-dk": ("cortex-m4", 1024, 256),
    "raspberry-pi-pico": ("cortex-m0plus", 2048, 264),
    "raspberry-pi-pico2": ("cortex-m33", 4096, 520),
    "teensy41": ("cortex-m7", 7936, 512),
    "ek-ra8d1": ("cortex-m85", 2016, 896),
    "esp32-c3": ("rv32imc", 4096, 384),
    "microbit-v1": ("cortex-m0plus", 256, 16),
    "microbit-v2": ("cortex-m4", 512, 128),
    "nrf52-dk": ("cortex-m4", 512, 64),
    "nrf5340-dk": ("cortex-m33", 1024, 512),
    "arduino-nano-33-ble": ("cortex-m4", 1024, 256),
    "nucleo-f103rb": ("cortex-m3", 128, 20),
    "nucleo-f401re": ("cortex-m4", 512, 96),
    "nucleo-f411re": ("cortex-m4", 512, 128),
    "nucleo-f446re": ("cortex-m4", 512, 128),
    "nucleo-g474re": ("cortex-m4", 512, 128),
    "nucleo-l476rg": ("cortex-m4", 1024, 96),
}


REAL = [name for name in target.names() if not target.load(name).is_core]


def test_names_are_the_folders() -> None:
    folders = {path.parent.name for path in resources.boards().glob("[!_]*/board.toml")}
    assert target.names() == tuple(sorted(folders))
    assert {*CORES, *BOARDS} <= folders


@pytest.mark.parametrize("name", CORES)
def test_bare_core_has_its_features_and_no_budget(name: str) -> None:
    core = target.load(name)
    assert core.is_core
    assert core.core == name
    assert core.features == CORES[name]
    assert (core.ram_bytes, core.flash_bytes, core.clock_hz, core.regions) == (None, None, None, ())
    assert bool(core.emulators) != core.is_host


@pytest.mark.parametrize("name", BOARDS)
def test_board_has_its_core_and_sizes(name: str) -> None:
    board = target.load(name)
    core, flash_kib, ram_kib = BOARDS[name]
    assert not board.is_core
    assert (board.core, board.features) == (core, CORES[core])
    assert (board.flash_bytes, board.ram_bytes) == (flash_kib * 1024, ram_kib * 1024)
    assert board.toolchain == target.load(core).toolchain
    assert board.emulators == target.load(core).emulators


@pytest.mark.parametrize("name", REAL)
def test_regions_are_apart_sourced_and_useful(name: str) -> None:
    board = target.load(name)
    assert board.clock_hz is None or 1_000_000 <= board.clock_hz <= 1_000_000_000
    for a, b in pairwise(sorted(board.regions, key=lambda r: r.address)):
        assert a.address + a.size_bytes <= b.address, f"{a.name} overlaps {b.name}"
    for region in board.regions:
        assert len(region.source) > 10
        assert region.holds <= ({"code", "weights"} if region.kind == "flash" else {"model", "stack"})
    assert "code" in board.flash_regions()[0].holds
    assert {"model", "stack"} <= board.ram_regions()[0].holds
    assert board.total_ram_bytes is not None and board.ram_bytes is not None
    assert board.total_ram_bytes >= board.ram_bytes >= 2048


def test_the_chips_in_titles_find_their_boards() -> None:
    """Each chip that a title names in parentheses; a board whose chip another has too does not name it there.

    One chip is a bare core as well.
    """
    found = 0
    for name in REAL:
        inside = re.search(r"\(([^);]*)", target.load(name).title)
        for chip in re.findall(r"\b[A-Za-z]+\d+\w*", inside[1]) if inside else []:
            found += 1
            assert target.load(chip).name == target.load(chip.lower()).name
            assert target.load(chip).name in (name, chip.lower())
    assert found >= 40


def test_a_chip_may_lack_what_its_core_has(tmp_path: Path) -> None:
    board = target.load(str(_outside_board(tmp_path, ('core = "cortex-m4"', 'core = "cortex-m4"\nlacks = ["fpu"]'))))
    assert board.features == target.load("cortex-m4", ["-fpu"]).features == {"dsp", "multiple_loads"}
    assert board.toolchain == target.load("cortex-m4", ["-fpu"]).toolchain
    assert target.load("stm32wl55").features == board.features


@pytest.mark.parametrize("name", [n for n in CORES if n != "host"])
def test_emulated_memories_are_apart(name: str) -> None:
    for emulator in target.load(name).emulators:
        if isinstance(emulator, UserMode):
            continue
        spans = [s for s in (emulator.vectors, emulator.code, emulator.ram) if s is not None]
        for a, b in pairwise(sorted(spans, key=lambda s: s.address)):
            assert a.address + a.size_bytes <= b.address


def test_features_switch_off() -> None:
    assert target.load("cortex-m4", ["-dsp"]).features == {"fpu"}
    soft = target.load("cortex-m4", ["-fpu", "dsp"])
    assert soft.features == {"dsp", "multiple_loads"}
    assert soft.toolchain.flags == ("-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=soft")
    scalar = target.load("cortex-m55", ["-mve"])
    assert scalar.features == {"dsp", "fpu"}
    assert scalar.toolchain.flags[0] == "-mcpu=cortex-m55+nomve"
    assert target.load("cortex-m55", ["-mve_float"]).toolchain.flags[0] == "-mcpu=cortex-m55+nomve.fp"
    assert target.load("cortex-m85", ["-fpu"]).features == {"dsp"}


def test_feature_that_the_core_lacks_is_refused() -> None:
    with pytest.raises(UsageError, match="cortex-m4 has no feature 'mve'") as caught:
        target.load("cortex-m4", ["-mve"])
    assert "dsp, fpu" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("nucleo-h743", "did you mean nucleo-h743zi"),
        ("pico", "did you mean raspberry-pi-pico or raspberry-pi-pico2"),
        ("esp32-s3", "no Xtensa core"),
        ("ESP32-P4", "esp32-c3 and esp32-c6"),
        ("jetson", "the board `aarch64-linux`"),
        ("ethos-u55", "accelerators"),
    ],
)
def test_unknown_board_names_the_nearest_or_what_to_build_for_instead(name: str, hint: str) -> None:
    with pytest.raises(UsageError, match=f"no board named '{name}'") as caught:
        target.load(name)
    assert hint in caught.value.hint
    assert "`mcugen boards TEXT`" in caught.value.hint
    assert len(caught.value.hint) < 400


def test_every_absent_board_is_absent_and_gets_the_words_of_one_entry() -> None:
    entries = toml_file.read(resources.boards() / "_absent.toml", "").tables("absent")
    for entry in entries:
        words = entry.string("words")
        for name in entry.strings("names"):
            assert name not in target.names()
            assert target.advice(name) == words + " "


def _outside_board(folder: Path, edit: tuple[str, str] = ("", "")) -> Path:
    board = folder / "my-board"
    shutil.copytree(resources.boards() / "_template", board)
    file = board / "board.toml"
    text = file.read_text(encoding="utf-8")
    assert edit[0] in text
    file.write_text(text.replace(*edit, 1) if edit[0] else text, encoding="utf-8")
    return board


def test_copied_template_is_a_board(tmp_path: Path) -> None:
    board = target.load(str(_outside_board(tmp_path)))
    assert (board.name, board.core, board.clock_hz) == ("my-board", "cortex-m4", 100_000_000)
    assert (board.flash_bytes, board.ram_bytes) == (524288, 131072)
    assert board.flash_regions()[0].wait_states == 3
    assert board.emulator == target.load("cortex-m4").emulator


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("size_bytes = 524288", "size_bytes = 0", "region[0].size_bytes is 0, expected an integer in 1..4294967296"),
        ("size_bytes = 524288", 'size_bytes = "1 MB"', "region[0].size_bytes is '1 MB'"),
        ("size_bytes = 524288", "sizebytes = 524288", "region[0].size_bytes is nothing"),
        ("external = false", "external = 0", "region[0].external is 0, expected true or false"),
        ("wait_states = 3", "wait_state = 3", "region[0].wait_state is not a known key"),
        ("wait_states = 3", "bytes_per_cycle = 4", "region[0].bytes_per_cycle is 4.0, expected line_bytes as well"),
        ("wait_states = 3", "line_bytes = 8\nbytes_per_cycle = 16", "bytes_per_cycle is 16, expected a number in 0."),
        ("wait_states = 3", "line_bytes = 8\nbytes_per_cycle = 0", "bytes_per_cycle is 0, expected a number in 0."),
        ("wait_states = 3", 'line_bytes = 8\nbytes_per_cycle = "2"', "bytes_per_cycle is '2', expected a number"),
        (
            '[[region]]\nname = "flash"',
            '[estimate]\nchecked = "a"\noff = [1.1, 1.2]\n[[region]]\nname = "flash"',
            "estimate.off is [1.1, 1.2]",
        ),
        (
            '[[region]]\nname = "flash"',
            '[estimate]\nchecked = "a"\noff = [0.9]\n[[region]]\nname = "flash"',
            "off is [0.9], expected a list of 2",
        ),
        (
            '[[region]]\nname = "flash"',
            '[estimate]\noff = [0.9, 1.1]\n[[region]]\nname = "flash"',
            "estimate.checked is nothing",
        ),
        (
            '[[region]]\nname = "flash"',
            '[energy]\npj_per_cycle = [150, 140]\nsource = "a"\n[[region]]\nname = "flash"',
            "energy.pj_per_cycle is [150.0, 140.0], expected [LEAST, MOST]",
        ),
        (
            '[[region]]\nname = "flash"',
            '[energy]\npj_per_cycle = [140, 150]\n[[region]]\nname = "flash"',
            "energy.source is nothing",
        ),
        ('kind = "ram"', 'kind = "dram"', "region[1].kind is 'dram', expected one of flash, ram"),
        ('holds = ["model", "stack"]', 'holds = ["stack"]', "expected a ram region that holds model"),
        ('name = "sram"', 'name = "flash"', "expected a different name for each region"),
        ("address = 0x20000000", "address = 0x08000100", "expected an address past the end of flash"),
        ('core = "cortex-m4"', 'core = "cortex-m5"', "core is 'cortex-m5'"),
        ('core = "cortex-m4"', 'core = "teensy41"', "core is 'teensy41'"),
        ('core = "cortex-m4"', "", "cpu is nothing, expected a table"),
        ('core = "cortex-m4"', 'core = "cortex-m4"\nlacks = ["mve"]', "lacks is 'mve', expected one of dsp, fpu"),
        ('title = "', "title = ", "not a TOML file"),
        ("clock_hz = 100000000", 'clock_hz = "fast"', "clock_hz is 'fast'"),
        ('source = "reference manual, memory map"', 'source = ""', "region[0].source is ''"),
    ],
)
def test_wrong_board_file_names_file_key_and_value(tmp_path: Path, old: str, new: str, message: str) -> None:
    board = _outside_board(tmp_path, (old, new))
    with pytest.raises(UsageError, match=re.escape(message)) as caught:
        target.load(str(board))
    assert str(board / "board.toml") in str(caught.value)


def test_bytes_per_cycle_needs_the_clock_whose_cycles_they_are(tmp_path: Path) -> None:
    folder = _outside_board(tmp_path, ("wait_states = 3", "line_bytes = 8\nbytes_per_cycle = 1.5"))
    assert target.load(str(folder)).flash_regions()[0].line_waits == 5  # eight bytes come in six cycles
    file = folder / "board.toml"
    file.write_text(file.read_text("utf-8").replace("clock_hz = ", "# "), "utf-8")
    with pytest.raises(UsageError, match=r"bytes_per_cycle is 1\.5, expected clock_hz of the board"):
        target.load(str(folder))


def test_board_may_bring_toolchain_and_startup_of_its_own(tmp_path: Path) -> None:
    board = _outside_board(tmp_path)
    (board / "startup_mine.c").write_text("", encoding="utf-8")
    with (board / "board.toml").open("a", encoding="utf-8") as file:
        file.write(
            '[toolchain]\nprefix = "x-"\npackage = "p"\nflags = []\nlink_flags = []\n'
            'startup = ["startup_mine.c"]\nsections = "sections.ld"\n'
        )
    chain = target.load(str(board)).toolchain
    assert (chain.cc, chain.size) == ("x-gcc", "x-size")
    assert chain.startup == (board / "startup_mine.c",)
    assert chain.sections == resources.boards() / "_common" / "sections.ld"


def test_external_memories_are_there_only_where_named() -> None:
    board = target.load("stm32f746-disco")
    assert {r.name: r.external for r in board.regions} == {
        "flash": False, "sram": False, "sdram": True, "qspi": True,
    }  # fmt: skip
    assert [r.name for r in target.with_regions(board, ()).regions] == ["flash", "sram"]
    named = target.with_regions(board, (("sdram", None),))
    assert [r.name for r in named.regions] == ["flash", "sram", "sdram"]
    assert named.ram_bytes == 8 * 1024 * 1024
    constants = target.with_regions(board, (), (("sdram", None), ("qspi", None)))
    assert [r.name for r in constants.regions] == ["flash", "sram", "sdram", "qspi"]
    assert (constants.ram_bytes, constants.flash_bytes) == (320 * 1024, 17 * 1024 * 1024)


def test_a_bare_core_takes_the_regions_it_is_given() -> None:
    core = target.with_regions(target.load("cortex-m7"), (("dtcm", 65536), ("sram", 262144)))
    assert [(r.name, r.kind, r.size_bytes, r.holds) for r in core.regions] == [
        ("dtcm", "ram", 65536, {"model"}),
        ("sram", "ram", 262144, {"model"}),
    ]


def test_a_board_says_how_much_code_it_keeps() -> None:
    """The cache in front of the flash of the code, where that flash has wait states."""
    known = {name: target.load(name).loop_bytes for name in target.names()}
    assert known["nucleo-l4r5zi"] == known["stm32f4-disco"] == 1024
    assert known["cortex-m4"] is None and known["nucleo-g0b1re"] is None and known["stm32f746-disco"] is None


@pytest.mark.parametrize(
    ("chip", "board"),
    [
        ("stm32h743", "nucleo-h743zi"),
        ("ATSAMD21", "arduino-zero"),
        ("mimxrt1062", "teensy41"),
        ("STM32H743ZIT6", "nucleo-h743zi"),
        ("nRF52840", "nrf52840-dk"),
        ("rp2040", "raspberry-pi-pico"),
        ("esp32c3", "esp32-c3"),
        ("k64f", "frdm-k64f"),
        ("stm32f103c8t6", "stm32-bluepill"),
        ("stm32l4r5", "nucleo-l4r5zi"),
    ],
)
def test_a_chip_finds_its_board(chip: str, board: str) -> None:
    assert target.load(chip).name == board


@pytest.mark.parametrize("name", ["stm32", "stm32f9", "stm32f103", "esp32", "cortexm9", "pico", ""])
def test_a_name_that_is_not_one_chip_s_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="no board named"):
        target.load(name)
