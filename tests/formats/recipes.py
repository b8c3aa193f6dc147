"""The lines that turn files of other tools into models, run with these tools: `python -m tests.formats.recipes`.

Each recipe that states what it needs gets an environment of its own, where a small model is made, the recipe is run,
and mcugen builds what came of it. `--python PATH` uses an environment that is there.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import mcugen
from mcugen.errors import McugenError
from mcugen.formats._foreign import Kind, kinds


def python_for(kind: Kind, folder: Path) -> str:
    """The interpreter of an environment with what a recipe needs."""
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", *kind.needs.split()], check=True)
    return python


def lines_of(error: McugenError) -> str:
    """The Python of a refusal: the indented lines of its hint."""
    return "\n".join(line[4:] for line in error.hint.splitlines() if line.startswith("    "))


def check(kind: Kind, python: str, place: Path) -> str:
    """The failure of a recipe; "" if a model was built."""
    name = f"net.{kind.suffixes[0]}" if kind.suffixes else "net"
    subprocess.run([python, "-c", kind.makes.replace("FILE", name)], cwd=place, check=True, capture_output=True)
    try:
        mcugen.compile(place / name)
        return "mcugen reads it as it is"
    except McugenError as error:
        refused = error
    if refused.where != name or kind.title not in refused.message:
        return f"not recognised: {refused}"
    lines = [python, "-c", lines_of(refused)]
    paths = {"PYTHONPATH": str(Path(mcugen.__file__).parents[1])}
    done = subprocess.run(lines, cwd=place, capture_output=True, text=True, check=False, env=os.environ | paths)
    made = [path for path in place.iterdir() if re.fullmatch(r"net\.(tflite|onnx)", path.name)]
    if done.returncode or not made:
        return done.stderr[-500:] or "no model came of it"
    mcugen.compile(made[0])
    return ""


def main(arguments: list[str]) -> int:
    given = arguments[arguments.index("--python") + 1] if "--python" in arguments else ""
    failed = 0
    for kind in (k for k in kinds() if k.needs):
        with tempfile.TemporaryDirectory() as folder:
            python = given or python_for(kind, Path(folder) / "venv")
            (Path(folder) / "place").mkdir()
            result = check(kind, python, Path(folder) / "place")
        print(f"{kind.title}: {result or 'becomes a model'}", flush=True)
        failed += bool(result)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
