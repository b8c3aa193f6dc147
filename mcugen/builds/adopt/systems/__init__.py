"""Build systems, one module each: the edits with which a firmware compiles the C of its models.

A module has these functions:

* claims(tree, folder, sources): whether the build file in `folder` compiles these sources
* lines(tree, folder, sources, code): path -> edits of build files and sources
* adapted(files), optional: the files of the code, changed for this build system

and these optional names: FOLDER, the folder for the code beside the build file; EMBEDS, the name of a build file that
puts files into the firmware byte by byte (`lines` then removes the models from it).
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType


def modules() -> dict[str, ModuleType]:
    """Name -> module of each build system."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {name.replace("_", "-"): importlib.import_module(f"{__name__}.{name}") for name in names}
