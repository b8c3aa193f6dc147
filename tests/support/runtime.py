# SPDX-License-Identifier: Apache-2.0
"""The C runtime as a build's output has it: the headers of all families in one folder mcugen/."""

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
    for name, path in resources.c_files().items():
        if path.suffix == ".h":
            (root / "mcugen" / name).symlink_to(path)
    return root


def sources() -> list[Path]:
    """Every kernel's C file."""
    return [path for path in resources.c_files().values() if path.suffix == ".c"]
