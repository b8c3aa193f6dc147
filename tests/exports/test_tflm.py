# SPDX-License-Identifier: Apache-2.0
"""Firmware written for TensorFlow Lite Micro runs unedited on the C of a build, with its bytes; else it is told."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import pytest

import mcugen
from mcugen.builds import shared_arena
from mcugen.errors import ToolError, UnsupportedError, UsageError
from mcugen.formats import write
from mcugen.machines.toolchain.process import run, run_checked
from mcugen.options import Options
from tests.exports import firmware_of_tflm as firmware
from tests.exports.firmware_of_tflm import FURTHER, HOST, M4, RV32, Firmware, Machine
from tests.exports.recorded import DIGITS, MODELS
from tests.support.tflite_writer import ModelWriter

PASSED = re.compile(r"tflm: (\d+) checks, 0 failures")
OBJECTS = """#include "tensorflow/lite/micro/micro_interpreter.h"
char interpreter[sizeof(tflite::MicroInterpreter)], tensor[sizeof(TfLiteTensor)];
"""
"""The RAM of an interpreter, and of a tensor in its arena."""
MINIMAL = """
#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"
#include "tensorflow/lite/schema/schema_generated.h"
extern const unsigned char g_digits_data[];
int classified(uint8_t *arena, size_t bytes);
int classified(uint8_t *arena, size_t bytes)
{
    tflite::MicroMutableOpResolver<2> resolver;
    resolver.AddConv2D();
    const tflite::Model *model = tflite::GetModel(g_digits_data);
    if (model->version() != TFLITE_SCHEMA_VERSION) {
        return 1;
    }
    tflite::MicroInterpreter interpreter(model, resolver, arena, bytes);
    if (interpreter.AllocateTensors() != kTfLiteOk || interpreter.Invoke() != kTfLiteOk) {
        return 2;
    }
    return interpreter.output(0)->data.int8[interpreter.input(0)->data.int8[0] & 7];
}
"""

TWO = """
#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"
extern const unsigned char g_digits_data[], g_other[];
static uint8_t arena[9000];
static bool fits(const unsigned char *data, size_t bytes)
{
    tflite::MicroMutableOpResolver<2> resolver;
    tflite::MicroInterpreter interpreter(tflite::GetModel(data), resolver, arena, sizeof arena);
    return interpreter.AllocateTensors() == kTfLiteOk && interpreter.input(0)->bytes == bytes;
}
int main()
{
    return fits(g_digits_data, %d) && fits(g_other, %d) ? 0 : 1;
}
"""
"""Firmware with two models, whose inputs differ in size."""


@dataclass(frozen=True)
class Compiled:
    """The models, and all objects of the applications on this machine, by the source of each."""

    models: Firmware
    objects: dict[Path, Path]

    def ran_with(self, changed: dict[Path, tuple[str, str]], out: Path) -> tuple[int, str]:
        """Exit status and text where a text in some of the sources is replaced. Every text must be there."""
        objects = dict(self.objects)
        for k, (source, (old, new)) in enumerate(changed.items()):
            text = source.read_text()
            assert old in text
            (out / str(k)).mkdir(parents=True)
            copy = out / str(k) / source.name
            copy.write_text(text.replace(old, new))
            include = [source.parent, *self.models.include]
            objects[source] = HOST.compiled([copy], include, out / str(k))[0]
        ran = HOST.ran(HOST.linked(list(objects.values()), out))
        return ran.returncode, ran.text


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Firmware:
    return firmware.built(tmp_path_factory.mktemp("tflm"))


@pytest.fixture(scope="module")
def on_host(models: Firmware, tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    sources = [*models.applications, *models.behind, *models.sources]
    objects = HOST.compiled(sources, models.include, tmp_path_factory.mktemp("objects"))
    return Compiled(models, dict(zip(sources, objects, strict=True)))


def checks(machine: Machine, models: Firmware, out: Path, *more: str) -> int:
    """How many checks of the applications pass; all of them do."""
    sources = [*models.applications, *models.behind, *models.sources]
    ran = machine.ran(machine.linked(machine.compiled(sources, models.include, out, *more), out))
    passed = PASSED.search(ran.text)
    assert ran.returncode == 0 and passed, ran.text
    return int(passed[1])


def test_applications_under_the_sanitizers(on_host: Compiled, tmp_path: Path) -> None:
    status, text = on_host.ran_with({}, tmp_path)
    passed = PASSED.search(text)
    assert status == 0 and passed and int(passed[1]) >= 240, text


def test_applications_on_an_emulated_core_without_a_cpp_library(models: Firmware, tmp_path: Path) -> None:
    assert checks(M4, models, tmp_path) >= 235


@pytest.mark.whole
@pytest.mark.parametrize("machine", [RV32, *FURTHER], ids=lambda machine: machine.name)
def test_applications_with_other_compilers(models: Firmware, tmp_path: Path, machine: Machine) -> None:
    assert checks(machine, models, tmp_path) >= 235


@pytest.mark.whole
def test_applications_see_every_layer(models: Firmware, tmp_path: Path) -> None:
    header = models.folder / "digits" / "mcugen_tflm_layers.h"
    assert checks(HOST, models, tmp_path, "-include", str(header)) >= 240


def test_faults_are_found(on_host: Compiled, tmp_path: Path) -> None:
    """A wrong bit, names of each other's models, a stale CRC-32, a tensor elsewhere, an alias to no model."""
    digits, states, softmax = on_host.models.behind
    weights = digits.parent / "digits_weights.c"
    first = re.search(r"= \{\s*(-?\d+, )", weights.read_text())
    assert first is not None
    bit = f"{int(first[1][:-2]) ^ 1}, "
    own, other = "MCUGEN_TFLM_NAME(g_digits_data, ", "MCUGEN_TFLM_NAME(g_states, "
    crc = re.search(r"\d+u, \d+u, \{\n", softmax.read_text())
    assert crc is not None
    faults: dict[str, dict[Path, tuple[str, str]]] = {
        "wrong bit": {weights: (first[0], first[0].replace(first[1], bit))},
        "swapped names": {
            digits: (
                own + "mcugen_tflm_digits)",
                "namespace networks { MCUGEN_TFLM_NAME(g_states, mcugen_tflm_digits) }",
            ),
            states: (
                "namespace networks {\n" + other + "mcugen_tflm_states)\n}",
                "MCUGEN_TFLM_NAME(g_digits_data, mcugen_tflm_states)",
            ),
        },
        "stale CRC-32": {softmax: (crc[0], crc[0].replace("u, {", "0u, {").replace("00u, {", "1u, {"))},
        "place of a tensor": {digits: ("arena) + 512u", "arena) + 516u")},
    }
    with pytest.raises(ToolError, match="exit status") as refused:  # a model of another file
        on_host.ran_with({digits: (own + "mcugen_tflm_digits)", own + "mcugen_tflm_states)")}, tmp_path / "alias")
    assert "aliased to undefined symbol" in refused.value.output
    for what, changed in faults.items():
        status, text = on_host.ran_with(changed, tmp_path / what.replace(" ", "_"))
        assert status != 0 and not PASSED.search(text), what


