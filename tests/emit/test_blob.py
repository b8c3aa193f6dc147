# SPDX-License-Identifier: Apache-2.0
"""Constants as one block: read in place at an address, or copied layer by layer; and blocks that are refused."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import pytest

import mcugen
from mcugen.builds import weights_blob
from mcugen.emit import blob
from mcugen.emit.command import command_of, options_of
from mcugen.errors import UsageError
from mcugen.machines.toolchain.process import run_checked
from mcugen.options import Options
from tests.emit.built import WARNINGS, Built, build
from tests.formats.onnx_models import Writer

ROOT = Path(__file__).resolve().parents[2]
DIGITS = ROOT / "examples" / "digits" / "digits.tflite"
SWEEPS = ROOT / "examples" / "microphone" / "sweeps.tflite"
LOADER = """
#include <stdio.h>
#include "digits.h"
static digits_t m;
static MCUGEN_ALIGNED(8) uint8_t block[DIGITS_BLOB_SIZE + 8];
int main(int n, char **files)
{
    printf("%d", digits_load(&m, digits_blob, sizeof digits_blob));
    for (int i = 1; i < n; i += 1) {
        FILE *const f = fopen(files[i], "rb");
        const size_t size = fread(block, 1, sizeof block, f);
        fclose(f);
        const uint8_t *const before = m.weights;
        const int code = digits_load(&m, block, size);
        printf(" %d%s", code, m.weights == (code == 0 ? block : before) ? "" : "!");
    }
    printf(" %d %d", digits_load(&m, block + 1, sizeof block), digits_load(&m, NULL, 0));
    printf(" %d\\n", digits_selftest(&m));
    return 0;
}
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("model", "options"),
    [
        (DIGITS, {"optimize": "ram", "fetch_weights": True}),
        (SWEEPS, {"input_mode": "frames", "weights_blob": True}),
    ],
)
def test_the_bits_stay(tmp_path: Path, model: Path, options: dict[str, str | bool]) -> None:
    made = mcugen.compile(model, export=("make",), selftest=True, no_report=True, **options)
    made.write(tmp_path)
    flags = f"CFLAGS=-O1 -fsanitize=address,undefined -fno-sanitize-recover=all {' '.join(WARNINGS)}"
    run_checked(["make", "-j2", "-f", "mcugen.mk", flags, f"{made.name}_example"], cwd=tmp_path)
    run_checked([tmp_path / f"build/mcugen/{made.name}_example"])
    plain = mcugen.compile(model, export=("none",), **{key: options[key] for key in options if "weights" not in key})
    more = made.report.ram_bytes - plain.report.ram_bytes
    most = max(made.view.blob.stage_bytes, default=0)
    assert more == made.view.blob.object_bytes if not most else 0 < more < most


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build("digits", tmp_path_factory.mktemp("blob"), selftest=True, weights_blob=True)


def test_blocks_that_do_not_belong_are_refused(digits: Built, tmp_path: Path) -> None:
    good = (digits.folder / "digits.blob").read_bytes()
    flipped = bytearray(good)
    flipped[len(good) // 2] ^= 1
    other = blob.renumbered(mcugen.compile(SWEEPS, weights_blob=True).emitted["sweeps.blob"], 1)
    newer = good[:4] + struct.pack("<I", 2) + good[8:]
    blocks = {"ok": blob.renumbered(good, 7), "flip": flipped, "other": other, "format": newer, "cut": good[:-8]}
    header = bytearray(good)
    header[9] ^= 4
    blocks |= {"header": header, "empty": b""}
    for name, data in blocks.items():
        (tmp_path / name).write_bytes(data)
    out = digits.program(driver=LOADER)
    told = run_checked([out, *(tmp_path / name for name in blocks)]).stdout.decode().split()
    assert told == ["0", "0", "5", "3", "2", "4", "5", "2", "1", "1", "0"]


def test_pack_for_the_code_in_the_field(digits: Built, tmp_path: Path) -> None:
    data = weights_blob.pack(DIGITS, digits.folder, 9)
    told = blob.header_of(data, "here")
    assert told.version == 9 and data[blob.HEADER :] == (digits.folder / "digits.blob").read_bytes()[blob.HEADER :]
    retrained = bytearray(DIGITS.read_bytes())
    constants = (t.data for t in digits.artifact.imported.tensors.values() if t.data is not None)
    weights = next(data for data in constants if data.size > 3000)
    at = retrained.index(weights.tobytes())
    retrained[at : at + 16] = bytes((byte ^ 1) for byte in retrained[at : at + 16])
    (tmp_path / "digits.tflite").write_bytes(retrained)
    changed = weights_blob.pack(tmp_path / "digits.tflite", digits.folder, 10)
    assert len(changed) == len(data) and changed[blob.HEADER :] != data[blob.HEADER :]
    with pytest.raises(UsageError, match="cannot change code") as caught:
        weights_blob.pack(SWEEPS, digits.folder, 1)
    assert "digits" in str(caught.value) and "`mcugen quantize --ranges-of`" in caught.value.hint
    w = Writer()
    (tmp_path / "v2.onnx").write_bytes(w.model(w.node("Relu", [w.input((1, 4))])).SerializeToString())
    with pytest.raises(UsageError, match=r"has the arithmetic of a \.tflite model") as caught:
        weights_blob.pack(tmp_path / "v2.onnx", digits.folder, 1)
    assert "`mcugen quantize v2.onnx --ranges-of OLD.tflite -o NEW.tflite`" in caught.value.hint


def test_pack_wants_a_folder_with_a_block(tmp_path: Path) -> None:
    made = mcugen.compile(DIGITS)
    made.write(tmp_path / "out")
    with pytest.raises(UsageError, match="no block of constants"):
        weights_blob.pack(DIGITS, tmp_path / "out", 1)
    assert {path.name for path in weights_blob.files_of(tmp_path / "out")} == {Path(name).name for name in made.files}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("flags", [("weights_blob", "amalgamate"), ("weights_blob", "fetch_weights")])
def test_what_excludes_each_other(flags: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="exclude"):
        Options(**dict.fromkeys(flags, True))
    with pytest.raises(UsageError, match="single memory"):
        mcugen.compile(DIGITS, board="cortex-m7", region="fast=1K,slow=64K", weights_blob=True)


def test_the_command_gives_its_options_back() -> None:
    options = Options(board="cortex-m7", region="dtcm=64K,sram", features="-dsp", selftest=True, reference="tflm")
    assert options_of(command_of(options, "digits", "tflite")).region == "dtcm=64K,sram"
    again = options_of(command_of(options, "digits", "tflite"))
    assert (again.features, again.board, again.selftest, again.name) == ("-dsp", "cortex-m7", True, "digits")
    layouts = {"input_layout": "nhwc", "output_layout": "nchw", "input_shape": ("x:1,3,8,8", "y z:1,2")}
    every = Options(
        board="my boards/one.toml", clock="168M", kernels_dir="../k", signature="its name", reference="tflm", **layouts
    )
    back = options_of(command_of(every, "digits", "tflite"))
    assert back == replace(every, name="digits", export=back.export)
    with pytest.raises(ValueError, match="--nothing"):
        options_of("mcugen build MODEL.tflite --nothing")
