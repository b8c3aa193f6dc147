# SPDX-License-Identifier: Apache-2.0
"""Names of emitted kernels: what C compilers keep apart, and apart between versions of mcugen."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import mcugen
from mcugen.emit import bundle
from mcugen.emit.bundle import MAX_NAME, Bundle
from mcugen.errors import InternalError
from mcugen.machines.toolchain.process import run_checked
from mcugen.system import resources
from tests.emit import name_sweep
from tests.emit.built import ROOT, Built, build, model_file

LONGEST_PREFIX = "x" * 12
KERNEL = re.compile(r"mg_\w{1,15}_[0-9a-f]{6}(_row|_rows|_begin|_end)?|mg_planar_s8_(row|clamp)_[0-9a-f]{6}")
BUILDS = (
    ("digits", "cortex-m0plus"), ("image_net", "cortex-m4"), ("image_net", "cortex-m55"), ("image_net", "cortex-m7"),
    ("s8_split", "cortex-m4"), ("f32_conv_2d", "cortex-m55"), ("f32_conv_2d", "cortex-m4"),
)  # fmt: skip


def external_names(built: Built, objects: Path) -> set[str]:
    """The external symbols that the objects of a build define."""
    objects.mkdir()
    for source in built.sources():
        built.gcc("-c", source, "-o", objects / f"{Path(source).stem}.o")
    listed = run_checked(["nm", "-g", "--defined-only", "-P", *objects.glob("*.o")]).stdout.decode()
    return {line.split()[0] for line in listed.splitlines() if " " in line}


@pytest.mark.sampled(16)
@pytest.mark.parametrize(("model", "board"), BUILDS)
@pytest.mark.parametrize("input_mode", ["whole", "rows"])
def test_names_have_at_most_31_characters(model: str, board: str, input_mode: str, tmp_path: Path) -> None:
    mode = input_mode if model == "image_net" else "whole"
    built = build(model, tmp_path, board=board, name=LONGEST_PREFIX, selftest=True, input_mode=mode)
    names = external_names(built, tmp_path / "objects")
    assert max(map(len, names)) <= MAX_NAME
    assert all(KERNEL.fullmatch(name) or name.startswith(f"{LONGEST_PREFIX}_") for name in names), names
    files = [Path(path).name for path in built.artifact.files if path.startswith(("kernels/", "mcugen/"))]
    assert max(map(len, files)) <= MAX_NAME and len({f.lower() for f in files}) == len(files)


def test_every_kernel_has_a_name_of_its_own() -> None:
    """Beside its hash: whoever reads a map file finds the kernel."""
    known = {k.symbol: k for k in bundle.known()}
    assert len({k.short_name for k in known.values()}) == len(known) > 200
    assert all(re.fullmatch(r"[a-z][a-z0-9_]{0,14}", k.short_name) for k in known.values())


def test_names_stand_for_all_that_a_file_says() -> None:
    """The text of a file, names of functions included, follows from the text that its name is a hash of."""
    runtime = bundle.of([])
    sources = {k.symbol: k.source_name for k in bundle.known() if not k.text.variant}
    named = 0
    for file in resources.c_files():
        raw, text = resources.c_files()[file].text, runtime.text(file).decode()
        for symbol in set(re.findall(r"\bmg_\w+", raw)) & sources.keys() - set(re.findall(r"\bmg_\w+", text)):
            assert sources[symbol] in runtime.hashed(file), f"{file} names {symbol}"
            named += 1
    assert named > 300


def test_two_things_of_one_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle, "_digest", lambda *parts: "0" * 6)
    monkeypatch.setattr(bundle, "_runtime", lambda: Bundle(bundle.known()))
    with pytest.raises(
        InternalError, match=r"mg_conv2d_s8__winograd\w* .* and mg_conv2d_s8__winograd\w* .* mg_conv_winograd"
    ) as caught:
        mcugen.compile(ROOT / "examples/camera/shapes.tflite", board="cortex-m4", optimize="speed")
    assert str(caught.value).count("tiles") == 2


# A newer version computes another result: in copies for sizes, and in a kernel for all sizes.
CHANGES = (
    ("dsp/dsp_ring_template.h", "    if (p->clamps != 0u) {", "    out[0] = 0;\n    if (p->clamps != 0u) {"),
    ("portable/softmax_s8.c", "y + INT8_MIN, INT8_MIN", "y / 2 + INT8_MIN, INT8_MIN"),
)


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """Folders of one model built by this version and by one whose kernels compute otherwise."""
    root = tmp_path_factory.mktemp("versions")
    for part in ("mcugen", "templates", "c_runtime", "boards"):
        shutil.copytree(ROOT / part, root / "newer" / part, ignore=shutil.ignore_patterns("__pycache__"))
    for file, old, new in CHANGES:
        path = root / "newer/c_runtime/mcugen" / file
        text = path.read_text()
        assert text.count(old) == 1, path
        path.write_text(text.replace(old, new))
    for name, checkout in (("older", ROOT), ("newer", root / "newer")):
        command = [sys.executable, "-m", "mcugen", "build", model_file("digits", root), "--board", "cortex-m4"]
        environment = {**os.environ, "PYTHONPATH": str(checkout)}
        command += ["--name", name, "-o", root / f"{name}_out"]
        subprocess.run(command, cwd=checkout, check=True, capture_output=True, env=environment)
    return {name: root / f"{name}_out" for name in ("older", "newer")}


def program(folders: Mapping[str, Path], names: tuple[str, ...], folder: Path) -> bytes:
    """The outputs of the models named, in one image, the headers of all on the path of every source."""
    folder.mkdir()
    lines = ["#include <stdio.h>", *(f'#include "{n}.h"' for n in names), *(f"static {n}_t {n};" for n in names)]
    lines += ["int main(void) {"]
    for name in names:
        macro = name.upper()
        lines += [
            f"for (int i = 0; i < {macro}_INPUT_LEN; i += 1) {name}_input(&{name})[i] = (int8_t)(i * 7 % 251 - 125);",
            f"{name}_run(&{name});",
            f"fwrite({name}_output(&{name}), 1, {macro}_OUTPUT_SIZE, stdout);",
        ]
    (folder / "main.c").write_text("\n".join([*lines, "return 0; }", ""]))
    sources = {path.name: path for name in names for path in sources_of(folders[name])}
    paths = [f"-I{folders[name]}" for name in names]
    run_checked(["gcc", "-O1", *paths, folder / "main.c", *sources.values(), "-lm", "-o", folder / "program"])
    return run_checked([folder / "program"]).stdout


def sources_of(folder: Path) -> Iterator[Path]:
    yield from folder.glob("*.c")
    yield from folder.glob("kernels/*.c")


@pytest.mark.whole
@pytest.mark.parametrize("order", [("older", "newer"), ("newer", "older")])
def test_models_of_two_versions_link_into_one_image(
    versions: Mapping[str, Path], order: tuple[str, ...], tmp_path: Path
) -> None:
    alone = {name: program(versions, (name,), tmp_path / name) for name in order}
    assert alone["older"] != alone["newer"]
    assert program(versions, order, tmp_path / "both") == b"".join(alone[name] for name in order)


def test_equal_names_are_equal_files(versions: Mapping[str, Path]) -> None:
    """Also where the files of all models of a firmware are put into one folder."""
    older, newer = ({p.name: p.read_bytes() for p in folder.glob("*/*.[ch]")} for folder in versions.values())
    common = older.keys() & newer.keys() - {"main.c"}
    assert all(older[name] == newer[name] for name in common)
    assert common and older.keys() != newer.keys()


def test_the_sweep_finds_external_names_that_are_long_and_no_others() -> None:
    long = "n" * (MAX_NAME + 1)
    text = f"""/* {long}(); */
#define {long}_MACRO(x) \\
    {long}(x)
typedef struct {{
    int a;
}} {long}_type;
typedef int32_t {long}_other;
extern const int {long}_object[3][2];
void {long}_function({long}_type *p, int {long[1:]});
static const int {long[1:]} = 1;
"""
    found = list(name_sweep.long_names({"a.h": text.encode(), "a.txt": text.encode()}))
    assert found == [f"a.h: {long}_function", f"a.h: {long}_object"]