def sections(path: Path) -> dict[str, int]:
    """Bytes of each section of an object for the Cortex-M4."""
    listed = run_checked(["arm-none-eabi-size", "-A", path]).text
    return {name: int(size) for name, size in re.findall(r"^(\.\S+)\s+(\d+)", listed, re.MULTILINE)}


def test_sizes_on_a_cortex_m4(models: Firmware, tmp_path: Path) -> None:
    (tmp_path / "minimal.cc").write_text(MINIMAL)
    quiet = "-DMCUGEN_TFLM_QUIET"
    (application,) = M4.compiled([tmp_path / "minimal.cc"], models.include, tmp_path, quiet)
    once = {name: size for name, size in sections(application).items() if "_ZN6tflite" in name}
    assert {"AllocateTensors" in name for name in once} == {True, False}
    assert sum(once.values()) <= 512
    (behind,) = M4.compiled(models.behind[:1], models.include, tmp_path, quiet)
    of_model = sections(behind)
    assert sum(size for name, size in of_model.items() if name.startswith((".text", ".rodata"))) <= 300
    (tmp_path / "objects.cc").write_text(OBJECTS)
    (objects,) = M4.compiled([tmp_path / "objects.cc"], models.include, tmp_path, quiet)
    assert sections(objects)[".bss.interpreter"] <= 64
    assert sections(objects)[".bss.tensor"] <= 36
    for found in (sections(application), of_model):
        assert sum(size for name, size in found.items() if name.startswith((".data", ".bss", ".init_array"))) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"export": (), "symbol": ("g_model",)}, "--symbol is for --export tflm"),
        ({"export": ("cmake",), "find": True}, "--find is for --export tflm"),
        ({"export": ("make",), "length_symbol": ("n",)}, "--length-symbol is for --export tflm"),
        ({"export": ("cpp",), "header_prefix": "sdk"}, "--header-prefix is for --export tflm"),
        ({"input_mode": "rows"}, "--input-mode rows contradicts --export tflm"),
        ({"input_mode": "frames"}, "differ from the firmware's flatbuffer"),
        ({"input_layout": "nchw"}, "--input-layout nchw contradicts"),
        ({"output_layout": "nchw"}, "--output-layout nchw contradicts"),
        ({"quantize": "samples"}, "--quantize contradicts"),
        ({"weights_blob": True}, "--weights-blob contradicts"),
        ({"backend": "opencl"}, "--backend opencl contradicts"),
        ({"symbol": ("g-model",)}, "'g-model' is not the name of a C++ variable"),
        ({"symbol": ("class",)}, "'class' is not the name of a C++ variable"),
        ({"symbol": ("tflite",)}, "'tflite' is a name that C or the generated files use"),
        ({"symbol": ("mcugen_tflm_digits",)}, "'mcugen_tflm_digits' is a name that C"),
        ({"length_symbol": ("size_t",)}, "'size_t' is a name that C"),
        ({"symbol": ("a", "a")}, "'a' is given twice"),
        ({"symbol": ("a",), "length_symbol": ("a",)}, "'a' is given twice"),
        ({"symbol": ("digits_run",)}, "'digits_run' is a name in digits.h"),
        ({"symbol": ("DIGITS_INPUT_LEN",)}, "'DIGITS_INPUT_LEN' is a name in digits.h"),
        ({"symbol": ("g",), "length_symbol": ("digits_t",)}, "'digits_t' is a name in digits.h"),
        ({"header_prefix": "../sdk"}, "is not a relative path without `..`"),
        ({"symbol": ("other=g_model",)}, "names the model 'other', but this model is 'digits'"),
    ],
)
def test_options_are_refused_with_a_sentence(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)) as refused:
        mcugen.compile(DIGITS, **{"export": ("tflm",), **options})
    assert all(len(line) <= 200 for line in refused.value.explain().splitlines())


