# SPDX-License-Identifier: Apache-2.0
"""The C runtime with its copies: the files of all families in one folder mcugen/."""

from __future__ import annotations

import atexit
import functools
import shutil
import tempfile
from pathlib import Path

from mcugen.system import resources


@functools.cache
def include() -> Path:
    """The folder to give with -I; it lasts as long as the process."""
    root = Path(tempfile.mkdtemp(prefix="mcugen-include-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    (root / "mcugen").mkdir()
    for name, file in resources.c_files().items():
        (root / "mcugen" / name).write_text(file.text, encoding="utf-8")
    return root


def sources() -> list[Path]:
    """Every kernel's C file, beside the headers of `include`."""
    return sorted((include() / "mcugen").glob("*.c"))
