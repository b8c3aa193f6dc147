# SPDX-License-Identifier: Apache-2.0
"""Names in models, files and options are data: none of them becomes code, another file, or a broken build."""

from __future__ import annotations

import json
import random
import re
import shutil
from pathlib import Path

import pytest

import mcugen
from mcugen.emit import EXAMPLE
from mcugen.errors import UsageError
from mcugen.machines.toolchain.process import run_checked
from mcugen.options import MAX_PREFIX, c_name_from, is_c_name, is_shortened, named, stem_of
from tests.emit.built import WARNINGS, Built, build_bytes
from tests.emit.name_sweep import long_names
from tests.formats.small_models import image_net, three_dense

ROOT = Path(__file__).resolve().parents[2]
HOSTILE: dict[str, str | bytes] = {
    "comment end": "*/ int evil; /*",
    "include": '"\n#include "/etc/passwd"\n',
    "backslash": "name\\",
    "trigraphs": "x??/\n??=error ??/",
    "keyword": "int",
    "right to left": "r\u202eé日本\u0000\u2028end",
    "long": "n" * 10_000,
    "format": "%s%n%d{{ 7*7 }}{% raw %}",
    "not text": b"\xff\xfe*/\x80",
    "line ends": "a\r\nint evil;\x0b\x0c\u0085int evil;",
    "directive": "\n#error evil\n",
    "comment in comment": "/*/*/**//*",
    "split comment end": "*\\\n/ int evil;",
    "comment end by replacement": "*\\ int evil;",
    "three question marks": "???/???'",
}


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The output of the same network with ordinary tensor names."""
    built = build_bytes(image_net(), tmp_path_factory.mktemp("honest"), selftest=True)
    return run_checked([built.program()], stdin=built.inputs()).stdout


@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", HOSTILE)
def test_tensor_names(honest: bytes, tmp_path: Path, case: str) -> None:
    built = build_bytes(image_net([HOSTILE[case]] * 7), tmp_path, selftest=True)
    for source in _named(built):
        built.gcc("-std=c99", "-trigraphs", *WARNINGS, "-c", source, "-o", tmp_path / "o.o")
    assert run_checked([built.program(["-O0"])], stdin=built.inputs()).stdout == honest
    for path, content in built.artifact.files.items():
        assert content.isascii() and b"\r" not in content, path
        if path.endswith((".c", ".h")):
            assert max(map(len, content.split(b"\n"))) < 700, path
            assert b"evil" not in _code(content) and b"passwd" not in _code(content)
    assert json.loads(built.artifact.files["report.json"])["name"] == "model"


def _named(built: Built) -> list[str]:
    """The sources that names could get into: kernels are the same files in every build."""
    return [*(source for source in built.sources() if not source.startswith("kernels/")), EXAMPLE]


def _code(content: bytes) -> bytes:
    return re.sub(rb"/\*.*?\*/", b"", content, flags=re.DOTALL)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "name",
    ["a b;$(rm -rf x)", '"*', "-o", "int", "日本", "x" * 200, "..", "%n", "NULL", "stdio", "a\nb", "main", "uint8"],
)
def test_file_names(tmp_path: Path, name: str) -> None:
    built = build_bytes(three_dense(), tmp_path, f"{name}.tflite")
    assert is_c_name(built.name)
    assert {path.name for path in tmp_path.iterdir()} == {f"{name}.tflite", "out"}
    for source in _named(built):
        built.gcc("-std=gnu99", "-c", source, "-o", tmp_path / "o.o")
    for_people = ("report.json", "report.html", "badge.svg")
    texts = b"".join(text for file, text in built.artifact.files.items() if file not in for_people)
    assert len(name) < 6 or name.encode() not in texts


@pytest.mark.parametrize(
    "name",
    [
        *("int", "class", "1x", "a-b", "a.b", "../x", "a/b", "é", "mg", "mg_conv2d_s8", "mcugen_x", "main", "NULL"),
        *("stdio", "STDINT", "linux", "uint8", "INT8_MAX"),
        "a b",
        "x" * 41,
        'a"',
        "a\n",
        "_x",
        "/etc/passwd",
        "$x",
        "null\0",
    ],
)
def test_name_option(tmp_path: Path, name: str) -> None:
    (tmp_path / "model.tflite").write_bytes(three_dense())
    with pytest.raises(UsageError) as caught:
        mcugen.compile(tmp_path / "model.tflite", name=name)
    assert repr(name) in str(caught.value) and caught.value.hint


@pytest.mark.sampled(9)
@pytest.mark.parametrize(
    "name", ["a", "m", "step0", "selftest", "kernels", "model", "x" * 40, "A_b_9", "sum", "out", "inner"]
)
def test_lawful_names_compile(tmp_path: Path, name: str) -> None:
    built = build_bytes(three_dense(), tmp_path, name=name, selftest=True)
    for source in _named(built):
        built.gcc("-std=c99", *WARNINGS, "-c", source, "-o", tmp_path / "o.o")
    assert f"{name}.h" in built.artifact.files


CPLUSPLUS = """
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string>
#include <thread>
#include "{name}.h"
namespace app {{
{name}_t {name};
}}
using namespace app;
int main() {{ {name}_run(&{name}); }}
"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["model", "x" * 12, "sum", "vector", "thread"])
def test_names_in_cplusplus(tmp_path: Path, name: str) -> None:
    """A variable may be called as the model, also in a namespace; libraries of C and C++ stand beside it."""
    built = build_bytes(three_dense(), tmp_path, name=name)
    (tmp_path / "unit.cpp").write_text(CPLUSPLUS.format(name=name))
    run_checked(["g++", "-Wall", "-Werror", f"-I{built.folder}", "-c", tmp_path / "unit.cpp", "-o", tmp_path / "o.o"])


