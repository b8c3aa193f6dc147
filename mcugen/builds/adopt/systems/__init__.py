"""Build systems, one module each, found without a list: how firmware comes to compile the C of its models.

A module has `claims(tree, folder, sources)`, whether the folder's build file compiles these sources, and `lines(tree,
folder, sources, code)`, the edits of build files and sources by path. It may have `FOLDER`, where the code goes in the
folder of the build file, `adapted(code files)`, which changes them, and `EMBEDS`, the name of a build file that
puts files into the firmware as they are: `lines` takes models out of it.
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType


def modules() -> dict[str, ModuleType]:
    """The build systems by name."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {name.replace("_", "-"): importlib.import_module(f"{__name__}.{name}") for name in names}