def half_input() -> bytes:
    writer = ModelWriter()
    x = writer.tensor("x", (1, 4), "f16")
    y = writer.tensor("y", (1, 4), "f32")
    writer.op("DEQUANTIZE", [x], [y])
    return writer.build([x], [y])


def test_a_model_whose_interface_the_build_changes_is_refused(models: Firmware, tmp_path: Path) -> None:
    path = tmp_path / "half.tflite"
    path.write_bytes(half_input())
    with pytest.raises(UnsupportedError, match="input 'x' is float16 in the file and float32 here"):
        mcugen.compile(path, export=("tflm",))
    other = tmp_path / "digits.onnx"
    other.write_bytes(write.write(models.models[0].imported, "onnx"))
    with pytest.raises(UsageError, match=r"flatbuffer is a \.tflite file, but this model is \.onnx"):
        mcugen.compile(other, export=("tflm",))
    with pytest.raises(UsageError, match="needs several memories, but the firmware gives one arena"):
        mcugen.compile(DIGITS, export=("tflm",), board="nucleo-h743zi", region="dtcm=1200,axi_sram=64K")


def test_a_custom_operator_of_the_application_stops_its_compiler(models: Firmware, tmp_path: Path) -> None:
    (tmp_path / "custom.cc").write_text(
        '#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"\n'
        "static tflite::TFLMRegistration own;\nvoid add(tflite::MicroMutableOpResolver<1> &resolver);\n"
        'void add(tflite::MicroMutableOpResolver<1> &resolver)\n{\n    resolver.AddCustom("Own", &own);\n}\n'
    )
    command = [
        "g++",
        "-std=c++11",
        "-fsyntax-only",
        "-DMCUGEN_TFLM_LEAN",
        *(f"-I{folder}" for folder in models.include),
        tmp_path / "custom.cc",
    ]
    refused = run(command)
    assert refused.returncode != 0 and "the compiled model calls no kernel of the application" in refused.text
    run_checked([*command, "-DMCUGEN_TFLM_IGNORE_CUSTOM"])


