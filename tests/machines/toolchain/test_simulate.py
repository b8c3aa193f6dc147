"""Firmware on every emulated machine: files, exact counts, stack, failures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mcugen.boards import target
from mcugen.errors import MemoryBudgetError, ToolError, UsageError
from mcugen.machines.toolchain import cross, host_gcc, qemu
from mcugen.machines.toolchain.count import OUTSIDE
from mcugen.machines.toolchain.process import run_checked
from mcugen.system import resources

HERE = Path(__file__).parent
MACHINES = {
    "cortex-m0plus": "microbit",
    "cortex-m3": "mps2-an385",
    "cortex-m4": "mps2-an386",
    "cortex-m7": "mps2-an500",
    "cortex-m33": "mps2-an505",
    "cortex-m55": "mps3-an547",
    "cortex-m85": "mps3-an547",
    "rv32imc": "virt",
}


def _build(name: str, out: Path, source: str, **options: object) -> tuple[target.Target, cross.Image]:
    board = target.load(name)
    return board, cross.build_image(board, [HERE / source], [], out, **options)  # type: ignore[arg-type]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("core", [*MACHINES, "aarch64-linux"])
def test_exchanges_bytes_and_counts_exactly(core: str, tmp_path: Path) -> None:
    board, image = _build(core, tmp_path, "firmware.c", flags=host_gcc.STRICT_WARNINGS)
    assert image.emulator.machine == MACHINES.get(core, "max, QEMU's user mode")
    data = bytes(range(64))
    (tmp_path / "input.bin").write_bytes(data)

    first = qemu.run_image(image, board, cwd=tmp_path, timeout_s=30)
    assert first.exit_code == 42
    assert first.output == b"done\n"
    assert (tmp_path / "output.bin").read_bytes() == bytes(b ^ 0x5A for b in data)

    assert len(first.counts) == 2
    counts = first.counts[0].instructions
    assert counts == first.counts[1].instructions
    assert 2_000_000 < counts[0] < 2_000_010
    assert counts[0] - counts[1] in range(2 * 999_000 - 2, 2 * 999_000 + 3)  # loading the trip count: 1 to 3 more
    assert counts[2] - 37 in (1, 2)  # and the call of long_step
    assert (counts[3], counts[4], counts[5]) == (600, 1, 20)
    assert counts[OUTSIDE] == 1  # the return of long_step
    assert 1000 <= first.stack_bytes <= 1100

    assert qemu.run_image(image, board, cwd=tmp_path, timeout_s=30) == first


def test_without_counting_there_are_no_counts(tmp_path: Path) -> None:
    board, image = _build("cortex-m4", tmp_path, "firmware.c")
    (tmp_path / "input.bin").write_bytes(b"x")
    result = qemu.run_image(image, board, cwd=tmp_path, count=False)
    assert (result.exit_code, result.counts) == (42, [])
    assert sorted(p.name for p in tmp_path.glob("mcugen*")) == []


@pytest.mark.sampled(2)
@pytest.mark.parametrize("core", ["cortex-m0plus", "cortex-m4", "cortex-m33", "rv32imc"])
def test_fault_and_overflow_are_errors(core: str, tmp_path: Path) -> None:
    for way in ("FAULT", "OVERFLOW"):
        board, image = _build(core, tmp_path / way, "misbehave.c", defines=[way])
        with pytest.raises(ToolError, match="did not reach its end") as caught:
            qemu.run_image(image, board, cwd=tmp_path, timeout_s=20)
        assert "fault, status 0x" in caught.value.output
        assert core in str(caught.value) and image.emulator.machine in str(caught.value)


def test_stack_overflow_is_named_where_the_core_tells(tmp_path: Path) -> None:
    board, image = _build("cortex-m33", tmp_path, "misbehave.c", defines=["OVERFLOW"])
    with pytest.raises(ToolError) as caught:
        qemu.run_image(image, board, cwd=tmp_path)
    assert "(stack overflow)" in caught.value.output


def test_hang_is_ended(tmp_path: Path) -> None:
    board, image = _build("cortex-m4", tmp_path, "misbehave.c", defines=["HANG"])
    with pytest.raises(ToolError, match="qemu-system-arm: did not end within 1 s"):
        qemu.run_image(image, board, cwd=tmp_path, timeout_s=1)


@pytest.mark.parametrize("core", ["rv32imc", "aarch64-linux"])
@pytest.mark.parametrize(
    ("way", "message"),
    [
        ("GIVE_UP", "nothing to do"),
        ("NO_FILE", "cannot open the file absent.bin"),
        ("SHORT_FILE", "a file is shorter than the firmware wants to read"),
    ],
)
def test_firmware_that_gives_up_says_why(core: str, way: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "short.bin").write_bytes(b"1234567")
    board, image = _build(core, tmp_path, "misbehave.c", defines=[way])
    with pytest.raises(ToolError) as caught:
        qemu.run_image(image, board, cwd=tmp_path)
    assert caught.value.output == message + "\n"


def test_image_for_the_16_kb_machine_moves_on_when_larger(tmp_path: Path) -> None:
    small = _build("nucleo-g0b1re", tmp_path / "small", "misbehave.c", defines=["BIG=8192"])[1]
    assert small.emulator.machine == "microbit"
    assert "RAM 147,456 to 16,384 bytes" in small.note
    board, large = _build("nucleo-g0b1re", tmp_path / "large", "misbehave.c", defines=["BIG=65536"])
    assert large.emulator.machine == "mps2-an385"
    assert "Cortex-M3" in large.note
    assert qemu.run_image(large, board, cwd=tmp_path).exit_code == 0


def test_memory_that_is_over_is_named_with_the_bytes(tmp_path: Path) -> None:
    ram = target.load("nrf52840-dk").ram_bytes
    assert ram is not None
    fits = _build("nrf52840-dk", tmp_path / "fits", "misbehave.c", defines=[f"BIG={ram - 4096}"])[1]
    assert fits.bss_bytes == ram - 4096
    with pytest.raises(MemoryBudgetError, match=r"RAM of nrf52840-dk \(262,144 bytes\) is exceeded by 16 bytes"):
        _build("nrf52840-dk", tmp_path / "over", "misbehave.c", defines=[f"BIG={ram - 4096 + 16}"])


def test_further_ram_region_takes_placed_variables(tmp_path: Path) -> None:
    board, image = _build("nucleo-h743zi", tmp_path, "misbehave.c", defines=["PLACED"])
    assert image.symbols["fast"] == (0x20000000 + 128 * 1024, 1024)
    assert qemu.run_image(image, board, cwd=tmp_path).exit_code == 7


def test_m85_code_says_what_it_is_built_for(tmp_path: Path) -> None:
    image = _build("ek-ra8d1", tmp_path, "misbehave.c")[1]
    assert "Cortex-M85 code runs on the Cortex-M55" in image.note
    unknown = replace(target.load("cortex-m85").toolchain, flags=("-mcpu=cortex-m9999",))
    board = replace(target.load("cortex-m85"), toolchain=unknown)
    image = cross.build_image(board, [HERE / "misbehave.c"], [], tmp_path / "fallback")
    assert "built for cortex-m55" in image.note


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("core", "features"),
    [("cortex-m4", ["-fpu"]), ("cortex-m33", ["-dsp"]), ("cortex-m55", ["-mve"]), ("cortex-m85", ["-fpu"])],
)
def test_core_without_a_feature_still_runs(core: str, features: list[str], tmp_path: Path) -> None:
    board = target.load(core, features)
    image = cross.build_image(board, [HERE / "firmware.c"], [], tmp_path)
    (tmp_path / "input.bin").write_bytes(b"x")
    assert qemu.run_image(image, board, cwd=tmp_path).exit_code == 42


@pytest.mark.parametrize("core", MACHINES)
def test_bare_image_is_start_up_code_only(core: str, tmp_path: Path) -> None:
    image = _build(core, tmp_path, "misbehave.c", optimize="-Os", simulated=False)[1]
    assert 0 < image.text_bytes < 256
    assert (image.rodata_bytes, image.data_bytes, image.bss_bytes) == (0, 0, 0)
    assert image.flash_bytes == image.text_bytes
    assert image.stack_usage["main"] == 0
    assert "main" in image.symbols


@pytest.mark.parametrize("core", ["cortex-m0plus", "cortex-m55", "rv32imc"])
def test_start_up_code_has_no_warnings(core: str, tmp_path: Path) -> None:
    chain = target.load(core).toolchain
    common = resources.boards() / "_common"
    for source in (*chain.startup, common / "semihost.c"):
        for defines in ([], ["-DMCUGEN_SIMULATED"]):
            flags = [*chain.flags, *host_gcc.STRICT_WARNINGS, *defines, "-O2"]
            run_checked([chain.cc, *flags, "-c", source, "-o", tmp_path / "out.o"])
    assert (tmp_path / "out.o").stat().st_size > 0


def test_host_cannot_be_simulated(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="host has no emulated machine"):
        _build("host", tmp_path, "misbehave.c")


def test_compiler_messages_are_attached(tmp_path: Path) -> None:
    bad = tmp_path / "bad.c"
    bad.write_text("int main(void) { return nothing; }\n", encoding="utf-8")
    with pytest.raises(ToolError, match="arm-none-eabi-gcc: failed with exit status 1") as caught:
        cross.build_image(target.load("cortex-m4"), [bad], [], tmp_path)
    assert "'nothing' undeclared" in caught.value.output
