# SPDX-License-Identifier: Apache-2.0
"""Instructions of TFLM's library of the front end (microfrontend) for a window, on emulated cores.

    tensorflow/lite/micro/tools/make/kissfft_download.sh tensorflow/lite/micro/tools/make/downloads  # in tflite-micro
    python -m tests.bench.microfrontend TFLITE_MICRO [CORE...]

Prints the mean of six windows of noise at full scale, and the transform alone. gcc -O2, as for mcugen's C.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from mcugen.boards import target
from mcugen.machines.toolchain import cross, qemu

CORES = "cortex-m4", "cortex-m0plus"
LIBRARY = "tensorflow/lite/experimental/microfrontend/lib"
KISSFFT = "tensorflow/lite/micro/tools/make/downloads/kissfft"
SOURCES = (
    *("fft.cc", "fft_util.cc", "kiss_fft_int16.cc", "filterbank.c", "filterbank_util.c", "frontend.c"),
    *("frontend_util.c", "log_lut.c", "log_scale.c", "log_scale_util.c", "noise_reduction.c"),
    *("noise_reduction_util.c", "pcan_gain_control.c", "pcan_gain_control_util.c", "window.c", "window_util.c"),
)
FLAGS = "-w", "-fno-exceptions", "-fno-unwind-tables", "-fno-asynchronous-unwind-tables"


def counted(tree: Path, core: str, folder: Path) -> tuple[int, int]:
    """Instructions of a window, and of the transform in it."""
    board = target.load(core)
    (folder / "cstdint").write_text("#include <stdint.h>\n")  # the only C++ header that is included
    sources = [*(tree / LIBRARY / name for name in SOURCES), Path(__file__).with_suffix(".c")]
    include = [tree, tree / KISSFFT, folder]
    image = cross.build_image(board, sources, include, folder, flags=FLAGS, stack_bytes=8192)
    ran = qemu.run_image(image, board, cwd=folder, reads=False)
    *windows, transform = [found.total for found in ran.counts]
    assert ran.exit_code == 0
    return round(sum(windows) / len(windows)), transform


def main(tree: str, *cores: str) -> None:
    for core in cores or CORES:
        with tempfile.TemporaryDirectory() as folder:
            window, transform = counted(Path(tree).resolve(), core, Path(folder))
        print(f"{core}: {window:,} instructions a window, {transform:,} of them for the transform")


if __name__ == "__main__":
    main(*sys.argv[1:])