def test_headers_of_the_library_that_come_first_are_named(models: Firmware, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text('#include "tensorflow/lite/c/common.h"\nTfLiteType type = kTfLiteInt8;\n')
    command = ["gcc", "-std=c99", "-fsyntax-only", f"-I{models.folder / 'digits'}", tmp_path / "a.c"]
    run_checked(command)
    refused = run([*command, "-DFLATBUFFERS_VERSION_MAJOR=2"])
    assert refused.returncode != 0 and "headers of TensorFlow Lite Micro came first" in refused.text


def test_text_of_the_firmware(on_host: Compiled, tmp_path: Path) -> None:
    """Without a DebugLog of the firmware text is printed; older firmware gets one string; a macro takes it all."""
    (tmp_path / "say.cc").write_text(
        '#include "tensorflow/lite/micro/micro_log.h"\n#ifdef OWN\n#include <stdio.h>\n'
        'extern "C" void DebugLog(const char *text)\n{\n    printf("[%s]", text);\n}\n#endif\n'
        "#ifdef TICKS\nnamespace tflite {\nint32_t GetCurrentTimeTicks()\n{\n    return 1;\n}\n}\n#endif\n"
        'int main()\n{\n    MicroPrintf("%d of %s", 3, "nine");\n}\n'
    )
    models = on_host.models
    sources = [tmp_path / "say.cc", models.behind[0]]
    objects = [on_host.objects[source] for source in models.sources]
    registered = (
        '#include "tensorflow/lite/micro/cortex_m_generic/debug_log_callback.h"\n#include <stdio.h>\n'
        'static void print(const char *text)\n{\n    printf("<%s>", text);\n}\n'
        "struct Port {\n    Port()\n    {\n        RegisterDebugLogCallback(print);\n    }\n};\nstatic Port port;\n"
    )
    (tmp_path / "registered.cc").write_text(registered + (tmp_path / "say.cc").read_text())
    expected = {
        (): "3 of nine\r\n",
        ("-DMCUGEN_TFLM_DEBUG_LOG=1", "-DOWN"): "[3 of nine][\r\n]",
        ("-DMCUGEN_TFLM_DEBUG_LOG=1",): "3 of nine\r\n",
        ("-DMCUGEN_TFLM_PRINT=printf", "-DMCUGEN_TFLM_TICKS=int32_t", "-DTICKS"): "3 of nine",
        ("-DTF_LITE_STRIP_ERROR_STRINGS",): "",
    }
    for k, (flags, text) in enumerate(expected.items()):
        image = HOST.linked([*HOST.compiled(sources, models.include, tmp_path / str(k), *flags), *objects], tmp_path)
        assert HOST.ran(image).stdout.decode() == text, flags
    (application,) = HOST.compiled([tmp_path / "registered.cc"], models.include, tmp_path / "registered")
    image = HOST.linked([application, on_host.objects[models.behind[0]], *objects], tmp_path)
    assert HOST.ran(image).stdout.decode() == "<3 of nine><\r\n>"


@pytest.mark.parametrize("tool", ["make", pytest.param("cmake", marks=pytest.mark.whole)])
def test_build_files_compile_what_stands_for_the_flatbuffer(tmp_path: Path, tool: str) -> None:
    """Headers stand under a prefix."""
    made = mcugen.compile(DIGITS, export=("tflm", tool), symbol=("g_digits_data",), header_prefix="sdk/own")
    made.write(tmp_path / "digits")
    text = (
        MINIMAL.replace('"tensorflow', '"sdk/own/tensorflow')
        + "int main() { static uint8_t a[4000]; return classified(a, 4000) == 2; }"
    )
    (tmp_path / "main.cc").write_text(text)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.13)\nproject(app LANGUAGES C CXX)\nadd_subdirectory(digits)\n"
        "add_executable(app main.cc)\ntarget_link_libraries(app mcugen::digits)\n"
    )
    (tmp_path / "Makefile").write_text(
        "all: app\ninclude digits/mcugen.mk\nCPPFLAGS += $(MCUGEN_CPPFLAGS)\n"
        "app: main.o $(MCUGEN_OBJECTS)\n\t$(CXX) -o $@ $^ $(MCUGEN_LDLIBS)\n"
    )
    commands = {"make": [["make"]], "cmake": [["cmake", "."], ["cmake", "--build", ".", "--target", "app"]]}
    for command in commands[tool]:
        run_checked(command, cwd=tmp_path)
    run_checked([tmp_path / "app"])