@pytest.mark.parametrize(
    "name",
    [
        *("pthread", "mtx", "and_eq", "co_await", "std", "noexcept", "match", "self", "in", "test", "install", "run"),
        *("put", "take", "lost"),
    ],
)
def test_names_of_cplusplus_rust_and_cmake_are_refused(name: str) -> None:
    assert not is_c_name(name) and is_c_name(c_name_from(name))


@pytest.mark.parametrize(
    "compiler", [["gcc"], ["arm-none-eabi-gcc"], ["riscv64-unknown-elf-gcc", "--specs=picolibc.specs"]]
)
def test_names_of_headers_inside_the_c_library_are_refused(compiler: list[str], tmp_path: Path) -> None:
    """A model's header would be included in place of such a header: it is in a folder given with -I."""
    used = ("math.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h")
    (tmp_path / "unit.c").write_text("".join(f"#include <{name}>\n" for name in used))
    listed = run_checked([*compiler, "-M", tmp_path / "unit.c"]).stdout.decode()
    stems = {Path(name).stem for name in re.findall(r"\S+\.h", listed) if is_in_no_folder(name)}
    assert {"features", "newlib", "picolibc"} & stems and not [stem for stem in stems if is_c_name(stem)]


def is_in_no_folder(header: str) -> bool:
    """Whether a header is included by its name alone, so that it lies in a folder that the compiler searches."""
    return re.fullmatch(r"include(-fixed)?|newlib|x86_64-linux-gnu", Path(header).parent.name) is not None


def test_made_names_are_lawful() -> None:
    for stem in ("", "-", "1", "9" * 60, "int", "mg", "mg_", "uint8_max", "é", "a" * 60, "person-detect.v2", "size"):
        assert is_c_name(c_name_from(stem)), stem
    assert c_name_from("kws-int8.v2") == "kws_int8_v2"


