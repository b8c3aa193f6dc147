# SPDX-License-Identifier: Apache-2.0
"""docs/first-model.md as it stands there, with the real tools: `python -m tests.formats.first_models [TITLE...]`.

Each section runs in an environment and a folder of its own, and must end with the classes of the first ten samples of
its test, right, from the emulated core. `--python PATH` uses an environment that has mcugen and the tool.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "first-model.md"


def sections() -> dict[str, str]:
    """Title -> text of each section with install commands."""
    found = dict(re.findall(r"^## (.*)\n((?:(?!^## ).*\n)*)", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    return {title: text for title, text in found.items() if "pip install" in text}


def python_for(text: str, folder: Path) -> str:
    """The interpreter of an environment with what a section installs, mcugen from this checkout."""
    venv.create(folder, with_pip=True)
    (line,) = re.findall(r"`pip install (.*?)`", text)
    wanted = [part.replace("mcugen", str(ROOT), 1) for part in shlex.split(line)]
    subprocess.run([folder / "bin" / "pip", "install", "--quiet", *wanted], check=True)
    return str(folder / "bin" / "python")


def blocks(text: str) -> tuple[str, list[str]]:
    """The Python of a section as one program, and its mcugen commands; LookupError where one of them is missing."""
    code = "".join(re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE))
    shell = "".join(re.findall(r"^```shell\n(mcugen.*?)^```", text, re.DOTALL | re.MULTILINE))
    if not code or not shell:
        raise LookupError(f"no Python or no mcugen command in a section of {PAGE.name}")
    return code, shell.splitlines()


def check(text: str, python: str, place: Path) -> str:
    """The output of a section's last command, after its Python code and its other commands ran."""
    paths = os.pathsep.join([str(Path(python).parent), os.environ["PATH"]])
    given = {"cwd": place, "env": os.environ | {"PATH": paths}, "capture_output": True, "text": True, "check": True}
    code, commands = blocks(text)
    subprocess.run([python, "-c", code], **given)
    for line in commands:
        printed = subprocess.run([python, "-m", *shlex.split(line, comments=True)], **given).stdout
    return printed


def main(arguments: list[str]) -> int:
    given = arguments[arguments.index("--python") + 1] if "--python" in arguments else ""
    named = [a for a in arguments if a != "--python" and a != given]
    wrong = 0
    found = sections()
    for title in named or found:
        text = found[title]
        with tempfile.TemporaryDirectory() as folder:
            started = time.monotonic()
            python = given or python_for(text, Path(folder) / "venv")
            installed = time.monotonic()
            (Path(folder) / "place").mkdir()
            try:
                is_right = "10 of 10 right" in check(text, python, Path(folder) / "place")
            except subprocess.CalledProcessError as error:
                print(error.stderr[-1500:])
                is_right = False
        times = f"{installed - started:.0f} s installing, {time.monotonic() - installed:.0f} s the rest"
        print(f"{title}: {'the ten classes are right' if is_right else 'WRONG'}, {times}", flush=True)
        wrong += not is_right
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
