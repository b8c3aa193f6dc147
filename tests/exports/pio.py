# SPDX-License-Identifier: Apache-2.0
"""The files that PlatformIO would fetch from its registry, for a machine that reaches only PyPI.

Its build tool is SCons, which PyPI has; its platform is one that compiles for this machine, as its own `native` does.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

SCONS = """
import sys
from SCons.Script import main
sys.exit(main())
"""
PLATFORM = """
from platformio.platform.base import PlatformBase

class HostPlatform(PlatformBase):
    pass
"""
BUILDER = """
from SCons.Script import Default, DefaultEnvironment
env = DefaultEnvironment()
env.Replace(PROGNAME="program", PROGSUFFIX="")
Default([env.BuildProgram()])
"""


def write(folder: Path, tools: Path) -> dict[str, str]:
    """A core folder with SCons and a platform named host beside it; the environment that makes `pio` use them."""
    (wanted,) = (tools / "lib").glob("python3*/site-packages/platformio/dependencies.py")
    version = re.findall(r'"tool-scons": "~([\d.]+)"', wanted.read_text())[0]
    scons, platform = folder / "core" / "packages" / "tool-scons", folder / "platform"
    (platform / "builder").mkdir(parents=True)
    scons.mkdir(parents=True)
    named = {"name": "tool-scons", "version": version}
    (scons / "package.json").write_text(json.dumps(named))
    (scons / ".piopm").write_text(
        json.dumps({"type": "tool", **named, "spec": {"owner": "platformio", "name": "tool-scons"}})
    )
    (scons / "scons.py").write_text(SCONS)
    (platform / "platform.json").write_text(
        json.dumps({"name": "host", "title": "host", "version": "1.0.0", "description": "this machine", "packages": {}})
    )
    (platform / "platform.py").write_text(PLATFORM)
    (platform / "builder" / "main.py").write_text(BUILDER)
    return {
        "PLATFORMIO_CORE_DIR": str(folder / "core"),
        "PLATFORMIO_SETTING_ENABLE_TELEMETRY": "no",
        "PLATFORMIO_SETTING_CHECK_PLATFORMIO_INTERVAL": "9999",
    }