def test_a_folder_names_what_its_file_does_not(tmp_path: Path) -> None:
    assert stem_of(Path("kws/model.tflite")) == "kws" and stem_of(Path("a/kws/saved_model")) == "kws"
    assert stem_of(Path("kws/net2.tflite")) == "net2" and stem_of(Path("model.tflite")) == "model"
    assert stem_of(Path("models/model.tflite")) == "model" and stem_of(Path("../model.tflite")) == "model"
    folder = tmp_path / "kws"
    folder.mkdir()
    shutil.copy(ROOT / "tests" / "models" / "s8_fully_connected.tflite", folder / "model.tflite")
    assert "kws_run" in mcugen.compile(folder / "model.tflite").files["kws.h"].decode()
    assert mcugen.compile(f"wake={folder / 'model.tflite'}").name == "wake"
    (tmp_path / "a=b.tflite").write_bytes(b"")
    assert named(tmp_path / "a=b.tflite") == ("", tmp_path / "a=b.tflite")
    with pytest.raises(UsageError, match="'int' cannot prefix C symbols"):
        named(Path(f"int={folder / 'model.tflite'}"))


def test_long_names_are_shortened() -> None:
    drawn = random.Random(1)
    stems = {"".join(drawn.choices("ab_-9", k=drawn.randint(1, 34))) for _ in range(300)}
    stems |= {"person_detect_from_above_1", "person_detect_from_above_2"}
    stems |= {f"{word}_of_quite_a_long_name" for word in ("int", "mg", "pthread")}
    for stem in stems:
        name = c_name_from(stem)
        assert is_c_name(name) and len(name) <= MAX_PREFIX, stem
        assert is_shortened(stem) or re.sub("[-_]", "", stem) in name.replace("_", ""), stem
    shortened = [stem for stem in stems if is_shortened(stem)]
    assert len({c_name_from(stem) for stem in shortened}) == len(shortened) > 100
    assert c_name_from("tfl_attention_int8") == "tfl_attention_int8"
    assert c_name_from("1st-model") == "model_1st_model"
    assert re.fullmatch("mobilenet_v1_025_[0-9a-f]{3}", c_name_from("mobilenet_v1_025_128_uint8"))
    assert re.fullmatch("n{16}_[0-9a-f]{3}", c_name_from("n" * 30))


@pytest.mark.parametrize("mode", ["whole", "rows"])
def test_the_longest_name_that_is_not_shortened_keeps_the_limits_of_c(tmp_path: Path, mode: str) -> None:
    name = "a_word_after_another"
    assert c_name_from(name) == name and len(f"{name}_push_frame") == 31 and len(name) == MAX_PREFIX
    built = build_bytes(image_net(), tmp_path, name=name, input_mode=mode, selftest=True)
    assert f"{name}_{'push_row' if mode == 'rows' else 'run'}(".encode() in built.artifact.files[f"{name}.h"]
    assert not list(long_names(built.artifact.files))


def test_longer_names_pass_the_limits_of_c(tmp_path: Path) -> None:
    name = "a_word_after_another_and_one"
    found = list(long_names(build_bytes(three_dense(), tmp_path, name=name).artifact.files))
    assert f"{name}.h: {name}_run" in found
    own = f"static float {'n' * 63}(void);\nstatic int {'m' * 64}[2] = {{0}};\n".encode()
    assert list(long_names({"a.h": own})) == [f"a.h: {'m' * 64}"]


LONG = "person_detect_from_above"


def test_notes_on_names(tmp_path: Path) -> None:
    notes = {}
    for stem, given in (("net", ""), (LONG, ""), ("net", LONG)):
        (tmp_path / f"{stem}.tflite").write_bytes(three_dense())
        artifact = mcugen.compile(tmp_path / f"{stem}.tflite", name=given)
        notes[stem, given] = (artifact.name, " ".join(artifact.report.notes))
    assert notes["net", ""] == ("net", "")
    name, note = notes[LONG, ""]
    assert len(name) <= MAX_PREFIX and f"{name}, short for {LONG!r}" in note
    name, note = notes["net", LONG]
    assert name == LONG and f"--name {LONG}" in note and "31" in note
