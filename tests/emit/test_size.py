# SPDX-License-Identifier: Apache-2.0
"""The code of a tiny model on a Cortex-M4: start-up, model and kernels below 3 KB, and no RAM but the model object."""

from __future__ import annotations

from pathlib import Path

import mcugen
from mcugen.boards import target
from mcugen.machines.toolchain.cross import build_image
from tests.emit.built import Built, build

LIMIT_BYTES = 3 * 1024


def test_code_of_three_dense_layers(tmp_path: Path) -> None:
    built: Built = build("three_dense", tmp_path, board="cortex-m4")
    main = tmp_path / "main.c"
    main.write_text(
        '#include "three_dense.h"\nthree_dense_t model;\nint main(void) { three_dense_run(&model); return 0; }\n'
    )
    sources = [main, *(built.folder / source for source in built.sources())]
    image = build_image(
        target.load("cortex-m4", []), sources, [built.folder], tmp_path / "image", optimize="-Os", simulated=False
    )
    code = image.text_bytes + image.rodata_bytes - built.view.weights_size
    assert 500 < code < LIMIT_BYTES
    assert image.data_bytes == 0
    assert image.symbols["model"][1] == built.view.arena_size
    assert image.bss_bytes == image.symbols["model"][1]
    assert mcugen.__version__ in (built.folder / "three_dense.c").read_text()
