# SPDX-License-Identifier: Apache-2.0
"""`mcugen adopt` switches written firmware by a patch, takes it back, and names what it cannot switch."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from mcugen.builds.adopt import adoption, programs, systems
from mcugen.builds.adopt.cpp_facts import facts_of
from mcugen.builds.adopt.sizes import value_of
from mcugen.cli import cli
from mcugen.errors import McugenError, UnsupportedError, UsageError
from mcugen.options import Options
from mcugen.pipeline import Artifact
from tests.exports.firmware_trees import (
    BODY,
    EMBEDDED,
    EMBEDDING,
    HEADERS,
    MAIN,
    MODEL_CC,
    MODEL_H,
    PLAIN,
    PRINTS,
    RELU,
    TANH,
    TREES,
    array,
    git,
    written,
)
from tests.random import tflite_networks

OPTIONS = Options(optimize="ram")
LEAN = "-DMCUGEN_TFLM_LEAN"
STUBS = Path(__file__).parent / "clones/stubs"


@pytest.fixture(scope="module", autouse=True)
def builds() -> Iterator[None]:
    """Each model is built once for a name: the tests are of what is around it."""
    built, known = programs._built, dict[tuple[object, ...], Artifact]()

    def remembered(model: programs.FirmwareModel, options: Options) -> Artifact:
        key = model.data, model.name, model.symbol
        if key not in known:
            known[key] = built(model, options)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(programs, "_built", remembered)
        yield


def adopted(folder: Path) -> adoption.Adoption:
    """The switch of a folder, whose patch git applies."""
    result = adoption.adopt(folder, OPTIONS)
    patch = adoption.patch_path(folder)
    patch.write_bytes(result.patch)
    git(folder, "apply", "--whitespace=nowarn", str(patch))
    return result


def ran(*command: str, folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
    return done.stdout.decode()


def test_every_build_system_has_a_written_firmware() -> None:
    assert {*systems.modules()} == {*TREES}


@pytest.mark.parametrize("system", sorted(TREES))
def test_a_patch_switches_the_build_and_is_taken_back(system: str, tmp_path: Path) -> None:
    folder = written(tmp_path / "firmware", TREES[system])
    result = adopted(folder)
    (each,) = result.adopted
    assert [*each.program.systems] == [system] and not result.refused
    assert each.program.unused == ["Softmax"] and each.program.missing == []
    assert [arena.nbytes for arena in each.program.arenas] == [5136]
    changed = git(folder, "diff")
    assert "#if 0" in changed and re.search(r"\+extern const \w+.* g_model\[616\];", changed)
    assert {file.path: file.after for file in result.patched} == {
        file.path: (folder / file.path).read_bytes() for file in result.patched
    }
    assert adoption.take_back(folder) and git(folder, "status", "--porcelain") == ""
    assert not adoption.patch_path(folder).exists()


@pytest.mark.parametrize(
    ("system", "gone", "come"),
    [
        (
            "cmake",
            "tflite-micro m",
            "target_include_directories(firmware BEFORE PRIVATE ${CMAKE_CURRENT_LIST_DIR}/mcugen)",
        ),
        ("cmake", "", "enable_language(C)"),
        ("make", "", "OBJS += $(MCUGEN_OBJECTS)"),
        ("platformio", "TensorFlowLite_ESP32", "build_src_filter =\n+    +<*>\n+    +<../mcugen/>"),
        ("platformio", "", "build_flags =\n+    ${env.build_flags}\n+    -Imcugen"),
        ("platformio", "", "lib_ignore =\n+    tfmicro"),
        ("arduino", "<TensorFlowLite.h>", '#include "src/mcugen/TensorFlowLite.h"'),
        ("esp-idf", "espressif/esp-tflite-micro", "target_sources(${COMPONENT_LIB} PRIVATE"),
        ("esp-idf", "PRIV_REQUIRES esp-tflite-micro", "+dependencies: {}"),
        ("mbed", "", "+tensorflow-lite/*\n"),
        ("zephyr", "CONFIG_TENSORFLOW_LITE_MICRO=y", "target_sources(app PRIVATE"),
    ],
)
def test_build_lines(system: str, gone: str, come: str, tmp_path: Path) -> None:
    folder = written(tmp_path / "firmware", TREES[system])
    patch = adoption.adopt(folder, OPTIONS).patch.decode()
    assert come in patch
    assert not gone or any(line.startswith("-") and gone in line for line in patch.splitlines())


def test_make_builds_the_switched_firmware(tmp_path: Path) -> None:
    folder = written(tmp_path / "firmware", TREES["make"])
    adopted(folder)
    ran("make", "-s", folder=folder)
    assert PRINTS in ran("./firmware", folder=folder)


def test_cmake_builds_the_switched_firmware(tmp_path: Path) -> None:
    folder = written(tmp_path / "firmware", TREES["cmake"])
    adopted(folder)
    ran("cmake", "-S", ".", "-B", "build", folder=folder)
    ran("cmake", "--build", "build", folder=folder)
    assert PRINTS in ran("build/firmware", folder=folder)


def test_a_switched_sketch_needs_no_include_path(tmp_path: Path) -> None:
    folder = written(tmp_path / "firmware", TREES["arduino"])
    (each,) = adopted(folder).adopted
    (folder / "main.cc").write_text('#include "sketch/sketch.ino"\nint main() { setup(); }\n')
    sources = [*each.code.paths(each.program.folder), "sketch/model.cpp", "main.cc"]
    for k, source in enumerate(sources):
        language = ["-x", "c", "-std=c99"] if source.endswith(".c") else ["-x", "c++", f"-I{STUBS}", LEAN]
        ran("gcc", *language, "-w", "-c", source, "-o", f"{k}.o", folder=folder)
    ran("g++", *(f"{k}.o" for k in range(len(sources))), "-lm", "-o", "firmware", folder=folder)
    assert PRINTS in ran("./firmware", folder=folder)


HEADER_ARRAY = (
    "#ifndef MODEL_H\n#define MODEL_H\n"
    + array("g_model", before="static const uint8_t")
    + "static char g_model_copy[616];\n#endif\n"
)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "model",
    [
        HEADER_ARRAY,
        "#pragma once\nnamespace {\n" + array("g_model", before="constexpr uint8_t") + "}\n",
        "static char g_model_copy[616]; " + array("g_model").replace("\n", " ") + " // one line\n",
        f"#define WITH 1\n#if WITH\n{array('g_model')}#endif\nstatic char g_model_copy[616];\n",
        b"/* \xe9t\xe9, no UTF-8 */\r\n" + array("g_model").replace("\n", "\r\n").encode(),
    ],
    ids=["header", "namespace", "one line", "condition", "latin-1"],
)  # fmt: skip
def test_arrays_of_all_kinds(model: str | bytes, tmp_path: Path) -> None:
    """One that only its own file sees becomes a name of the compiled model, and its size stays."""
    main = MAIN.replace("int)sizeof g_model_copy", "int)sizeof g_model")
    files = {
        "main.cc": "#include <stdint.h>\n" + main,
        "model.h": model,
        "Makefile": "all: main.o\n\t$(CXX) -o fw $^\nO = main.o\n",
    }
    folder = written(tmp_path / "firmware", files)
    (each,) = adopted(folder).adopted
    code = each.code.paths(each.program.folder)
    ran("gcc", "-std=c99", "-c", code[1], "-o", "c.o", folder=folder)
    ran("g++", "-w", LEAN, f"-I{each.place}", "main.cc", code[0], "c.o", "-o", "fw", folder=folder)
    assert PRINTS in ran("./fw", folder=folder)
    adoption.take_back(folder)
    assert git(folder, "status", "--porcelain", "--untracked-files=no") == ""


def custom(kernel: str) -> str:
    return MAIN.replace("resolver.AddSoftmax();", f'resolver.AddCustom("MY_OP", {kernel});')


def pointing(network: str) -> str:
    """The firmware with its model behind a pointer of a struct."""
    struct = f"struct Network {{\n    const unsigned char *data;\n    unsigned size;\n}};\nstatic Network {network};\n"
    return MAIN.replace(BODY, struct + BODY).replace("GetModel(g_model)", "GetModel(network.data)")


LONG = array("g_model")
REFUSED = {
    "no model": ({"a.cc": "int main() {}\n"}, "no source calls GetModel"),
    "no array": ({"src/main.cc": MAIN}, "GetModel(g_model): no array of this name"),
    "two arrays": (PLAIN | {"src/other.cc": array("g_model", TANH)}, "src/other.cc:1: arrays of one name, g_model"),
    "branches": (
        PLAIN | {"src/model.cc": f"#ifdef A\n{LONG}#else\n{array('g_model', TANH)}#endif\n"},
        "(#ifdef A) and src/model.cc",
    ),
    "#if within": (
        PLAIN | {"src/model.cc": LONG.replace(",\n", ",\n#if A\n0,\n#endif\n", 5)},
        "preprocessor lines stand within",
    ),
    "truncated text": (PLAIN | {"src/model.cc": LONG[:-300]}, "the file ends within the array"),
    "truncated bytes": (PLAIN | {"src/model.cc": array("g_model", RELU[:300])}, "src/model.cc:1: g_model:"),
    "wrong length": (PLAIN | {"src/model.cc": LONG.replace("[]", "[700]")}, "declared with 700 bytes and has 616"),
    "other schema": (
        PLAIN | {"src/model.cc": array("g_model", RELU[:4] + b"TFL2" + RELU[8:])},
        "the schema TFL2, and mcugen reads TFL3",
    ),
    "local": (PLAIN | {"src/model.cc": f"void f() {{ static {LONG[11:]} }}"}, "local to a function"),
    "pointer in a list": (PLAIN | {"src/main.cc": pointing("network = { g_model, 616 }")}, "GetModel(network.data)"),
    "embedded with its end": (
        EMBEDDED
        | dict([EMBEDDING["esp-idf"]])
        | {"main/size.cc": 'extern const uint8_t model_end[] asm("_binary_sine_v1_tflite_end");\n'},
        "main/size.cc: takes the length of main/sine-v1.tflite by its end",
    ),
    "embedded by an unknown build": (EMBEDDED, "sine-v1.tflite is embedded, and the build file that does it"),
    "embedded and not there": (
        dict([EMBEDDING["esp-idf"]]) | {"main/main.cc": EMBEDDED["main/main.cc"]},
        "whose name makes the symbol _binary_sine_v1_tflite_start",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_name_the_file(case: str, tmp_path: Path) -> None:
    files, message = REFUSED[case]
    folder = written(tmp_path / "firmware", TREES["make"] | files if PLAIN.keys() <= files.keys() else files)
    with pytest.raises(UnsupportedError) as refusal:
        adoption.adopt(folder, OPTIONS)
    assert message in str(refusal.value)
    assert git(folder, "status", "--porcelain") == "" and [path.name for path in tmp_path.iterdir()] == ["firmware"]


def test_a_kernel_of_the_library_is_no_refusal(tmp_path: Path) -> None:
    main = custom("tflite::Register_DETECTION_POSTPROCESS()")
    folder = written(tmp_path / "firmware", TREES["make"] | {"src/main.cc": main})
    assert adoption.adopt(folder, OPTIONS).refused == ()


@pytest.mark.parametrize("called", ['"MY_OP"', "kOperator"])
def test_a_kernel_that_no_model_calls_is_registered_for_nothing(called: str, tmp_path: Path) -> None:
    main = (
        custom("&own")
        .replace('"MY_OP"', called)
        .replace(
            "{\n    const tflite::Model",
            '{\n    static TFLMRegistration own;\n    const char *kOperator = "A";\n    const tflite::Model',
            1,
        )
    )
    folder = written(tmp_path / "firmware", TREES["make"] | {"src/main.cc": main})
    (each,) = adopted(folder).adopted
    assert [name for _, name in each.program.idle_kernels] == [called.strip('"') if called[0] == '"' else ""]
    ran("make", "-s", folder=folder)
    assert PRINTS in ran("./firmware", folder=folder)


@pytest.mark.parametrize(
    ("named", "call"),
    [(f'"{tflite_networks.CUSTOM}"', f"AddCustom('{tflite_networks.CUSTOM}')"), ("kOperator", "AddCustom")],
)
def test_a_kernel_that_a_model_calls_is_refused(named: str, call: str, tmp_path: Path) -> None:
    model = tflite_networks.KINDS["custom"][1](0).model
    main = custom("&own").replace('"MY_OP"', named)
    files = {"src/main.cc": main, "src/model.cc": array("g_model", model)}
    folder = written(tmp_path / "firmware", TREES["make"] | files)
    refusal = rf"src/main.cc:\d+: {re.escape(call)} registers a kernel of the application"
    with pytest.raises(UnsupportedError, match=refusal):
        adoption.adopt(folder, OPTIONS)


@pytest.mark.parametrize("first", ["", " = { .data = g_model, .size = 616 }"])
def test_a_pointer_that_is_only_set_to_an_array_is_that_array(first: str, tmp_path: Path) -> None:
    main = pointing(f"network{first}")
    if not first:
        main = main.replace("    const tflite::Model", "    network.data = &g_model[0];\n    const tflite::Model", 1)
    folder = written(tmp_path / "firmware", TREES["make"] | {"src/main.cc": main})
    assert [model.symbol for model in adoption.adopt(folder, OPTIONS).adopted[0].program.models] == ["g_model"]
    for more in (
        "void a(Network &n, const unsigned char *data) { n.data = data; }\n",
        "void a() { network.data = b(); }\n",
    ):
        (folder / "src/more.cc").write_text(more)
        with pytest.raises(UnsupportedError, match=r"GetModel\(network.data\): no array of this name"):
            adoption.adopt(folder, OPTIONS)


def test_an_embedded_file_by_the_name_of_its_symbol(tmp_path: Path) -> None:
    main = EMBEDDED["main/main.cc"].replace('model_start[] asm("_binary_sine_v1_tflite_start")', "model_start[]")
    main = main.replace("model_start", "_binary_sine_v1_tflite_start")
    files = EMBEDDED | dict([EMBEDDING["esp-idf"]]) | {"main/main.cc": main, "other/sine-v1.tflite": TANH}
    (each,) = adoption.adopt(written(tmp_path / "firmware", files), OPTIONS).adopted
    assert [(model.file, model.data) for model in each.program.models] == [("main/sine-v1.tflite", RELU)]


@pytest.mark.parametrize("build", EMBEDDING)
def test_a_file_that_the_build_embeds_goes(build: str, tmp_path: Path) -> None:
    """The variable is the compiled model, and other files stay embedded."""
    path, text = EMBEDDING[build]
    folder = written(tmp_path / "firmware", EMBEDDED | {path: text})
    (each,) = adopted(folder).adopted
    changed = (folder / path).read_text()
    assert "sine-v1.tflite" not in changed and ("logo.png" in changed) == ("logo.png" in text)
    assert changed.count("(") == changed.count(")")
    code = each.code.paths(each.program.folder)
    ran("gcc", "-std=c99", "-c", code[1], "-o", "c.o", folder=folder)
    ran("g++", "-w", LEAN, f"-I{each.place}", "main/main.cc", code[0], "c.o", "-o", "fw", folder=folder)
    assert PRINTS in ran("./fw", folder=folder)
    adoption.take_back(folder)
    assert git(folder, "status", "--porcelain", "--untracked-files=no") == ""


def test_an_unsupported_operator_is_named(tmp_path: Path) -> None:
    custom = tflite_networks.KINDS["custom"][1](0).model
    folder = written(tmp_path / "firmware", TREES["make"] | {"src/model.cc": array("g_model", custom)})
    named = re.escape(f"CUSTOM:{tflite_networks.CUSTOM}")
    with pytest.raises(UnsupportedError, match=rf"src/model.cc:1: g_model: .*{named}"):
        adoption.adopt(folder, OPTIONS)


def test_a_damaged_flatbuffer_is_refused_by_file_and_array(tmp_path: Path) -> None:
    damaged = RELU.replace(b"\x13", b"\x7f")
    folder = written(tmp_path / "firmware", TREES["make"] | {"src/model.cc": array("g_model", damaged)})
    with pytest.raises(UnsupportedError, match=r"src/model.cc:1: g_model: .*"):
        adoption.adopt(folder, OPTIONS)


def test_an_arena_that_cannot_be_evaluated_is_no_hindrance(tmp_path: Path) -> None:
    main = MAIN.replace("5 * 1024 + 0x10", "ARENA_OF(board)")
    folder = written(tmp_path / "firmware", TREES["make"] | {"src/main.cc": main})
    done = CliRunner().invoke(cli, ["adopt", str(folder)], standalone_mode=False, env={"COLUMNS": "80"})
    assert "the arena kTensorArenaSize cannot be evaluated" in " ".join(done.output.split())
    assert max(map(len, done.output.splitlines())) <= 80


def test_links_out_of_the_folder_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/model.cc").write_text(array("g_model", TANH))
    folder = written(tmp_path / "firmware", TREES["make"])
    (folder / "linked").symlink_to(tmp_path / "outside")
    result = adoption.adopt(folder, OPTIONS)
    assert result.tree.left_out == ["linked"] and not any("linked" in file.path for file in result.patched)


def test_a_model_in_a_file_gets_the_header_that_the_build_made(tmp_path: Path) -> None:
    main = MAIN.replace('"model.h"', '"models/sine_model_data.h"').replace("g_model_copy", "g_model")
    main = main.replace("g_model", "g_sine_model_data")
    folder = written(tmp_path / "firmware", {"main.cc": main, "models/sine.tflite": RELU})
    (each,) = adopted(folder).adopted
    assert each.lines[-1] == "with -Imcugen before the folders of TensorFlow Lite Micro"
    code = each.code.paths()
    ran("gcc", "-std=c99", "-c", code[1], "-o", "c.o", folder=folder)
    ran("g++", "-w", LEAN, "-Imcugen", "main.cc", code[0], "c.o", "-o", "fw", folder=folder)
    assert PRINTS in ran("./fw", folder=folder)


def test_the_command_writes_and_undoes(tmp_path: Path) -> None:
    folder = written(tmp_path / "firmware", TREES["make"])
    run = CliRunner().invoke
    done = run(cli, ["adopt", str(folder), "--write", "--json"], standalone_mode=False)
    facts = json.loads(done.output)
    assert facts["written"] and facts["programs"][0]["models"][0]["flatbuffer_bytes"] == 616
    ran("make", "-s", folder=folder)
    again = run(cli, ["adopt", str(folder)], standalone_mode=False)
    assert isinstance(again.exception, UsageError) and "is already applied to this folder" in str(again.exception)
    main = folder / "src/model.cc"
    before = main.read_bytes()
    main.write_bytes(before + b"// mine\n")
    undone = run(cli, ["adopt", str(folder), "--undo"], standalone_mode=False)
    assert isinstance(undone.exception, UsageError) and "src/model.cc is not as the patch left it" in str(
        undone.exception
    )
    assert (folder / "mcugen").is_dir()
    main.write_bytes(before)
    assert run(cli, ["adopt", str(folder), "--undo"], standalone_mode=False).exception is None
    assert not git(folder, "diff") and not (folder / "mcugen/relu.c").exists()


def test_nothing_is_half_written(tmp_path: Path) -> None:
    folder = written(tmp_path / "firmware", TREES["make"])
    result = adoption.adopt(folder, OPTIONS)
    (folder / "Makefile").write_text("all:\n")
    with pytest.raises(UsageError, match="Makefile changed"):
        result.write()
    assert git(folder, "status", "--porcelain") == " M Makefile\n"
    adoption.patch_path(folder).write_text("a patch of somebody\n")
    with pytest.raises(UsageError, match="not a patch of `mcugen adopt`"):
        adoption.adopt(folder, OPTIONS)


def test_an_array_of_30_megabytes_is_read_at_once() -> None:
    """Other arrays too: none is taken apart number by number."""
    text = array("g_other", b"\0" * 4096).encode().replace(b"0x00,\n", b"0x00,\n" * 12) + array("g_model").encode()
    large = b"const unsigned char g_large[] = {" + b"0x00, " * 5_000_000 + b"};\n" + text
    facts = facts_of("a.cc", large)
    assert facts is not None and [found.name for found in facts.arrays] == ["g_model"]


def test_expressions_of_sizes() -> None:
    constants = {"A": ["2 * B + 1"], "B": ["0x10u"], "C": ["C"], "D": ["1", "2"], "E": ["1", "1"]}
    values = {
        "A": 33,
        "(A << 1) / 2": 33,
        "1'024": 1024,
        "010 - 1": 7,
        "E": 1,
        "C": None,
        "D": None,
        "f(2)": None,
        "": None,
    }
    assert {text: value_of(text, constants) for text in values} == values
    assert value_of("1 << 9999999999", {}) is None and value_of("(" * 9999, {}) is None and value_of("-1", {}) is None


def test_facts_see_through_comments_and_strings() -> None:
    source = (HEADERS + '#include "model.h" // GetModel(g_a)\n/* GetModel(g_b) */\n' + BODY).encode()
    facts = facts_of("a.cc", source)
    assert facts is not None and [argument for _, argument in facts.arguments] == ["g_model"]
    assert MODEL_H and MODEL_CC and issubclass(UnsupportedError, McugenError)