def listed_by(tool: str, files: Mapping[str, bytes]) -> list[str]:
    """The C++ files that an export's build compiles, relative to the output folder."""
    if tool == "platformio":
        return [
            entry[2:-1] for entry in json.loads(files["library.json"])["build"]["srcFilter"] if entry[-4:] == ".cc>"
        ]
    if tool == "cmsis-pack":
        (pack,) = (text for path, text in files.items() if path.endswith(".pdsc"))
        return [
            file.attrib["name"]
            for file in ElementTree.fromstring(pack).iter("file")
            if "Cpp" in file.attrib["category"]
        ]
    if tool == "arduino":  # it compiles all of src/
        return [path for path in files if path.startswith("src/") and path.endswith(".cc")]
    lists = "zephyr/CMakeLists.txt" if tool == "zephyr" else "CMakeLists.txt"
    return [path.removeprefix("../") for path in re.findall(r"\S+\.cc\b", files[lists].decode())]


@pytest.mark.parametrize("tool", ["zephyr", "esp-idf", "platformio", "cmsis-pack", "arduino"])
def test_lists_of_other_build_systems_have_the_record(tool: str) -> None:
    files = mcugen.compile(DIGITS, export=("tflm", tool), no_report=True).files
    (source,) = {*listed_by(tool, files)}
    assert source.endswith("digits_tflm.cc") and b"mcugen_tflm_digits = {" in files[source]


def test_headers_need_no_folder_but_that_of_their_prefix(tmp_path: Path) -> None:
    """Firmware that names the prefix in its include path, and tensorflow/lite in its sources."""
    made = mcugen.compile(DIGITS, export=("tflm",), header_prefix="sdk/own", no_report=True)
    made.write(tmp_path / "digits")
    headers = [path for path in made.files if path.startswith("sdk/own/") and path.endswith(".h")]
    assert len(headers) >= 110
    today = [path.removeprefix("sdk/own/") for path in sorted(headers) if "experimental/micro" not in path]
    (tmp_path / "all.cc").write_text("".join(f'#include "{path}"\n' for path in today))
    command = ["g++", "-std=c++11", "-fsyntax-only", "-Wall", "-Werror", f"-I{tmp_path / 'digits/sdk/own'}"]
    run_checked([*command, tmp_path / "all.cc"])


def test_models_of_one_build_have_names_of_their_own(tmp_path: Path) -> None:
    second = tmp_path / "second.tflite"
    shutil.copy(MODELS / "s8_softmax.tflite", second)
    options = Options(export=("tflm",), symbol=("digits=g_digits_data", "second=g_other"), find=True, no_report=True)
    shared = shared_arena.build([DIGITS, second], options)
    text = shared.files["models_tflm.cc"].decode()
    assert "MCUGEN_TFLM_NAME(g_digits_data, mcugen_tflm_digits)" in text
    assert "MCUGEN_TFLM_NAME(g_other, mcugen_tflm_second)" in text
    assert b"MCUGEN_TFLM_MODEL(digits)\nMCUGEN_TFLM_MODEL(second)" in shared.files["mcugen_tflm_models.h"]
    shared.write(tmp_path / "out")
    sizes = tuple(model.view.inputs[0].length for model in shared.artifacts)
    (tmp_path / "main.cc").write_text(TWO % sizes)
    (tmp_path / "wrong.cc").write_text(text.replace("(g_other, mcugen_tflm_second)", "(g_other, mcugen_tflm_digits)"))
    code = [*(tmp_path / "out").glob("*.c"), *(tmp_path / "out" / "kernels").glob("*.c")]
    sources = [tmp_path / "out" / "models_tflm.cc", tmp_path / "wrong.cc", tmp_path / "main.cc", *code]
    right, wrong, *others = HOST.compiled(sources, [tmp_path / "out"], tmp_path / "objects")
    assert HOST.ran(HOST.linked([right, *others], tmp_path)).returncode == 0
    assert HOST.ran(HOST.linked([wrong, *others], tmp_path)).returncode == 1  # the name of one model on another
    with pytest.raises(UsageError, match="'g_model' does not say which model it is"):
        shared_arena.build([DIGITS, second], Options(export=("tflm",), symbol=("g_model",)))


def test_a_record_has_the_indices_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "kept.tflite"
    writer = ModelWriter()
    unused, y, x = (writer.tensor(name, (1, 4), "f32") for name in "uyx")
    writer.op("ABS", [x], [y])
    path.write_bytes(writer.build([x], [y]))
    view = mcugen.compile(path, export=("tflm",), no_report=True).view.tflm
    assert view is not None and (unused, view.indices, view.variable) == (0, (2, 1), 0xFFFF)


def test_a_note_says_that_inputs_are_overwritten() -> None:
    note = "a run may overwrite the inputs"
    assert any(note in text for text in mcugen.compile(DIGITS, export=("tflm",), no_report=True).report.notes)
    kept = mcugen.compile(DIGITS, export=("tflm",), keep_input=True, no_report=True).report.notes
    assert not any(note in text for text in kept)
    assert any(re.search(r"--keep-input takes [\d,]+ bytes of RAM", text) for text in kept)


def test_a_build_names_what_it_leaves_to_the_application() -> None:
    made = mcugen.compile(DIGITS, export=("tflm",), no_report=True)
    assert made.view.tflm is not None and made.view.tflm.find
    readme = made.files["README-tflm.md"].decode()
    assert "The flatbuffer stays in the flash" in readme and f"needs {made.view.tflm.arena_bytes} bytes" in readme
    named = mcugen.compile(DIGITS, export=("tflm",), symbol=("g_model",), no_report=True)
    assert "the file that defines g_model" in named.files["README-tflm.md"].decode()
    assert "--export tflm --symbol g_model" in named.files["digits.c"].decode()
